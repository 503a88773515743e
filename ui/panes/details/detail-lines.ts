// The lines of details: sections, labelled values, paragraphs, headers and bodies, sanitized and wrapped to the width.

import { tryParseJson } from "../../../src/kernel/attempt.ts";
import { mask, maskValue } from "../../../src/kernel/mask.ts";
import { byteLength } from "../../../src/kernel/text.ts";
import type { Reference } from "../../state/state.ts";
import { fillLines, fitTo, sanitize, wrap } from "../../text/cells.ts";
import { count, indentJson } from "../../text/format.ts";
import { styled, type TextStyle, type Theme } from "../../text/style.ts";

/** A line of a detail: plain text, one of a link's lines, the first line of a body, or one of the band on top. */
export type DetailLine =
  | string
  | { text: string; link: Reference }
  | { text: string; isBody: true }
  | { text: string; band: "failed" | "good" };

/** A link: its lines are selected together, and Enter opens the row to which they refer. */
export const linkTo = (pane: string, id: string, lines: readonly string[]): DetailLine[] => {
  const link = { pane, id };
  return lines.map((text) => ({ text, link }));
};

/** The pane that has the details of each kind of step in a timeline or a trace. */
export const STEP_PANES = { request: "requests", event: "events", clock: "events", delivery: "deliveries" };

const section = (theme: Theme, heading: string, lines: readonly DetailLine[]): DetailLine[] =>
  lines.length === 0 ? [] : ["", styled(theme, heading, "bold"), ...lines];

export type DetailWriter = ReturnType<typeof detailWriter>;

/** Writes the lines of a detail, at its width. A field without a value has no line. */
export const detailWriter = (theme: Theme, width: number) => ({
  theme,
  width,
  field: (label: string, value: string | null | undefined, ...styles: TextStyle[]): string[] =>
    value == null ? [] : labelled(theme, width, label, value, ...styles),
  text: (text: string, ...styles: TextStyle[]) => paragraph(theme, width, text, ...styles),
  /** The outcome of a request or delivery, the first line of its details. */
  band: (text: string, isFailed: boolean): DetailLine[] =>
    fillLines(sanitize(text).split(" "), Math.max(10, width - 2)).map((line) => ({
      text: styled(theme, ` ${line} `, isFailed ? "failureBand" : "bold"),
      band: isFailed ? "failed" : "good",
    })),
  /** Text wrapped at any character, for what may be copied. */
  wrapped: (text: string, indent = INDENT) => wrapped(text, width, indent),
  /** One row wrapped between words, its further lines indented below the first. */
  row: (text: string, indent = INDENT) => row(text, width, indent),
  section: (heading: string, lines: readonly DetailLine[]) => section(theme, heading, lines),
  headers: (headers: Readonly<Record<string, unknown>>) => headerLines(theme, width, headers),
  body: (body: string, bytes: number) => bodySection(theme, width, body, bytes),
});

const INDENT = "  ";
const LABEL_WIDTH = 14;

/** A label with its value, wrapped beside the label. */
function labelled(theme: Theme, width: number, label: string, value: string, ...styles: TextStyle[]): string[] {
  const name = styled(theme, INDENT + fitTo(sanitize(label), LABEL_WIDTH), "dim");
  const room = Math.max(10, width - INDENT.length - LABEL_WIDTH - 1);
  const [first = "", ...rest] = value.split("\n").flatMap((line) => fillLines(sanitize(line).split(" "), room));
  return [
    `${name} ${styled(theme, first, ...styles)}`,
    ...rest.map((line) => " ".repeat(INDENT.length + LABEL_WIDTH + 1) + styled(theme, line, ...styles)),
  ];
}

/** Text wrapped at any character. */
export const wrapped = (text: string, width: number, indent = ""): string[] =>
  text
    .split("\n")
    .flatMap((line) => wrap(sanitize(line), Math.max(10, width - indent.length)).map((piece) => indent + piece));

const row = (text: string, width: number, indent: string): string[] =>
  fillLines(sanitize(text).split(" "), Math.max(10, width - indent.length - INDENT.length)).map(
    (line, index) => indent + (index === 0 ? "" : INDENT) + line.trim(),
  );

/** Text wrapped between words. */
export function paragraph(theme: Theme, width: number, text: string, ...styles: TextStyle[]): string[] {
  const room = Math.max(10, width - INDENT.length);
  return fillLines(sanitize(text).split(" "), room).map((line) => INDENT + styled(theme, line, ...styles));
}

const MAX_BODY_CHARACTERS = 16_384;

/** A body with its first line marked, because the key for bodies scrolls to it. */
function bodySection(theme: Theme, width: number, body: string, bytes: number): DetailLine[] {
  const [first = "", ...rest] = bodyLines(theme, width, body, bytes);
  return [{ text: first, isBody: true }, ...rest];
}

/**
 * A body: JSON is indented, anything else is shown as it is. `bytes` is the length before the log truncated it;
 * Infinity if the log truncated it and the length is unknown.
 */
export function bodyLines(theme: Theme, width: number, body: string, bytes: number): string[] {
  if (bytes === 0 && body === "") return [styled(theme, `${INDENT}(empty body)`, "dim")];
  // Masking secrets shortens a body too, but leaves valid JSON.
  const isCut = byteLength(body) < bytes && (bytes === Infinity || tryParseJson(body) === undefined);
  const text = mask(indentJson(body, isCut), MAX_BODY_CHARACTERS + 1);
  const isTruncated = isCut || text.length > MAX_BODY_CHARACTERS;
  const note = isTruncated
    ? [
        styled(
          theme,
          `${INDENT}truncated: this is the start of ${bytes === Infinity ? "a longer body" : `${count(bytes)} bytes`}`,
          "yellow",
        ),
      ]
    : [];
  const lines = text.slice(0, MAX_BODY_CHARACTERS).split("\n");
  return [...lines.flatMap((line) => jsonLine(theme, line, Math.max(10, width - INDENT.length))), ...note];
}

/**
 * A whole body with its secrets, for the client that received it: the secret of a new webhook endpoint is shown only
 * once.
 */
export const unmaskedBodyLines = (theme: Theme, width: number, body: string): string[] =>
  indentJson(body)
    .split("\n")
    .flatMap((line) => jsonLine(theme, line, width));

/** Matches a name, a string, or another value in a line of indented JSON. */
const JSON_TOKEN = /("(?:[^"\\]|\\.)*")(?=: )|("(?:[^"\\]|\\.)*")|-?\b\d[\d.eE+-]*|\b(?:true|false|null)\b/g;

/** A line of `JSON.stringify` with an indent: a name with its value or with an opening bracket, or a value alone. */
const JSON_LINE = /^\s*(?:"(?:[^"\\]|\\.)*"(?:: .+)?|-?\d[\d.eE+-]*|true|false|null),?$/;

/** Wraps a line, and colours the tokens of a line of JSON that needs no wrapping. */
function jsonLine(theme: Theme, line: string, width: number): string[] {
  const pieces = wrap(sanitize(line), width);
  const [text = "", ...rest] = pieces;
  if (rest.length > 0 || !theme.colours || !JSON_LINE.test(text)) return pieces.map((piece) => INDENT + piece);
  const colour = (token: string, name?: string, string?: string) => {
    const value = string === undefined ? "magenta" : "green";
    return styled(theme, token, name === undefined ? value : "cyan");
  };
  return [INDENT + text.replace(JSON_TOKEN, colour)];
}

/** The name of a header is dim, unless it is so long that it wraps. */
export const headerLines = (theme: Theme, width: number, headers: Readonly<Record<string, unknown>>): string[] =>
  Object.entries(maskValue(headers) as Readonly<Record<string, unknown>>).flatMap(([name, value]) => {
    const label = `${sanitize(name)}:`;
    const [first = "", ...rest] = wrapped(`${label} ${value}`, width, INDENT);
    if (!first.startsWith(`${INDENT}${label} `)) return [first, ...rest];
    return [INDENT + styled(theme, label, "dim") + first.slice(INDENT.length + label.length), ...rest];
  });
