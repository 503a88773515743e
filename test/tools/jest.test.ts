// The test for Jest in docs/library.md.

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { transform } from "esbuild";
import { expect, test } from "vitest";
import { folder } from "../support/program.ts";
import { toolPath } from "./import-tool.ts";

const root = join(import.meta.dirname, "../..");

test("the page shows a test for Jest that passes", async () => {
  const home = folder();
  mkdirSync(join(home, "node_modules"));
  symlinkSync(root, join(home, "node_modules/merchant-sandbox"), "junction");
  writeFileSync(join(home, "package.json"), JSON.stringify({ private: true, type: "module" }));
  const [, source = ""] = /^```ts jest\n([\s\S]*?)\n```$/m.exec(readFileSync(join(root, "docs/library.md"), "utf8")) ?? [];
  const { code } = await transform(source, { loader: "ts", target: "node20", format: "esm" });
  writeFileSync(join(home, "page.test.js"), code);
  const printed = execFileSync(process.execPath, ["--experimental-vm-modules", toolPath("jest/bin/jest.js"), "--json"], {
    cwd: home,
    env: { ...process.env, NODE_OPTIONS: "" },
    stdio: ["ignore", "pipe", "ignore"],
    encoding: "utf8",
  });
  expect(JSON.parse(printed)).toMatchObject({ numTotalTests: 1, numPassedTests: 1, success: true });
});
