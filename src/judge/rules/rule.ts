// The interface of the judge's rules: what a rule can observe, and the finding that it returns.

import type { Firing } from "../../contracts/fault.ts";
import type { AttemptMessage } from "../../contracts/live-messages.ts";
import type { Confirmation, JudgedRule, Verdict } from "../../contracts/verdict.ts";
import type { ObservedCall } from "../observed-call.ts";

/** One logical call: its first try and each retry. */
export interface RetryChain {
  readonly calls: ObservedCall[];
  /** The pauses that the client chose itself, without a Retry-After. */
  readonly ownWaits: number[];
  /** The weakest confirmation of any of the chain's retries. */
  confirmedBy: Confirmation;
  /** Whether other callers with the same API key may have sent some of the calls. */
  isShared?: boolean;
  /** Equal requests that may retry the last call, or that another program may have sent. */
  readonly lookalikes: ObservedCall[];
}

/** A call that repeats a failed one. */
export interface Retry {
  readonly chain: RetryChain;
  readonly from: ObservedCall;
  readonly to: ObservedCall;
  /**
   * Milliseconds from the response to `from` until the arrival of `to`, in real or sandbox time, whichever is longer.
   */
  readonly waited: number;
  /** How `to` was recognised as the retry of `from`. */
  readonly confirmedBy: Confirmation;
  /** False if `to` may be a separate call that is equal to `from`. */
  readonly isCertain: boolean;
}

/** A delivery attempt that ended. */
export interface ObservedDelivery {
  readonly attempt: AttemptMessage;
  readonly faults: readonly Firing[];
  /** The fault rule that caused the delivery, possibly at an earlier attempt. */
  readonly fault: string | undefined;
  /** The first earlier attempt of this event that the same endpoint accepted. */
  readonly acceptedBefore: AttemptMessage | undefined;
}

/** A delivery of an event that was delivered before, with the merchant's writes before and after it. */
export interface RepeatDelivery {
  /** The first earlier delivery that a write followed, or else the first accepted one, or else the first. */
  readonly first: AttemptMessage;
  readonly repeat: AttemptMessage;
  /** Whether the receiver accepted an earlier delivery. */
  readonly wasAccepted: boolean;
  /** The writes after any of the earlier deliveries. */
  readonly writesBefore: readonly ObservedCall[];
  readonly writesAfterRepeat: readonly ObservedCall[];
  /** Whether a delivery of another event may have caused the write instead. */
  isShared(call: ObservedCall): boolean;
  /** The result of a later count of the receiver's effects; undefined if no count has passed. */
  readonly counted: string | undefined;
  /** The fault rule that caused the repeat. */
  readonly fault: string | undefined;
}

export interface Finding {
  verdict: Verdict;
  message: string;
  /** How to fix the problem, if that depends on what happened (default: the rule's hint). */
  hint?: string;
  /**
   * Whether a further try of the same call may decide the rule, even after the client seemed to give up. The new
   * verdict then replaces this one.
   */
  isOpen?: boolean;
  /** The requests that show the finding. */
  calls?: readonly ObservedCall[];
  attempts?: readonly AttemptMessage[];
  /** The measurements, by name. */
  milliseconds?: Record<string, number>;
}

/** Each method returns a finding, or undefined if the rule does not apply. */
export interface Rule extends JudgedRule {
  /** How all verdicts of this rule are confirmed (default: by how the calls were matched). */
  readonly confirmedBy?: Confirmation;
  onRetry?(retry: Retry): Finding | undefined;
  /** Judges a chain whose last call got a final response, or whose client did not retry any more (`gaveUp`). */
  onChainEnd?(chain: RetryChain, gaveUp: boolean): Finding | undefined;
  /**
   * Judges a failed call that has not been retried so far. Called when verdicts are read, at the end of the run, and
   * when too many calls are pending.
   */
  whilePending?(chain: RetryChain, waited: number): Finding | undefined;
  /**
   * Judges equal calls that the service rejected: a single call that the client did not repeat, or MAX_EQUAL_REJECTIONS
   * calls in a row.
   */
  onRejection?(calls: readonly ObservedCall[]): Finding | undefined;
  onDelivery?(delivery: ObservedDelivery): Finding | undefined;
  onRepeatDelivery?(repeat: RepeatDelivery): Finding | undefined;
}

/** Two or three equal rejections may come from tests that expect a rejection. Four count as a loop. */
export const MAX_EQUAL_REJECTIONS = 4;

/**
 * The verdict on a retry that meets a rule (`isGood`) or does not. A failure counts as inconclusive if `to` may be a
 * separate call.
 */
export const judgeRetry = (retry: Retry, isGood: boolean, message: string): Pick<Finding, "verdict" | "message"> => {
  if (isGood || retry.isCertain) return { verdict: isGood ? "pass" : "fail", message: `${message}.` };
  return { verdict: "inconclusive", message: `${message}${otherStory(retry)}.` };
};

/** The other explanation of an uncertain retry, as the end of a sentence. */
export const otherStory = ({ to }: Retry) =>
  `, or ${to.request} is another call with the same content, which is not a retry`;

export const firstCall = (chain: RetryChain): ObservedCall => chain.calls[0] as ObservedCall;
