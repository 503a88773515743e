// Checks the current step of a learner after each relevant event, and ticks it when its check holds. Nothing polls.

import type { LiveEvent } from "../contracts/live-messages.ts";
import { afterRealTime, afterThisTurn, realNow } from "../kernel/clock.ts";
import { currentStep, type LearnerProgress } from "./learner-progress.ts";
import type { LessonContext } from "./lesson-context.ts";
import { announce, moveTo } from "./steps.ts";

/** After a check, the next one waits four times as long as it took, so that checks use at most a fifth of the CPU. */
const REST_FACTOR = 4;

/** The merchant whose step an event may complete: null for all merchants, undefined for none. */
export function merchantToCheck(event: LiveEvent): string | null | undefined {
  if (event.kind === "request") return event.request.merchant ?? undefined;
  if (event.kind === "attempt") return event.attempt.merchant;
  if (event.kind === "verdict") return event.verdict.merchant ?? undefined;
  if (event.kind === "fault") return event.fault.merchant ?? undefined;
  return event.kind === "clock" ? null : undefined;
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
  const { row } = progress;
  const annotations = currentStep(lessons, row);
  if (context.isStopped() || progress.isMoving || !annotations || row.lesson === null || context.progress.get(row.merchant) !== progress)
    return;
  const startedAt = realNow();
  const { verdict } = context.verifier.since(progress.mark, { merchant: row.merchant, all: annotations.check });
  progress.nextCheckAt = realNow() + (realNow() - startedAt) * REST_FACTOR;
  if (verdict !== "pass") return;
  const hasMoved = await moveTo(context, lessons, progress, {
    lesson: row.lesson,
    step: row.step + 1,
    leaving: { steps: [row.step], how: "ticked" },
  });
  if (hasMoved) announce(context, lessons, progress, "ticked");
}
