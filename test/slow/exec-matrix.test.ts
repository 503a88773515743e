// The exit codes of `exec --fail-on verdicts,5xx` for the tests of a sample shop in three languages. The shop has no
// bug or one of six. Its tests use the merchant of `exec`, or create and remove their own, with and without faults.
// `npm run verdicts` runs every combination (a cell of the matrix), and `npm test` runs each bug at least once.

import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { needs } from "../support/needs.ts";
import { folder, run } from "../support/program.ts";

const root = join(import.meta.dirname, "../..");
const shops = join(root, "test/support/shops");

/**
 * Each bug, the rule that it breaks and that `exec` must name, and the exit code with faults. Without faults, no bug
 * has an effect.
 */
const BUGS = {
  none: [undefined, 0],
  "new key": [/effect\.single/, 3],
  "no key": [/effect\.single/, 3],
  // The service rejects a retry with another body, so the shop's own test fails.
  "new body": [/idempotency\.body_stable/, 1],
  "no wait": [/retry_after\.honoured/, 3],
  "no end": [/retry\.bounded/, 3],
  "no check": [/webhook\.forgery_rejected/, 3],
} as const;

type Bug = keyof typeof BUGS;

/** Each language, the command of its tests, its tools, and a command that succeeds if the tools are installed. */
const LANGUAGES: [language: string, command: string[], tools: string, probe: string][] = [
  ["vitest", [process.execPath, "node_modules/vitest/vitest.mjs", "run", "--testTimeout=60000"], "node", "true"],
  [
    "pytest",
    ["python3", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "merchant_sandbox"],
    "python3 with pytest",
    "python3 -c 'import pytest'",
  ],
  ["shell", ["sh", "shop.sh"], "curl and awk in PATH", "curl --version && awk 1 /dev/null"],
];

/** `npm run verdicts` sets RUNS. Its number applies to judge-matrix.test.ts. */
const ALL = process.env.RUNS !== undefined;

interface Cell {
  bug: Bug;
  isOwn: boolean;
  hasFaults: boolean;
}

/** A folder with the shop, in which the package and Vitest are installed. */
function shopFolder(): string {
  const home = folder();
  cpSync(shops, home, { recursive: true });
  mkdirSync(join(home, "node_modules"));
  symlinkSync(root, join(home, "node_modules/merchant-sandbox"), "junction");
  symlinkSync(join(root, "node_modules/vitest"), join(home, "node_modules/vitest"), "junction");
  writeFileSync(join(home, "package.json"), JSON.stringify({ type: "module" }));
  cpSync(join(root, "recipes/python/merchant_sandbox.py"), join(home, "merchant_sandbox.py"));
  return home;
}

/** Runs a cell. Returns the exit code; adds `?` and the output if `exec` or the report does not show the failure. */
async function runCell(command: readonly string[], { bug, isOwn, hasFaults }: Cell): Promise<string> {
  const home = shopFolder();
  const faults = hasFaults && !isOwn ? ["--faults", "faults.json"] : [];
  const words = ["exec", "--fail-on", "verdicts,5xx", "--report", "json=report.json", ...faults, "--", ...command];
  const variables = { BUG: bug, ...(isOwn && { MERCHANT: "own" }), ...(hasFaults && { FAULTS: "yes" }) };
  const { code, error, out } = await run(words, variables, home);
  const named = error.split("\n").filter((line) => BUGS[bug][0]?.test(line));
  const report = JSON.parse(readFileSync(join(home, "report.json"), "utf8"));
  const isReported = report.totals.requests >= 4 && (code === 0 || named.length > 0) && report.failed === (code !== 0);
  return isReported ? String(code) : `${code}?\n${out.join("\n")}\n${error}`;
}

/** The cells with faults come first, because they wait for retries. */
const cellsOf = (language: string): Cell[] =>
  [true, false]
    .flatMap((hasFaults) =>
      [false, true].flatMap((isOwn) => (Object.keys(BUGS) as Bug[]).map((bug) => ({ bug, isOwn, hasFaults }))),
    )
    .filter((cell) => ALL || isUsual(language, cell));

/**
 * Whether `npm test` runs a cell. A bug has no effect without faults, and the same effect in each language and for each
 * merchant. So the shell, which starts fastest, runs every bug for one merchant. Each other language runs one bug that
 * its own tests do not notice.
 */
function isUsual(language: string, { bug, isOwn, hasFaults }: Cell): boolean {
  if (bug === "none") return hasFaults || language === "shell";
  if (language !== "shell") return hasFaults && isOwn && bug === "new key";
  return hasFaults && isOwn === (Object.keys(BUGS).indexOf(bug) % 2 === 0);
}

const nameOf = ({ bug, isOwn, hasFaults }: Cell) =>
  `${bug}, ${isOwn ? "own" : "given"} merchant, ${hasFaults ? "faults" : "no faults"}`;
const expected = (cells: Cell[]) =>
  Object.fromEntries(cells.map((cell) => [nameOf(cell), String(cell.hasFaults ? BUGS[cell.bug][1] : 0)]));

for (const [language, command, tools, probe] of LANGUAGES) {
  const isInstalled = spawnSync("sh", ["-c", probe]).status === 0;
  test.skipIf(!isInstalled)(
    `exec finds the bugs of the shop under ${language}${needs(isInstalled, tools)}`,
    { timeout: 900_000 },
    async () => {
      const matrix: Record<string, string> = {};
      const cells = cellsOf(language);
      const left = [...cells];
      const runNext = async () => {
        for (let cell = left.shift(); cell !== undefined; cell = left.shift())
          matrix[nameOf(cell)] = await runCell(command, cell);
      };
      // A cell mostly waits, so five cells run at a time.
      await Promise.all(Array.from({ length: 5 }, runNext));
      expect(matrix).toEqual(expected(cells));
    },
  );
}
