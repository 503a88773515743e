// Applies the "## Add …" sections of CONTRIBUTING.md to a copy of the checkout and lints it. With RECIPES=1, as in
// .ci/run, it also builds the copy, generates its documents, checks its types, and runs the tests that the sections add
// and the tests of each list that the sections extend. With WALKS=1, as in `npm run walks`, it checks the types of all
// files and runs all quick tests.

import { execFile, execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, sep } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { needs } from "../support/needs.ts";

interface Section {
  /** Heading, such as "Add an operation". */
  title: string;
  changes: FileChange[];
}

interface FileChange {
  file: string;
  isNew: boolean;
  hunks: Hunk[];
}

interface Hunk {
  before: string[];
  after: string[];
}

/** The sections that describe how to add something. */
function readSections(page: string): Section[] {
  const texts = page.split(/^## /m).filter((text) => text.startsWith("Add "));
  return texts.map((text) => ({
    title: text.slice(0, text.indexOf("\n")),
    changes: [...text.matchAll(/^```diff\n([\s\S]*?)^```$/gm)].flatMap(([, diff = ""]) => readDiff(diff)),
  }));
}

function readDiff(diff: string): FileChange[] {
  return diff.split(/^(?=--- )/m).map((text) => {
    const [head = "", ...hunks] = text.split(/^@@\n/m);
    const [, before = "", file = ""] = /^--- (\S+)\n\+\+\+ b\/(\S+)\n$/.exec(head) ?? [];
    if (file === "" || hunks.length === 0)
      throw new Error(`Not a diff of a file: ${JSON.stringify(text.slice(0, 200))}`);
    return { file, isNew: before === "/dev/null", hunks: hunks.map(readHunk) };
  });
}

function readHunk(text: string): Hunk {
  const lines = text.replace(/\n$/, "").split("\n");
  const without = (sign: string) => lines.filter((line) => !line.startsWith(sign)).map((line) => line.slice(1));
  return { before: without("+"), after: without("-") };
}

/**
 * Applies the diff to a checkout. A hunk without context is appended to its file. Any other hunk must match
 * exactly one place.
 */
function applySection({ title, changes }: Section, checkout: string): void {
  for (const { file, isNew, hunks } of changes) {
    const path = join(checkout, file);
    if (isNew === existsSync(path))
      throw new Error(`${title}: ${file} ${isNew ? "exists already" : "does not exist"}.`);
    mkdirSync(dirname(path), { recursive: true });
    const before = isNew ? "" : readFileSync(path, "utf8");
    writeFileSync(
      path,
      hunks.reduce((text, hunk) => applyHunk(text, hunk, `${title}: ${file}`), before),
    );
  }
}

function applyHunk(text: string, { before, after }: Hunk, where: string): string {
  const added = `${after.join("\n")}\n`;
  if (before.length === 0) return text + added;
  const parts = `\n${text}`.split(`\n${before.join("\n")}\n`);
  if (parts.length !== 2)
    throw new Error(
      `${where} has these lines ${parts.length - 1} times instead of once: change the diff in CONTRIBUTING.md.\n` +
        before.join("\n"),
    );
  return parts.join(`\n${added}`).slice(1);
}

const root = join(import.meta.dirname, "../..");
const sections = readSections(readFileSync(join(root, "CONTRIBUTING.md"), "utf8"));
const folder = mkdtempSync(join(tmpdir(), "merchant-sandbox-walks-"));
const checkout = join(folder, "checkout");

const RUNS_ALL = process.env.WALKS !== undefined;
const BUILDS = RUNS_ALL || process.env.RECIPES !== undefined;

/** Imports of the lists that the sections extend: operations, commands, faults, scenarios and panes. */
const LIST = /from "[^"]*\/(areas|commands|faults|scenarios|panes)\/index\.ts"/;

/** The quick tests that import such a list, and the tests of the documentation, which name the entries of the lists. */
const listingTests = (readdirSync(join(root, "test"), { recursive: true }) as string[])
  .map((name) => `test/${name.replaceAll(sep, "/")}`)
  .filter((file) => file.endsWith(".test.ts") && !/^test\/(slow|tools|sample-shop)\//.test(file))
  .filter((file) => file.startsWith("test/docs/") || LIST.test(readFileSync(join(root, file), "utf8")));

/** Enough time for the slowest machine. These tests fail by an exit code, not by a timeout. */
const HOUR = 3_600_000;

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Copies the checkout with its uncommitted changes. */
function copyCheckout(): void {
  const files = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
  });
  for (const file of files.split("\0").filter((name) => name !== "" && existsSync(join(root, name))))
    cpSync(join(root, file), join(checkout, file));
  symlinkSync(join(root, "node_modules"), join(checkout, "node_modules"), "junction");
}

/** The environment without the variables of the test runner. */
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_ENV|TEST$|npm_|CI$)/.test(name)),
);

/** Runs a script in the copy; throws with its output on failure. */
function node(script: string, ...words: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { cwd: checkout, env: { ...env, NO_COLOR: "1" }, maxBuffer: 2 ** 28 };
    execFile(process.execPath, [script, ...words], options, (error, stdout, stderr) => {
      if (error)
        reject(new Error(`${script} ${words.join(" ")} failed:\n${stdout.slice(-20_000)}\n${stderr.slice(-5_000)}`));
      else resolve(stdout);
    });
  });
}

/** Vitest's module cache would not help, because each run has a copy at another path. */
const UNCACHED = ["--experimental.fsModuleCache=false"];

const filesOf = (title: string) => sections.find((section) => section.title === title)?.changes.map(({ file }) => file);

test("CONTRIBUTING.md explains each kind of addition, with its test", () => {
  expect(sections.map(({ title }) => title)).toEqual([
    "Add an operation",
    "Add a command",
    "Add a fault",
    "Add a scenario",
    "Add a rule",
    "Add a setting for an assumption",
    "Add a pane",
    "Add a request log column",
  ]);
  for (const { title } of sections)
    expect([title, filesOf(title)]).toEqual([title, expect.arrayContaining([expect.stringMatching(/^test\//)])]);
});

/** The test files that the sections change. */
const changedTests = [
  ...new Set(
    sections.flatMap(({ changes }) => changes.map(({ file }) => file)).filter((file) => /\.test\.ts$/.test(file)),
  ),
];

test("the section about operations changes one area file and one test", () => {
  expect(filesOf("Add an operation")).toEqual(["src/areas/hospitality.ts", "test/api/areas.test.ts"]);
});

/** The names of the tests that the sections add. */
const added = sections.flatMap(({ changes }) =>
  changes.flatMap(({ hunks }) =>
    hunks.flatMap(({ before, after }) =>
      after.flatMap((line) => (before.includes(line) ? [] : (/^test\("(.+?)", /.exec(line)?.[1] ?? []))),
    ),
  ),
);
/** The tests to run: those that the sections add or extend, and those that fail if a section leaves something out. */
const names = [
  ...new Set(added),
  "bad-gateway",
  "every scenario",
  "names the operations",
  "http.body_depth",
  "its help on one screen",
];
const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

describe.concurrent("a copy with all sections applied", { timeout: HOUR }, () => {
  beforeAll(async () => {
    copyCheckout();
    // Applies the last section first, so that a section that depends on an earlier one fails.
    for (const section of sections.toReversed()) applySection(section, checkout);
    if (BUILDS) for (const script of ["build", "docs"]) await node(`scripts/${script}.js`);
    if (RUNS_ALL) await node("scripts/types.js");
  }, HOUR);

  test("passes the linter", () => {
    const changed = new Set(sections.flatMap(({ changes }) => changes.map(({ file }) => file)));
    return node("node_modules/@biomejs/biome/bin/biome", "check", "--error-on-warnings", ...changed);
  });

  describe.runIf(BUILDS)(`and built${needs(BUILDS, "RECIPES=1 npm test")}`, () => {
    test("passes the type check", () => {
      const include = ["src", "ui", "scripts", ...changedTests, ...listingTests];
      const config = { extends: "./tsconfig.json", ...(RUNS_ALL ? {} : { include }) };
      writeFileSync(join(checkout, "tsconfig.recipes.json"), JSON.stringify(config));
      return node("node_modules/typescript/bin/tsc", "--noEmit", "--project", "tsconfig.recipes.json");
    });

    test("passes the tests of the extended lists and of the generated documents", () => {
      const files = RUNS_ALL ? [] : listingTests;
      const words = ["run", "--maxWorkers=1", ...UNCACHED, "--project", "quick", "--reporter=dot", ...files];
      return node("node_modules/vitest/vitest.mjs", ...words);
    });

    test("passes the tests of the additions, and prints which operation the reference model lacks", async () => {
      const files = [...changedTests, "test/slow/model.test.ts"];
      const pattern = names.map(escaped).join("|");
      const printed = await node(
        "node_modules/vitest/vitest.mjs",
        "run",
        "--maxWorkers=1",
        ...UNCACHED,
        ...files,
        "--reporter=verbose",
        "-t",
        pattern,
      );
      for (const name of added) expect(printed).toMatch(new RegExp(`✓ .* ${escaped(name)}`));
      expect(printed).toMatch(/✓ .* 'bad-gateway' gets all points if it is correct/);
      expect(printed).toMatch(/✓ .* 'bad-gateway' fails only .* if it 'repeats without a key'/);
      expect(printed).toMatch(/✓ .* http\.body_depth changes the service/);
      expect(printed).toContain("The reference model lacks bookings.cancel: describe it in test/model/operations.ts.");
    });
  });
});
