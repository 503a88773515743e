// A lesson on a plain terminal: its opening, a step, how one who learns stands.

import type { LearnerState, Lesson, LessonBlock, LessonStep } from "./lesson.ts";

type Stand = Pick<LearnerState, "step" | "ticked" | "next">;

/** The step that a learner is at, with the lesson's opening before its first; what to do next where the lesson is over. */
export function placeText(lesson: Lesson, learner: Stand): string {
  const step = lesson.steps[(learner.step ?? 0) - 1];
  if (!step) return overText(lesson, learner);
  return step.number === 1 ? `${lesson.title}\n\n${lesson.about}\n\n${stepText(lesson, step)}` : stepText(lesson, step);
}

function stepText({ name, steps }: Lesson, { number, title, blocks }: LessonStep): string {
  return [`[${name} ${number}/${steps.length}] ${title}`, ...blocks.map(blockText)].join("\n\n");
}

function overText({ title, steps }: Lesson, { ticked, next }: Stand): string {
  const score = ticked === steps.length ? `all ${ticked} steps` : `${ticked} of ${steps.length} steps`;
  return `"${title}" is over: ${score} ticked.${next === null ? " It was the last one." : ` The next one is ${next}.`}`;
}

/** Fenced blocks stand out by being indented; what comes out is told from what goes in. */
function blockText({ kind, text }: LessonBlock): string {
  if (kind === "prose") return text;
  const mark = kind === "sh" ? "    " : "  | ";
  return text
    .split("\n")
    .map((line) => `${mark}${line}`.trimEnd())
    .join("\n");
}
