// The dependencies of the lesson service, and the context that its parts share.

import type { Expectations } from "../contracts/expectations.ts";
import type { LessonMessage } from "../contracts/lesson.ts";
import type { Verdict } from "../contracts/verdict.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Tenants } from "../store/records/tenants.ts";
import type { Database } from "../store/sqlite/database.ts";
import type { Learners } from "../store/workshop/learners.ts";
import type { LearnerProgress, LearnerUpdates, LearnerValues } from "./learner-progress.ts";
import type { LessonCall, ParsedLesson } from "./lesson-files.ts";

/** Verifies what happened since a baseline. A baseline is plain data and can be stored as JSON. */
export interface StepVerifier {
  takeBaseline(expectations: Expectations): unknown;
  since(mark: unknown, expectations: Expectations): { verdict: Verdict };
  /** Adapts a baseline of an earlier process to this one. */
  resume(mark: unknown): unknown;
}

export interface LessonDependencies {
  clock: Clock;
  database: Pick<Database, "transaction">;
  learners: Learners;
  tenants: Pick<Tenants, "first" | "require" | "keyOf">;
  verifier: StepVerifier;
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
  /** By merchant id. */
  progress: Map<string, LearnerProgress>;
  updates: LearnerUpdates;
  isStopped(): boolean;
  /** The values that replace the placeholders in a learner's lessons. */
  valuesOf(merchant: string): LearnerValues;
}
