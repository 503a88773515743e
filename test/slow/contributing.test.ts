// Applies each "## Add …" section of CONTRIBUTING.md to a copy of the checkout and runs the checks there.

import { execFile, execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { applyWalk, readWalks, type Walk } from "../support/walks.ts";

const root = join(import.meta.dirname, "../..");
const walks = readWalks(readFileSync(join(root, "CONTRIBUTING.md"), "utf8"));
const folder = mkdtempSync(join(tmpdir(), "merchant-sandbox-walks-"));
const checkout = join(folder, "checkout");

/** Timeout for the slowest machine: failures show in exit codes. */
const HOUR = 3_600_000;

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A copy of the checkout, with uncommitted changes and these sections applied. */
function copyWith(...applied: Walk[]): void {
  rmSync(checkout, { recursive: true, force: true });
  const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], { cwd: root, encoding: "utf8" });
  for (const file of files
    .trim()
    .split("\n")
    .filter((name) => existsSync(join(root, name))))
    cpSync(join(root, file), join(checkout, file));
  symlinkSync(join(root, "node_modules"), join(checkout, "node_modules"), "junction");
  for (const walk of applied) applyWalk(walk, checkout);
}

/** Removes the variables of the test runner. */
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_ENV|TEST$|npm_|CI$)/.test(name)));

/** Runs a command in the copy; throws with its output on failure. */
function run(command: string, ...words: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(command, words, { cwd: checkout, env: { ...env, NO_COLOR: "1" }, maxBuffer: 2 ** 28 }, (error, stdout, stderr) => {
      if (error) reject(new Error(`${command} ${words.join(" ")} failed:\n${stdout.slice(-20_000)}\n${stderr.slice(-5_000)}`));
      else resolve(stdout);
    });
  });
}

const npm = (script: string) => run("npm", "run", "--silent", script);
const vitest = (...filters: string[]) => run("npx", "vitest", "run", "--reporter=dot", ...filters);

/** Runs the type check as `npm run types` does; incremental between copies. */
const checkTypes = () => run("npx", "tsc", "--noEmit", "--incremental", "--tsBuildInfoFile", join(folder, "types.tsbuildinfo"));

/** The folders of quick tests that a section touches, and its slow tests. */
const testsOf = ({ changes }: Walk) => [
  ...new Set(
    changes
      .filter(({ file }) => file.startsWith("test/"))
      .map(({ file }) => (file.startsWith("test/slow/") ? file : file.split("/").slice(0, 2).join("/"))),
  ),
];

test("CONTRIBUTING.md says how to add each kind of thing, with its test", () => {
  expect(walks.map(({ title }) => title)).toEqual([
    "Add an operation",
    "Add a command",
    "Add a fault",
    "Add a scenario",
    "Add a pane",
    "Add a journal column",
  ]);
  for (const walk of walks) expect([walk.title, testsOf(walk)]).not.toEqual([walk.title, []]);
});

test("an operation is its area file, its line in the list, and a test", () => {
  const [operation] = walks;
  expect(operation?.changes.map(({ file }) => file)).toEqual(["src/areas/hospitality.ts", "src/areas/index.ts", "test/api/areas.test.ts"]);
});

describe("a copy of the checkout", { timeout: HOUR }, () => {
  test.each(walks)("passes lint, types and the tests of the room after: $title", async (walk) => {
    copyWith(walk);
    await npm("lint");
    await checkTypes();
    await npm("build");
    await vitest(...testsOf(walk));
  });

  test("prints which operation the reference model lacks", async () => {
    copyWith(...walks.filter(({ title }) => title === "Add an operation"));
    const printed = await vitest("test/slow/model.test.ts", "-t", "names the operations");
    expect(printed).toContain("The reference model lacks bookings.confirm: describe it in test/model/operations.ts.");
  });

  test("passes the whole gate with the quick lane after all walks together", async () => {
    copyWith(...walks);
    await npm("docs");
    await npm("lint");
    await checkTypes();
    await npm("docs:fresh");
    await npm("test:quick");
  });
});
