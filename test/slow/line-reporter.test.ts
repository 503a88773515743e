// `npm test` prints its counts as the last line, even after a failure message that is larger than the buffer of a pipe.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openShell, root } from "../support/page.ts";

const VITEST = `"${process.execPath}" "${join(root, "node_modules/vitest/vitest.mjs")}"`;

function writeConfiguration(folder: string): void {
  const lines = [
    `import { LineReporter } from "${root}/scripts/line-reporter.ts";`,
    "export default { test: { reporters: [new LineReporter()], globals: true } };",
  ];
  writeFileSync(join(folder, "vitest.config.ts"), lines.join("\n"));
}

test("the counts are the last line after a long failure in a pipe", async () => {
  const { cwd, run } = openShell();
  writeConfiguration(cwd);
  writeFileSync(join(cwd, "long.test.js"), 'test("long", () => { throw new Error("x".repeat(800_000)); });');
  const { out } = await run(`${VITEST} run 2>&1 | cat`);
  expect(out.trimEnd().split("\n").at(-1)).toMatch(/^0 passed, 1 failed, 0 skipped, 1 files, \d+ s$/);
});

test("tests whose preparation failed are no skipped ones without a reason", async () => {
  const { cwd, run } = openShell();
  writeConfiguration(cwd);
  const tests = 'beforeAll(() => { throw new Error("no port"); }); test("one", () => {});';
  writeFileSync(join(cwd, "some.test.js"), tests);
  const { out } = await run(`${VITEST} run`);
  expect(out.trimEnd().split("\n").slice(-2)).toEqual([
    "Skipped: 1 in some.test.js. Reason: what prepares them failed",
    expect.stringMatching(/^0 passed, 1 failed, 1 skipped, 1 files, \d+ s$/),
  ]);
});

test("skipped tests are listed before the counts, by what they need", async () => {
  const { cwd, run } = openShell();
  writeConfiguration(cwd);
  const tests = [
    'test("runs", () => {});',
    'describe.skip("in a browser (needs chromium in PATH)", () => { test("one", () => {}); test("two", () => {}); });',
    'test("skips itself", ({ skip }) => skip("this user may write everything"));',
    'test.skip("of no reason", () => {});',
  ];
  writeFileSync(join(cwd, "some.test.js"), tests.join("\n"));
  const { out } = await run(`${VITEST} run`);
  expect(out.trimEnd().split("\n").slice(-4)).toEqual([
    "Skipped: 2 in some.test.js. They need chromium in PATH",
    "Skipped: 1 in some.test.js. Reason: this user may write everything",
    "Skipped: 1 in some.test.js. They say no reason: end their titles with needs() of test/support/needs.ts",
    expect.stringMatching(/^1 passed, 0 failed, 4 skipped, 1 files, \d+ s$/),
  ]);
  const chosen = await run(`${VITEST} run -t runs`);
  expect(chosen.out).not.toContain("Skipped: ");
});
