// Matches retries with the calls that they repeat: failed calls, which should be retried, and rejected calls, which should not.

import { isSameAddress, isSameRequest, type ObservedCall } from "./observed-call.ts";
import { type FirstPause, firstCall, type Retry, type RetryChain } from "./rules/rule.ts";

/** A failed call whose retry has not arrived. */
export interface PendingRetry {
  readonly call: ObservedCall;
  readonly chain: RetryChain;
  /** Real milliseconds. A client that retries has done so by then. */
  readonly deadline: number;
  /** The same request under another key, or too early: counts as the retry unless a better match arrives before the deadline. */
  candidate: ObservedCall | undefined;
  /** Whether an equal request arrived, which may be the retry or a parallel call: then a missing retry proves nothing. */
  ambiguous: boolean;
}

/** A rejected call, until the tracker knows whether the client repeats it. */
interface PendingRejection {
  readonly call: ObservedCall;
  readonly until: number;
}

export interface RetryListeners {
  onRetry(retry: Retry): void;
  onChainEnd(chain: RetryChain, gaveUp: boolean): void;
  onRejection(call: ObservedCall, repeat: ObservedCall | undefined): void;
  /** A call failed without a Retry-After. */
  onFailureWithoutWait(pending: PendingRetry): void;
  /** The first retry after a failure without a Retry-After. */
  onFirstPause(pause: Omit<FirstPause, "lag">): void;
  /** The oldest pending retry was dropped because there are too many. */
  onDrop(pending: PendingRetry): void;
}

export type RetryTracker = ReturnType<typeof createRetryTracker>;

const MAX_PENDING = 500;
const MAX_REJECTIONS = 100;

/** A client has given up after the requested wait times `factor` plus `extra`, or after `withoutWait` if the response named none. */
const PATIENCE = { factor: 2, extra: 2_000, withoutWait: 10_000 };
/** The same call later than this after its rejection counts as a new one. */
const REPEAT_WITHIN = 10_000;
/** After this time, a client knows a response even if it uses another connection. */
const KNOWN_AFTER = 250;

/** Tracks the calls of one merchant. */
export function createRetryTracker(listeners: RetryListeners) {
  const pendingRetries: PendingRetry[] = [];
  const rejections: PendingRejection[] = [];
  return {
    pending: pendingRetries,
    isIdle: () => pendingRetries.length === 0 && rejections.length === 0,
    observe(call: ObservedCall) {
      resolveRejections(rejections, call, listeners);
      const pending = findPending(pendingRetries, call);
      if (pending) removeFrom(pendingRetries, pending);
      markCandidates(pendingRetries, call, pending === undefined);
      resolve(pendingRetries, call.arrived, call, listeners);
      const chain = pending ? continueChain(pending, call, listeners) : { calls: [call], ownWaits: [] };
      if (call.failure) addPending(pendingRetries, call, chain, listeners);
      else if (pending) listeners.onChainEnd(chain, false);
      if (!call.rejected) return;
      if (rejections.length === MAX_REJECTIONS) rejections.shift();
      rejections.push({ call, until: call.answered + REPEAT_WITHIN });
    },
    /** Ends the chains whose deadline has passed. */
    resolve: (now: number) => resolve(pendingRetries, now, undefined, listeners),
  };
}

function addPending(pendingRetries: PendingRetry[], call: ObservedCall, chain: RetryChain, listeners: RetryListeners): void {
  const { requestedWait, answered } = call;
  const patience = requestedWait ? requestedWait.milliseconds * PATIENCE.factor + PATIENCE.extra : PATIENCE.withoutWait;
  if (pendingRetries.length === MAX_PENDING) listeners.onDrop(pendingRetries.shift() as PendingRetry);
  const pending = { call, chain, deadline: answered + patience, candidate: undefined, ambiguous: false };
  pendingRetries.push(pending);
  if (!requestedWait) listeners.onFailureWithoutWait(pending);
}

/**
 * The failed call that a call retries: one under the same key, else the same request without a key. The oldest one whose wait is over
 * comes first. Before that, only a call on the same connection is certainly a retry; any other one becomes a candidate.
 */
function findPending(pendingRetries: readonly PendingRetry[], call: ObservedCall): PendingRetry | undefined {
  const sameAddress = pendingRetries.filter((pending) => isSameAddress(pending.call, call) && pending.call.answered <= call.arrived);
  const sameKey = sameAddress.find((pending) => call.key !== undefined && pending.call.key === call.key);
  if (sameKey) return sameKey;
  const sameRequest = sameAddress.filter(
    (pending) => pending.call.key === undefined && isKnown(pending.call, call) && isSameRequest(pending.call, call),
  );
  return (
    sameRequest.find((pending) => isWaitOver(pending.call, call)) ??
    sameRequest.find((pending) => pending.call.connection === call.connection)
  );
}

const isWaitOver = ({ requestedWait, answered }: ObservedCall, call: ObservedCall) =>
  !requestedWait || call.arrived - answered >= requestedWait.milliseconds - requestedWait.tolerance;

/**
 * Whether the client knew the response to `before` when it sent `call`. Parallel calls use separate connections, which a busy machine
 * accepts a little late; none of them is a retry of another.
 */
const isKnown = (before: ObservedCall, call: ObservedCall) =>
  call.connection === before.connection || call.arrived - before.answered >= KNOWN_AFTER;

/**
 * The same request under another key, or too early, may be a new order of the same thing, so it only becomes a candidate until the
 * deadline. Where several equal calls are pending, a call that retries one of them makes the others ambiguous.
 */
function markCandidates(pendingRetries: readonly PendingRetry[], call: ObservedCall, isUnmatched: boolean): void {
  for (const pending of pendingRetries) {
    if (pending.call.answered > call.arrived || !isSameRequest(pending.call, call)) continue;
    pending.ambiguous = true;
    if (isUnmatched && isKnown(pending.call, call)) pending.candidate ??= call;
  }
}

function continueChain({ call: from, chain }: PendingRetry, to: ObservedCall, listeners: RetryListeners): RetryChain {
  const waited = to.arrived - from.answered;
  chain.calls.push(to);
  if (from.requestedWait === undefined) {
    chain.ownWaits.push(waited);
    if (firstCall(chain) === from) listeners.onFirstPause({ from, call: to, waited });
  }
  listeners.onRetry({ chain, from, to, waited });
  return chain;
}

/** `latest` is the call that has just arrived: it shows that its client is still running. Without that, a missing retry proves nothing. */
function resolve(pendingRetries: PendingRetry[], now: number, latest: ObservedCall | undefined, listeners: RetryListeners): void {
  for (const pending of pendingRetries.filter(({ deadline }) => deadline < now)) {
    const wentOn = latest?.caller === pending.call.caller;
    if (!pending.candidate && pending.chain.calls.length === 1 && !wentOn) continue;
    removeFrom(pendingRetries, pending);
    if (pending.candidate) continueChain(pending, pending.candidate, listeners);
    if (!pending.ambiguous || pending.chain.calls.length > 1) listeners.onChainEnd(pending.chain, pending.candidate === undefined);
  }
}

function resolveRejections(rejections: PendingRejection[], call: ObservedCall, listeners: RetryListeners): void {
  for (const rejection of rejections.filter(({ call: rejected }) => rejected.caller === call.caller && isKnown(rejected, call))) {
    const { call: rejected, until } = rejection;
    const inTime = call.arrived <= until;
    const same = inTime && rejected.key === call.key && isSameRequest(rejected, call);
    // With a key, a repeat is recognised after any number of other calls; without one, only the very next call can be a repeat.
    if (!same && inTime && rejected.key !== undefined) continue;
    removeFrom(rejections, rejection);
    listeners.onRejection(rejected, same ? call : undefined);
  }
}

function removeFrom<T>(list: T[], item: T): void {
  list.splice(list.indexOf(item), 1);
}
