// Runs the code of docs/languages.md and docs/library.md for Bun, Deno, jsdom and Jest with these tools, installed from
// the npm registry.

import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { transform } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { folder, PROGRAM } from "../support/program.ts";
import { toolPath } from "./import-tool.ts";

const root = join(import.meta.dirname, "../..");
const page = readFileSync(join(root, "docs/languages.md"), "utf8");
const section = (title: string) => page.split(/^## /m).find((text) => text.startsWith(`${title}\n`)) ?? "";
const snippetOf = (title: string) => /^```ts\n([\s\S]*?)\n```$/m.exec(section(title))?.[1] ?? "";
const commandOf = (runtime: string) =>
  new RegExp(`^npx merchant-sandbox exec .*-- (${runtime} .*)$`, "m").exec(page)?.[1] ?? "";

const packages = { bun: "1.4.5", deno: "2.9.6", jsdom: "26.1.0", vitest: "4.1.12" };
/** The errors that npm reports if it cannot reach the registry. A missing version gives another error. */
const OFFLINE = /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED)\b/;
const MINUTES = 180_000;

/** The folder of the packages. All tests share it, because the packages are large. */
const home = mkdtempSync(join(tmpdir(), "merchant-sandbox-runtimes-"));
/** The reason why tests are skipped; undefined if they run. */
let missing: string | undefined;

beforeAll(async () => {
  writeFileSync(join(home, "package.json"), JSON.stringify({ private: true, type: "module", dependencies: packages }));
  const { code, said } = await run("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline"]);
  if (code !== 0 && OFFLINE.test(said)) {
    missing = "the npm registry cannot be reached";
    return;
  }
  expect(code, said).toBe(0);
  symlinkSync(root, join(home, "node_modules/merchant-sandbox"), "junction");
}, MINUTES);

afterAll(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));

/** Runs a program of the installed packages or of this machine. */
function run(file: string, words: readonly string[], cwd = home): Promise<{ code: number; said: string }> {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(MERCHANT_|VITEST|NODE_ENV|NODE_OPTIONS)/.test(name),
  );
  const env = {
    ...Object.fromEntries(inherited),
    PATH: `${join(home, "node_modules/.bin")}${delimiter}${process.env.PATH}`,
  };
  return new Promise((resolve) => {
    execFile(file, words, { cwd, env }, (error, out, err) =>
      resolve({ code: Number(error?.code ?? 0), said: out + err }),
    );
  });
}

/** Wraps the statements of a snippet in a test. The imports of the snippet stay above the test. */
function asTest(snippet: string, opening: string, more: string): string {
  const lines = snippet.split("\n");
  const isImport = (line: string) => /^(import |\/\/ @)/.test(line);
  return [...lines.filter(isImport), opening, ...lines.filter((line) => !isImport(line)), more, "});", ""].join("\n");
}

const listPayments = `const { status } = await fetch(merchant.baseUrl + "/payments", {
  headers: { Authorization: "Bearer " + merchant.apiKey },
});
if (status !== 200) throw new Error("status " + status);`;

test.for([
  {
    runtime: "bun",
    opening: `import { test } from "bun:test";\ntest("lists payments", async () => {`,
    passed: /\b1 pass\b/,
  },
  { runtime: "deno", opening: `Deno.test("lists payments", async () => {`, passed: /\b1 passed\b/ },
])("a test in $runtime gets its own merchant", { timeout: MINUTES }, async ({ runtime, opening, passed }, { skip }) => {
  skip(missing !== undefined, missing);
  writeFileSync(join(home, "client.test.ts"), asTest(snippetOf("Bun and Deno"), opening, listPayments));
  const { code, said } = await run(process.execPath, [PROGRAM, "exec", "--", ...commandOf(runtime).split(" ")]);
  expect([code, said]).toEqual([0, expect.stringMatching(passed)]);
});

const requestPayments = (expected: string) => `const request = new XMLHttpRequest();
request.open("GET", sandbox.url + "/v1/payments");
request.setRequestHeader("Authorization", "Bearer sk_test_lodge");
await new Promise((resolve) => { request.onloadend = resolve; request.send(); });
expect(request.status).${expected};`;

test("a page in jsdom can call the API if its origin is allowed", { timeout: MINUTES }, async ({ skip }) => {
  skip(missing !== undefined, missing);
  const snippet = snippetOf("Front-end tests with jsdom");
  const opening = `import { expect, test } from "vitest";\ntest("lists payments", async () => {`;
  writeFileSync(join(home, "allowed.spec.ts"), asTest(snippet, opening, requestPayments("toBe(200)")));
  const refused = snippet.replace(/createSandbox\(.*\)/, "createSandbox({})");
  writeFileSync(join(home, "refused.spec.ts"), asTest(refused, opening, requestPayments("not.toBe(200)")));
  const { code, said } = await run(process.execPath, ["node_modules/vitest/vitest.mjs", "run", "spec"]);
  expect([code, said]).toEqual([0, expect.stringMatching(/Tests .*2 passed/)]);
});

test("the Jest test in docs/library.md passes", { timeout: MINUTES }, async () => {
  const home = folder();
  mkdirSync(join(home, "node_modules"));
  symlinkSync(root, join(home, "node_modules/merchant-sandbox"), "junction");
  writeFileSync(join(home, "package.json"), JSON.stringify({ private: true, type: "module" }));
  const [, source = ""] =
    /^```ts jest\n([\s\S]*?)\n```$/m.exec(readFileSync(join(root, "docs/library.md"), "utf8")) ?? [];
  const { code } = await transform(source, { loader: "ts", target: "node20", format: "esm" });
  writeFileSync(join(home, "page.test.js"), code);
  const words = ["--experimental-vm-modules", toolPath("jest/bin/jest.js"), `--testTimeout=${MINUTES}`];
  const { said } = await run(process.execPath, words, home);
  expect(said).toMatch(/Tests: +1 passed, 1 total/);
});
