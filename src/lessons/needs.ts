// What lessons ask of the rest of the sandbox, and what their own parts share.

import type { Clock } from "../kernel/clock.ts";
import type { Expectations, Verdict } from "../kernel/expectations.ts";
import type { LessonMessage } from "../kernel/lesson.ts";
import type { Database } from "../store/database.ts";
import type { Learners } from "../store/learners.ts";
import type { Tenants } from "../store/tenants.ts";
import type { WrittenCall, WrittenLesson } from "./format.ts";
import type { News } from "./news.ts";
import type { Own } from "./personal.ts";
import type { Standing } from "./standing.ts";

/** Holds what came since a moment against a check; a mark is plain data. */
export interface Sight {
  mark(expectations: Expectations): unknown;
  since(mark: unknown, expectations: Expectations): { verdict: Verdict };
  /** A mark of an earlier process, as it counts in this one. */
  resume(mark: unknown): unknown;
}

export interface Needs {
  clock: Clock;
  database: Pick<Database, "commitNow">;
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
