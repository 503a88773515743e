// How the tests run: real sockets and real processes, so a few generous limits and nothing mocked.

import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/sample-shop/**", "node_modules/**"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Many tests wait for processes and for real seconds: a small machine has room for one more at a time than it has cores.
    maxWorkers: Math.max(3, availableParallelism()),
    env: { NODE_ENV: "test" },
  },
});
