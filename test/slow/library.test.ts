// The built library, imported by its package name, with Vitest, with node:test and in the examples of docs/library.md.
// package.test.ts checks the types of these examples.

import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { transform } from "esbuild";
import { describe, expect, test } from "vitest";
import { folder } from "../support/program.ts";

const root = join(import.meta.dirname, "../..");
const page = readFileSync(join(root, "docs/library.md"), "utf8");
const run = promisify(execFile);

/** The code of the fenced TypeScript blocks with this purpose, or of the blocks without a purpose. */
const snippets = (text: string, use: string) =>
  [...text.matchAll(new RegExp(`^\`\`\`ts${use && ` ${use}`}\n([\\s\\S]*?)\n\`\`\`$`, "gm"))].map(
    (match) => match[1] as string,
  );

/** A project whose node_modules contains the package and these other packages. */
function project(packages: string[], from?: string): string {
  const home = folder();
  if (from !== undefined) cpSync(join(root, from), home, { recursive: true });
  mkdirSync(join(home, "node_modules"));
  symlinkSync(root, join(home, "node_modules/merchant-sandbox"), "junction");
  for (const name of packages)
    symlinkSync(join(root, "node_modules", name), join(home, "node_modules", name), "junction");
  if (from === undefined) writeFileSync(join(home, "package.json"), JSON.stringify({ private: true, type: "module" }));
  return home;
}

/** Transpiles for the oldest supported Node, which supports neither types nor `await using`. */
const javascript = async (source: string) =>
  (await transform(source, { loader: "ts", target: "node20", format: "esm" })).code;

const node = (home: string, ...words: string[]) =>
  run(process.execPath, words, { cwd: home, env: { ...process.env, NODE_OPTIONS: "" } });

const VITEST = "node_modules/vitest/vitest.mjs";

test("the error of an uncaught misuse shows the caller's line and the message, but no line of the bundle", async () => {
  const home = project([]);
  writeFileSync(
    join(home, "wrong.js"),
    'import { createSandbox } from "merchant-sandbox";\nawait createSandbox({ prot: 1 });\n',
  );
  const ended = await node(home, "wrong.js").catch((error: { stderr: string }) => error);
  expect(ended.stderr).toMatch(/^await createSandbox\(\{ prot: 1 \}\);\n/m);
  expect(ended.stderr).toContain("There is no option prot. Did you mean port?");
  expect(ended.stderr).not.toContain("program.cjs");
});

describe("docs/library.md", () => {
  test("shows a program that prints the output in its comments, and exits", async () => {
    const home = project([]);
    const [source, ...rest] = snippets(page, "");
    const whole = [source, ...rest].join("\n").replace('"http://127.0.0.1:4747"', "sandbox.url");
    writeFileSync(join(home, "page.js"), await javascript(whole));
    const said = [...whole.matchAll(/^console\.log.*; \/\/ (.*)$/gm)].map((match) => match[1]);
    expect(said).toHaveLength(7);
    expect((await node(home, "page.js")).stdout.trimEnd().split("\n")).toEqual(said);
  });

  test("shows tests for Vitest that pass, as do the tests of the sample shop", async () => {
    const home = project(["vitest", "express"], "test/sample-shop");
    const tests = snippets(page, "vitest");
    expect(tests).not.toEqual([]);
    for (const [index, source] of tests.entries()) writeFileSync(join(home, `${index}.test.ts`), source);
    const { stdout } = await node(home, VITEST, "run", "--reporter", "json");
    const { numTotalTests, numPassedTests } = JSON.parse(stdout) as { numTotalTests: number; numPassedTests: number };
    expect(numTotalTests).toBeGreaterThan(tests.length + 4);
    expect(numPassedTests).toBe(numTotalTests);
  });

  test("shows an Express app that prints the output in its comments, and exits", async () => {
    const home = project(["express"]);
    const [source = ""] = snippets(page, "express");
    writeFileSync(join(home, "app.js"), await javascript(source));
    const said = [...source.matchAll(/^console\.log.*; \/\/ (.*)$/gm)].map((match) => match[1]);
    expect(said).toHaveLength(3);
    expect((await node(home, "app.js")).stdout.trimEnd().split("\n")).toEqual(said);
  });

  test("shows a test for supertest and node:test that passes", async () => {
    const home = project(["express", "supertest"]);
    writeFileSync(join(home, "page.test.js"), await javascript(snippets(page, "supertest")[0] ?? ""));
    const { stdout } = await node(home, "--test", "--test-reporter", "tap", "page.test.js");
    expect(stdout).toMatch(/^# pass 1$/m);
    expect(stdout).toMatch(/^# fail 0$/m);
  });
});

describe("a Node process", () => {
  test("can load the library with require(), and exit while a sandbox is still open", async () => {
    const home = project([]);
    const source = `
      const { createSandbox } = require("merchant-sandbox");
      createSandbox().then(async (sandbox) => {
        console.log((await sandbox.merchants.list()).data.length);
        process.exit(0);
      });
    `;
    writeFileSync(join(home, "required.cjs"), source);
    expect((await node(home, "required.cjs")).stdout).toBe("4\n");
  });

  test("keeps no handles or snapshot files of a closed sandbox", async () => {
    const home = project([]);
    const source = `
      import { createSandbox } from "merchant-sandbox";
      const held = () => process.getActiveResourcesInfo()
        .filter((kind) => !/Immediate|TickObject|Pipe|TTY|CloseReq/.test(kind));
      const sandbox = await createSandbox();
      const merchant = await sandbox.merchants.add();
      await sandbox.verify({ all: [{ never: { match: { operation: "*" } } }] });
      await sandbox.snapshots.save({ name: "one" });
      const { file } = (await sandbox.snapshots.list()).data[0];
      await sandbox.close();
      // Node releases a closed server a few event-loop turns later.
      for (let turn = 0; turn < 1_000 && held().length > 0; turn++) await new Promise(setImmediate);
      console.log(JSON.stringify({ held: held(), file }));
    `;
    writeFileSync(join(home, "closed.js"), source);
    const { held, file } = JSON.parse((await node(home, "closed.js")).stdout);
    expect(held).toEqual([]);
    expect(existsSync(file)).toBe(false);
  });
});
