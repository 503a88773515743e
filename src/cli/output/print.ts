// Prints all output of the command line, except the dashboard. Control characters and the commands of build systems
// become visible escapes, so that untrusted text (names in files, responses of servers, webhooks) cannot control the
// terminal or the build that records the output.

import { writeFile } from "node:fs/promises";
import { afterThisTurn } from "../../kernel/clock.ts";
import { usageError } from "../../kernel/errors.ts";
import { escapeControlCharacters } from "../../kernel/text.ts";

/**
 * The characters with which build systems recognise a command in the output of a step. For GitHub, `::` at the start of
 * a line or after its indentation; for Azure and TeamCity, `##name[` anywhere.
 */
const BUILD_COMMAND = /(?<=^\s*):(?=:)|(?<=#)#(?=\w*\[)/g;

/** Uses the escapes of JSON, so that a JSON text keeps its value. */
const escapeLine = (line: string) =>
  escapeControlCharacters(line).replace(BUILD_COMMAND, (mark) => `\\u00${mark.charCodeAt(0).toString(16)}`);

const escapeLines = (text: string) => text.split("\n").map(escapeLine).join("\n");

/** Prints one line to standard output. Escapes line breaks too, so that untrusted text cannot imitate another line. */
export const print = (line: string) => {
  printSoon(line);
  writeLines();
};

/** Prints a command of GitHub Actions, such as `::add-mask::`, which `print` would escape. */
export function printBuildCommand(name: string, value: string): void {
  writeLines();
  const escaped = value.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
  process.stdout.write(`::${name}::${escapeControlCharacters(escaped)}\n`);
}

let lines = "";

/**
 * Prints the lines of an event-loop turn in one write. Under load, one write for each line takes a tenth of a request's
 * time.
 */
export function printSoon(line: string): void {
  if (lines === "") afterThisTurn(writeLines);
  lines += `${escapeLine(line)}\n`;
}

function writeLines(): void {
  if (lines !== "") process.stdout.write(lines);
  lines = "";
}

process.once("exit", writeLines);

/** Prints a text of several lines, such as a help page or a step of a lesson. */
export const printText = (text: string) => {
  writeLines();
  process.stdout.write(`${escapeLines(text)}\n`);
};

/** Prints one line of columns with tabs between them. */
export const printColumns = (...columns: string[]) =>
  void process.stdout.write(`${columns.map(escapeControlCharacters).join("\t")}\n`);

let asJson = false;

/** Makes each further line of standard error a JSON object, like the lines of standard output with --json. */
export function writeNotesAsJson(): void {
  asJson = true;
}

/** Prints to standard error, which separates notes from the output of the command or of a child process. */
const write = (name: "note" | "warning", text: string, plain: string) =>
  void process.stderr.write(`${asJson ? escapeLine(JSON.stringify({ [name]: text })) : plain}\n`);

export const note = (line: string) => write("note", line, `merchant-sandbox: ${escapeLine(line)}`);

export function noteWarnings(warnings: readonly string[]): void {
  for (const warning of warnings) write("warning", warning, `warning: ${escapeControlCharacters(warning)}`);
}

/** Prints a text of several lines, such as a stack trace or the log of another process. */
export const noteText = (text: string) => write("note", text, escapeLines(text));

const FIRST_SENTENCE = /^(.+?[.?!])\s+(?=[A-Z])(.*)$/s;

/**
 * Prints the error that ends the command. Lines after the first are indented, so that untrusted text cannot imitate a
 * line of this program. `kind` is the code of the control API's error, or the kind of failure. In JSON, `message` has
 * the first sentence, and `hint` the others.
 */
export function noteError(kind: string, text: string, exitCode: number): void {
  const [, message = text, hint = null] = FIRST_SENTENCE.exec(text) ?? [];
  if (asJson) process.stderr.write(`${escapeLine(JSON.stringify({ error: kind, message, hint, exitCode }))}\n`);
  else write("note", text, `merchant-sandbox: ${escapeLines(text.replaceAll("\n", "\n  "))}`);
}

/** Prints the stack of an error that is a defect of this program. */
export function noteDefect(stack: string, exitCode: number): void {
  const message = `merchant-sandbox failed with an internal error: ${stack}`;
  const object = { error: "internal_error", message, hint: null, exitCode };
  process.stderr.write(`${asJson ? escapeLine(JSON.stringify(object)) : escapeLines(message)}\n`);
}

export async function writeOutput(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (error) {
    usageError(`Cannot write ${file} (${(error as NodeJS.ErrnoException).code}).`);
  }
}
