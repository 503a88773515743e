// Tracks what each client sends while the service asks it for less: while its key is limited, when a wait is over, and during an outage.

import { realBusyTime } from "../kernel/clock.ts";
import type { EventLoopLag } from "../kernel/event-loop.ts";
import type { ObservedCall } from "./observed-call.ts";
import { startOf } from "./retry-evidence.ts";
import { LAG_WINDOW, watchLag } from "./retry-tracker.ts";
import { type Finding, type Outage, type Retry, type Returned, type Rule, SAMPLE_SIZE } from "./rules/rule.ts";
import { callSubject, type VerdictSubject } from "./verdict-log.ts";

export interface LoadTools {
  /** Runs every rule, and adds what it finds. */
  run(subject: VerdictSubject, find: (rule: Rule) => Finding | undefined): void;
  lag: EventLoopLag;
  /** The client's recent calls, oldest first. */
  recentOf(call: ObservedCall): readonly ObservedCall[];
}

interface CallerLoad {
  /** The limited calls to one path, until the wait that the first was asked for is over. */
  limited: { first: ObservedCall; after: ObservedCall[]; known: Set<string>; isReported: boolean } | undefined;
  /** Retries of calls that waited at the same time. */
  returned: Returned[];
  outage: Outage | undefined;
  /** Its calls of the last OUTAGE_SPAN. */
  failed: ObservedCall[];
}

const MAX_CALLERS = 100;
/** Allows for so many unseen workers, which may not know yet that the key is limited. */
const UNSEEN_WORKERS = 20;
/** Counting workers is slow, so they are counted once for this many calls. */
const CHECK_EVERY = 4;
const OUTAGE_SPAN = 1_000;
/** The number of calls that one worker may send in OUTAGE_SPAN during an outage. */
const FAILED_CALLS = 20;
/** Fewer failures in a row are no outage. */
const MIN_OUTAGE = 3;
/** Waits that end within this time end at the same time. */
const SAME_TIME = 1_000;

export function createCallerLoad(tools: LoadTools) {
  const callers = new Map<string, CallerLoad>();
  let idleAfter = 0;
  const loadOf = (call: ObservedCall): CallerLoad => {
    const known = callers.get(call.caller);
    if (known) return known;
    if (callers.size === MAX_CALLERS) callers.delete(callers.keys().next().value as string);
    const created = { limited: undefined, returned: [], outage: undefined, failed: [] };
    callers.set(call.caller, created);
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
    observeRetry: (retry: Retry) => observeReturn(loadOf(retry.to), retry, tools),
  };
}

const endOf = ({ answered, requestedWait }: ObservedCall) =>
  answered + (requestedWait?.milliseconds ?? 0) - (requestedWait?.tolerance ?? 0);

/** Counts calls to the path of the limited call. A call that was made before, such as a poll, may come from a worker that does not know. */
function observeLimit(load: CallerLoad, call: ObservedCall, isLimited: boolean, tools: LoadTools): void {
  if (load.limited && endOf(load.limited.first) <= call.arrived) {
    endLimit(load.limited, call, tools);
    load.limited = undefined;
  }
  const { limited } = load;
  if (!limited) {
    if (!isLimited) return;
    const known = new Set(
      tools
        .recentOf(call)
        .filter(({ request }) => request !== call.request)
        .map(addressOf),
    );
    watchLag(tools.lag, endOf(call) + SAME_TIME);
    load.limited = { first: call, after: [], known, isReported: false };
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

function endLimit({ first, after, isReported }: NonNullable<CallerLoad["limited"]>, back: ObservedCall, tools: LoadTools): void {
  if (isReported || (after.length > 1 && after.length > workersOn(back, tools))) return;
  tools.run(callSubject(back, [first]), (rule) => rule.onLimitRespected?.(first, after, back));
}

const workersOn = (call: ObservedCall, { recentOf }: LoadTools) =>
  countWorkers(recentOf(call).filter(({ method, path }) => method === call.method && path === call.path));

const addressOf = ({ method, path, search }: ObservedCall) => `${method} ${path}${search}`;

/** At least this many workers share the key: the most calls that were under way at once, or connections that carry several calls. */
function countWorkers(calls: readonly ObservedCall[]): number {
  const most = Math.max(
    1,
    ...calls.map((call) => calls.filter((other) => startOf(other) <= call.arrived && other.answered >= call.arrived).length),
  );
  const reused = new Set(calls.filter((call) => startOf(call) !== call.connection.opened).map(({ connection }) => connection));
  return Math.max(most, reused.size);
}

function observeOutage(load: CallerLoad, call: ObservedCall, tools: LoadTools): void {
  const isDown = call.failure === "unavailable" || call.failure === "failed";
  if (!isDown) {
    if (call.failure === undefined && !call.rejected) endOutage(load, call, tools);
    return;
  }
  load.outage ??= { first: call, calls: 0, most: 0, isReported: false };
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
  run(callSubject(back, [outage.first]), (rule) => rule.onOutageOver?.(outage, back));
}

/** Calls wait at the same time if each had failed before the first returns, and their waits end together; however late they return. */
function observeReturn(load: CallerLoad, { from, to }: Retry, tools: LoadTools): void {
  if (from.requestedWait?.form !== "seconds" || from.requestedWait.milliseconds === 0 || to.arrived < endOf(from)) return;
  const [first] = load.returned;
  if (first && (from.answered >= first.call.arrived || Math.abs(endOf(from) - endOf(first.from)) > SAME_TIME)) load.returned = [];
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
