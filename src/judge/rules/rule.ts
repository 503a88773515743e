// What a rule of the judge is beyond its words: the moments at which it looks, and what it then sees.

import type { Firing } from "../../contracts/fault.ts";
import type { AttemptMessage } from "../../contracts/live-messages.ts";
import type { JudgedRule, Verdict } from "../../contracts/verdict.ts";
import type { Call } from "../observed-call.ts";

/** One call of the client's program with everything that was sent for it: the first try and each retry. */
export interface Chain {
  readonly calls: Call[];
  /** The pauses that the client chose itself, where no Retry-After said how long to wait. */
  readonly ownWaits: number[];
}

/** A call that came again after it had failed. */
export interface Retry {
  readonly chain: Chain;
  readonly from: Call;
  readonly to: Call;
  /** Real milliseconds from the failure's answer to the arrival of the retry. */
  readonly waited: number;
}

/** The first retry of a call whose failure did not say how long to wait. */
export interface Pace {
  readonly from: Call;
  readonly call: Call;
  readonly waited: number;
  /** By how much the machine was late when it began and when it ended, at the worst. */
  readonly late: number;
}

/** A delivery attempt that ended. */
export interface Arrival {
  readonly attempt: AttemptMessage;
  readonly faults: readonly Firing[];
  /** The fault that brought it about, which may have struck an earlier attempt. */
  readonly fault: string | undefined;
  /** The first attempt of the same event that the same endpoint took; undefined when there was none before. */
  readonly taken: AttemptMessage | undefined;
}

/** What a receiver did to the service after it had been told of an event, and after it had been told again. */
export interface Echo {
  readonly first: AttemptMessage;
  readonly again: AttemptMessage;
  readonly wroteFirst: readonly Call[];
  readonly wroteAgain: readonly Call[];
  /** The fault that brought the second one about. */
  readonly fault: string | undefined;
}

export interface Finding {
  verdict: Verdict;
  says: string;
  /** The requests that show it. */
  calls?: readonly Call[];
  attempts?: readonly AttemptMessage[];
  /** What was measured. */
  milliseconds?: Record<string, number>;
}

/** Each moment answers a finding, or nothing where the rule has nothing to say. */
export interface Rule extends JudgedRule {
  /** A retry came. */
  retried?(retry: Retry): Finding | undefined;
  /** A chain is over: its last call was answered for good, or the client went on without it. */
  ended?(chain: Chain, gaveUp: boolean): Finding | undefined;
  /** Asked when somebody reads: a failed call has not come again so far. */
  waiting?(chain: Chain, waited: number): Finding | undefined;
  /** A client was refused, and then sent the same again, or went on. */
  refused?(call: Call, repeat: Call | undefined): Finding | undefined;
  /** A client has made a whole sample of first retries. */
  paced?(sample: readonly Pace[]): Finding | undefined;
  delivered?(arrival: Arrival): Finding | undefined;
  echoed?(echo: Echo): Finding | undefined;
}

/** How many first retries make a sample. */
export const SAMPLE = 20;

/** A waiting time as it is shown. */
export const rounded = (milliseconds: number) => Math.round(milliseconds);

export const first = (chain: Chain): Call => chain.calls[0] as Call;
