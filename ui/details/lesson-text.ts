// A step of a lesson as it is read in a pane: what is done already, what to do, the command, and the hint.

import type { LearnerView, Lesson, LessonBlock, LessonStep } from "../../src/contracts/lesson.ts";
import { harmless, widthOf, wrap } from "../terminal/cells.ts";
import { type Look, signs, tint } from "../terminal/style.ts";
import { plain, sentences } from "./detail-lines.ts";

/** The steps by number: what became of those behind, where one is, what is to come. */
export function tickLine(look: Look, { steps }: Lesson, { lesson, step, left }: LearnerView): string {
  const { good, cursor, skipped } = signs(look);
  const marks = steps.map(({ number }) => {
    const how = left.findLast((one) => one.lesson === lesson && one.step === number)?.how;
    if (number === step) return tint(look, `${cursor}${number}`, "bold");
    if (how === "ticked") return tint(look, `${good}${number}`, "green");
    return tint(look, `${how === undefined ? " " : skipped}${number}`, "dim");
  });
  return marks.join("  ");
}

export function stepLines(look: Look, lesson: Lesson, step: LessonStep, { hint, hints }: LearnerView, width: number): string[] {
  const opening = step.number === 1 ? proseLines(look, lesson.about, width) : [];
  const file = lesson.file && step.number === 1 ? fileLines(look, lesson.file.name, width) : [];
  const hinted = hint === null ? [] : hintLines(look, `Hint ${hints} of ${step.hints}: ${hint}`, width);
  const blocks = step.blocks.map((block) => blockLines(look, block, width));
  return apart([opening, file, [tint(look, `${step.number}. ${step.title}`, "bold")], ...blocks, hinted]);
}

const fileLines = (look: Look, name: string, width: number) =>
  sentences(look, width + INDENT, `Its file ${name} is in the folder in which you began.`, "dim").map(outdented);

export const hintLines = (look: Look, words: string, width: number) =>
  proseLines(look, words, width).map((line) => tint(look, line, "yellow"));

const INDENT = 2;
const outdented = (line: string) => line.replace(/^ {2}/, "");

/** Parts with an empty line between them. */
const apart = (parts: readonly (readonly string[])[]): string[] =>
  parts.filter((part) => part.length > 0).flatMap((part, index) => (index === 0 ? part : ["", ...part]));

function blockLines(look: Look, { kind, text }: LessonBlock, width: number): string[] {
  if (kind === "prose") return proseLines(look, text, width);
  if (kind === "sh") return text.split("\n").flatMap((line) => commandLines(look, line, width));
  return plain(text, width, "  | ").map((line) => tint(look, line, "dim"));
}

/** A word, or what stands in quotation marks, with the option that it belongs to. */
const WORDS = /(?:--?\w[\w-]* )?(?:"[^"]*"|'[^']*'|[^\s"'])+|\S+/g;

/** A command, broken where it is too wide: in quotation marks only where there is no other way. What is copied has no such breaks. */
function commandLines(look: Look, line: string, width: number): string[] {
  const room = width - 2 * INDENT;
  const lines: string[] = [];
  const put = (words: string) => {
    const last = lines.at(-1);
    const joined = last === undefined ? words : `${last} ${words}`;
    if (widthOf(joined) <= room + (lines.length > 1 ? 0 : INDENT)) lines[Math.max(0, lines.length - 1)] = joined;
    else lines.push(words);
  };
  for (const words of harmless(line).match(WORDS) ?? []) for (const part of widthOf(words) > room ? words.split(" ") : [words]) put(part);
  const lead = /^ */.exec(line)?.[0] ?? "";
  const indentOf = (index: number) => " ".repeat(index === 0 ? INDENT : 2 * INDENT);
  return lines
    .flatMap((one, index) => wrap(one, room + (index === 0 ? INDENT : 0)))
    .map((one, index) => (index === 0 ? fitting(lead, one, width) : "") + indentOf(index) + tint(look, one, "green"));
}

/** The author's own indent, where there is room for it. */
const fitting = (lead: string, line: string, width: number) => (widthOf(line) + INDENT + lead.length <= width ? lead : "");

/** Markdown, as far as lessons use it: paragraphs and lists, broken anew; names of code stand out. */
function proseLines(look: Look, text: string, width: number): string[] {
  const blocks = text.split(/\n{2,}/).map((block) => block.split(/\n(?=\s*(?:[-*]|\d+\.) )/));
  return apart(blocks.map((items) => items.flatMap((item) => paragraph(look, item, width))));
}

function paragraph(look: Look, item: string, width: number): string[] {
  const [mark = ""] = /^\s*(?:[-*]|\d+\.) /.exec(item) ?? [];
  const words = item
    .slice(mark.length)
    .replaceAll(/\s+/g, " ")
    .replaceAll(/\[([^\]]+)\]\([^)\s]+\)/g, "$1")
    .replaceAll("**", "")
    .trim();
  let inCode = false;
  const lines = sentences(look, width + INDENT - mark.length, words).map((line) => {
    const pieces = outdented(line).split("`");
    const shown = pieces.map((piece, index) => codeOr(look, piece, index % 2 === 1 ? !inCode : inCode));
    if (pieces.length % 2 === 0) inCode = !inCode;
    return shown.join(look.colours ? "" : "`");
  });
  return lines.map((line, index) => (index === 0 ? mark : " ".repeat(mark.length)) + line);
}

const codeOr = (look: Look, text: string, isCode: boolean) => (isCode && text !== "" ? tint(look, text, "cyan") : text);
