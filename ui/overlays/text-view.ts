// An overlay with a text to read, select and copy. It has no border beside its lines, so that a selection contains the text only.

import type { Overlay } from "../state/state.ts";
import { copyText } from "../state/updates.ts";
import { fillLines, sanitize, widthOf, wrap } from "../view/cells.ts";

export const textOverlay = (title: string, text: string): Overlay => ({
  title,
  scroll: 0,
  isBare: true,
  lines: (_, width) => text.split("\n").flatMap((line) => shellLines(sanitize(line), width)),
  keys: [{ keys: ["y"], label: "copy", help: "copy the text", run: (state) => copyText(state, text, "the text") }],
});

/** A word of a shell command, with the quoted strings in it. */
const WORD = /(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s"'\\])+/g;
const CONTINUED = " \\";

/** A command on lines of at most `width` cells that a shell reads as one. Text that is no command is only wrapped. */
function shellLines(command: string, width: number): string[] {
  if (widthOf(command) <= width) return [command];
  const words = command.match(WORD) ?? [];
  const room = width - CONTINUED.length;
  if (words.join(" ") !== command) return wrap(command, width);
  const lines = fillLines(
    words.flatMap((word) => pieces(word, room)),
    room,
  );
  return lines.map((line, index) => line + (index === lines.length - 1 || line.endsWith("\\") ? "" : CONTINUED));
}

/** Parts of a quoted string that is wider than a line: each is quoted, and continues on the next line. */
function pieces(word: string, room: number): string[] {
  if (widthOf(word) <= room) return [word];
  const inner = /^'([^']*)'$/.exec(word)?.[1];
  if (inner === undefined) return [word];
  const parts = wrap(inner, room - 3);
  return parts.map((part, index) => `'${part}'${index < parts.length - 1 ? "\\" : ""}`);
}
