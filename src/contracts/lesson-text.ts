// A lesson on a plain terminal: its opening, a step, how one who learns stands.

import type { LearnerState, Lesson, LessonBlock, LessonStep } from "./lesson.ts";

type Stand = Pick<LearnerState, "step" | "ticked" | "next">;

/**
 * The step that a learner is at, with the lesson's opening before its first; what to do next where the lesson is over. Prose is
 * wrapProse anew for lines so wide, and left as it is written where no width is given.
 */
export function currentStepText(lesson: Lesson, learner: Stand, width?: number): string {
  const step = lesson.steps[(learner.step ?? 0) - 1];
  if (!step) return overText(lesson, learner);
  const text = stepText(lesson, step, width);
  return step.number === 1 ? [lesson.title, wrapProse(lesson.about, width), text].join("\n\n") : text;
}

function stepText({ name, steps }: Lesson, { number, title, blocks }: LessonStep, width: number | undefined): string {
  return [`[${name} ${number}/${steps.length}] ${title}`, ...blocks.map((block) => blockText(block, width))].join("\n\n");
}

/** What is a list or a table stays as it is written. */
export function wrapProse(prose: string, width: number | undefined): string {
  if (width === undefined) return prose;
  const paragraphs = prose.split(/\n{2,}/);
  return paragraphs.map((text) => (/^(\s|[-|*>]|\d+\. )/m.test(text) ? text : filled(text.split(/\s+/), width))).join("\n\n");
}

function filled(words: readonly string[], width: number): string {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines.join("\n");
}

function overText({ title, steps }: Lesson, { ticked, next }: Stand): string {
  const score = ticked === steps.length ? `all ${ticked} steps` : `${ticked} of ${steps.length} steps`;
  return `"${title}" is over: ${score} ticked.${next === null ? " It was the last one." : ` The next one is ${next}.`}`;
}

/** Fenced blocks stand out by being indented; what comes out is told from what goes in. */
function blockText({ kind, text }: LessonBlock, width: number | undefined): string {
  if (kind === "prose") return wrapProse(text, width);
  const mark = kind === "sh" ? "    " : "  | ";
  return text
    .split("\n")
    .map((line) => `${mark}${line}`.trimEnd())
    .join("\n");
}
