// The lines of a detail: headings, names with values, headers and bodies, each made harmless and broken to the width.

import { count } from "../format-numbers.ts";
import { fill, harmless, widthOf, wrap } from "../terminal/cells.ts";
import { type Look, type Tone, tint } from "../terminal/style.ts";

/** A part of a detail under its name; nothing where it has no lines. */
export const part = (look: Look, name: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ["", tint(look, name, "bold"), ...lines];

const INDENT = "  ";
const NAME = 14;

/** A name and what it is, over as many lines as it takes. */
export function fact(look: Look, width: number, name: string, value: string, ...tones: Tone[]): string[] {
  const label = tint(look, INDENT + fill(harmless(name), NAME), "dim");
  const room = Math.max(10, width - INDENT.length - NAME - 1);
  const [first = "", ...rest] = value.split("\n").flatMap((line) => wrap(harmless(line), room));
  return [
    `${label} ${tint(look, first, ...tones)}`,
    ...rest.map((line) => " ".repeat(INDENT.length + NAME + 1) + tint(look, line, ...tones)),
  ];
}

/** Text as it is, broken where it is too wide. */
export const plain = (text: string, width: number, indent = ""): string[] =>
  text.split("\n").flatMap((line) => wrap(harmless(line), Math.max(10, width - indent.length)).map((piece) => indent + piece));

/** Sentences, broken between words. */
export function sentences(look: Look, width: number, text: string, ...tones: Tone[]): string[] {
  const room = Math.max(10, width - INDENT.length);
  const lines: string[] = [];
  for (const word of harmless(text).split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && widthOf(last) + 1 + widthOf(word) <= room) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.flatMap((line) => wrap(line, room)).map((line) => INDENT + tint(look, line, ...tones));
}

/** More than this is no reading matter. */
const MOST_SHOWN = 16_384;

/** A body: JSON is set out for reading, everything else is shown as it came; how much of it is missing is said. */
export function bodyLines(look: Look, width: number, body: string, bytes: number): string[] {
  if (bytes === 0 && body === "") return [tint(look, `${INDENT}no body`, "dim")];
  const shown = Buffer.byteLength(body);
  const text = pretty(body);
  const missing = text.length > MOST_SHOWN || shown < bytes ? `${INDENT}cut: this is the beginning of ${count(bytes)} bytes` : "";
  return [...plain(text.slice(0, MOST_SHOWN), width, INDENT), ...(missing ? [tint(look, missing, "yellow")] : [])];
}

function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

export const headerLines = (look: Look, width: number, headers: Readonly<Record<string, unknown>>): string[] =>
  Object.entries(headers).flatMap(([name, value]) => headerLine(look, width, name, String(value)));

/** The name is dim where all of it stands on the first line. */
function headerLine(look: Look, width: number, name: string, value: string): string[] {
  const label = `${harmless(name)}:`;
  const [first = "", ...rest] = plain(`${label} ${value}`, width, INDENT);
  const tinted = first.startsWith(`${INDENT}${label} `)
    ? INDENT + tint(look, label, "dim") + first.slice(INDENT.length + label.length)
    : first;
  return [tinted, ...rest];
}
