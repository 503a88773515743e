// Records and then reports the outcomes of attempts. Attempts that finish in the same turn of the event loop share a transaction.

import { realDelay } from "../kernel/clock.ts";
import { SandboxError } from "../kernel/errors.ts";
import { notifyEach } from "../kernel/listeners.ts";
import { type DispatcherState, type FinishedAttempt, RETRY_WRITE_AFTER } from "./dispatcher-state.ts";

export async function recordFinished(state: DispatcherState, batch: FinishedAttempt[]): Promise<void> {
  const { database, queues, inFlight, listeners, waiters, clock } = state;
  const work = () => {
    // Attempts that finish from here on go into the next batch.
    state.finished = [];
    for (const finished of batch) recordOne(state, finished);
  };
  await database.groupCommit(work, "relaxed").catch(() => recordEach(state, batch));
  const recorded = batch.filter((finished) => !finished.inFlight.abandoned);
  for (const finished of recorded) {
    inFlight.delete(finished.inFlight);
    queues.recorded(finished.inFlight.queue, finished.recorded?.nextDue ?? null);
  }
  clock.wake();
  for (const finished of recorded) if (finished.recorded) notifyEach(listeners, finished.recorded, state.report);
  waiters.notify();
  for (const finished of batch) finished.inFlight.settle();
}

/** Records each attempt in its own transaction after the shared one failed, so that one failure does not affect the others. */
async function recordEach(state: DispatcherState, batch: FinishedAttempt[]): Promise<void> {
  if (state.finished === batch) state.finished = [];
  await Promise.all(batch.map((finished) => recordAlone(state, finished)));
}

/** Retries while the database cannot be written. Attempts unrecorded at shutdown are recovered at the next start, as after a crash. */
async function recordAlone(state: DispatcherState, finished: FinishedAttempt): Promise<void> {
  while (!finished.inFlight.abandoned) {
    try {
      return await state.database.groupCommit(() => recordOne(state, finished), "relaxed");
    } catch (error) {
      finished.recorded = undefined;
      if (!state.running) return;
      state.report(error);
      if (!(error instanceof SandboxError)) return;
    }
    await realDelay(RETRY_WRITE_AFTER);
  }
}

function recordOne({ recorder, queues, timing }: DispatcherState, finished: FinishedAttempt): void {
  const { inFlight, outcome } = finished;
  finished.recorded = undefined;
  if (inFlight.abandoned) return;
  finished.recorded = recorder.recordOutcome(inFlight.attempt, outcome);
  for (const pending of timing.attemptEnded(inFlight.attempt.delivery, outcome.errorCode === null)) queues.add(pending);
}
