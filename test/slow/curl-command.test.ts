// If a call is copied as a curl command, a real shell passes its bytes to curl unchanged, whatever the body contains.

import { execFileSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Call, curlOf } from "../../src/client/curl.ts";
import { folder } from "../support/program.ts";
import { attempted } from "../support/sandbox.ts";

/**
 * Prints each argument, ended with a NUL. Instead of `@-` it prints its input, in which %00 replaces each NUL and marks
 * the end.
 */
const FAKE_CURL = `#!/bin/sh
for word in "$@"; do
  if [ "$word" = @- ]; then sed -z 's/$/%00/' | tr -d '\\0'; printf '\\0'; else printf '%s\\0' "$word"; fi
done
`;

/** The arguments that curl receives from a shell, for each command. */
function argumentsOf(commands: readonly string[]): string[][] {
  const bin = folder();
  writeFileSync(join(bin, "curl"), FAKE_CURL);
  chmodSync(join(bin, "curl"), 0o755);
  const script = join(bin, "script");
  writeFileSync(script, commands.map((command) => `${command}\nprintf 'END\\0'\n`).join(""));
  const out = execFileSync("sh", [script], {
    env: { PATH: `${bin}:${process.env.PATH}` },
    cwd: bin,
    maxBuffer: 100_000_000,
  });
  const texts = out.toString("utf8").split("\0").slice(0, -1);
  const all: string[][] = [[]];
  for (const text of texts) text === "END" ? all.push([]) : all.at(-1)?.push(text);
  return all.slice(0, -1);
}

const target = { url: "http://127.0.0.1:4747", token: undefined };
const post = (body: unknown, headers: Record<string, string> = {}): Call => ({
  method: "POST",
  path: "/v1/payments",
  key: "sk_test",
  headers,
  body,
});

const EDGES = [
  "@/etc/passwd",
  "'",
  "a'b'\\''c",
  "line\nline\n",
  "\r\n",
  "$(id) `id` $HOME !!",
  "%s%%\\n",
  "-x",
  "\\",
  "",
  "<é日👍>",
  "::add-mask::x",
  "a\n  ::stop-commands::x\n::x",
  "##vso[task.setvariable variable=a]b",
  "##[error]",
];
/** Whether a CI system that logs this text would run a command in it. */
const isBuildCommand = (text: string) => /^\s*::|##\w*\[/m.test(text);
const edge = fc.oneof(fc.constantFrom(...EDGES), fc.string({ unit: "grapheme" }));

test("the body, the URL and each header reach curl unchanged", () => {
  const bodies = fc.sample(
    fc.array(edge, { maxLength: 4 }).map((parts) => parts.join("")),
    { numRuns: 150, seed: 7 },
  );
  const texts = [...EDGES, ...bodies].map((text) => text.toWellFormed().replaceAll("\0", ""));
  attempted("Calls copied as curl", texts.length);
  expect(texts.map((text) => curlOf(target, post(text))).filter(isBuildCommand)).toEqual([]);
  const found = argumentsOf(
    texts.map((text) => curlOf(target, post(text, { "X-Text": text.replaceAll(/[\r\n]/g, "") }))),
  );
  for (const [index, text] of texts.entries()) {
    const words = found[index] ?? [];
    expect(words.slice(-2)).toEqual(["--data-raw", text]);
    expect(words).toEqual(
      expect.arrayContaining(["http://127.0.0.1:4747/v1/payments", `X-Text: ${text.replaceAll(/[\r\n]/g, "")}`]),
    );
  }
});

test("a copied HEAD uses -I, and other options keep curl from changing a path", () => {
  const get = (path: string, method = "GET") => curlOf(target, { method, path, key: null, headers: {} });
  attempted("Calls copied as curl", 5);
  expect(get("/v1/payments?limit=1")).toBe("curl -sS 'http://127.0.0.1:4747/v1/payments?limit=1'");
  expect(get("/v1/payments", "HEAD")).toBe("curl -sS -I 'http://127.0.0.1:4747/v1/payments'");
  for (const path of ["/v1/../_sandbox/reset", "/v1/%2E%2e/x", "/v1/.", "/v1/..?a=1"])
    expect(get(path)).toBe(`curl -sS --path-as-is 'http://127.0.0.1:4747${path}'`);
  for (const path of ["/v1/payments?a[b]=1", "/v1/{a,b}", "/v1/[1-9999]"])
    expect(get(path)).toBe(`curl -sS -g 'http://127.0.0.1:4747${path}'`);
  expect(get("/v1/a...b/..c")).toBe("curl -sS 'http://127.0.0.1:4747/v1/a...b/..c'");
});

test("an object with a NUL arrives as the same JSON, and a text with a NUL is piped to curl", () => {
  const [object = [], text = [], dash = []] = argumentsOf([
    curlOf(target, post({ "@a": "\0'\n" })),
    curlOf(target, post("a\0b%s\\n'1\x002")),
    curlOf(target, post("-e\0")),
  ]);
  expect(JSON.parse(object.at(-1) ?? "")).toEqual({ "@a": "\0'\n" });
  expect(text.slice(-2)).toEqual(["--data-binary", "a%00b%s\\n'1%002%00"]);
  expect(dash.slice(-2)).toEqual(["--data-binary", "-e%00"]);
});
