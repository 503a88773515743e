// How the tests run: real sockets and real processes, so a few generous limits and nothing mocked.

import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    env: { NODE_ENV: "test" },
  },
});
