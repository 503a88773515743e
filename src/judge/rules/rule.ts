// The shape of a judge's rule: its texts, the moments at which it runs, and the data that it gets at each.

import type { Firing } from "../../contracts/fault.ts";
import type { AttemptMessage } from "../../contracts/live-messages.ts";
import type { JudgedRule, Verdict } from "../../contracts/verdict.ts";
import type { ObservedCall } from "../observed-call.ts";

/** One logical call: its first try and each retry. */
export interface RetryChain {
  readonly calls: ObservedCall[];
  /** The pauses that the client chose itself, where no Retry-After asked for a wait. */
  readonly ownWaits: number[];
}

/** A call that repeats a failed one. */
export interface Retry {
  readonly chain: RetryChain;
  readonly from: ObservedCall;
  readonly to: ObservedCall;
  /** Real milliseconds from the failure's response to the arrival of the retry. */
  readonly waited: number;
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
}

/** Two accepted deliveries of one event, with the merchant's writes after each. */
export interface RepeatDelivery {
  readonly first: AttemptMessage;
  readonly repeat: AttemptMessage;
  readonly writesAfterFirst: readonly ObservedCall[];
  readonly writesAfterRepeat: readonly ObservedCall[];
  /** The fault rule that caused the second delivery. */
  readonly fault: string | undefined;
}

export interface Finding {
  verdict: Verdict;
  says: string;
  /** The requests that show it. */
  calls?: readonly ObservedCall[];
  attempts?: readonly AttemptMessage[];
  /** The measurements, by name. */
  milliseconds?: Record<string, number>;
}

/** Each method returns a finding, or undefined where the rule does not apply. */
export interface Rule extends JudgedRule {
  onRetry?(retry: Retry): Finding | undefined;
  /** The chain's last call got a final response, or the client went on without a retry (`gaveUp`). */
  onChainEnd?(chain: RetryChain, gaveUp: boolean): Finding | undefined;
  /** A failed call has not been retried so far. Runs when verdicts are read. */
  whilePending?(chain: RetryChain, waited: number): Finding | undefined;
  /** The service rejected `call`; `repeat` is the same request sent again, if the client did that. */
  onRejection?(call: ObservedCall, repeat: ObservedCall | undefined): Finding | undefined;
  /** A client made SAMPLE_SIZE first retries. */
  onPauseSample?(sample: readonly FirstPause[]): Finding | undefined;
  onDelivery?(delivery: ObservedDelivery): Finding | undefined;
  onRepeatDelivery?(repeat: RepeatDelivery): Finding | undefined;
}

export const SAMPLE_SIZE = 20;

export const firstCall = (chain: RetryChain): ObservedCall => chain.calls[0] as ObservedCall;
