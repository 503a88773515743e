// The state that the parts of the dispatcher share: the queues, the attempts at each stage of their life, and the
// callers that wait for them.

import { createTimingFaults } from "../faults/delivery-timing.ts";
import { withResolvers } from "../kernel/with-resolvers.ts";
import type { Stores } from "../store/stores.ts";
import type { EndpointKey } from "../store/webhooks/outbox.ts";
import {
  type Attempt,
  type AttemptRecorderOptions,
  createAttemptRecorder,
  type RecordedAttempt,
} from "./attempt-recorder.ts";
import { createEndpointQueues, type EndpointQueue } from "./endpoint-queues.ts";
import type { Outcome } from "./http/outcome.ts";
import { createSender, type SenderOptions } from "./http/sender.ts";
import { createAttemptIds } from "./webhook-request.ts";

/** An attempt whose delivery is marked as sending. It holds a slot of its queue. */
export interface StartedAttempt {
  readonly attempt: Attempt;
  readonly queue: EndpointQueue;
}

/** An attempt that has been sent and is not recorded yet. */
export interface InFlightAttempt extends StartedAttempt {
  abort(): void;
  /** Whether a reset or a stop has made the outcome irrelevant. */
  abandoned: boolean;
  /** Whether the attempt's concurrency slot has been released. */
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

export type DispatcherState = ReturnType<typeof createDispatcherState>;

export interface DispatcherOptions
  extends Omit<AttemptRecorderOptions, "attemptId">,
    SenderOptions,
    Pick<Stores, "database" | "outbox" | "delayedDeliveries" | "heldEndpoints"> {
  /** The form of the signature. */
  signature: string;
  /** Called after the pending deliveries to an endpoint were cancelled. */
  cancelled(endpoint: EndpointKey): void;
  /** Reports a defect of the sandbox itself. */
  report(error: unknown): void;
}

export function createDispatcherState(given: DispatcherOptions) {
  const options = { ...given, attemptId: createAttemptIds(given.random) };
  return {
    ...options,
    queues: createEndpointQueues(options.deliveries, options.clock),
    recorder: createAttemptRecorder(options),
    sender: createSender(options),
    timing: createTimingFaults(options),
    /** The transaction that starts due deliveries, while it is under way. */
    starting: undefined as Promise<void> | undefined,
    /** The attempts that `starting` begins, until they are sent. */
    started: [] as StartedAttempt[],
    inFlight: new Set<InFlightAttempt>(),
    /** The attempts that finished in this turn of the event loop: one transaction records them all. */
    finished: [] as FinishedAttempt[],
    listeners: new Set<(attempt: RecordedAttempt) => void>(),
    waiters: createWaiters(),
    running: false,
    /** Whether the sandbox is closing, so that callers stop waiting for servers. */
    closing: false,
  };
}

/** Bounds the number of open connections, even if every endpoint is dead. */
export const MAX_IN_FLIGHT = 1_024;
/** Real milliseconds before a failed write to the database is retried, for example when the disk is full. */
export const RETRY_WRITE_AFTER = 1_000;

/** The callers that wait until an attempt is recorded or abandoned. */
function createWaiters() {
  let waiting = withResolvers();
  return {
    /** Resolves when the next attempt is recorded or abandoned. */
    next: () => waiting.promise,
    notify() {
      waiting.resolve();
      waiting = withResolvers();
    },
  };
}
