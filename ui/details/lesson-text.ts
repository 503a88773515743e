// A lesson step as text: progress marks, prose, commands and the current hint.

import type { Lesson, LessonBlock, LessonStep } from "../../generated/control-api.ts";
import type { LearnerView } from "../state/learning-mode.ts";
import { fillLines, sanitize, widthOf } from "../view/cells.ts";
import { styled, symbols, type Theme } from "../view/style.ts";
import { paragraph, wrapped } from "./detail-lines.ts";

/** The step numbers, each marked as completed, skipped, current or to come. */
export function stepMarks(theme: Theme, { steps }: Lesson, { lesson, step, left }: LearnerView): string {
  const { good, cursor, skipped } = symbols(theme);
  const marks = steps.map(({ number }) => {
    const how = left.findLast((one) => one.lesson === lesson && one.step === number)?.how;
    if (number === step) return styled(theme, `${cursor}${number}`, "bold");
    if (how === "ticked") return styled(theme, `${good}${number}`, "green");
    return styled(theme, `${how === undefined ? " " : skipped}${number}`, "dim");
  });
  return marks.join("  ");
}

export function stepLines(theme: Theme, lesson: Lesson, step: LessonStep, { hint, hints }: LearnerView, width: number): string[] {
  const about = step.number === 1 ? proseLines(theme, lesson.about, width) : [];
  const file = lesson.file && step.number === 1 ? fileLines(theme, lesson.file.name, width) : [];
  const hintLines = hint === null ? [] : proseLines(theme, `Hint ${hints} of ${step.hints}: ${hint}`, width);
  const blocks = step.blocks.map((block) => blockLines(theme, block, width));
  const title = styled(theme, `${step.number}. ${step.title}`, "bold");
  return withBlankLines([about, file, [title], ...blocks, hintLines.map((line) => styled(theme, line, "yellow"))]);
}

const fileLines = (theme: Theme, name: string, width: number) =>
  paragraph(theme, width + INDENT, `Its file ${name} is in the directory where you started.`, "dim").map(outdented);

const INDENT = 2;
const outdented = (line: string) => line.replace(/^ {2}/, "");

/** Joins parts with a blank line between them. */
const withBlankLines = (parts: readonly (readonly string[])[]): string[] =>
  parts.filter((part) => part.length > 0).flatMap((part, index) => (index === 0 ? part : ["", ...part]));

function blockLines(theme: Theme, { kind, text }: LessonBlock, width: number): string[] {
  if (kind === "prose") return proseLines(theme, text, width);
  if (kind === "sh") return text.split("\n").flatMap((line) => commandLines(theme, line, width));
  return wrapped(text, width, "  | ").map((line) => styled(theme, line, "dim"));
}

/** A word or quoted string, together with the option before it. */
const WORDS = /(?:--?\w[\w-]* )?(?:"[^"]*"|'[^']*'|[^\s"'])+|\S+/g;

/** Wraps a command between its options; inside a quoted string only if it is wider than a line. Copying the command adds no breaks. */
function commandLines(theme: Theme, line: string, width: number): string[] {
  const indent = /^ */.exec(line)?.[0] ?? "";
  const room = Math.max(10, width - 2 * INDENT - indent.length);
  const words = (sanitize(line).match(WORDS) ?? []).flatMap((word) => (widthOf(word) > room ? word.split(" ") : [word]));
  return fillLines(words, room).map((one, index) => indent + " ".repeat(index === 0 ? INDENT : 2 * INDENT) + styled(theme, one, "green"));
}

/** The Markdown that lessons use: paragraphs, lists, links, bold and code. */
function proseLines(theme: Theme, text: string, width: number): string[] {
  const blocks = text.split(/\n{2,}/).map((block) => block.split(/\n(?=\s*(?:[-*]|\d+\.) )/));
  return withBlankLines(blocks.map((items) => items.flatMap((item) => markdownLines(theme, item, width))));
}

/** A paragraph or a list item. */
function markdownLines(theme: Theme, item: string, width: number): string[] {
  const [bullet = ""] = /^\s*(?:[-*]|\d+\.) /.exec(item) ?? [];
  const text = item
    .slice(bullet.length)
    .replaceAll(/\s+/g, " ")
    .replaceAll(/\[([^\]]+)\]\([^)\s]+\)/g, "$1")
    .replaceAll("**", "")
    .trim();
  let inCode = false;
  const lines = paragraph(theme, width + INDENT - bullet.length, text).map((line) => {
    const pieces = outdented(line).split("`");
    const shown = pieces.map((piece, index) => codeOr(theme, piece, index % 2 === 1 ? !inCode : inCode));
    if (pieces.length % 2 === 0) inCode = !inCode;
    return shown.join(theme.colours ? "" : "`");
  });
  return lines.map((line, index) => (index === 0 ? bullet : " ".repeat(bullet.length)) + line);
}

const codeOr = (theme: Theme, text: string, isCode: boolean) => (isCode && text !== "" ? styled(theme, text, "cyan") : text);
