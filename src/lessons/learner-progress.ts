// The progress of learners in this process: the context of the lesson service, a learner's state for clients, the
// learner's own values in texts, and waiting for a change.

import type { LearnerState, Lesson, LessonMessage } from "../contracts/lesson.ts";
import { afterRealTime, type Clock, realNow } from "../kernel/clock.ts";
import type { Learner } from "../store/lessons/learners.ts";
import type { Stores } from "../store/stores.ts";
import type { Baseline } from "../verify/baseline.ts";
import type { Verifier } from "../verify/verifier.ts";
import type { LessonCall, ParsedLesson, StepAnnotations } from "./lesson-files.ts";

export interface LessonDependencies extends Pick<Stores, "database" | "learners" | "tenants"> {
  clock: Clock;
  verifier: Pick<Verifier, "takeBaseline" | "since" | "resume">;
  /** The folder of the lesson files. */
  folder: string;
  /** The sandbox's URL. */
  url(): string;
  /** Creates a merchant and returns its id. */
  createMerchant(): string;
  /** Calls the service with the learner's key, or the control API. */
  call(call: LessonCall, apiKey: string): Promise<void>;
  publish(message: LessonMessage): void;
  report(error: unknown): void;
}

export interface LessonContext extends LessonDependencies {
  /** The lessons, read on the first call. */
  readLessons(): Promise<ParsedLesson[]>;
  /** The progress of each learner, by merchant id. */
  progress: Map<string, LearnerProgress>;
  updates: LearnerUpdates;
  isStopped(): boolean;
  /** The values that replace the placeholders in a learner's lessons. */
  valuesOf(merchant: string): LearnerValues;
}

export interface LearnerValues {
  /** The sandbox's URL, such as http://127.0.0.1:4747. */
  url: string;
  apiKey: string;
  merchant: string;
}

/** The values in the text of lessons, which a learner's own values replace. */
const PLACEHOLDERS = { url: /http:\/\/127\.0\.0\.1:4747\b/g, apiKey: /\bsk_test_lodge\b/g, merchant: /\bmer_lodge\b/g };

const personalText = (text: string, { url, apiKey, merchant }: LearnerValues) =>
  text
    .replace(PLACEHOLDERS.url, () => url)
    .replace(PLACEHOLDERS.apiKey, () => apiKey)
    .replace(PLACEHOLDERS.merchant, () => merchant);

/** A copy of a lesson or of a call with the learner's own values in all texts. */
export const personal = <T extends Lesson | LessonCall>(value: T, values: LearnerValues): T =>
  JSON.parse(JSON.stringify(value), (_, part) => (typeof part === "string" ? personalText(part, values) : part)) as T;

export type LearnerProgress = ReturnType<typeof newProgress>;

/** A learner's stored row, and the state that exists only in this process. */
export const newProgress = (row: Learner, mark: Baseline | undefined, hintAfter: number) => ({
  row,
  /** The verifier's baseline from the start of the step; undefined if the learner is at no step. */
  mark,
  /** The real time at which the step began or, if later, at which this process loaded it. */
  began: realNow(),
  /** Real milliseconds until the next hint of a step is shown automatically; 0 for never. */
  hintAfter,
  /** Whether the learner has called the service at this step since the last check. */
  hasRun: false,
  /** Cancels the timer of the automatic hint. */
  cancelHint: () => {},
  /** Incremented with each announced change. */
  version: 0,
  /** True while the calls between two steps run. Steps are not checked meanwhile. */
  isMoving: false,
  /** True while a check is scheduled. */
  isCheckScheduled: false,
  /** The real time before which no other check begins. */
  nextCheckAt: 0,
});

export const lessonByName = (lessons: readonly ParsedLesson[], name: string | null) =>
  lessons.find(({ lesson }) => lesson.name === name);

/** The step that a learner is at; undefined before the first lesson and at the end of one. */
export const currentStep = (lessons: readonly ParsedLesson[], { lesson, step }: Learner): StepAnnotations | undefined =>
  lessonByName(lessons, lesson)?.steps[step - 1];

export function learnerState(
  { learners, valuesOf }: Pick<LessonContext, "learners" | "valuesOf">,
  lessons: readonly ParsedLesson[],
  { row, began, version }: LearnerProgress,
): LearnerState {
  const index = lessons.findIndex(({ lesson }) => lesson.name === row.lesson);
  const lesson = lessons[index]?.lesson;
  const step = lesson?.steps[row.step - 1];
  const hint = currentStep(lessons, row)?.hints[row.hints - 1];
  const finishedSteps = learners.finished(row.merchant);
  return {
    id: row.merchant,
    name: row.name,
    lesson: lesson?.name ?? null,
    title: lesson?.title ?? null,
    step: step?.number ?? null,
    stepTitle: step?.title ?? null,
    steps: lesson?.steps.length ?? 0,
    completed: finishedSteps.filter((one) => one.lesson === row.lesson && one.how === "completed").length,
    hints: row.hints,
    hint: hint === undefined ? null : personalText(hint, valuesOf(row.merchant)),
    since: row.began,
    elapsed: Math.round(realNow() - began),
    next: lessons[index + 1]?.lesson.name ?? null,
    finishedSteps,
    version,
  };
}

export type LearnerUpdates = ReturnType<typeof createLearnerUpdates>;

export function createLearnerUpdates() {
  const waiting = new Map<string, Set<() => void>>();
  const notify = (id: string) => {
    for (const end of waiting.get(id) ?? []) end();
  };
  return {
    notify,
    /**
     * Resolves on the next notification for this learner, after `within` real milliseconds, or when the client has
     * gone.
     */
    wait: (id: string, within: number, gone?: AbortSignal) =>
      new Promise<void>((resolve) => {
        const own = waiting.get(id) ?? new Set();
        waiting.set(id, own);
        const end = () => {
          cancel();
          own.delete(end);
          if (own.size === 0 && waiting.get(id) === own) waiting.delete(id);
          resolve();
        };
        const cancel = afterRealTime(within, end);
        own.add(end);
        gone?.addEventListener("abort", end);
      }),
    /** Resolves all pending waits. */
    stop() {
      for (const id of [...waiting.keys()]) notify(id);
    },
  };
}
