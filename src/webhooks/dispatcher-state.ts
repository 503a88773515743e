// The state that the parts of the dispatcher share: the queues, the attempts at each stage of their life, and the callers that wait for them.

import type { Clock } from "../kernel/clock.ts";
import type { Stores } from "../store/stores.ts";
import type { Attempt, AttemptRecorder, RecordedAttempt } from "./attempt-recorder.ts";
import type { EndpointQueue, EndpointQueues } from "./endpoint-queues.ts";
import type { TimingFaults } from "./faults/timing.ts";
import type { Outcome } from "./http/outcome.ts";
import type { Sender } from "./http/sender.ts";

export type AttemptListener = (attempt: RecordedAttempt) => void;

/** An attempt whose delivery is marked as sending. It holds a slot of its queue. */
export interface StartedAttempt {
  readonly attempt: Attempt;
  readonly queue: EndpointQueue;
}

/** An attempt that has been sent and is not recorded yet. */
export interface InFlightAttempt extends StartedAttempt {
  abort(): void;
  /** A reset or a stop has made its outcome irrelevant. */
  abandoned: boolean;
  /** Its concurrency slot has been released. */
  slotFreed: boolean;
  /** Resolves when the attempt is ready to be recorded, or is abandoned. */
  ended: Promise<void>;
  end(): void;
  /** Resolves when the outcome is recorded, or the attempt is abandoned. */
  settled: Promise<void>;
  settle(): void;
}

/** An attempt that has ended; its outcome is not recorded yet. */
export interface FinishedAttempt {
  readonly inFlight: InFlightAttempt;
  readonly outcome: Outcome;
  /** Undefined until the outcome is recorded, and when a reset has removed the delivery. */
  recorded: RecordedAttempt | undefined;
}

export interface DispatcherState extends Pick<Stores, "database" | "deliveries"> {
  readonly clock: Clock;
  readonly queues: EndpointQueues;
  readonly recorder: AttemptRecorder;
  readonly sender: Sender;
  readonly timing: TimingFaults;
  /** The transaction that starts due deliveries, while it is under way. */
  starting: Promise<void> | undefined;
  /** The attempts that `starting` begins, until they are sent. */
  started: StartedAttempt[];
  readonly inFlight: Set<InFlightAttempt>;
  /** The attempts that finished in this turn of the event loop: one transaction records them all. */
  finished: FinishedAttempt[];
  readonly listeners: Set<AttemptListener>;
  readonly waiters: Waiters;
  running: boolean;
  /** Reports a defect of the sandbox itself. */
  report(error: unknown): void;
}

/** Limits the open connections, even if every endpoint is dead. */
export const MAX_IN_FLIGHT = 1_024;
/** Real milliseconds before a failed write to the database is retried, for example when the disk is full. */
export const RETRY_WRITE_AFTER = 1_000;

export type Waiters = ReturnType<typeof createWaiters>;

/** The callers that wait until an attempt is recorded or abandoned. */
export function createWaiters() {
  let waiting: (() => void)[] = [];
  return {
    /** Resolves when the next attempt is recorded or abandoned. */
    next: () => new Promise<void>((resolve) => void waiting.push(resolve)),
    notify() {
      const notified = waiting;
      waiting = [];
      for (const resolve of notified) resolve();
    },
  };
}
