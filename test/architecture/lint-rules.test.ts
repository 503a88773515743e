// The lint rules: for each rule, code that breaks it is reported. Also checks what the linter cannot check, such as the
// length of comments and strings, the lock file, and which files write to the terminal.

import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { escapeControlCharacters } from "../../src/kernel/text.ts";

interface Diagnostic {
  category: string;
  message: string;
  location: { path: string };
}

/** Code in a file. `says` is the finding that Biome must report: a built-in rule, or the message of our own rule. */
type Offence = [violation: string, file: string, code: string, says: string];

const lines = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => line(index)).join("\n");
const call = (index: number) => `  told.push(${index});`;
const longFunction = (body: number) => `export function long(told: number[]): void {\n${lines(body, call)}\n}\n`;
const imports = (...modules: string[]) =>
  modules.map((module, index) => `export * as part${index} from "${module}";`).join("\n");

const CLOCK = "src/kernel/clock.ts";
const RANDOM = "src/kernel/random.ts";
const PRINT = "Only src/cli and ui print";

const offences: Offence[] = [
  ["SQL outside of the store", "src/control/sql.ts", imports("better-sqlite3"), "Only src/store runs SQL"],
  ["SQL in the dashboard", "ui/sql.ts", imports("better-sqlite3"), "Only src/store runs SQL"],
  [
    "two files that import each other",
    "src/live/one.ts",
    `import { two } from "./two.ts";\nexport const one = () => two;`,
    "noImportCycles",
  ],
  ["an undeclared package", "src/live/stranger.ts", imports("left-pad"), "noUndeclaredDependencies"],

  ["Date", "src/areas/date.ts", "export const now = () => Date.now();", CLOCK],
  ["setTimeout", "src/http/timeout.ts", "export const later = (work: () => void) => setTimeout(work, 5);", CLOCK],
  ["setInterval", "ui/interval.ts", "export const often = (work: () => void) => setInterval(work, 5);", CLOCK],
  ["globalThis.setTimeout", "src/faults/global.ts", "export const later = globalThis.setTimeout;", CLOCK],
  ["node:timers", "src/live/timers.ts", imports("node:timers/promises"), CLOCK],
  ["process.hrtime", "src/cli/watch.ts", "export const watch = () => process.hrtime.bigint();", CLOCK],
  ["AbortSignal.timeout", "src/webhooks/abort.ts", "export const patience = () => AbortSignal.timeout(5);", CLOCK],

  [
    "a nested ternary",
    "src/live/nested.ts",
    "export const size = (n: number) => (n < 1 ? 1 : n < 2 ? 2 : 3);",
    "noNestedTernary",
  ],
  [
    "a nested ternary in parentheses, in a test",
    "test/nested.ts",
    "export const size = (n: number) => (n < 2 ? (n < 1 ? 1 : 2) : 3);",
    "noNestedTernary",
  ],

  ["Math.random", "src/faults/random.ts", "export const chance = () => Math.random();", RANDOM],
  ["randomUUID under another name", "src/areas/alias.ts", `export { randomUUID as id } from "node:crypto";`, RANDOM],
  [
    "randomBytes",
    "src/store/bytes.ts",
    `import * as c from "node:crypto";\nexport const salt = () => c.randomBytes(8);`,
    RANDOM,
  ],
  [
    "getRandomValues",
    "ui/values.ts",
    "export const fill = (bytes: Uint8Array<ArrayBuffer>) => crypto.getRandomValues(bytes);",
    RANDOM,
  ],

  ["console", "src/http/print.ts", `export const say = () => console.log("here");`, "noConsole"],
  ["process.stdout", "src/sandbox-print.ts", `export const say = () => process.stdout.write("here");`, PRINT],
  ["process.exitCode", "src/control/code.ts", "export function leave(): void {\n  process.exitCode = 1;\n}", PRINT],
  ["node:process", "src/live/leave.ts", `export { exit } from "node:process";`, PRINT],

  [
    "a file of more than 400 lines",
    "src/areas/long.ts",
    lines(401, (index) => `export const a${index} = 1;`),
    "noExcessiveLinesPerFile",
  ],
  ["a function of more than 60 lines", "ui/long-function.ts", longFunction(61), "noExcessiveLinesPerFunction"],
];

/** Code that no rule may report. */
const lawful: Record<string, string> = {
  "src/kernel/clock.ts":
    "export const now = () => Date.now() + performance.now();\n" +
    "export const later = (work: () => void) => setTimeout(work, 5);\n",
  "src/kernel/random.ts": `import { randomBytes } from "node:crypto";\nexport const salt = () => randomBytes(8);\n`,
  "src/cli/print.ts": `console.log("here");\nprocess.stdout.write("there");\nprocess.exitCode = 1;\n`,
  "src/control/own-console.ts": "export const width = (console: { width: number }) => console.width;\n",
  "src/store/sql.ts": `export * as sql from "better-sqlite3";\nexport * as kernel from "../kernel/clock.ts";\n`,
  "src/live/two.ts": `export const two = 2;\nexport { one } from "./one.ts";\n`,
  "src/areas/whole-function.ts": longFunction(38),
  "test/long.test.ts": longFunction(400),
};

const root = join(import.meta.dirname, "../..");
let folder: string;
let found: Map<string, string[]>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "merchant-sandbox-laws-"));
  for (const name of ["biome.json", "scripts/biome", "package.json", "tsconfig.json"])
    cpSync(join(root, name), join(folder, name), { recursive: true });
  for (const [file, code] of [...offences.map(([, file, code]) => [file, code] as const), ...Object.entries(lawful)]) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), code);
  }
  found = await lint(folder);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The findings of Biome for each file, as `rule: message`. */
async function lint(cwd: string): Promise<Map<string, string[]>> {
  const biome = join(root, "node_modules/@biomejs/biome/bin/biome");
  const report = await new Promise<string>((resolve) => {
    execFile(
      process.execPath,
      [biome, "lint", "--reporter=json", "--max-diagnostics=none", "."],
      { cwd },
      (_, stdout) => resolve(stdout),
    );
  });
  const { diagnostics } = JSON.parse(report) as { diagnostics: Diagnostic[] };
  const byFile = new Map<string, string[]>();
  for (const { category, message, location } of diagnostics) {
    const file = location.path.replaceAll("\\", "/");
    byFile.set(file, [...(byFile.get(file) ?? []), `${category}: ${message}`]);
  }
  return byFile;
}

describe("a violation is reported", () => {
  it.each(offences)("%s (%s)", (_violation, file, _code, says) => {
    expect(found.get(file)).toContainEqual(expect.stringContaining(says));
  });
});

describe("correct code is not reported", () => {
  it.each(Object.keys(lawful).filter((file) => file !== "src/live/two.ts"))("%s", (file) => {
    expect(found.get(file) ?? []).toEqual([]);
  });
});

const folders = ["src", "ui", "scripts", "test", "bench"]
  .map((folder) => join(root, folder))
  .filter((folder) => existsSync(folder));
const sources = folders.flatMap((folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|tsx|js|cjs)$/.test(entry.name))
    .filter(({ parentPath }) => !parentPath.includes("node_modules"))
    .map((entry) => join(entry.parentPath, entry.name)),
);

describe("rules beyond the linter", () => {
  it("each file starts with a comment", () => {
    const opening = (file: string) => readFileSync(file, "utf8").replace(/^#!.*\n/, "");
    expect(sources.filter((file) => !opening(file).startsWith("// "))).toEqual([]);
  });

  const isComment = (line: string) => /^\s*(\/\/|\/?\*|-- )/.test(line);
  const isRegExp = (line: string) => /^\s*\/[^/*].+\/\w*[;,]?$/.test(line);
  // SQLite keeps the text of each definition, and the sandbox compares that text with tables.ts. A line break would
  // make the schemas differ.
  const mayBeLong = (name: string, line: string) =>
    name === join("src", "store", "sqlite", "tables.ts") || isRegExp(line);

  it("every line fits in 120 columns, except regular expressions and the SQL of tables.ts", () => {
    const long = sources.flatMap((file) => {
      const name = relative(root, file);
      const isLong = (line: string) => line.length > 120 && (isComment(line) || !mayBeLong(name, line));
      const lines = readFileSync(file, "utf8").split("\n");
      return lines.flatMap((line, index) => (isLong(line) ? [`${name}:${index + 1}`] : []));
    });
    expect(long, "longer than 120 columns: npm run format wraps code, but not comments and strings").toEqual([]);
  });

  it("the text of pages, except tables, code blocks and pictures, fits in 120 columns", () => {
    const pages = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"].map((name) => join(root, name));
    for (const folder of ["docs", "fixtures/lessons"].map((name) => join(root, name)))
      pages.push(
        ...readdirSync(folder)
          .filter((name) => name.endsWith(".md"))
          .map((name) => join(folder, name)),
      );
    const long = pages.flatMap((page) => {
      const text = readFileSync(page, "utf8").replaceAll(/^```[\s\S]*?^```$/gm, "");
      if (text.startsWith("<!-- Generated")) return [];
      return text.split("\n").filter((line) => line.length > 120 && !/^(\||\s*<)/.test(line));
    });
    expect(long).toEqual([]);
  });

  it("no file has a note about unfinished work", () => {
    const later = /\b(T[O]DO|F[I]XME|X[X]X)\b/;
    expect(sources.filter((file) => later.test(readFileSync(file, "utf8")))).toEqual([]);
  });
});

describe("the lock file", () => {
  interface Locked {
    funding?: unknown;
    optionalDependencies?: Record<string, string>;
  }
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    packages: Record<string, Locked>;
  };

  it("names no registry, so that each machine installs from its own", () => {
    const addressed = Object.entries(packages).filter(([, { funding: _, ...locked }]) =>
      /:\/\//.test(JSON.stringify(locked)),
    );
    expect(addressed).toEqual([]);
  });

  it("lists the binaries of every platform, not only those of the platform that wrote it", () => {
    const names = new Set(Object.keys(packages).map((path) => path.split("node_modules/").at(-1)));
    const wanted = Object.values(packages).flatMap(({ optionalDependencies }) =>
      Object.keys(optionalDependencies ?? {}),
    );
    expect(wanted.filter((name) => !names.has(name))).toEqual([]);
  });
});

const PRINTER = "src/cli/output/print.ts";
const WRITES = /\b(?:stdout|stderr)\s*\??\.\s*(?:write|end)\b|\bconsole\.\w+|\bwriteSync\(\s*[12]\b|\/dev\/std/;

test("in src/, only print.ts and bin.cjs write to standard output or standard error", () => {
  const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" }).filter((file) =>
    /\.(ts|cjs)$/.test(file),
  );
  const writing = files
    .map((file) => `src/${file}`)
    .filter((file) => WRITES.test(readFileSync(join(root, file), "utf8")));
  expect(writing.filter((file) => file !== "src/cli/bin.cjs")).toEqual([PRINTER]);
});

test("escaping covers control, bidirectional and line-separating characters, and keeps the value of JSON", () => {
  const nasty = "\x00\x1b]0;x\x07\x7f\x9b\u200e\u202e\u2066\u2028\u2029\ufeff\u{e0041}é日👍";
  const shown = escapeControlCharacters(nasty);
  expect(shown).toBe(
    "\\u0000\\u001b]0;x\\u0007\\u007f\\u009b\\u200e\\u202e\\u2066\\u2028\\u2029\\ufeff\\udb40\\udc41é日👍",
  );
  expect(JSON.parse(escapeControlCharacters(JSON.stringify({ [nasty]: nasty })))).toEqual({ [nasty]: nasty });
});
