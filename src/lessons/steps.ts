// From step to step: what is noted when one is left, what is done and marked when one begins, and who is told.

import type { LessonMessage, StepEnd } from "../contracts/lesson.ts";
import { afterRealTime, realNow } from "../kernel/clock.ts";
import type { Learner } from "../store/workshop/learners.ts";
import { behindOf, type Standing, stateOf } from "./learner-progress.ts";
import type { Behind, WrittenCall, WrittenLesson } from "./lesson-annotations.ts";
import type { Inner } from "./lesson-context.ts";
import { personalCall } from "./personalize.ts";

/** Where somebody goes, and what is noted of the steps that are left. */
export interface Move {
  lesson: string;
  step: number;
  /** The steps that are left behind, and how. */
  leaving: { steps: readonly number[]; how: StepEnd };
  /** Whether the lesson begins afresh. */
  afresh?: boolean;
}

/**
 * Goes to a step. `state` is done first, as the learner would have done it, then what the step itself needs. Until all of it is
 * done the learner stays where it was, and nothing ticks. Answers whether it came to that: a reset may have come between.
 */
export async function move(inner: Inner, lessons: WrittenLesson[], one: Standing, move: Move, state: WrittenCall[] = []): Promise<boolean> {
  const row: Learner = { ...one.row, lesson: move.lesson, step: move.step, hints: 0 };
  const behind = behindOf(lessons, row);
  one.moving = true;
  try {
    const whose = inner.ownOf(row.merchant);
    for (const call of [...state, ...(behind?.setup ?? [])]) await inner.call(personalCall(call, whose), whose.apiKey);
  } finally {
    one.moving = false;
  }
  if (inner.isStopped() || inner.standings.get(row.merchant) !== one) return false;
  const { hints } = one.row;
  const at = inner.clock.now();
  inner.database.transaction(() => {
    if (move.afresh) inner.learners.forget(row.merchant, move.lesson);
    for (const step of move.leaving.steps)
      inner.learners.leave(row.merchant, { lesson: move.lesson, step, how: move.leaving.how, hints: move.afresh ? 0 : hints, at });
    settle(inner, one, { ...row, began: at }, behind);
  });
  return true;
}

/** Marks what is there now, and keeps it. */
export function settle(inner: Inner, one: Standing, row: Learner, behind: Behind | undefined): void {
  one.mark = behind && inner.verifier.takeBaseline({ merchant: row.merchant, all: behind.check });
  one.row = { ...row, mark: JSON.stringify(one.mark ?? null) };
  one.began = realNow();
  inner.learners.put(one.row);
  awaitHint(inner, one, behind);
}

/** A hint comes unasked after a while, and so does the next one. */
export function awaitHint(inner: Inner, one: Standing, behind: Behind | undefined): void {
  one.calm();
  one.calm = () => {};
  if (one.patience === 0 || !behind || one.row.hints >= behind.hints.length) return;
  one.calm = afterRealTime(one.patience, () => void showHint(inner, one).catch(inner.report));
}

/** Shows the next hint, or the last one again. */
export async function showHint(inner: Inner, one: Standing): Promise<void> {
  const lessons = await inner.shelf();
  const behind = behindOf(lessons, one.row);
  if (inner.isStopped() || !behind || behind.hints.length === 0) return;
  one.row = { ...one.row, hints: Math.min(one.row.hints + 1, behind.hints.length) };
  inner.learners.put(one.row);
  awaitHint(inner, one, behind);
  announce(inner, lessons, one, "hint");
}

export function announce(inner: Inner, lessons: WrittenLesson[], one: Standing, news: LessonMessage["news"]): void {
  one.version++;
  inner.tell({ news, learner: stateOf(inner, lessons, one) });
  inner.news.ring(one.row.merchant);
}
