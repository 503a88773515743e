// Attempts in flight: due deliveries are marked as sending, sent, and recorded when their outcome is known.
//
// This is the relay of a transactional outbox. A delivery takes three transactions:
// 1. The operation writes its effect, the event and one pending delivery for each endpoint (store/webhooks/outbox.ts).
// 2. `startDue` marks due deliveries as sending. A request is sent only after this commit.
// 3. `recordFinished` logs the attempt, and finishes or reschedules its delivery. Listeners are called only after this
//    commit.
// A crash between 2 and 3 leaves a delivery as sending: the next start logs the attempt as aborted and retries. So
// every delivery is made at least once. Transactions 2 and 3 do not wait for the disk: a power failure may undo them,
// and then the attempt is made again.

import { afterPromises, type Clock, realDelay } from "../kernel/clock.ts";
import { SandboxError } from "../kernel/errors.ts";
import { notifyEach } from "../kernel/listeners.ts";
import { withResolvers } from "../kernel/with-resolvers.ts";
import type { Delivery, Receiver } from "../store/webhooks/deliveries.ts";
import {
  type DispatcherState,
  type FinishedAttempt,
  type InFlightAttempt,
  MAX_IN_FLIGHT,
  RETRY_WRITE_AFTER,
  type StartedAttempt,
} from "./dispatcher-state.ts";
import type { EndpointQueue } from "./endpoint-queues.ts";
import type { Outcome } from "./http/outcome.ts";

interface DueDelivery {
  readonly queue: EndpointQueue;
  readonly delivery: Delivery;
  readonly receiver: Receiver;
}

/**
 * The most attempts that one transaction starts: between transactions, the event loop can serve requests, even during a
 * flood of events.
 */
const MAX_STARTED_AT_ONCE = 64;

export const canStart = ({ running, starting, inFlight, clock }: DispatcherState) =>
  running && !starting && inFlight.size < (advancesFrozen(clock) ? 1 : MAX_IN_FLIGHT);

/**
 * While a frozen clock advances, attempts start in rounds, one for each endpoint: the advance waits for all of them
 * anyway.
 */
const advancesFrozen = (clock: Clock) => clock.mode === "frozen" && clock.isAdvancing();

/** Marks due deliveries as sending in one transaction, and sends them after its commit. */
export function startDue(state: DispatcherState): void {
  if (!canStart(state)) return;
  state.starting = state.database
    .groupCommit(() => markDue(state), "relaxed")
    // Requests that wait for the same commit, such as the one that emitted the event, get their response first.
    .then(() => new Promise<void>(afterPromises))
    .then(
      () => sendStarted(state),
      (error: unknown) => undoStarted(state, error),
    )
    .catch(state.report)
    .finally(() => {
      state.starting = undefined;
      state.clock.wake();
      state.waiters.notify();
    });
}

function markDue(state: DispatcherState): void {
  const { running, clock, queues, deliveries, inFlight, timing } = state;
  if (!running) return;
  const now = clock.now();
  if (timing.isActive()) for (const pending of timing.decideDue()) queues.add(pending);
  const most = Math.min(MAX_STARTED_AT_ONCE, MAX_IN_FLIGHT - inFlight.size);
  const due: DueDelivery[] = [];
  const served: EndpointQueue[] = [];
  for (const queue of queues.ready(now)) {
    if (due.length >= most) break;
    const receiver = deliveries.receiver(queue.merchant, queue.endpoint);
    const limit = Math.min(queues.freeSlots(queue), most - due.length);
    for (const delivery of deliveries.due(queue.merchant, queue.endpoint, now, limit)) {
      if (receiver) due.push({ queue, delivery, receiver });
      else deliveries.finish(delivery.sequence, "cancelled");
    }
    served.push(queue);
  }
  // Sorts by due time across all queues, because the order of the queues depends on which receiver responded first.
  due.sort(({ delivery: one }, { delivery: other }) => one.due - other.due || one.sequence - other.sequence);
  for (const one of due) markSending(state, one);
  for (const queue of served) queues.served(queue);
}

/** Begins the attempt of a delivery, and of the copies that a fault rule sends together with it. */
function markSending(
  { recorder, queues, started, timing }: DispatcherState,
  { queue, delivery, receiver }: DueDelivery,
): void {
  const begin = (one: Delivery) => {
    started.push({ queue, attempt: recorder.begin(one, receiver) });
    queues.takeSlot(queue);
  };
  begin(delivery);
  if (delivery.decided !== null) timing.startCopies(delivery).forEach(begin);
}

/** Call after the transaction was rolled back: its deliveries are pending again. */
async function undoStarted(state: DispatcherState, error: unknown): Promise<void> {
  dropStarted(state);
  if (!state.running) return;
  state.report(error);
  state.queues.load();
  await realDelay(RETRY_WRITE_AFTER);
}

function sendStarted(state: DispatcherState): void {
  for (const one of state.started.splice(0)) send(state, one);
}

function send(state: DispatcherState, { attempt, queue }: StartedAttempt): void {
  const { outcome, abort } = state.sender.send(attempt.request);
  const { promise: settled, resolve: settle } = withResolvers();
  const { promise: ended, resolve: end } = withResolvers();
  const inFlight: InFlightAttempt = {
    attempt,
    queue,
    abort,
    abandoned: false,
    slotFreed: false,
    ended,
    end,
    settled,
    settle,
  };
  const earlier = recordedBefore(state, inFlight);
  state.inFlight.add(inFlight);
  Promise.all([outcome, ...earlier])
    .then(([known]) => (inFlight.abandoned ? settle() : finish(state, inFlight, known)))
    .catch(state.report);
}

/**
 * The attempts that are recorded before this one. On a frozen clock, attempts are recorded in the order in which they
 * began: among all attempts while the clock advances, otherwise among the endpoint's, so that a slow endpoint delays no
 * other. Without this order, the numbers of attempts and verdicts, and the deliveries that a 410 cancels, would depend
 * on which receiver responded first.
 */
function recordedBefore({ clock, inFlight }: DispatcherState, { queue }: StartedAttempt): Promise<void>[] {
  if (clock.mode !== "frozen" || inFlight.size === 0) return [];
  return [...inFlight].filter((one) => one.queue === queue || advancesFrozen(clock)).map((one) => one.ended);
}

function finish(state: DispatcherState, inFlight: InFlightAttempt, outcome: Outcome): void {
  const { queues, clock, finished } = state;
  const { queue } = inFlight;
  queues.freeSlot(queue, outcome.errorCode === "dropped" ? queue.responds : outcome.responseStatus !== null);
  inFlight.slotFreed = true;
  inFlight.end();
  if (finished.push({ inFlight, outcome, recorded: undefined }) === 1)
    recordFinished(state, finished).catch(state.report);
  // Starts the next deliveries of the queue in the same commit.
  if ((queue.due ?? Infinity) <= clock.now()) startDue(state);
}

/**
 * Tests whether a time had come when this function was called, and has come. After a reset or restore has set the clock
 * back, a time may lie ahead again: to wait for it would take forever.
 */
export function dueByNow(clock: Clock): (time: number | null) => boolean {
  const horizon = clock.now();
  return (time) => (time ?? Infinity) <= Math.min(horizon, clock.now());
}

/** Resolves when every attempt that is due or in flight now has been recorded. */
export async function settled(state: DispatcherState): Promise<void> {
  const { clock, queues, inFlight } = state;
  const isDue = dueByNow(clock);
  const present = new Set(inFlight);
  const isAwaited = (one: InFlightAttempt) =>
    present.has(one) || isDue(one.attempt.delivery.due) || isDue(one.queue.due);
  while (state.running) {
    if (canStart(state) && isDue(queues.nextDue())) startDue(state);
    const awaited = [state.starting, ...[...inFlight].filter(isAwaited).map((one) => one.settled)].filter(
      (one) => one !== undefined,
    );
    if (awaited.length === 0) return;
    await Promise.all(awaited);
  }
}

/** Abandons the attempts of a merchant, or of all, and reads the pending deliveries from the database. */
export function reload(state: DispatcherState, merchant?: string): void {
  const { inFlight, started, recorder, queues, database } = state;
  dropStarted(state, merchant);
  for (const one of [...inFlight]) if (isOf(merchant, one)) abandon(state, one);
  const sending = new Set([...inFlight, ...started].map(({ attempt }) => attempt.delivery.sequence));
  database.transaction(() => recorder.recoverInterrupted((delivery) => sending.has(delivery)));
  state.timing.load();
  queues.load();
  state.waiters.notify();
}

/** Aborts an attempt without recording its outcome. */
export function abandon(state: DispatcherState, inFlight: InFlightAttempt): void {
  inFlight.abandoned = true;
  inFlight.end();
  state.inFlight.delete(inFlight);
  if (inFlight.slotFreed) state.queues.recorded(inFlight.queue, null);
  else releaseSlot(state, inFlight);
  inFlight.abort();
}

/** Drops attempts that have begun and are not sent yet, of one merchant or of all. */
function dropStarted(state: DispatcherState, merchant?: string): void {
  for (const one of state.started.splice(0)) {
    if (isOf(merchant, one)) releaseSlot(state, one);
    else state.started.push(one);
  }
}

/** Whether the attempt is one of the merchant; without a merchant, any is. */
export const isOf = (merchant: string | undefined, { attempt }: StartedAttempt) =>
  merchant === undefined || attempt.delivery.merchant === merchant;

function releaseSlot({ queues }: DispatcherState, { queue }: StartedAttempt): void {
  queues.freeSlot(queue, false);
  queues.recorded(queue, null);
}

/**
 * Records the outcomes of attempts, then reports them. Attempts that finish in the same turn of the event loop share a
 * transaction.
 */
async function recordFinished(state: DispatcherState, batch: FinishedAttempt[]): Promise<void> {
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
  reportCancelled(state);
  waiters.notify();
  for (const finished of batch) finished.inFlight.settle();
}

/**
 * Reports the endpoints whose pending deliveries were cancelled. Call after a commit. If an endpoint still has a
 * receiver, its cancellation was rolled back.
 */
export function reportCancelled({ outbox, deliveries, cancelled }: DispatcherState): void {
  for (const one of outbox.takeUnsubscribed()) if (!deliveries.receiver(one.merchant, one.endpoint)) cancelled(one);
}

/**
 * Records each attempt in its own transaction after the shared one failed, so that one failure does not affect the
 * others.
 */
async function recordEach(state: DispatcherState, batch: FinishedAttempt[]): Promise<void> {
  if (state.finished === batch) state.finished = [];
  await Promise.all(batch.map((finished) => recordAlone(state, finished)));
}

/**
 * Records an attempt, and retries while the database cannot be written. If the sandbox closes first, the next start
 * recovers the attempt, as after a crash.
 */
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
