// `npm test` prints its counts as the last line, even after a failure message that is larger than the buffer of a pipe.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { openShell, root } from "../support/page.ts";

const VITEST = `"${process.execPath}" "${join(root, "node_modules/vitest/vitest.mjs")}"`;

function writeConfiguration(folder: string): void {
  const lines = [
    `import { LineReporter } from "${root}/scripts/line-reporter.ts";`,
    "export default { test: { reporters: [new LineReporter()], globals: true } };",
  ];
  writeFileSync(join(folder, "vitest.config.ts"), lines.join("\n"));
}

const TESTS = {
  long: 'test("long", () => { throw new Error("x".repeat(800_000)); });',
  prepared: 'beforeAll(() => { throw new Error("no port"); }); test("one", () => {});',
  some: [
    'test("runs", () => {});',
    'describe.skip("in a browser (needs chromium in PATH)", () => { test("one", () => {}); test("two", () => {}); });',
    'test("skips itself", ({ skip }) => skip("this user may write everything"));',
    'test.skip("of no reason", () => {});',
  ].join("\n"),
};

/** The lines of a run of all these tests. */
let lines: string[];
/** The output of a run of the test `runs` only. */
let chosen: string;

beforeAll(async () => {
  const { cwd, run } = openShell();
  writeConfiguration(cwd);
  for (const [name, text] of Object.entries(TESTS)) writeFileSync(join(cwd, `${name}.test.js`), text);
  lines = (await run(`${VITEST} run 2>&1 | cat`)).out.trimEnd().split("\n");
  chosen = (await run(`${VITEST} run some -t runs`)).out;
});

test("after a long failure message in a pipe, the counts are still the last line", () => {
  expect(lines.some((line) => line.includes("x".repeat(1_000)))).toBe(true);
  expect(lines.at(-1)).toMatch(/^1 passed, 2 failed, 5 skipped, 3 files, \d+ s$/);
});

const SKIPPED = [
  "Skipped: 1 in prepared.test.js. Reason: their setup failed",
  "Skipped: 2 in some.test.js. They need chromium in PATH",
  "Skipped: 1 in some.test.js. Reason: this user may write everything",
  "Skipped: 1 in some.test.js. No reason given: end their titles with needs() of test/support/needs.ts",
];

test("tests whose setup failed are listed as skipped for this reason", () => {
  expect(lines).toContain(SKIPPED[0]);
});

test("skipped tests are listed before the counts, with what they need", () => {
  expect(lines.slice(-1 - SKIPPED.length, -1).sort()).toEqual([...SKIPPED].sort());
  expect(chosen).toMatch(/^1 passed, /m);
  expect(chosen).not.toContain("Skipped: ");
});
