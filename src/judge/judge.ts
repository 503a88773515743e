// The judge: gives verdicts on how clients retry and how receivers handle webhooks. It observes requests, fault firings
// and delivery attempts, and keeps the state of the rules for each merchant. It decides when a call arrives or when a
// deadline passes; one alarm in real time watches the deadlines. The judge never delays a response: a request that no
// rule needs costs one look-up, and all other work happens after the response.

import type { Firing } from "../contracts/fault.ts";
import type { AddedSandbox, VerdictFilter, VerdictMessage } from "../contracts/verdict.ts";
import { afterRealTimeIfRunning, afterThisTurn, realNow } from "../kernel/clock.ts";
import { matchesWildcard } from "../schema/conditions.ts";
import type { RequestEntry } from "../store/request-log/request-log.ts";
import type { checkVerdicts } from "../verify/check-verdicts.ts";
import type { RecordedAttempt } from "../webhooks/attempt-recorder.ts";
import { type CallBack, createCallBacks } from "./call-backs.ts";
import { createFirings } from "./firings.ts";
import { createMerchantTracker, type MerchantTracker, provisionalVerdicts } from "./merchant-tracker.ts";
import {
  createOperationFinder,
  describeCall,
  isUnanswered,
  type JudgedOperation,
  type Moment,
  type ObservedCall,
} from "./observed-call.ts";
import { createRecentCalls } from "./recent-calls.ts";
import { rules } from "./rules/index.ts";
import { buildVerdict, createVerdictLog, matchesFilter, subjectWithoutCall } from "./verdict-log.ts";

export type Judge = ReturnType<typeof createJudge>;

interface JudgeOptions {
  operations: readonly JudgedOperation[];
  /** The path prefix of requests to the operations, such as /v1. */
  prefix: string;
  /** Sandbox milliseconds. */
  now(): number;
  /** Returns which verdicts of a fault's `expect` are still missing. */
  checkVerdicts: typeof checkVerdicts;
  /** Whether a webhook of the merchant (default: of any) is in flight. */
  isDelivering(merchant?: string): boolean;
  /** Called with each final verdict. */
  onVerdict(verdict: VerdictMessage): void;
}

type JudgeState = ReturnType<typeof createState>;

const MAX_TRACKERS = 500;
const MAX_SANDBOXES = 1_000;
/** A rule compares a call with at most this many recent calls, enough to find other clients that make the same call. */
const MAX_RECENT = 64;

const createState = ({ operations, prefix, now, onVerdict, checkVerdicts, isDelivering }: JudgeOptions) => ({
  /** The current time on both clocks. */
  now: (): Moment => ({ real: realNow(), sandbox: now() }),
  checkVerdicts,
  isDelivering,
  log: createVerdictLog(onVerdict),
  firings: createFirings(),
  callBacks: createCallBacks(),
  calls: createRecentCalls(1_024),
  writes: createRecentCalls(256),
  /** The trackers by merchant. Requests without a known merchant share the tracker "". */
  trackers: new Map<string, MerchantTracker>(),
  operationOf: createOperationFinder(operations, prefix),
  /** Requests to observe at the end of this turn of the event loop. */
  queue: [] as RequestEntry[],
  /**
   * Rings when a verdict is due. The verdict then reaches the live stream even if no call arrives and nobody reads
   * verdicts.
   */
  alarm: createAlarm(),
});

export function createJudge(options: JudgeOptions) {
  const state = createState(options);
  const { firings } = state;
  const sandboxes: AddedSandbox[] = [];
  state.alarm.onRing(() => resolveAndSetAlarm(state));
  const forget = (merchant?: string, event = "a reset") => {
    drainQueue(state);
    state.log.forget(merchant, event);
    state.callBacks.forget(merchant);
    forgetCalls(state, merchant);
  };
  return {
    rules,
    request: requestQueue(state),
    /** Observes that a fault rule fired. Call it before the affected request or attempt ends. */
    fired: (firing: Firing) => firings.record(firing),
    attempt(attempt: EndedAttempt) {
      drainQueue(state);
      observeAttempt(state, attempt);
    },
    /** Final verdicts, oldest first, then provisional verdicts, which have no id. */
    verdicts(filter: VerdictFilter = {}) {
      drainQueue(state);
      return [...(filter.erased ? state.log.erased() : []), ...allVerdicts(state)].filter((found) =>
        matchesFilter(filter, found),
      );
    },
    /**
     * Whether a receiver of the merchant (default: of any) still has time to act on a delivery. A verdict on the
     * receiver can then still change.
     */
    isWatching: (merchant?: string) => isWatching(state, merchant),
    /**
     * Takes the result of a count of effects on these events, which decides whether their receiver acted once. `shown`
     * is undefined if the count did not pass.
     */
    counted: (events: ReadonlySet<string>, shown: string | undefined) => count(state, events, shown),
    /** The newest writes that followed from a delivery attempt, by the id of the request. */
    callBacks(): ReadonlyMap<string, CallBack> {
      drainQueue(state);
      return state.callBacks.all();
    },
    /** Registers a sandbox that a test created for itself, and adds its verdicts when it is closed. */
    adopt(added: AddedSandbox, verdicts: readonly VerdictMessage[]) {
      const open = sandboxes.find(({ sandbox, requests }) => sandbox === added.sandbox && requests === null);
      if (open) open.requests = added.requests;
      else if (sandboxes.length < MAX_SANDBOXES) sandboxes.push({ ...added });
      state.log.adopt(verdicts);
    },
    sandboxes: (): readonly AddedSandbox[] => sandboxes,
    /** Counts of all final verdicts since the last reset, including dropped ones. */
    made: () => state.log.made(),
    /** The number of final verdicts that are stored. */
    kept: () => state.log.kept(),
    /** Makes due verdicts final. Call this after sandbox time has jumped, because the alarm counts only real time. */
    resolveDue: () => resolveAndSetAlarm(state),
    /**
     * Makes pending verdicts final and publishes them, at the end of a run or before a reset (default: for all
     * merchants).
     */
    conclude: (merchant?: string) => conclude(state, merchant),
    /**
     * Deletes all data about one merchant (default: about all). Failed and inconclusive verdicts stay listed as erased;
     * their messages begin with "Before `event`" (default: a reset).
     */
    forget,
    /** Deletes all data. */
    clear() {
      forget();
      state.log.clearErased();
    },
    /** Makes the pending verdicts of a removed merchant final, and deletes all other data about it. */
    close(merchant: string) {
      conclude(state, merchant);
      state.log.close(merchant);
      forgetCalls(state, merchant);
    },
    /** Stops the alarm. */
    stop: state.alarm.stop,
  };
}

/** Keeps every request. At the end of this turn of the event loop, observes the requests that a rule may need. */
function requestQueue(state: JudgeState): (entry: RequestEntry) => void {
  const { calls, writes } = state;
  const observeQueue = () => drainQueue(state);
  return (entry) => {
    // Keeps a copy without the response body, which the judge does not read. The garbage collector copies entries that
    // stay in a ring buffer: for lists of 25 records, that took 28 µs each with the bodies and 14 µs without.
    const call = { ...entry, responseBody: "" };
    calls.record(call);
    if (call.method !== "GET" && call.status < 300) writes.record(call);
    if (state.queue.length === 0 && isIrrelevant(state, entry)) return;
    if (state.queue.push(entry) === 1) afterThisTurn(observeQueue);
  };
}

function count(state: JudgeState, events: ReadonlySet<string>, shown: string | undefined): void {
  drainQueue(state);
  for (const { receivers } of state.trackers.values()) receivers.counted(events, shown);
}

function resolveAndSetAlarm(state: JudgeState): void {
  drainQueue(state);
  state.alarm.by(resolve(state));
}

function isWatching(state: JudgeState, merchant: string | undefined): boolean {
  drainQueue(state);
  resolve(state);
  const owners = merchant === undefined ? [...state.trackers.keys()] : [merchant];
  const endOf = (owner: string) => state.trackers.get(owner)?.receivers.nextDue() ?? Infinity;
  return state.isDelivering(merchant) || owners.some((owner) => endOf(owner) < Infinity);
}

/**
 * Milliseconds by which a verdict may be late, so that a flood of deliveries rings the alarm at most ten times a
 * second.
 */
const ALARM_RESOLUTION = 100;

/** One timer, in real time. It does not keep the process alive. */
function createAlarm() {
  let ring = () => {};
  let cancel = () => {};
  let due = Infinity;
  return {
    onRing(listener: () => void) {
      ring = listener;
    },
    /** Rings shortly after this real time, or earlier. */
    by(at: number) {
      if (at >= due) return;
      cancel();
      due = at;
      cancel = afterRealTimeIfRunning(Math.max(0, at - realNow()) + ALARM_RESOLUTION, () => {
        due = Infinity;
        ring();
      });
    },
    stop: () => cancel(),
  };
}

function forgetCalls({ firings, calls, writes, trackers }: JudgeState, merchant: string | undefined): void {
  for (const part of [firings, calls, writes]) part.forget(merchant);
  if (merchant === undefined) trackers.clear();
  else trackers.delete(merchant);
}

/** Whether the request succeeded without a fault, and no earlier call or delivery is waiting for it. */
function isIrrelevant({ trackers, firings }: JudgeState, entry: RequestEntry): boolean {
  if (entry.status >= 400 || firings.has(entry.id) || isUnanswered(entry)) return false;
  const tracker = trackers.get(entry.merchant ?? "");
  return tracker === undefined || (tracker.isIdle(entry.arrived) && !tracker.receivers.isWatching(entry.arrived));
}

function drainQueue(state: JudgeState): void {
  const entries = state.queue;
  state.queue = [];
  for (const entry of entries) observeRequest(state, entry);
}

function observeRequest(state: JudgeState, entry: RequestEntry): void {
  const tracker = trackerOf(state, entry.merchant ?? "");
  const call = describe(state, entry);
  tracker.receivers.expire(call.arrived);
  if (call.isWrite) tracker.receivers.observeWrite(call);
  tracker.observe(call);
}

type EndedAttempt = Pick<RecordedAttempt, "message" | "began">;

function observeAttempt(state: JudgeState, { message, began }: EndedAttempt): void {
  const { receivers } = trackerOf(state, message.merchant);
  const now = realNow();
  const writes = state.writes.since(message.merchant, began).map((entry) => describe(state, entry));
  receivers.observe(message, state.firings.ofAttempt(message.id), began, now, writes);
}

const describe = ({ firings, operationOf }: JudgeState, entry: RequestEntry) =>
  describeCall(entry, firings.ofRequest(entry.id), operationOf(entry));

/** Finds or creates a merchant's tracker. At the limit, drops an empty tracker, or the oldest if none is empty. */
function trackerOf(state: JudgeState, merchant: string): MerchantTracker {
  const { trackers, log, alarm } = state;
  const existing = trackers.get(merchant);
  if (existing) return existing;
  if (trackers.size >= MAX_TRACKERS) {
    const empty = [...trackers].find(([, tracker]) => tracker.isIdle(realNow()) && tracker.receivers.isEmpty());
    trackers.delete(empty?.[0] ?? ([...trackers.keys()][0] as string));
  }
  const created = createMerchantTracker({
    log,
    recentTo: (call) => recentCallsTo(state, call),
    isDelivering: () => state.isDelivering(merchant),
    onAttributed: (write, cause) => state.callBacks.record(merchant, write.request, cause),
    onDue: alarm.by,
  });
  trackers.set(merchant, created);
  return created;
}

/** The merchant's newest calls to the address of `call`, up to and including it. */
const recentCallsTo = (state: JudgeState, { merchant, method, path, search, arrived }: ObservedCall): ObservedCall[] =>
  state.calls
    .matching(
      (entry) =>
        entry.merchant === merchant &&
        entry.method === method &&
        entry.path === path &&
        entry.search === search &&
        entry.arrived <= arrived,
      MAX_RECENT,
    )
    .map((entry) => describe(state, entry));

/** Makes due verdicts final. Returns when the next verdict is due, in real milliseconds. */
function resolve({ trackers, now: currentTime }: JudgeState): number {
  const now = currentTime();
  let nextDue = Infinity;
  for (const tracker of trackers.values()) {
    tracker.resolve(now);
    nextDue = Math.min(nextDue, tracker.nextDue());
  }
  return nextDue;
}

/** The final verdicts, and after them the provisional verdicts on pending retries and deliveries. */
function allVerdicts(state: JudgeState): VerdictMessage[] {
  const { trackers, log } = state;
  resolve(state);
  const now = state.now();
  const found = [...log.list(), ...[...trackers.values()].flatMap((tracker) => provisionalVerdicts(tracker, now))];
  const missing = findMissing(state, found).map(({ rule, finding, subject }) =>
    buildVerdict(rule, finding, subject, null),
  );
  return [...found, ...missing];
}

function conclude(state: JudgeState, merchant: string | undefined): void {
  drainQueue(state);
  const { trackers, log } = state;
  const now = state.now();
  for (const [owner, { retries, receivers }] of trackers) {
    if (merchant !== undefined && owner !== merchant) continue;
    receivers.expire(now.real);
    retries.conclude(now);
    receivers.conclude();
  }
  const missing = findMissing(state, log.list()).filter(
    ({ subject }) => merchant === undefined || subject.merchant === merchant,
  );
  for (const { rule, finding, subject } of missing) log.add(rule, finding, subject);
}

/** An inconclusive finding for each rule that a fired fault was set up to test and that has given no verdict. */
function findMissing({ firings, checkVerdicts }: JudgeState, made: readonly VerdictMessage[]) {
  return firings.expectedVerdicts().flatMap(({ firing, expected }) => {
    const rule = rules.find(({ id }) => expected.rules.some((pattern) => matchesWildcard(id, pattern)));
    if (!rule || checkVerdicts(made, expected).found > 0) return [];
    const message =
      `The fault ${firing.name ?? firing.ruleId} affected ${firing.requestId ?? firing.attemptId}, but nothing that ` +
      "followed decides this rule.";
    const subject = subjectWithoutCall(firing.merchant ?? undefined, firing.at, firing.ruleId);
    return [{ rule, finding: { verdict: "inconclusive" as const, message }, subject }];
  });
}
