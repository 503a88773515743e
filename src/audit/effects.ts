// The findings of an audit from a count of the receiver's effects, read before and after each probe.

import type { Verdict } from "../contracts/verdict.ts";
import type { Outcome } from "../webhooks/http/outcome.ts";
import { type EffectRange, isAccepted, type Probe } from "./probes.ts";

/** The effects that the count should show once a probe has settled. */
export interface ExpectedCount extends EffectRange {
  probe: string;
}

/** Probes with events of other types. A receiver may act on these even if it ignores the chosen type. */
const OTHER_TYPES = new Set(["out_of_order", "unknown_type"]);

/** How often the receiver acted during each probe. */
export function createEffectCounts(before: number, isEventChosen: boolean) {
  let last = before;
  const made = new Map<string, number>();
  /** Whether the receiver has not acted on any event of the chosen type: perhaps it ignores that type. */
  let none = false;
  return {
    /** The count that a correct receiver reaches after a probe. */
    expected({ id, effects }: Probe, outcomes: readonly Outcome[]): ExpectedCount {
      const { atLeast, atMost } = rangeOf(effects, outcomes, none);
      return { probe: id, atLeast: last + atLeast, atMost: last + atMost };
    },
    /** Call this with the count after a probe. */
    settled({ id }: Probe, count: number) {
      made.set(id, count - last);
      if (made.size === 1 && count === last && !isEventChosen) none = true;
      if (count > last && !OTHER_TYPES.has(id)) none = false;
      last = count;
    },
    last: () => last,
    /** The finding from the effects of a probe; undefined if it was not tried. */
    judge({ id, effects, isForgery }: Probe, outcomes: readonly Outcome[], type: string): EffectFinding | undefined {
      const number = made.get(id);
      if (number === undefined) return undefined;
      const { atLeast, atMost } = rangeOf(effects, outcomes, none);
      const did = `acted ${timesText(number)}`;
      const doubt = number > outcomes.length ? NO_COUNT : "";
      if (number > atMost) return { verdict: "fail", did, ...(!isForgery && { why: TOO_OFTEN + doubt }) };
      if (number < atLeast) return { verdict: "fail", did, why: LOST };
      if (none && made.keys().next().value === id)
        return {
          verdict: "inconclusive",
          did,
          why:
            `The count did not change after a genuine ${type}. Name an event that the receiver acts on, as in ` +
            "`--event booking.created`, and check that the command counts what it does.",
        };
      return { verdict: "pass", did };
    },
  };
}

export type EffectCounts = ReturnType<typeof createEffectCounts>;

export interface EffectFinding {
  verdict: Verdict;
  did: string;
  why?: string;
}

const TOO_OFTEN =
  "Save the event's id under a unique constraint, in the transaction of the effect, and skip an event whose id is " +
  "known.";
/** Added to the advice if the count grew by more than one action for each request. */
const NO_COUNT =
  " The count grew by more than the number of requests: check that the command counts actions, instead of adding up " +
  "amounts, and that nothing else acts meanwhile.";
const LOST = "Store the event before you answer 2xx: an event that was accepted is not sent again.";

const timesText = (number: number) => ["0 times", "once", "twice"][number] ?? `${number} times`;

/** Limits the required effects to the deliveries that the receiver accepted. */
function rangeOf({ atLeast, atMost }: EffectRange, outcomes: readonly Outcome[], none: boolean): EffectRange {
  return { atLeast: none ? 0 : Math.min(atLeast, outcomes.filter(isAccepted).length), atMost };
}
