// Matches retries with the failed calls that they repeat. A match by content alone is revised when a retry with the
// same Idempotency-Key follows. It is not revised if the matched retry dropped the key and took effect: the call then
// took effect twice, whatever follows.

import { CONFIRMATIONS, type Confirmation } from "../contracts/verdict.ts";
import {
  arrivalOf,
  isSameAddress,
  isSameRequest,
  type Moment,
  type ObservedCall,
  responseOf,
  waitBetween,
} from "./observed-call.ts";
import { evidenceOf } from "./retry-evidence.ts";
import type { Retry, RetryChain } from "./rules/rule.ts";

/** The ids of the verdicts on a call, by rule. */
export type VerdictIds = Map<string, string>;

/** A failed call whose retry has not arrived. */
export interface PendingRetry {
  readonly call: ObservedCall;
  readonly chain: RetryChain;
  /** Milliseconds from the response until the client counts as having given up. */
  readonly patience: number;
}

/** The earlier verdicts on a failed call, which its retry revises. */
export interface Revised {
  /** The verdicts on a retry that was matched by content, or the verdicts that say that no retry came. */
  readonly verdicts: VerdictIds;
  /** Whether another call was mistaken for the retry. */
  readonly hadRetry: boolean;
  /** How the true retry was recognised, such as `under its Idempotency-Key`: the end of a sentence. */
  readonly how: string;
}

/**
 * A failed call whose verdicts a later retry can revise, because the client only seemed to give up, or because an equal
 * call that continued `chain` may not be the retry.
 */
interface Revisable {
  readonly call: ObservedCall;
  /** The chain's calls up to and including `call`. */
  readonly calls: readonly ObservedCall[];
  readonly verdicts: VerdictIds;
  readonly chain: RetryChain | undefined;
  readonly until: number;
}

export interface RetryListeners {
  /** Returns the new verdicts. */
  onRetry(retry: Retry, revised?: Revised): VerdictIds;
  /** Returns the verdicts that a late retry may decide. */
  onChainEnd(chain: RetryChain, gaveUp: boolean): VerdictIds;
  /** Called at the end of the run if the retry has not arrived. Returns the verdicts that it may still decide. */
  onConclude(pending: PendingRetry, now: Moment): VerdictIds;
  /** Called when the oldest pending retry is dropped, because there are too many. */
  onDrop(pending: PendingRetry): void;
  /** Asks for a call of `resolve` at this real time. */
  onDue(at: number): void;
  /** Recent calls to the same address. */
  recent(call: ObservedCall): readonly ObservedCall[];
}

type Matched = Omit<Retry, "chain" | "waited">;

interface TrackerState {
  readonly pending: PendingRetry[];
  readonly revisable: Revisable[];
  readonly listeners: RetryListeners;
}

const MAX_PENDING = 500;
const MAX_LOOKALIKES = 20;

/**
 * A client counts as having given up after `factor` times the requested wait plus `extra`. If no wait was requested, it
 * counts as having given up after `withoutWait`.
 */
const PATIENCE = { factor: 2, extra: 2_000, withoutWait: 15_000 };
/** Milliseconds from a verdict in which a retry can revise it. */
const REVISED_WITHIN = 120_000;
/** This many equal calls in a row, none of which took effect, count as tries of one call, even with different keys. */
const TRIES_IN_A_ROW = 4;

/** Tracks the calls of one merchant. */
export function createRetryTracker(listeners: RetryListeners) {
  const state: TrackerState = { pending: [], revisable: [], listeners };
  const { pending, revisable } = state;
  return {
    pending,
    isIdle(now: number) {
      while (revisable[0] && revisable[0].until < now) revisable.shift();
      return pending.length === 0 && revisable.length === 0;
    },
    observe(call: ObservedCall) {
      const chain = revise(state, call) ?? retry(state, call);
      resolve(state, arrivalOf(call));
      if (call.failure)
        addPending(state, call, chain ?? { calls: [call], ownWaits: [], confirmedBy: "database", lookalikes: [] });
      else if (chain) listeners.onChainEnd(chain, false);
    },
    /** When the next chain ends if no further call arrives; Infinity without a pending chain. */
    nextDue: () => Math.min(Infinity, ...pending.map(deadlineOf)),
    /** Ends the chains whose deadline has passed. */
    resolve: (now: Moment) => resolve(state, now),
    /** Ends all chains, because the run is over. A retry that still arrives revises their verdicts. */
    conclude(now: Moment) {
      for (const ended of pending.splice(0)) addEnded(revisable, ended, listeners.onConclude(ended, now), now);
    },
  };
}

function addPending({ pending, listeners }: TrackerState, call: ObservedCall, chain: RetryChain): void {
  const { requestedWait } = call;
  const patience = requestedWait ? requestedWait.milliseconds * PATIENCE.factor + PATIENCE.extra : PATIENCE.withoutWait;
  if (pending.length === MAX_PENDING) listeners.onDrop(pending.shift() as PendingRetry);
  const added = { call, chain, patience };
  pending.push(added);
  listeners.onDue(deadlineOf(added));
}

/** Real milliseconds. */
const deadlineOf = ({ call, patience }: PendingRetry) => call.answered + patience;

const hasSameKey = (before: ObservedCall, call: ObservedCall) =>
  call.key !== undefined && before.key === call.key && isSameAddress(before, call) && before.answered <= call.arrived;

const isDue = (before: ObservedCall, call: ObservedCall) =>
  !before.requestedWait || waited(before, call) >= before.requestedWait.milliseconds - before.requestedWait.tolerance;

const waited = (before: ObservedCall, call: ObservedCall) => waitBetween(responseOf(before), arrivalOf(call));

/**
 * Continues the chain of the failed call that this call retries: a call with the same key, or else an equal call. Among
 * equal calls, one whose requested wait is over comes first.
 */
function retry(state: TrackerState, call: ObservedCall): RetryChain | undefined {
  const { pending, listeners, revisable } = state;
  const sameKey = pending.find((one) => hasSameKey(one.call, call));
  const { found = sameKey, isClear } = sameKey ? { isClear: true } : findEqual(state, call);
  if (!found) return undefined;
  pending.splice(pending.indexOf(found), 1);
  const before = [...found.chain.calls];
  if (!sameKey && !(isClear && isOneCaller(found.chain, call, state))) found.chain.isShared = true;
  const isCertain = sameKey !== undefined || (isClear && isProven(found, call));
  const hadEffect = found.chain.calls.some(({ tookEffect }) => tookEffect);
  const confirmedByTraffic = isClear ? "connections" : "time";
  const confirmedBy = sameKey || (isCertain && hadEffect) ? "database" : confirmedByTraffic;
  const retried: Matched = { from: found.call, to: call, isCertain, confirmedBy };
  const verdicts = continueChain(found.chain, retried, listeners);
  const isFromOther = found.call.connection !== call.connection && (!isClear || !isDue(found.call, call));
  const mayBeRevised = sameKey === undefined && (found.call.key !== undefined || isFromOther);
  if (mayBeRevised && !isSettled(retried))
    addRevisable(revisable, {
      call: found.call,
      calls: before,
      verdicts,
      chain: found.chain,
      until: call.arrived + REVISED_WITHIN,
    });
  return found.chain;
}

/**
 * Whether the retry certainly dropped the key and took effect. A later call with the key does not undo that. It may
 * come from a corrected client, or from the next run of a job.
 */
const isSettled = ({ from, to, isCertain }: Matched) =>
  isCertain && to.tookEffect && from.key !== undefined && to.key === undefined;

/**
 * Whether nothing shows another caller with the same API key: no equal call outside the chain has come since the chain
 * began, and no equal call of another chain waits for its retry.
 */
function isOneCaller({ calls }: RetryChain, call: ObservedCall, { pending, listeners }: TrackerState): boolean {
  if (pending.some((other) => other.call !== calls.at(-1) && isSameRequest(other.call, call))) return false;
  const began = (calls[0] as ObservedCall).arrived;
  return !otherThan(listeners.recent(call), [...calls, call]).some(
    (other) => other.arrived >= began && isSameRequest(other, call),
  );
}

/**
 * Whether an equal call is certainly a retry. With another key it may be a new order, unless an earlier call took
 * effect or many equal calls came in a row.
 */
const isProven = ({ call: before, chain }: PendingRetry, call: ObservedCall) =>
  before.key === call.key ||
  chain.calls.some(({ tookEffect }) => tookEffect) ||
  chain.calls.length + 1 >= TRIES_IN_A_ROW;

function findEqual(
  { pending, listeners }: TrackerState,
  call: ObservedCall,
): { found?: PendingRetry | undefined; isClear: boolean } {
  const equal = pending.filter((one) => isSameRequest(one.call, call));
  const recent = equal.length === 0 ? [] : listeners.recent(call);
  let early: PendingRetry | undefined;
  let unclear: PendingRetry | undefined;
  for (const one of equal) {
    const evidence = evidenceOf(one.call, call, otherThan(recent, one.chain.calls));
    if (evidence === "retry" && isDue(one.call, call)) return { found: one, isClear: true };
    if (evidence === "retry") early ??= one;
    if (evidence !== "unclear") continue;
    if (isDue(one.call, call)) unclear ??= one;
    if (one.chain.lookalikes.length < MAX_LOOKALIKES) one.chain.lookalikes.push(call);
  }
  return { found: early ?? unclear, isClear: early !== undefined };
}

const otherThan = (recent: readonly ObservedCall[], calls: readonly ObservedCall[]) =>
  recent.filter(({ request }) => calls.every((call) => call.request !== request));

/**
 * Replaces the verdicts on a call whose retry comes late: after an equal call was mistaken for it, or after the client
 * seemed to give up.
 */
function revise(state: TrackerState, call: ObservedCall): RetryChain | undefined {
  const { revisable, listeners } = state;
  const found =
    revisable.find((one) => hasSameKey(one.call, call)) ?? revisable.find((one) => isLateRetry(one, call, listeners));
  if (!found || found.until < call.arrived) return undefined;
  revisable.splice(revisable.indexOf(found), 1);
  if (found.chain) found.chain.calls.splice(0, found.chain.calls.indexOf(found.call) + 1);
  const chain: RetryChain = { calls: [...found.calls], ownWaits: [], confirmedBy: "database", lookalikes: [] };
  const isSameKey = hasSameKey(found.call, call);
  const confirmedBy = isSameKey ? "database" : "connections";
  if (!isSameKey && !isOneCaller(chain, call, state)) chain.isShared = true;
  continueChain(chain, { from: found.call, to: call, isCertain: true, confirmedBy }, listeners, {
    verdicts: found.verdicts,
    hadRetry: found.chain !== undefined,
    how: isSameKey ? "under its Idempotency-Key" : "on its connection",
  });
  return chain;
}

/**
 * Whether the call is the late retry of `before`. If `before` was matched with an equal call on another connection, a
 * further equal call on the connection of `before` shows that another program had sent the matched one.
 */
function isLateRetry(
  { call: before, calls, chain }: Revisable,
  call: ObservedCall,
  { recent }: RetryListeners,
): boolean {
  if (!isSameRequest(before, call) || !isDue(before, call)) return false;
  if (chain)
    return (
      before.key === undefined &&
      !before.isWrite &&
      call.connection === before.connection &&
      chain.calls.at(-1) !== before
    );
  return evidenceOf(before, call, otherThan(recent(call), calls)) !== "parallel";
}

function addRevisable(revisable: Revisable[], added: Revisable): void {
  if (revisable.length === MAX_PENDING) revisable.shift();
  revisable.push(added);
}

/** Keeps a call that ended without a retry, so that a late retry can revise its verdicts. */
function addEnded(revisable: Revisable[], { call, chain }: PendingRetry, verdicts: VerdictIds, now: Moment): void {
  const until = now.real + REVISED_WITHIN;
  addRevisable(revisable, { call, calls: [...chain.calls], verdicts, chain: undefined, until });
}

function continueChain(chain: RetryChain, matched: Matched, listeners: RetryListeners, revised?: Revised): VerdictIds {
  const { from, to, isCertain, confirmedBy } = matched;
  const pause = waited(from, to);
  chain.calls.push(to);
  chain.lookalikes.length = 0;
  chain.confirmedBy = weaker(chain.confirmedBy, confirmedBy);
  if (from.requestedWait === undefined && isCertain) chain.ownWaits.push(pause);
  return listeners.onRetry({ ...matched, chain, waited: pause }, revised);
}

const weaker = (one: Confirmation, other: Confirmation) =>
  CONFIRMATIONS.indexOf(one) > CONFIRMATIONS.indexOf(other) ? one : other;

export const isOverdue = ({ call, patience }: PendingRetry, now: Moment) =>
  waitBetween(responseOf(call), now) > patience;

/** Ends chains past their deadline. A retry that still arrives revises their verdicts. */
function resolve(state: TrackerState, now: Moment): void {
  const { pending, revisable, listeners } = state;
  for (const ended of pending.filter((one) => isOverdue(one, now))) {
    pending.splice(pending.indexOf(ended), 1);
    addEnded(revisable, ended, listeners.onChainEnd(ended.chain, true), now);
  }
}
