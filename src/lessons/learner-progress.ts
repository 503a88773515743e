// How somebody who learns stands: what is kept of them, told as a row of the board.

import type { LearnerState } from "../contracts/lesson.ts";
import { realNow } from "../kernel/clock.ts";
import type { Learner, Learners } from "../store/workshop/learners.ts";
import type { Behind, WrittenLesson } from "./lesson-annotations.ts";
import { type Own, personalText } from "./personalize.ts";

/** Somebody who learns, in this process. */
export interface Standing {
  row: Learner;
  /** What was there before the step began; undefined where there is nothing to do. */
  mark: unknown;
  /** Real milliseconds at which the step began, or at which the process took it up. */
  began: number;
  /** Real milliseconds after which a hint is shown unasked. */
  patience: number;
  /** Ends the waiting for that. */
  calm(): void;
  /** How many news there were. */
  version: number;
  /** True while a step begins: nothing ticks meanwhile. */
  moving: boolean;
  /** True while a look is due. */
  waiting: boolean;
  /** Real moment before which no other look begins. */
  restsUntil: number;
}

export const standingOf = (row: Learner, mark: unknown, patience: number): Standing => ({
  row,
  mark,
  began: realNow(),
  patience,
  calm: () => {},
  version: 0,
  moving: false,
  waiting: false,
  restsUntil: 0,
});

export const lessonNamed = (lessons: readonly WrittenLesson[], name: string | null) => lessons.find(({ lesson }) => lesson.name === name);

/** The step that somebody is at; undefined where no lesson was begun, or it is over. */
export const behindOf = (lessons: readonly WrittenLesson[], { lesson, step }: Learner): Behind | undefined =>
  lessonNamed(lessons, lesson)?.steps[step - 1];

interface Shelf {
  learners: Pick<Learners, "left">;
  ownOf(merchant: string): Own;
}

export function stateOf({ learners, ownOf }: Shelf, lessons: readonly WrittenLesson[], { row, began, version }: Standing): LearnerState {
  const index = lessons.findIndex(({ lesson }) => lesson.name === row.lesson);
  const lesson = lessons[index]?.lesson;
  const step = lesson?.steps[row.step - 1];
  const hint = behindOf(lessons, row)?.hints[row.hints - 1];
  const left = learners.left(row.merchant);
  return {
    id: row.merchant,
    name: row.name,
    lesson: lesson?.name ?? null,
    title: lesson?.title ?? null,
    step: step?.number ?? null,
    stepTitle: step?.title ?? null,
    steps: lesson?.steps.length ?? 0,
    ticked: left.filter((one) => one.lesson === row.lesson && one.how === "ticked").length,
    hints: row.hints,
    hint: hint === undefined ? null : personalText(hint, ownOf(row.merchant)),
    since: row.began,
    elapsed: Math.round(realNow() - began),
    next: lessons[index + 1]?.lesson.name ?? null,
    left,
    version,
  };
}
