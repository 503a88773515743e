// The lines of a detail: headings, names with values, headers and bodies, each made harmless and broken to the width.

import { harmless, wrap } from "../terminal/cells.ts";
import { type Look, type Tone, tint } from "../terminal/style.ts";

export const heading = (look: Look, text: string): string[] => ["", tint(look, text, "bold")];

/** A name and what it is, over as many lines as it takes. */
export function fact(look: Look, width: number, name: string, value: string, ...tones: Tone[]): string[] {
  const indent = 16;
  const [first = "", ...rest] = wrap(harmless(value), Math.max(10, width - indent));
  const label = tint(look, name.padEnd(indent - 1), "dim");
  return [`${label} ${tint(look, first, ...tones)}`, ...rest.map((line) => " ".repeat(indent) + tint(look, line, ...tones))];
}

/** Text as it is, broken where it is too wide. */
export const plain = (text: string, width: number, indent = ""): string[] =>
  text.split("\n").flatMap((line) => wrap(harmless(line), Math.max(10, width - indent.length)).map((piece) => indent + piece));

/** A body: JSON is set out for reading, everything else is shown as it came; how much of it is missing is said. */
export function bodyLines(look: Look, width: number, body: string, bytes: number): string[] {
  if (bytes === 0) return [tint(look, "  (empty)", "dim")];
  const shown = Buffer.byteLength(body);
  const rest = shown < bytes ? [tint(look, `  the first ${shown} of ${bytes} bytes`, "yellow")] : [];
  return [...plain(pretty(body), width, "  "), ...rest];
}

function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

export const headerLines = (width: number, headers: Record<string, unknown>): string[] =>
  Object.entries(headers).flatMap(([name, value]) => plain(`${name}: ${String(value)}`, width, "  "));
