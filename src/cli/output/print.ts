// Prints all output of the command line, except the dashboard. Control characters and the commands of build systems
// become visible escapes, so that untrusted text (names in files, responses of servers, webhooks) cannot control the
// terminal or the build that records the output.

import { writeFile } from "node:fs/promises";
import { afterThisTurn } from "../../kernel/clock.ts";
import { usageError } from "../../kernel/errors.ts";
import { escapeControlCharacters } from "../../kernel/text.ts";

/**
 * The characters with which build systems recognise a command in the output of a step: GitHub `::` at the start of a
 * line, even an indented one, Azure and TeamCity `##name[` anywhere.
 */
const BUILD_COMMAND = /(?<=^\s*):(?=:)|(?<=#)#(?=\w*\[)/g;

/** Escapes as JSON does, so a JSON text keeps its value. */
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

/** Prints the lines of an event-loop turn together: under load, a write each takes a tenth of a request's time. */
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

/** Prints one line to standard error, to separate it from the output of the command or of a child process. */
export const note = (line: string) => void process.stderr.write(`merchant-sandbox: ${escapeLine(line)}\n`);

/** Prints each warning as a line to standard error. */
export function noteWarnings(warnings: readonly string[]): void {
  for (const warning of warnings) process.stderr.write(`warning: ${escapeControlCharacters(warning)}\n`);
}

/** Prints a text of several lines to standard error, such as a stack trace or the log of another process. */
export const noteText = (text: string) => void process.stderr.write(`${escapeLines(text)}\n`);

export async function writeOutput(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (error) {
    usageError(`Cannot write ${file} (${(error as NodeJS.ErrnoException).code}).`);
  }
}
