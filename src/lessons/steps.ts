// The steps of a lesson: checks them when something happens, and moves a learner from one to another.

import type { LessonMessage, StepEnd } from "../contracts/lesson.ts";
import type { LiveEvent } from "../contracts/live-messages.ts";
import { afterRealTime, afterThisTurn, realNow } from "../kernel/clock.ts";
import type { Learner } from "../store/lessons/learners.ts";
import {
  currentStep,
  type LearnerProgress,
  type LessonContext,
  learnerState,
  lessonByName,
  personal,
} from "./learner-progress.ts";
import type { LessonCall, ParsedLesson, StepAnnotations } from "./lesson-files.ts";

/** The pause after a check is this many times as long as the check, so that checks use at most a fifth of the CPU. */
const REST_FACTOR = 4;

/** The merchant whose step an event may complete: null for all merchants, undefined for none. */
export function merchantToCheck(event: LiveEvent): string | null | undefined {
  if (event.kind === "request") return event.request.merchant ?? undefined;
  if (event.kind === "attempt") return event.attempt.merchant;
  if (event.kind === "verdict") return event.verdict.merchant ?? undefined;
  if (event.kind === "fault") return event.fault.merchant ?? undefined;
  return event.kind === "clock" ? null : undefined;
}

/**
 * Real milliseconds without a call after which a run of a learner's program counts as ended. The lessons' programs
 * pause for up to seven seconds.
 */
const RUN_GAP = 8_000;

/** Notes a call of a learner. Calls right after the start of a step belong to a run from the step before. */
export function noteRun(progress: LearnerProgress | undefined): void {
  if (progress && realNow() - progress.began > RUN_GAP) progress.hasRun = true;
}

/** Schedules one check, however many events arrive before it runs. */
export function scheduleCheck(context: LessonContext, progress: LearnerProgress): void {
  if (progress.isCheckScheduled || progress.mark === undefined) return;
  progress.isCheckScheduled = true;
  const rest = progress.nextCheckAt - realNow();
  const run = () => void checkStep(context, progress).catch(context.report);
  if (rest > 1) afterRealTime(rest, run);
  else afterThisTurn(run);
}

async function checkStep(context: LessonContext, progress: LearnerProgress): Promise<void> {
  const lessons = await context.readLessons();
  progress.isCheckScheduled = false;
  const { row, mark } = progress;
  const annotations = currentStep(lessons, row);
  if (context.isStopped() || progress.isMoving || context.progress.get(row.merchant) !== progress) return;
  if (!annotations || mark === undefined || row.lesson === null) return;
  const startedAt = realNow();
  const { verdict } = context.verifier.since(mark, { merchant: row.merchant, all: annotations.check });
  progress.nextCheckAt = realNow() + (realNow() - startedAt) * REST_FACTOR;
  const { hasRun } = progress;
  progress.hasRun = false;
  if (verdict !== "pass") {
    const isFix = lessonByName(lessons, row.lesson)?.lesson.steps[row.step - 1]?.mends === true;
    if (hasRun && isFix) scheduleHint(context, progress, annotations, Math.min(progress.hintAfter, RUN_GAP));
    return;
  }
  await moveTo(context, lessons, progress, {
    lesson: row.lesson,
    step: row.step + 1,
    ended: [row.step],
    how: "completed",
  });
}

/** The step to move to, and how the steps before it ended. */
export interface Move {
  lesson: string;
  step: number;
  ended: readonly number[];
  /** `prepared` starts the lesson again: its earlier results are deleted. */
  how: StepEnd;
}

/**
 * Moves a learner to a step. First makes the `state` calls of the skipped steps with the learner's key, then the setup
 * calls of the new step. Until all calls are done, the learner stays at the old step, which is not checked. The learner
 * does not move if a reset or a removal came in between.
 */
export async function moveTo(
  context: LessonContext,
  lessons: ParsedLesson[],
  progress: LearnerProgress,
  { lesson, step, ended, how }: Move,
  state: LessonCall[] = [],
): Promise<void> {
  const row: Learner = { ...progress.row, lesson, step, hints: 0 };
  const annotations = currentStep(lessons, row);
  progress.isMoving = true;
  try {
    const values = context.valuesOf(row.merchant);
    for (const call of [...state, ...(annotations?.setup ?? [])])
      await context.call(personal(call, values), values.apiKey);
  } finally {
    progress.isMoving = false;
  }
  if (context.isStopped() || context.progress.get(row.merchant) !== progress) return;
  const isAfresh = how === "prepared";
  const hints = isAfresh ? 0 : progress.row.hints;
  const at = context.clock.now();
  context.database.transaction(() => {
    if (isAfresh) context.learners.forget(row.merchant, lesson);
    for (const one of ended) context.learners.finish(row.merchant, { lesson, step: one, how, hints, at });
    startStep(context, progress, { ...row, began: at }, annotations);
  });
  announce(context, lessons, progress, isAfresh ? "began" : how);
}

/** Takes the baseline of a step, stores the learner and starts the hint timer. */
export function startStep(
  context: LessonContext,
  progress: LearnerProgress,
  row: Learner,
  annotations: StepAnnotations | undefined,
): void {
  progress.mark = annotations && context.verifier.takeBaseline({ merchant: row.merchant, all: annotations.check });
  progress.row = { ...row, mark: JSON.stringify(progress.mark ?? null) };
  progress.began = realNow();
  progress.hasRun = false;
  context.learners.put(progress.row);
  scheduleHint(context, progress, annotations);
}

/** Starts the timer of the next automatic hint, if there is one. */
function scheduleHint(
  context: LessonContext,
  progress: LearnerProgress,
  annotations: StepAnnotations | undefined,
  after = progress.hintAfter,
): void {
  progress.cancelHint();
  progress.cancelHint = () => {};
  if (after === 0 || !annotations || progress.row.hints >= annotations.hints.length) return;
  progress.cancelHint = afterRealTime(after, () => void showHint(context, progress).catch(context.report));
}

/** Shows the next hint; after the last one, shows it again. */
export async function showHint(context: LessonContext, progress: LearnerProgress): Promise<void> {
  const lessons = await context.readLessons();
  const annotations = currentStep(lessons, progress.row);
  if (context.isStopped() || !annotations || annotations.hints.length === 0) return;
  progress.row = { ...progress.row, hints: Math.min(progress.row.hints + 1, annotations.hints.length) };
  context.learners.put(progress.row);
  scheduleHint(context, progress, annotations);
  announce(context, lessons, progress, "hint");
}

export function announce(
  context: LessonContext,
  lessons: ParsedLesson[],
  progress: LearnerProgress,
  news: LessonMessage["news"],
): void {
  progress.version++;
  context.publish({ news, learner: learnerState(context, lessons, progress) });
  context.updates.notify(progress.row.merchant);
}
