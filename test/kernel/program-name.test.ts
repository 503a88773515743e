// The command that hints name for the program, which depends on how the program was started.

import { expect, test } from "vitest";
import { programNameOf } from "../../src/kernel/program-name.ts";

const USUAL = "/usr/local/bin:/usr/bin";
const WINDOWS = "C:\\Windows;C:\\Users\\ann\\AppData\\Roaming\\npm";

test.each([
  ["a global installation", "/usr/local/bin/merchant-sandbox", USUAL, "merchant-sandbox"],
  [
    "a dev dependency under npx",
    "/home/ann/shop/node_modules/.bin/merchant-sandbox",
    `/home/ann/shop/node_modules/.bin:${USUAL}`,
    "npx merchant-sandbox",
  ],
  [
    "a package that npx fetched",
    "/home/ann/.npm/_npx/1f/node_modules/.bin/merchant-sandbox",
    `/home/ann/.npm/_npx/1f/node_modules/.bin:${USUAL}`,
    "npx merchant-sandbox",
  ],
  ["a checkout", "/home/ann/merchant-sandbox/dist/bin.cjs", USUAL, "npx merchant-sandbox"],
  ["the library in a test", "/home/ann/shop/node_modules/vitest/vitest.mjs", USUAL, "npx merchant-sandbox"],
  [
    "a global installation on Windows",
    "C:\\Users\\ann\\AppData\\Roaming\\npm\\node_modules\\merchant-sandbox\\dist\\bin.cjs",
    WINDOWS,
    "merchant-sandbox",
  ],
  [
    "a dev dependency on Windows",
    "C:\\shop\\node_modules\\merchant-sandbox\\dist\\bin.cjs",
    `C:\\shop\\node_modules\\.bin;${WINDOWS}`,
    "npx merchant-sandbox",
  ],
])("hints name the command that works for %s", (_, script, path, name) =>
  expect(programNameOf(script, path, false)).toBe(name),
);

test("hints name `yarn merchant-sandbox` under Yarn's Plug'n'Play, where npx finds no program", () => {
  const script = "/home/ann/shop/.yarn/cache/merchant-sandbox-npm-1.zip/node_modules/merchant-sandbox/dist/bin.cjs";
  expect(programNameOf(script, USUAL, true)).toBe("yarn merchant-sandbox");
});
