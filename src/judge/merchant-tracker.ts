// Tracks one merchant's clients and webhook receivers, and runs every rule on their calls and responses.

import type { AttemptMessage } from "../contracts/live-messages.ts";
import type { Verdict, VerdictMessage } from "../contracts/verdict.ts";
import type { CallBack } from "./call-backs.ts";
import { arrivalOf, isSameRequest, type Moment, type ObservedCall, responseOf, waitBetween } from "./observed-call.ts";
import { createReceivers, type ReceiverListeners } from "./receivers.ts";
import { startOf } from "./retry-evidence.ts";
import {
  createRetryTracker,
  isOverdue,
  type PendingRetry,
  type RetryListeners,
  type Revised,
  type VerdictIds,
} from "./retry-tracker.ts";
import { rules } from "./rules/index.ts";
import {
  type Finding,
  firstCall,
  MAX_EQUAL_REJECTIONS,
  type RepeatDelivery,
  type Retry,
  type RetryChain,
  type Rule,
} from "./rules/rule.ts";
import {
  type AddFinding,
  buildVerdict,
  callSubject,
  subjectWithoutCall,
  type VerdictLog,
  type VerdictSubject,
} from "./verdict-log.ts";

export type MerchantTracker = ReturnType<typeof createMerchantTracker>;

/** The parts of the judge that all trackers share. */
export interface TrackerTools {
  readonly log: VerdictLog;
  /** Recent calls of the merchant to the same address. */
  recentTo(call: ObservedCall): readonly ObservedCall[];
  /** Whether a webhook of the merchant is in flight. */
  isDelivering(): boolean;
  /** Called when a write is attributed to a delivery attempt, or no longer to any (`cause` is undefined). */
  onAttributed(write: ObservedCall, cause: CallBack | undefined): void;
  /** Asks for a call of `resolve` at this real time. */
  onDue(at: number): void;
}

export function createMerchantTracker(tools: TrackerTools) {
  const { log } = tools;
  const retries = createRetryTracker(retryListeners(tools));
  const receivers = createReceivers(receiverListeners(tools));
  const rejections = createRejectionTracker(({ calls, verdict }) => {
    const [first] = calls as [ObservedCall];
    const [id] = runRules(log.add, callSubject(first, [first]), (rule) => rule.onRejection?.(calls), verdict).values();
    return id;
  });
  return {
    retries,
    receivers,
    /** Makes due verdicts final. */
    resolve(now: Moment) {
      retries.resolve(now);
      receivers.resolve(now.real);
    },
    /** The real time at which `resolve` next has a verdict to make final; Infinity when none is pending. */
    nextDue: () => Math.min(retries.nextDue(), receivers.nextDue()),
    /** Whether no earlier call is waiting for a later one. */
    isIdle: (now: number) => retries.isIdle(now) && rejections.isIdle(),
    observe(call: ObservedCall) {
      rejections.observe(call);
      retries.observe(call);
    },
  };
}

/**
 * Runs each rule, logs its findings and returns the ids of the verdicts. `amended` is the id of an earlier verdict to
 * replace.
 */
function runRules(
  add: AddFinding,
  subject: VerdictSubject,
  run: (rule: Rule) => Finding | undefined,
  amended?: string,
): VerdictIds {
  const ids: VerdictIds = new Map();
  for (const rule of rules) {
    const finding = run(rule);
    if (finding) ids.set(rule.id, add(rule, finding, subject, amended));
  }
  return ids;
}

function retryListeners({ log, recentTo, onDue }: TrackerTools): RetryListeners {
  const { add } = log;
  /** Inconclusive verdicts on chains. A further try may decide these verdicts. */
  const open = new WeakMap<RetryChain, VerdictIds>();
  return {
    onRetry(retry, revised) {
      const { chain, from, to } = retry;
      const undecided = open.get(chain) ?? new Map<string, string>();
      open.set(chain, undecided);
      const ids: VerdictIds = new Map();
      for (const rule of rules) {
        const finding = rule.onRetry?.(retry);
        if (!finding) continue;
        const earlier = replaceable(log, rule, finding, revised);
        if (earlier !== undefined) revised?.verdicts.delete(rule.id);
        const id = add(rule, finding, callSubject(to, [from], retry.confirmedBy), earlier ?? undecided.get(rule.id));
        ids.set(rule.id, id);
        if (finding.isOpen) undecided.set(rule.id, id);
        else undecided.delete(rule.id);
      }
      if (revised) retract(log, retry, revised);
      return ids;
    },
    onDue,
    onChainEnd: (chain, gaveUp) => runOnChain(add, chain, (rule) => rule.onChainEnd?.(chain, gaveUp)),
    onConclude: (pending, now) => runOnPending(add, pending, now),
    onDrop: ({ chain }) => void runOnChain(add, chain, (rule) => rule.whilePending?.(chain, 0)),
    recent: recentTo,
  };
}

/**
 * The id of the earlier verdict that the finding replaces. Only another failure replaces a failure that an earlier
 * retry proved.
 */
function replaceable(log: VerdictLog, rule: Rule, finding: Finding, revised: Revised | undefined): string | undefined {
  const id = revised?.verdicts.get(rule.id);
  if (id === undefined || !revised?.hadRetry || finding.verdict === "fail") return id;
  return log.hasFailed(id) ? undefined : id;
}

/** Withdraws the earlier verdicts that no finding has replaced. A failure becomes inconclusive instead. */
function retract(log: VerdictLog, { from, to }: Retry, { verdicts, how }: Revised): void {
  for (const id of verdicts.values()) {
    if (log.hasFailed(id))
      log.doubt(
        id,
        `But ${to.request} repeated ${from.request} ${how}, so another caller may have made the call that counted as ` +
          "its retry.",
      );
    else log.withdraw(id, `${to.request} is the retry of ${from.request}.`, [from, to]);
  }
}

const isJudged = (verdict: Verdict) => (repeat: RepeatDelivery) =>
  rules.some((rule) => rule.onRepeatDelivery?.(repeat)?.verdict === verdict);

const receiverListeners = ({ log, isDelivering, onAttributed, onDue }: TrackerTools): ReceiverListeners => ({
  isDelivering,
  onAttributed,
  onDue,
  onDelivery: (delivery) =>
    void runRules(log.add, attemptSubject(delivery.attempt, delivery.fault), (rule) => rule.onDelivery?.(delivery)),
  onRepeatDelivery(repeat, reported) {
    if (reported !== undefined && log.hasFailed(reported) && !isJudged("fail")(repeat)) {
      log.doubt(
        reported,
        `But another delivery was in flight and may have caused the write after ${repeat.repeat.id}.`,
      );
      return reported;
    }
    const id = runOnRepeat(log.add, repeat, reported);
    if (id === undefined && reported !== undefined)
      log.withdraw(reported, `The write that followed ${repeat.repeat.id} belongs to another delivery.`, []);
    return id ?? reported;
  },
  isFailure: isJudged("fail"),
  // Without its count, the verdict shows whether a later count that fails has to change it.
  needsCount: (repeat) => isJudged("inconclusive")({ ...repeat, counted: undefined }),
});

function runOnRepeat(add: AddFinding, repeat: RepeatDelivery, reported?: string): string | undefined {
  const subject = attemptSubject(repeat.repeat, repeat.fault);
  const [id] = runRules(add, subject, (rule) => rule.onRepeatDelivery?.(repeat), reported).values();
  return id;
}

/** Runs the rules on a chain that got no further retry. Returns the ids of verdicts that a late retry may decide. */
function runOnChain(add: AddFinding, chain: RetryChain, run: (rule: Rule) => Finding | undefined): VerdictIds {
  const open: VerdictIds = new Map();
  const addAndNote: AddFinding = (rule, finding, subject) => {
    const id = add(rule, finding, subject);
    if (finding.isOpen) open.set(rule.id, id);
    return id;
  };
  runRules(addAndNote, chainSubject(chain), run);
  return open;
}

/** The evidence for a chain. Only time can confirm that a retry is missing. */
const chainSubject = (chain: RetryChain) =>
  callSubject(firstCall(chain), chain.calls, chain.calls.length === 1 ? "time" : chain.confirmedBy);

const attemptSubject = ({ merchant, at }: AttemptMessage, fault: string | undefined) =>
  subjectWithoutCall(merchant, at, fault);

function runOnPending(add: AddFinding, pending: PendingRetry, now: Moment): VerdictIds {
  const { call, chain } = pending;
  const gaveUp = isOverdue(pending, now);
  return runOnChain(add, chain, (rule) =>
    gaveUp || chain.calls.length > 1
      ? rule.onChainEnd?.(chain, gaveUp)
      : rule.whilePending?.(chain, waitBetween(responseOf(call), now)),
  );
}

/** The verdicts on pending retries and repeat deliveries if nothing arrived after `now`. */
export function provisionalVerdicts({ retries, receivers }: MerchantTracker, now: Moment): VerdictMessage[] {
  const found: VerdictMessage[] = [];
  const add: AddFinding = (rule, finding, subject) => {
    found.push(buildVerdict(rule, finding, subject, null));
    return "";
  };
  for (const pending of retries.pending) runOnPending(add, pending, now);
  for (const repeat of receivers.pending()) runOnRepeat(add, repeat);
  return found;
}

/** A rejected request and its repeats. */
export interface Rejections {
  readonly calls: ObservedCall[];
  /** The newest call, which may have been sent before the last of `calls` was answered. */
  latest: ObservedCall;
  verdict: string | undefined;
}

const MAX_REQUESTS = 100;
/** After this many milliseconds, the same request counts as a new one. */
const REPEAT_WITHIN = 10_000;

/** Tracks rejected requests and their repeats. `onRejection` returns the id of the verdict. */
export function createRejectionTracker(onRejection: (rejections: Rejections) => string | undefined) {
  const all: Rejections[] = [];
  const expire = (now: Moment) => {
    while (all[0] && isOld(all[0], now)) all.shift();
  };
  const add = (call: ObservedCall) => {
    if (all.length === MAX_REQUESTS) all.shift();
    all.push({ calls: [call], latest: call, verdict: undefined });
  };
  return {
    isIdle: () => all.length === 0,
    observe(call: ObservedCall) {
      const repeated = all.find(({ calls: [first] }) => first && isSameRequest(first, call));
      for (const one of all) if (one !== repeated && isFirstSinceRejection(one, call)) one.verdict = onRejection(one);
      expire(arrivalOf(call));
      const same = repeated && all.includes(repeated) ? repeated : undefined;
      if (!same) return void (call.rejected && add(call));
      all.splice(all.indexOf(same), 1);
      const last = same.calls.at(-1) as ObservedCall;
      if (!call.rejected || call.status !== last.status) return void (call.rejected && add(call));
      // A call that was sent before the last response is not a repeat.
      if (startOf(call) >= last.answered) same.calls.push(call);
      same.latest = call;
      all.push(same);
      if (same.calls.length === MAX_EQUAL_REJECTIONS) same.verdict = onRejection(same);
    },
  };
}

const isOld = ({ latest }: Rejections, now: Moment) => waitBetween(responseOf(latest), now) > REPEAT_WITHIN;

/** Whether the client was rejected once, and now sends another request for the first time. */
const isFirstSinceRejection = ({ calls, verdict }: Rejections, call: ObservedCall) =>
  verdict === undefined && calls.length === 1 && calls[0]?.caller === call.caller && calls[0].answered <= call.arrived;
