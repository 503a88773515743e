// Tracks one merchant's clients and webhook receivers, and runs every rule on their calls and responses.

import type { AttemptMessage } from "../contracts/live-messages.ts";
import type { VerdictMessage } from "../contracts/verdict.ts";
import type { EventLoopLag } from "../kernel/event-loop-lag.ts";
import type { ObservedCall } from "./observed-call.ts";
import { createReceivers, type ReceiverListeners, type Receivers } from "./receivers.ts";
import { createRetryTracker, type RetryListeners, type RetryTracker } from "./retry-tracker.ts";
import { rules } from "./rules/index.ts";
import { type Finding, type FirstPause, firstCall, type Rule, SAMPLE_SIZE } from "./rules/rule.ts";
import { type AddFinding, buildVerdict, type VerdictSubject } from "./verdict-log.ts";

export interface MerchantTracker {
  readonly retries: RetryTracker;
  readonly receivers: Receivers;
}

export const createMerchantTracker = (add: AddFinding, lag: EventLoopLag): MerchantTracker => ({
  retries: createRetryTracker(retryListeners(add, lag)),
  receivers: createReceivers(receiverListeners(add)),
});

/** Runs each rule and adds its findings. */
function runRules(add: AddFinding, subject: VerdictSubject, run: (rule: Rule) => Finding | undefined): void {
  for (const rule of rules) {
    const finding = run(rule);
    if (finding) add(rule, finding, subject);
  }
}

function retryListeners(add: AddFinding, lag: EventLoopLag): RetryListeners {
  const samples = new Map<string, FirstPause[]>();
  return {
    onRetry: (retry) => runRules(add, callSubject(retry.to, [retry.from]), (rule) => rule.onRetry?.(retry)),
    onChainEnd: (chain, gaveUp) => runRules(add, callSubject(firstCall(chain), chain.calls), (rule) => rule.onChainEnd?.(chain, gaveUp)),
    onRejection: (call, repeat) => runRules(add, callSubject(call, [call]), (rule) => rule.onRejection?.(call, repeat)),
    onDrop: ({ call, chain }) => runRules(add, callSubject(call, chain.calls), (rule) => rule.whilePending?.(chain, 0)),
    onFailureWithoutWait: ({ deadline }) => lag.watch(deadline),
    onFirstPause(pause) {
      const sample = samples.get(pause.call.caller) ?? [];
      sample.push({ ...pause, lag: lagAtEnds(pause, lag) });
      samples.set(pause.call.caller, sample);
      if (sample.length < SAMPLE_SIZE) return;
      samples.delete(pause.call.caller);
      runRules(add, callSubject(pause.call, [pause.from]), (rule) => rule.onPauseSample?.(sample));
    },
  };
}

/** Milliseconds around the start and the end of a pause in which event loop lag falsifies its length; lag in between does not. */
const LAG_WINDOW = 50;

const lagAtEnds = ({ from: { answered }, call: { arrived } }: Omit<FirstPause, "lag">, { worst }: EventLoopLag) =>
  Math.max(worst(answered, answered + LAG_WINDOW), worst(arrived - LAG_WINDOW, arrived));

const receiverListeners = (add: AddFinding): ReceiverListeners => ({
  onDelivery: (delivery) => runRules(add, attemptSubject(delivery.attempt, delivery.fault), (rule) => rule.onDelivery?.(delivery)),
  onRepeatDelivery: (repeat) => runRules(add, attemptSubject(repeat.repeat, repeat.fault), (rule) => rule.onRepeatDelivery?.(repeat)),
});

/** `causes` are the calls whose first fault the verdict names. */
const callSubject = ({ merchant, operation, at }: ObservedCall, causes: readonly ObservedCall[]): VerdictSubject => ({
  merchant,
  operation,
  at,
  fault: causes.find(({ fault }) => fault !== undefined)?.fault,
});

const attemptSubject = ({ merchant, at }: AttemptMessage, fault: string | undefined): VerdictSubject => ({
  merchant,
  operation: undefined,
  at,
  fault,
});

/** Verdicts that are not final: those on each pending retry and repeat delivery if nothing more arrives after `now`. */
export function provisionalVerdicts({ retries, receivers }: MerchantTracker, now: number): VerdictMessage[] {
  const found: VerdictMessage[] = [];
  const add: AddFinding = (rule, finding, subject) => found.push(buildVerdict(rule, finding, subject, null));
  for (const { call, chain } of retries.pending)
    runRules(add, callSubject(call, chain.calls), (rule) => rule.whilePending?.(chain, now - call.answered));
  const { onRepeatDelivery } = receiverListeners(add);
  for (const repeat of receivers.pending()) onRepeatDelivery(repeat);
  return found;
}
