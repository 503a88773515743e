// Tracks each client's load: what it sends while rate-limited, when its retries return after a wait, and during an
// outage.

import { setBounded } from "../kernel/bounded-cache.ts";
import { realBusyTime } from "../kernel/clock.ts";
import type { EventLoopLag } from "../kernel/event-loop.ts";
import { isSameRequest, type ObservedCall } from "./observed-call.ts";
import { startOf } from "./retry-evidence.ts";
import { LAG_WINDOW, watchLag } from "./retry-tracker.ts";
import { backsOff } from "./rules/retry.ts";
import { type Finding, type Outage, type Retry, type Returned, type Rule, SAMPLE_SIZE } from "./rules/rule.ts";
import { callSubject, type VerdictSubject } from "./verdict-log.ts";

export interface LoadTools {
  /** Runs every rule, and logs its findings as verdicts. */
  run(subject: VerdictSubject, find: (rule: Rule) => Finding | undefined): void;
  lag: EventLoopLag;
  /** The client's recent calls, oldest first. */
  recentOf(call: ObservedCall): readonly ObservedCall[];
}

interface CallerLoad {
  /**
   * A rate-limited call and the later calls to its path, until its requested wait is over. `known` holds addresses
   * called before.
   */
  limited: { first: ObservedCall; after: ObservedCall[]; known: Set<string>; isReported: boolean } | undefined;
  /** Retries of calls whose requested waits ended together. */
  returned: Returned[];
  outage: Outage | undefined;
  /** The outage's failed calls within the last OUTAGE_SPAN. */
  failed: ObservedCall[];
}

const MAX_CALLERS = 100;
/** Calls allowed for workers that the judge has not seen, which may not know yet that the key is rate-limited. */
const UNSEEN_WORKERS = 20;
/** Workers are counted at every fourth call only, because counting is slow. */
const CHECK_EVERY = 4;
const OUTAGE_SPAN = 1_000;
/** The number of calls that one worker may send in OUTAGE_SPAN during an outage. */
const FAILED_CALLS = 20;
/** Failures in a row that make an outage. */
const MIN_OUTAGE = 3;
const MAX_RETRIED = 100;
/** Milliseconds within which waits count as ending together. */
const SAME_TIME = 1_000;

export function createCallerLoad(tools: LoadTools) {
  const callers = new Map<string, CallerLoad>();
  let idleAfter = 0;
  const loadOf = (call: ObservedCall): CallerLoad => {
    const known = callers.get(call.caller);
    if (known) return known;
    const created = { limited: undefined, returned: [], outage: undefined, failed: [] };
    setBounded(callers, call.caller, created, MAX_CALLERS);
    return created;
  };
  return {
    isIdle: (now: number) => idleAfter < now,
    observe(call: ObservedCall) {
      const isLimited = call.failure === "rate_limited" && (call.requestedWait?.milliseconds ?? 0) > 0;
      if (!isLimited && !call.failure && !callers.has(call.caller)) return;
      const load = loadOf(call);
      idleAfter = Math.max(idleAfter, isLimited ? endOf(call) : 0, call.failure ? call.answered + OUTAGE_SPAN : 0);
      observeLimit(load, call, isLimited, tools);
      observeOutage(load, call, tools);
    },
    observeRetry(retry: Retry) {
      const load = loadOf(retry.to);
      if (load.outage && load.outage.retried.size < MAX_RETRIED) load.outage.retried.add(retry.chain);
      observeReturn(load, retry, tools);
    },
  };
}

const endOf = ({ answered, requestedWait }: ObservedCall) =>
  answered + (requestedWait?.milliseconds ?? 0) - (requestedWait?.tolerance ?? 0);

/**
 * Collects calls to the limited path. Skips calls that the client also made before, such as polls: their worker may not
 * know of the limit.
 */
function observeLimit(load: CallerLoad, call: ObservedCall, isLimited: boolean, tools: LoadTools): void {
  if (load.limited && endOf(load.limited.first) <= call.arrived) {
    endLimit(load.limited, call, tools);
    load.limited = undefined;
  }
  const { limited } = load;
  if (!limited) {
    if (!isLimited) return;
    const before = tools.recentOf(call).filter(({ request }) => request !== call.request);
    watchLag(tools.lag, endOf(call) + SAME_TIME);
    load.limited = { first: call, after: [], known: new Set(before.map(addressOf)), isReported: false };
    return;
  }
  const isFromSamePath = call.method === limited.first.method && call.path === limited.first.path;
  if (!isFromSamePath || startOf(call) < limited.first.answered || limited.known.has(addressOf(call))) return;
  limited.after.push(call);
  if (limited.isReported || limited.after.length < UNSEEN_WORKERS || limited.after.length % CHECK_EVERY !== 0) return;
  if (limited.after.length < UNSEEN_WORKERS + workersOn(call, tools)) return;
  limited.isReported = true;
  const { first, after } = limited;
  tools.run(callSubject(first, [first]), (rule) => rule.onCallsWhileLimited?.(first, after));
}

function endLimit(
  { first, after, isReported }: NonNullable<CallerLoad["limited"]>,
  back: ObservedCall,
  tools: LoadTools,
): void {
  if (isReported || (after.length > 1 && after.length > workersOn(back, tools))) return;
  // An early retry is a finding of retry_after.honoured.
  if (after.some((call) => isSameRequest(first, call))) return;
  tools.run(callSubject(back, [first]), (rule) => rule.onLimitRespected?.(first, after, back));
}

const workersOn = (call: ObservedCall, { recentOf }: LoadTools) =>
  countWorkers(recentOf(call).filter(({ method, path }) => method === call.method && path === call.path));

const addressOf = ({ method, path, search }: ObservedCall) => `${method} ${path}${search}`;

/**
 * A lower bound of the workers that share the key: the most calls in flight at once, or the connections that carried
 * several calls.
 */
function countWorkers(calls: readonly ObservedCall[]): number {
  const most = Math.max(
    1,
    ...calls.map(
      (call) => calls.filter((other) => startOf(other) <= call.arrived && other.answered >= call.arrived).length,
    ),
  );
  const reused = new Set(calls.filter(({ isFirst }) => !isFirst).map(({ connection }) => connection));
  return Math.max(most, reused.size);
}

function observeOutage(load: CallerLoad, call: ObservedCall, tools: LoadTools): void {
  const isDown = call.failure === "unavailable" || call.failure === "failed";
  if (!isDown) {
    if (call.failure === undefined && !call.rejected) endOutage(load, call, tools);
    return;
  }
  load.outage ??= { first: call, calls: 0, most: 0, retried: new Set(), isReported: false };
  load.outage.calls++;
  load.failed = [...load.failed.filter(({ arrived }) => arrived >= call.arrived - OUTAGE_SPAN), call];
  load.outage.most = Math.max(load.outage.most, load.failed.length);
  if (load.outage.isReported || load.failed.length <= FAILED_CALLS || load.outage.calls % CHECK_EVERY !== 0) return;
  const limit = FAILED_CALLS * countWorkers(tools.recentOf(call));
  if (load.failed.length <= limit) return;
  load.outage.isReported = true;
  const { failed } = load;
  tools.run(callSubject(failed[0] as ObservedCall, failed), (rule) => rule.onOutage?.(failed, limit));
}

function endOutage(load: CallerLoad, back: ObservedCall, { run }: LoadTools): void {
  const { outage } = load;
  load.outage = undefined;
  load.failed = [];
  if (!outage || outage.calls < MIN_OUTAGE || outage.most > FAILED_CALLS) return;
  // A short loop of retries stays below the limit, but does not back off.
  if (![...outage.retried].every(backsOff)) return;
  run(callSubject(back, [outage.first]), (rule) => rule.onOutageOver?.(outage, back));
}

/**
 * Samples retries after equal waits: all calls failed before the first retry arrived, and their waits end together.
 * Retries may be late.
 */
function observeReturn(load: CallerLoad, { from, to }: Retry, tools: LoadTools): void {
  if (from.requestedWait?.form !== "seconds" || from.requestedWait.milliseconds === 0 || to.arrived < endOf(from))
    return;
  const [first] = load.returned;
  if (first && (from.answered >= first.call.arrived || Math.abs(endOf(from) - endOf(first.from)) > SAME_TIME))
    load.returned = [];
  load.returned.push({ from, call: to, busy: realBusyTime() });
  if (load.returned.length < SAMPLE_SIZE) return;
  const sample = load.returned;
  load.returned = [];
  const calls = sample.map(({ call }) => call);
  const start = (calls[0] as ObservedCall).arrived;
  const before = tools.lag.worst(start - LAG_WINDOW, start);
  const total = tools.lag.total(start - LAG_WINDOW, to.arrived);
  tools.run(callSubject(calls[0] as ObservedCall, calls), (rule) => rule.onReturn?.(sample, { before, total }));
}
