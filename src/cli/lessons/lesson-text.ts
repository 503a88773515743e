// The text of a lesson on a plain terminal.

import type { LearnerState, Lesson, LessonBlock } from "../../contracts/lesson.ts";

type StepProgress = Pick<LearnerState, "step" | "completed" | "next">;

/**
 * The text of a learner's current step. The first step follows the lesson's introduction. At the end of the lesson, the
 * text gives the result and the next lesson. Wraps prose to `width` (default: no wrapping).
 */
export function currentStepText(lesson: Lesson, learner: StepProgress, width?: number): string {
  const step = lesson.steps[(learner.step ?? 0) - 1];
  if (!step) return finishedText(lesson, learner);
  const { number, title, blocks } = step;
  const text = [
    `[${lesson.name} ${number}/${lesson.steps.length}] ${title}`,
    ...blocks.map((block) => blockText(block, width)),
  ].join("\n\n");
  return number === 1 ? [lesson.title, wrapProse(lesson.about, width), text].join("\n\n") : text;
}

/** Wraps paragraphs to `width`; lists, tables and quotes are left unchanged. */
export function wrapProse(prose: string, width: number | undefined): string {
  if (width === undefined) return prose;
  const paragraphs = prose.split(/\n{2,}/);
  return paragraphs
    .map((text) => (/^(\s|[-|*>]|\d+\. )/m.test(text) ? text : wrapLines(text.split(/\s+/), width)))
    .join("\n\n");
}

function wrapLines(words: readonly string[], width: number): string {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines.join("\n");
}

function finishedText({ title, steps }: Lesson, { completed, next }: StepProgress): string {
  const score = completed === steps.length ? `all ${completed} steps` : `${completed} of ${steps.length} steps`;
  return (
    `"${title}" is complete: ${score} ` +
    `done.${next === null ? " It was the last lesson." : ` The next lesson is ${next}.`}`
  );
}

/** Indents code blocks, and marks output with a bar. */
function blockText({ kind, text }: LessonBlock, width: number | undefined): string {
  if (kind === "prose") return wrapProse(text, width);
  const mark = kind === "sh" ? "    " : "  | ";
  return text
    .split("\n")
    .map((line) => `${mark}${line}`.trimEnd())
    .join("\n");
}
