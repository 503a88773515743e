// Lists and reads the files that users write, and reports errors in their JSON with file, line and JSON Pointer.

import { readdirSync, readFileSync, statSync } from "node:fs";
import type { ParseError } from "jsonc-parser";
import { SandboxError } from "../../kernel/errors.ts";
import { containsLiveKey } from "../../kernel/mask.ts";
import { extentOf, MAX_DEPTH } from "../../kernel/request-limits.ts";
import { pointerSegments } from "../../schema/json-pointer.ts";

export interface JsonFile {
  file: string;
  text: string;
  value: unknown;
  /** The line at which the text starts, when it is only a part of the file (default: 1). */
  line?: number;
}

/** The kind of an error in a file: a bad fixture, or a wrong option in merchant-sandbox.json. */
export type FileMistake = "badFixture" | "usage";

export const readJsonFile = (file: string, mistake?: FileMistake): Promise<JsonFile> =>
  readJson(file, readText(file, mistake), 1, mistake);

/** Parses JSON that starts at a line of a file. */
export async function readJson(
  file: string,
  text: string,
  line = 1,
  mistake: FileMistake = "badFixture",
): Promise<JsonFile> {
  // Counts the levels before parsing, because parsing and checking deeper values would overflow the stack.
  if (extentOf(text).levels > MAX_DEPTH)
    throw new SandboxError(`${file}:${line}: nests deeper than ${MAX_DEPTH} levels.`, mistake);
  try {
    return { file, text, line, value: JSON.parse(text) as unknown };
  } catch (error) {
    throw new SandboxError(await syntaxProblem(file, text, line, error as Error), mistake);
  }
}

/** Bytes. Longer files are refused, because a folder may contain files of any length. */
const LARGEST_FILE = 32 * 1_048_576;

/**
 * The text of a file without the byte order mark that some editors write. A file with a live key is refused, as
 * requests are.
 */
export function readText(file: string, mistake: FileMistake = "badFixture"): string {
  const text = readPlainFile(file, mistake);
  if (!containsLiveKey(text)) return text;
  const live = text.search(/sk_live_/i);
  const line = live === -1 ? "" : `:${lineAt(text, live)}`;
  throw new SandboxError(`${file}${line}: holds a live key. Take it out, and rotate it.`, mistake);
}

function readPlainFile(file: string, mistake: FileMistake): string {
  try {
    const found = statSync(file);
    if (found.isDirectory()) throw Object.assign(new Error(), { code: "EISDIR" });
    // Only a pipe that the user's shell opened may be read: reading any other pipe, or /dev/zero, might never end.
    if (!found.isFile() && !(found.isFIFO() && OWN_DESCRIPTOR.test(file))) throw new Error("it is not a regular file");
    if (found.size > LARGEST_FILE) throw new Error(`it has ${found.size} bytes, and at most ${LARGEST_FILE} are read`);
    return readFileSync(file, "utf8").replace(/^\uFEFF/, "");
  } catch (error) {
    throw new SandboxError(`Cannot read ${file}: ${whyUnreadable(error)}.`, mistake);
  }
}

/** A pipe that the user's shell opened for this process, as in `--faults <(jq …)`. */
const OWN_DESCRIPTOR = /^\/dev\/(?:fd\/\d+|stdin)$/;

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "it is a folder",
  ENOTDIR: "a part of the path is not a folder",
  EACCES: "this user may not read it",
};

const FOLDER_REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such folder",
  ENOTDIR: "it is not a folder",
};

const whyUnreadable = (error: unknown) =>
  REASONS[String((error as NodeJS.ErrnoException).code)] ?? (error as Error).message;

/**
 * The names of a folder's files that match, sorted. Fails if there are none; `noun` and `remedy` say what was expected.
 */
export function filesIn(folder: string, pattern: RegExp, noun: string, remedy: string): string[] {
  let names: string[];
  try {
    names = readdirSync(folder).filter((name) => pattern.test(name));
  } catch (error) {
    const code = String((error as NodeJS.ErrnoException).code);
    const reason = FOLDER_REASONS[code] ?? whyUnreadable(error);
    throw new SandboxError(`Cannot read the folder ${folder}: ${reason}. ${remedy}`, "badFixture");
  }
  if (names.length === 0) throw new SandboxError(`The folder ${folder} holds no ${noun}. ${remedy}`, "badFixture");
  return names.sort();
}

/** An error message with the file and line of a JSON Pointer. */
export async function errorAt(
  { file, text, value, line = 1 }: JsonFile,
  pointer: string,
  message: string,
  mistake: FileMistake = "badFixture",
): Promise<SandboxError> {
  return new SandboxError(`${file}:${line - 1 + (await lineOf(text, value, pointer))} ${pointer}: ${message}`, mistake);
}

/** The line of the value at a pointer, or of the nearest enclosing value if there is none. */
async function lineOf(text: string, root: unknown, pointer: string): Promise<number> {
  const { findNodeAtLocation, parseTree } = await import("jsonc-parser");
  const tree = parseTree(text);
  const path: (string | number)[] = [];
  let value = root;
  for (const step of pointerSegments(pointer)) {
    path.push(Array.isArray(value) ? Number(step) : step);
    value = (value as Record<string, unknown> | undefined)?.[step];
  }
  for (; tree; path.pop()) {
    const node = findNodeAtLocation(tree, path);
    if (node) return lineAt(text, node.offset);
  }
  return 1;
}

async function syntaxProblem(file: string, text: string, line: number, error: Error): Promise<string> {
  const { parse, printParseErrorCode } = await import("jsonc-parser");
  const found: ParseError[] = [];
  parse(text, found, { disallowComments: true });
  const [first] = found;
  if (!first) return `${file}: is not JSON: ${error.message}.`;
  const words = printParseErrorCode(first.error)
    .replace(/(?<=.)[A-Z]/g, (letter) => ` ${letter}`)
    .toLowerCase();
  return `${file}:${line - 1 + lineAt(text, first.offset)}: is not JSON: ${words}.`;
}

export const lineAt = (text: string, offset: number) => text.slice(0, offset).split("\n").length;
