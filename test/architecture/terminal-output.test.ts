// Text leaves for a terminal in one file, which makes control characters visible.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { escapeControlCharacters } from "../../src/kernel/text.ts";

const root = join(import.meta.dirname, "../..");
const PRINTER = "src/cli/output/print.ts";
const WRITES = /\b(?:stdout|stderr)\s*\??\.\s*(?:write|end)\b|\bconsole\.\w+|\bwriteSync\(\s*[12]\b|\/dev\/std/;

test("no other file of src/ writes to standard output or standard error", () => {
  const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" }).filter((file) => /\.(ts|cjs)$/.test(file));
  const writing = files.map((file) => `src/${file}`).filter((file) => WRITES.test(readFileSync(join(root, file), "utf8")));
  expect(writing.filter((file) => file !== "src/cli/bin.cjs")).toEqual([PRINTER]);
});

test("every control, bidirectional and line-separating character is escaped, and JSON stays the same value", () => {
  const nasty = "\x00\x1b]0;x\x07\x7f\x9b\u200e\u202e\u2066\u2028\u2029\ufeff\u{e0041}é日👍";
  const shown = escapeControlCharacters(nasty);
  expect(shown).toBe("\\u0000\\u001b]0;x\\u0007\\u007f\\u009b\\u200e\\u202e\\u2066\\u2028\\u2029\\ufeff\\udb40\\udc41é日👍");
  expect(JSON.parse(escapeControlCharacters(JSON.stringify({ [nasty]: nasty })))).toEqual({ [nasty]: nasty });
});
