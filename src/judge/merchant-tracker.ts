// Tracks one merchant's clients and webhook receivers, and runs every rule on their calls and responses.

import type { AttemptMessage } from "../contracts/live-messages.ts";
import type { VerdictMessage } from "../contracts/verdict.ts";
import { realNow } from "../kernel/clock.ts";
import type { EventLoopLag } from "../kernel/event-loop.ts";
import { createCallerLoad } from "./caller-load.ts";
import { isSameRequest, type ObservedCall } from "./observed-call.ts";
import { createReceivers, type ReceiverListeners } from "./receivers.ts";
import { startOf } from "./retry-evidence.ts";
import {
  createRetryTracker,
  type PendingRetry,
  type RetryListeners,
  type VerdictIds,
  watchLag,
} from "./retry-tracker.ts";
import { rules } from "./rules/index.ts";
import {
  type Finding,
  type FirstPause,
  firstCall,
  MAX_EQUAL_REJECTIONS,
  type RetryChain,
  type Rule,
  SAMPLE_SIZE,
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

/** The shared parts of the judge that a tracker uses. */
export interface TrackerTools {
  readonly log: VerdictLog;
  readonly lag: EventLoopLag;
  /** Recent calls of the same client, oldest first. */
  recentOf(call: ObservedCall): readonly ObservedCall[];
  /** Recent calls of the merchant to the same address, oldest first. */
  recentTo(call: ObservedCall): readonly ObservedCall[];
}

export function createMerchantTracker(tools: TrackerTools) {
  const { log } = tools;
  const load = createCallerLoad({ ...tools, run: (subject, find) => void runRules(log.add, subject, find) });
  const retries = createRetryTracker(retryListeners(tools, load.observeRetry));
  const rejections = createRejectionTracker(({ calls, verdict }) => {
    const [first] = calls as [ObservedCall];
    const [id] = runRules(log.add, callSubject(first, [first]), (rule) => rule.onRejection?.(calls), verdict).values();
    return id;
  }, tools.lag);
  return {
    retries,
    receivers: createReceivers({ ...receiverListeners(log.add), lag: tools.lag.worst }),
    /** Whether no earlier call is waiting for a later one. */
    isIdle: (now: number) => retries.isIdle(now) && rejections.isIdle() && load.isIdle(now),
    observe(call: ObservedCall) {
      rejections.observe(call);
      retries.observe(call);
      load.observe(call);
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

function retryListeners(
  { log, lag, recentTo }: TrackerTools,
  observeRetry: ReturnType<typeof createCallerLoad>["observeRetry"],
): RetryListeners {
  const { add } = log;
  const samples = new Map<string, FirstPause[]>();
  /** Inconclusive verdicts on chains that a further try may decide. */
  const open = new WeakMap<RetryChain, VerdictIds>();
  return {
    onRetry(retry, revised) {
      observeRetry(retry);
      const { chain, from, to } = retry;
      const undecided = open.get(chain) ?? new Map<string, string>();
      open.set(chain, undecided);
      const ids: VerdictIds = new Map();
      for (const rule of rules) {
        const finding = rule.onRetry?.(retry);
        if (!finding) continue;
        const id = add(
          rule,
          finding,
          callSubject(to, [from], retry.confirmedBy),
          revised.get(rule.id) ?? undecided.get(rule.id),
        );
        ids.set(rule.id, id);
        revised.delete(rule.id);
        if (finding.isOpen) undecided.set(rule.id, id);
        else undecided.delete(rule.id);
      }
      for (const id of revised.values()) log.withdraw(id, `${to.request} is the retry of ${from.request}.`, [from, to]);
      return ids;
    },
    onChainEnd: (chain, gaveUp) => runRules(add, chainSubject(chain), (rule) => rule.onChainEnd?.(chain, gaveUp)),
    onConclude: (pending, isOverdue, now) => runOnPending(add, pending, isOverdue, now),
    onDrop: ({ chain }) => void runRules(add, chainSubject(chain), (rule) => rule.whilePending?.(chain, 0)),
    onFailure: ({ deadline }) => watchLag(lag, deadline),
    onFirstPause(pause) {
      const sample = samples.get(pause.call.caller) ?? [];
      sample.push(pause);
      samples.set(pause.call.caller, sample);
      if (sample.length < SAMPLE_SIZE) return;
      samples.delete(pause.call.caller);
      runRules(add, callSubject(pause.call, [pause.from]), (rule) => rule.onPauseSample?.(sample));
    },
    recent: recentTo,
    lag,
  };
}

const receiverListeners = (add: AddFinding): Omit<ReceiverListeners, "lag"> => ({
  onDelivery: (delivery) =>
    void runRules(add, attemptSubject(delivery.attempt, delivery.fault), (rule) => rule.onDelivery?.(delivery)),
  onRepeatDelivery: (repeat) =>
    void runRules(add, attemptSubject(repeat.repeat, repeat.fault), (rule) => rule.onRepeatDelivery?.(repeat)),
});

/** What confirms a chain: a missing retry is confirmed by timing, because only the deadline shows it. */
const chainSubject = (chain: RetryChain) =>
  callSubject(firstCall(chain), chain.calls, chain.calls.length === 1 ? "time" : chain.confirmedBy);

const attemptSubject = ({ merchant, at }: AttemptMessage, fault: string | undefined) =>
  subjectWithoutCall(merchant, at, fault);

const runOnPending = (add: AddFinding, { call, chain }: PendingRetry, isOverdue: boolean, now: number) =>
  runRules(add, chainSubject(chain), (rule) =>
    isOverdue || chain.calls.length > 1
      ? rule.onChainEnd?.(chain, isOverdue)
      : rule.whilePending?.(chain, now - call.answered),
  );

/** Verdicts on each pending retry and repeat delivery, as if nothing arrived after `now`. */
export function provisionalVerdicts({ retries, receivers }: MerchantTracker, now: number): VerdictMessage[] {
  const found: VerdictMessage[] = [];
  const add: AddFinding = (rule, finding, subject) => {
    found.push(buildVerdict(rule, finding, subject, null));
    return "";
  };
  for (const pending of retries.pending) runOnPending(add, pending, retries.isOverdue(pending, now), now);
  const { onRepeatDelivery } = receiverListeners(add);
  for (const repeat of receivers.pending()) onRepeatDelivery(repeat);
  return found;
}

/** A rejected request and its repeats. */
export interface Rejections {
  readonly calls: ObservedCall[];
  until: number;
  verdict: string | undefined;
}

const MAX_REQUESTS = 100;
/**
 * After this many milliseconds, the same request counts as a new one. Event loop lag is excluded, because calls wait
 * during it.
 */
const REPEAT_WITHIN = 10_000;
/**
 * Milliseconds for which lag is measured. A busy event loop can take a minute for work that otherwise takes seconds.
 */
const MEASURED_FOR = 60_000;

/** `onRejection` returns the id of its verdict. */
export function createRejectionTracker(onRejection: (rejections: Rejections) => string | undefined, lag: EventLoopLag) {
  const all: Rejections[] = [];
  const isOver = ({ until }: Rejections, now: number) =>
    until < now && until + lag.total(until - REPEAT_WITHIN, now) < now;
  const expire = (now: number) => {
    while (all[0] && isOver(all[0], now)) all.shift();
  };
  const measure = () => lag.watch(realNow() + MEASURED_FOR);
  const add = (call: ObservedCall) => {
    if (all.length === MAX_REQUESTS) all.shift();
    all.push({ calls: [call], until: call.answered + REPEAT_WITHIN, verdict: undefined });
    measure();
  };
  return {
    isIdle: () => all.length === 0,
    observe(call: ObservedCall) {
      const repeated = all.find(({ calls: [first] }) => first && isSameRequest(first, call));
      for (const one of all) if (one !== repeated && isFirstSinceRejection(one, call)) one.verdict = onRejection(one);
      expire(call.arrived);
      const same = repeated && all.includes(repeated) ? repeated : undefined;
      if (!same) return void (call.rejected && add(call));
      all.splice(all.indexOf(same), 1);
      const last = same.calls.at(-1) as ObservedCall;
      if (!call.rejected || call.status !== last.status) return void (call.rejected && add(call));
      measure();
      // A call sent before the last response does not repeat it.
      if (startOf(call) >= last.answered) same.calls.push(call);
      same.until = call.answered + REPEAT_WITHIN;
      all.push(same);
      if (same.calls.length === MAX_EQUAL_REJECTIONS) same.verdict = onRejection(same);
    },
  };
}

/** Whether this is the client's first other call after a single rejection. */
const isFirstSinceRejection = ({ calls, verdict }: Rejections, call: ObservedCall) =>
  verdict === undefined && calls.length === 1 && calls[0]?.caller === call.caller && calls[0].answered <= call.arrived;
