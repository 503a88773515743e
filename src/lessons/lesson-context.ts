// What lessons ask of the rest of the sandbox, and what their own parts share.

import type { Expectations } from "../contracts/expectations.ts";
import type { LessonMessage } from "../contracts/lesson.ts";
import type { Verdict } from "../contracts/verdict.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Tenants } from "../store/records/tenants.ts";
import type { Database } from "../store/sqlite/database.ts";
import type { Learners } from "../store/workshop/learners.ts";
import type { Standing } from "./learner-progress.ts";
import type { WrittenCall, WrittenLesson } from "./lesson-annotations.ts";
import type { News } from "./long-poll.ts";
import type { Own } from "./personalize.ts";

/** Holds what came since a moment against a check; a mark is plain data. */
export interface Sight {
  takeBaseline(expectations: Expectations): unknown;
  since(mark: unknown, expectations: Expectations): { verdict: Verdict };
  /** A mark of an earlier process, as it counts in this one. */
  resume(mark: unknown): unknown;
}

export interface Needs {
  clock: Clock;
  database: Pick<Database, "transaction">;
  learners: Learners;
  tenants: Pick<Tenants, "list">;
  verifier: Sight;
  /** Where the lessons are. */
  folder: string;
  /** Where the sandbox listens. */
  url(): string;
  /** A merchant for somebody who has none. */
  mint(): string;
  /** Makes a call of the service with a learner's key, or one of the control plane. */
  call(call: WrittenCall, apiKey: string): Promise<void>;
  tell(message: LessonMessage): void;
  report(error: unknown): void;
}

export interface Inner extends Needs {
  /** The lessons there are, read when somebody first asks. */
  shelf(): Promise<WrittenLesson[]>;
  /** By merchant. */
  standings: Map<string, Standing>;
  news: News;
  isStopped(): boolean;
  /** What somebody's lessons have in place of what is written. */
  ownOf(merchant: string): Own;
}
