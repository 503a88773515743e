// The shape of a judge's rule: its texts, the moments at which it runs, and the data that it gets at each.

import type { Firing } from "../../contracts/fault.ts";
import type { AttemptMessage } from "../../contracts/live-messages.ts";
import type { JudgedRule, Proof, Verdict } from "../../contracts/verdict.ts";
import type { ObservedCall } from "../observed-call.ts";

/** One logical call: its first try and each retry. */
export interface RetryChain {
  readonly calls: ObservedCall[];
  /** The pauses that the client chose itself, where no Retry-After asked for a wait. */
  readonly ownWaits: number[];
  /** The milliseconds of each of those pauses in which the event loop lagged. */
  readonly lags: number[];
  /** The weakest proof by which one of its retries was recognised. */
  provenBy: Proof;
  /** Equal requests of which it is unknown whether they retry the last call: another program may have sent them. */
  readonly lookalikes: ObservedCall[];
}

/** A call that repeats a failed one. */
export interface Retry {
  readonly chain: RetryChain;
  readonly from: ObservedCall;
  readonly to: ObservedCall;
  /** Real milliseconds from the failure's response to the arrival of the retry. */
  readonly waited: number;
  /** How `to` was recognised as the repeat. */
  readonly provenBy: Proof;
  /** False if `to` may just as well be another call that is equal to `from`. */
  readonly isCertain: boolean;
}

/** The pause before the first retry of a call that failed without a Retry-After. */
export interface FirstPause {
  readonly from: ObservedCall;
  readonly call: ObservedCall;
  readonly waited: number;
  /** The longest event loop lag at the start and the end of the pause, in milliseconds. */
  readonly lag: number;
}

/** A delivery attempt that ended. */
export interface ObservedDelivery {
  readonly attempt: AttemptMessage;
  readonly faults: readonly Firing[];
  /** The fault rule that caused it, possibly at an earlier attempt. */
  readonly fault: string | undefined;
  /** The first attempt of this event that the same endpoint accepted, if it is an earlier one. */
  readonly acceptedBefore: AttemptMessage | undefined;
  /** Reads the longest time, in real milliseconds, for which this process could not read the response. */
  lag(): number;
}

/** An accepted delivery of an event that was accepted before, with the merchant's writes before and after it. */
export interface RepeatDelivery {
  /** The first earlier delivery with a write after it, or the first of all. */
  readonly first: AttemptMessage;
  readonly repeat: AttemptMessage;
  /** The writes after any of the earlier deliveries. */
  readonly writesBefore: readonly ObservedCall[];
  readonly writesAfterRepeat: readonly ObservedCall[];
  /** The fault rule that caused the second delivery. */
  readonly fault: string | undefined;
}

export interface Finding {
  verdict: Verdict;
  says: string;
  /** Whether a further try of the same call may decide it. Then that verdict replaces this one. */
  isOpen?: boolean;
  /** The requests that show it. */
  calls?: readonly ObservedCall[];
  attempts?: readonly AttemptMessage[];
  /** The measurements, by name. */
  milliseconds?: Record<string, number>;
}

/** Failed calls of a client without a success in between. */
export interface Outage {
  readonly first: ObservedCall;
  calls: number;
  /** The most of them within OUTAGE_SPAN. */
  most: number;
  isReported: boolean;
}

/** A call that returned after its wait. */
export interface Returned {
  readonly from: ObservedCall;
  readonly call: ObservedCall;
  /** The busy time of the event loop when it was seen. */
  readonly busy: number;
}

/** Each method returns a finding, or undefined where the rule does not apply. */
export interface Rule extends JudgedRule {
  /** The proof, whatever the calls (default: how they were matched). */
  readonly provenBy?: Proof;
  onRetry?(retry: Retry): Finding | undefined;
  /** The chain's last call got a final response, or the client went on without a retry (`gaveUp`). */
  onChainEnd?(chain: RetryChain, gaveUp: boolean): Finding | undefined;
  /** A failed call has not been retried so far. Runs when verdicts are read. */
  whilePending?(chain: RetryChain, waited: number): Finding | undefined;
  /** The service rejected `calls`, which are the same request. Runs when the client goes on after one, and at the MAX_EQUAL_REJECTIONS-th. */
  onRejection?(calls: readonly ObservedCall[]): Finding | undefined;
  /** `limited` asked a client to wait; `after` are more calls to its path than workers that do not know of it could send. */
  onCallsWhileLimited?(limited: ObservedCall, after: readonly ObservedCall[]): Finding | undefined;
  /** `back` is the client's first call after the wait of `limited`; meanwhile it sent `after`, at most one call for each worker. */
  onLimitRespected?(limited: ObservedCall, after: readonly ObservedCall[], back: ObservedCall): Finding | undefined;
  /** SAMPLE_SIZE retries of calls that waited at the same time, as their Retry-After asked; `lag` is the event loop lag before the first, and all lag until the last. */
  onReturn?(sample: readonly Returned[], lag: { before: number; total: number }): Finding | undefined;
  /** A client's calls within a second, all of which failed temporarily; its workers may send `limit` of them. */
  onOutage?(failed: readonly ObservedCall[], limit: number): Finding | undefined;
  /** `back` is the client's first success after an outage in which it sent at most as many calls per second as one worker may. */
  onOutageOver?(outage: Outage, back: ObservedCall): Finding | undefined;
  /** A client made SAMPLE_SIZE first retries. */
  onPauseSample?(sample: readonly FirstPause[]): Finding | undefined;
  onDelivery?(delivery: ObservedDelivery): Finding | undefined;
  onRepeatDelivery?(repeat: RepeatDelivery): Finding | undefined;
}

export const SAMPLE_SIZE = 20;

/** Two or three equal rejections may be tests that expect one; the fourth is a loop. */
export const MAX_EQUAL_REJECTIONS = 4;

/** The finding on a retry that does as a rule demands, or does not; a failure is inconclusive if `to` may be another call. */
export const judgeRetry = (retry: Retry, isGood: boolean, says: string): Pick<Finding, "verdict" | "says"> => {
  if (isGood || retry.isCertain) return { verdict: isGood ? "pass" : "fail", says: `${says}.` };
  return { verdict: "inconclusive", says: `${says}${otherStory(retry)}.` };
};

/** The other explanation of a call that may be a retry, as the end of a sentence. */
export const otherStory = ({ to }: Retry) => `, or ${to.request} is another call with the same content, which is no retry`;

export const firstCall = (chain: RetryChain): ObservedCall => chain.calls[0] as ObservedCall;
