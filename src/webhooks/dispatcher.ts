// Delivers webhooks: begins the attempts that are due, records their outcomes, and replays and drains on request.

import type { MeasuredBehaviour } from "../contracts/fact.ts";
import { USUAL_SIGNATURE } from "../contracts/webhook.ts";
import { afterRealTime, afterThisTurn, type DueWork } from "../kernel/clock.ts";
import { fail } from "../kernel/errors.ts";
import { subscribeTo } from "../kernel/listeners.ts";
import { withResolvers } from "../kernel/with-resolvers.ts";
import { Type } from "../schema/shapes.ts";
import { settableFact } from "../store/assumptions.ts";
import { ENDPOINT_KIND } from "../store/webhooks/deliveries.ts";
import type { EndpointKey } from "../store/webhooks/outbox.ts";
import {
  createDispatcherState,
  type DispatcherOptions,
  type DispatcherState,
  type StartedAttempt,
} from "./dispatcher-state.ts";
import { acceptsConnections } from "./http/accepts-connections.ts";
import { abandon, canStart, dueByNow, isOf, reload, reportCancelled, settled, startDue } from "./in-flight.ts";
import { explainSignature, type SignatureDiagnosis } from "./signature-diagnosis.ts";

/** Seconds for which a receiver may take to respond. */
export const webhookTimeoutFact = settableFact<number>(
  "webhook.timeout",
  "time_out",
  10,
  Type.Number({ minimum: 0.001, maximum: 3_600 }),
);

export type Dispatcher = ReturnType<typeof createDispatcher>;

export function createDispatcher(options: DispatcherOptions) {
  const state = createDispatcherState(options);
  const { clock, listeners } = state;
  const due: DueWork = {
    nextDue: () => (canStart(state) ? state.queues.nextDue() : null),
    run: () => startDue(state),
    settled: () => settled(state),
  };
  /**
   * Call after the rows of one merchant, or of all, were replaced: abandons their attempts and reads the pending
   * deliveries again.
   */
  const reloadPending = (merchant?: string) => {
    reload(state, merchant);
    clock.wake();
  };
  return {
    /**
     * Begins to deliver; call it once the sandbox listens. `recover` also takes over the previous process's deliveries,
     * pending or in flight.
     */
    start({ recover }: { recover: boolean }) {
      state.running = true;
      clock.watch(due);
      state.faults.onRemoved(() => afterThisTurn(() => releaseHeldByRemoved(state)));
      state.outbox.onPending(() => startDue(state));
      state.outbox.attributeTo((merchant) => openEvent(state, merchant));
      if (recover) reloadPending();
    },
    /** Resolves when nothing is due and nothing is in flight, or after `within` real milliseconds. */
    drain: ({ within, gone }: { within: number; gone?: AbortSignal | undefined }) => drain(state, within, gone),
    /**
     * Like `drain`, for the deliveries of one merchant that are due or in flight now, for at most a webhook timeout.
     */
    drainMerchant: (merchant: string) => drainMerchant(state, merchant),
    /** Sends the event of a logged attempt to its endpoint once more. */
    replay: (merchant: string, attempt: string) => replayAttempt(state, merchant, attempt),
    /** Sends an event once more to every endpoint that subscribes to its type. */
    replayEvent: (merchant: string, event: string) => replay(state, merchant, event),
    /**
     * Call after the transaction of a request has committed, before the response is sent. Returns a promise when a
     * fault rule delivers webhooks of the request before the response.
     */
    afterCommit(request: string) {
      clock.wake();
      reportCancelled(state);
      return state.running && state.timing.isActive() ? deliverBeforeResponse(state, request) : undefined;
    },
    /** Sends the held deliveries, and marks the data as trusted. Resolves with the number of the deliveries. */
    async release() {
      const released = await state.database.groupCommit(() => {
        state.database.setTrusted(true);
        return state.deliveries.release(clock.now());
      });
      state.heldEndpoints.release();
      for (const pending of state.deliveries.pendingEndpoints().endpoints) state.queues.add(pending);
      clock.wake();
      return released;
    },
    /** Whether an attempt of the merchant (default: of any) is in flight. */
    isDelivering: (merchant?: string) => [...state.inFlight].some((one) => isOf(merchant, one)),
    /** Explains whether a signature fits a delivery to an endpoint and, if not, which mistake would produce it. */
    explain: (merchant: string, endpoint: string, body: string, signature: string) =>
      explain(state, merchant, endpoint, body, signature),
    async enable(merchant: string, endpoint: string) {
      const exists = await state.database.groupCommit(() => state.deliveries.enable(merchant, endpoint));
      if (!exists) noSuchEndpoint(endpoint);
    },
    /**
     * Begins no delivery to an endpoint until its server accepts connections. Resolves with false if the server does
     * not within `within` real milliseconds.
     */
    awaitServer: (endpoint: EndpointKey, limit: { within: number; gone?: AbortSignal | undefined }) =>
      awaitServer(state, endpoint, limit),
    /** Ends the waits of `awaitServer`. Call before the HTTP server waits for the calls in flight. */
    endWaits() {
      state.closing = true;
    },
    /** Calls the listener after each attempt is recorded. Returns a function that removes it. */
    listen: subscribeTo(listeners),
    reload: reloadPending,
    /**
     * Begins no more attempts. Attempts in flight are aborted after `within` real milliseconds; the next start recovers
     * them.
     */
    stop: (within: number) => stop(state, within),
  };
}

/** The only event that is in flight to endpoints of a merchant; undefined for none and for several. */
function openEvent({ inFlight }: DispatcherState, merchant: string): string | undefined {
  let found: string | undefined;
  for (const { attempt } of inFlight) {
    const { merchant: owner, eventId } = attempt.delivery;
    if (owner !== merchant || eventId === found) continue;
    if (found !== undefined) return undefined;
    found = eventId;
  }
  return found;
}

/** Real milliseconds that a busy machine may take to record an attempt that has timed out. */
const RECORDED_WITHIN = 1_000;

/** `pending` counts the deliveries that wait for a later attempt, and the held deliveries. */
async function drain(state: DispatcherState, within: number, gone: AbortSignal | undefined) {
  const { clock, queues, inFlight, deliveries } = state;
  const isIdle = () => !state.starting && inFlight.size === 0 && (queues.nextDue() ?? Infinity) > clock.now();
  const limit = timeLimit(within, gone);
  while (state.running && !limit.isOver() && !isIdle()) await Promise.race([settled(state), limit.expired]);
  limit.cancel();
  return { settled: isIdle(), pending: deliveries.pending(), inFlight: inFlight.size };
}

async function drainMerchant(state: DispatcherState, merchant: string): Promise<void> {
  const { clock, queues, inFlight, waiters, timeout } = state;
  const isDue = dueByNow(clock);
  const isOwn = (one: StartedAttempt) => isOf(merchant, one);
  const isBusy = () => isDue(queues.dueOf(merchant)) || state.started.some(isOwn) || [...inFlight].some(isOwn);
  if (!isBusy()) return;
  const limit = timeLimit(timeout + RECORDED_WITHIN);
  while (state.running && !limit.isOver() && isBusy()) {
    startDue(state);
    await Promise.race([waiters.next(), limit.expired]);
  }
  limit.cancel();
}

/** Sends the deliveries that removed rules had held back. */
function releaseHeldByRemoved(state: DispatcherState): void {
  const { database, timing, queues, clock } = state;
  if (!state.running) return;
  try {
    for (const pending of database.transaction(timing.releaseRemoved)) queues.add(pending);
  } catch (error) {
    state.report(error);
  }
  clock.wake();
}

/**
 * Evaluates the fault rules for a request's deliveries now, not when they are due: a rule may require a delivery before
 * the response.
 */
function deliverBeforeResponse(state: DispatcherState, request: string): Promise<void> | undefined {
  const { database, timing, queues, clock } = state;
  try {
    for (const pending of database.transaction(() => timing.decideForRequest(request))) queues.add(pending);
  } catch (error) {
    state.report(error);
  }
  if (!timing.delaysResponse(request)) return undefined;
  clock.wake();
  return waitForDeliveries(state, request);
}

/**
 * Waits for one webhook timeout at most: a receiver that calls the API before it responds would otherwise wait for
 * itself.
 */
async function waitForDeliveries(state: DispatcherState, request: string): Promise<void> {
  const { timing, waiters, timeout } = state;
  const limit = timeLimit(timeout);
  while (state.running && !limit.isOver() && timing.delaysResponse(request))
    await Promise.race([waiters.next(), limit.expired]);
  limit.cancel();
}

async function awaitServer(
  state: DispatcherState,
  endpoint: EndpointKey,
  { within, gone }: { within: number; gone?: AbortSignal | undefined },
): Promise<boolean> {
  const { url } = state.deliveries.receiver(endpoint.merchant, endpoint.endpoint) ?? noSuchEndpoint(endpoint.endpoint);
  state.targets.check(url);
  const limit = timeLimit(within, gone);
  const resume = state.queues.pause(endpoint);
  try {
    return await acceptsConnections(url, state.targets, () => state.closing || limit.isOver());
  } finally {
    limit.cancel();
    resume();
    state.clock.wake();
  }
}

/** A promise that resolves after real time or when the client has gone, unless it is cancelled. */
function timeLimit(milliseconds: number, gone?: AbortSignal) {
  const { promise: expired, resolve } = withResolvers();
  let isOver = false;
  const end = () => {
    isOver = true;
    resolve();
  };
  gone?.addEventListener("abort", end);
  return { expired, isOver: () => isOver, cancel: afterRealTime(milliseconds, end) };
}

async function replayAttempt(state: DispatcherState, merchant: string, id: string) {
  const { eventId, endpointId } =
    state.attempts.find(merchant, id) ?? fail("resource_not_found", `No such webhook_delivery: ${id}.`);
  if (!state.deliveries.receiver(merchant, endpointId))
    fail("invalid_state", `The endpoint ${endpointId} is deleted or disabled: nothing is delivered to it.`);
  return replay(state, merchant, eventId, endpointId);
}

/** The `id` of an attempt is the id that it will have in the log. */
async function replay(state: DispatcherState, merchant: string, eventId: string, endpoint?: string) {
  const replays = await state.database.groupCommit(() => state.outbox.replay(merchant, eventId, endpoint));
  if (!replays) fail("resource_not_found", `No such event: ${eventId}.`);
  state.clock.wake();
  const attempts = replays.map(({ endpoint: endpointId, number }) => ({
    id: state.attemptId({ merchant, endpoint: endpointId, eventId, replay: number, copy: 0 }, 1),
    endpointId,
  }));
  return { eventId, attempts };
}

function explain(
  { deliveries, sign, signature: form }: DispatcherState,
  merchant: string,
  endpoint: string,
  body: string,
  signature: string,
): SignatureDiagnosis {
  const secrets = deliveries.allSecrets(merchant);
  const own = secrets.find((found) => found.endpoint === endpoint) ?? noSuchEndpoint(endpoint);
  const event = /"id"\s*:\s*"(evt_\w+)"/.exec(body)?.[1];
  const sent = event === undefined ? undefined : deliveries.bodyOf(merchant, event);
  if (form === USUAL_SIGNATURE)
    return explainSignature({ ...own, body, signature, others: secrets.filter((other) => other !== own), sent });
  const matches = body === (sent ?? body) && signature === sign(body, own.secret, event ?? "");
  const explanation =
    `The sandbox signs with the ${form}; this is ${matches ? "" : "not "}the signature for this body and this ` +
    "secret.";
  return { matches, mistake: null, explanation };
}

const noSuchEndpoint = (endpoint: string) => fail("resource_not_found", `No such ${ENDPOINT_KIND}: ${endpoint}.`);

async function stop(state: DispatcherState, within: number): Promise<void> {
  state.running = false;
  state.waiters.notify();
  await state.starting;
  const limit = timeLimit(within);
  await Promise.race([Promise.all([...state.inFlight].map((one) => one.settled)), limit.expired]);
  limit.cancel();
  for (const one of [...state.inFlight]) abandon(state, one);
  state.sender.close();
}

export const behaviours: MeasuredBehaviour[] = [
  {
    id: "webhooks.guarantee",
    fact:
      "Every event is delivered to every subscribed endpoint at least once, in no guaranteed order. " +
      "Duplicates have the same id and the same bytes.",
    why: "The service's documentation promises the same id on every retry, which implies at-least-once delivery.",
  },
  {
    id: "webhooks.success",
    fact:
      "A delivery succeeds only with a 2xx response within 10 seconds. Redirects are not followed. " +
      "410 disables the endpoint.",
    why:
      "The service's documentation does not say how receivers should respond; " +
      "these are the strictest rules of comparable services.",
    setting: "--webhook-timeout",
    facts: [webhookTimeoutFact],
  },
  {
    id: "webhooks.headers",
    fact:
      "A delivery has no headers of its own beyond the four documented ones, `User-Agent` and what HTTP itself " +
      "requires. With `--trace-deliveries`, it carries the `traceparent` of the call that caused it, with a new span " +
      "for each attempt.",
    why: "The service's documentation lists four headers; receivers must not depend on others.",
    setting: "--trace-deliveries",
  },
  {
    id: "webhooks.test_events",
    fact:
      "A test event goes to the endpoints subscribed to its type, is retried and logged like any other, and is " +
      "accepted with no subscriber.",
    why:
      "The service's documentation says that it goes to the caller's endpoints, and that endpoints receive the " +
      "types they list.",
  },
  {
    id: "webhooks.log",
    fact:
      "The log keeps the newest 10,000 events, deliveries and attempts across all merchants, and everything " +
      "pending.",
    why:
      "The service's documentation does not say how long attempts are kept; " +
      "the log of a long-running sandbox must not grow without limit.",
  },
  {
    id: "webhooks.replay",
    fact:
      "A replay sends the same event once to the endpoint's current URL, signed with its current secret, and is " +
      "not retried.",
    why: "The service's documentation mentions replays but does not describe them.",
  },
];
