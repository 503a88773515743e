// Decides whether a receiver acted once on each event of a scenario, by counts of its effects.

import type { VerdictMessage } from "../contracts/verdict.ts";
import type { LoggedDelivery, Newest } from "../store/request-log/run-summary.ts";
import type { compareEffects } from "../verify/check-effects.ts";
import type { CheckResult } from "../verify/check-result.ts";
import type { VerdictsResult } from "../verify/check-verdicts.ts";

export const UNCHECKED = "not checked: whether it acted once";

export interface GivenEffects {
  /** How often the receiver had acted when the scenario was armed. */
  before: number;
  /** The events on which the receiver acts (default: all, if they are of one type). */
  event: string | undefined;
}

export interface CountedEffects extends GivenEffects {
  /** The latest count; null before the first one after the scenario was armed. */
  now: number | null;
  /** What the last count shows about the events that had been delivered by then. */
  result?: CheckResult;
}

/**
 * Takes a new count, and compares it with the events delivered so far: the count cannot include effects of later
 * deliveries. `newest` marks the end of the log when the scenario was armed.
 */
export function takeCount(
  effects: CountedEffects,
  now: number,
  { deliveries: all, newest }: { deliveries: readonly LoggedDelivery[]; newest: Newest },
  compare: typeof compareEffects,
): void {
  const isEarlier = ({ sequence }: LoggedDelivery) => sequence <= newest.delivery;
  const deliveries = all.filter((one) => !isEarlier(one) || one.lastAttempt > newest.attempt);
  const known = new Set(all.filter(isEarlier).map(({ event }) => event));
  effects.now = now;
  effects.result = compare({ deliveries, event: effects.event, known }, Math.max(0, now - effects.before));
}

/**
 * Combines the judge's result with that of the last count of effects. A failure of either decides; otherwise, a pass of
 * either does.
 */
export function withCountedEffects(
  judged: VerdictsResult<VerdictMessage>,
  effects: CountedEffects | undefined,
): VerdictsResult<VerdictMessage> {
  if (!effects?.result) {
    const how = effects ? "scenario score --effects <command>" : "scenario start --effects <command>";
    return judged.verdict === "inconclusive"
      ? { ...judged, message: `${UNCHECKED}. Count its effects with ${how}.` }
      : judged;
  }
  const { verdict, message } = effects.result;
  if (judged.verdict === "fail") return judged;
  if (judged.verdict === "pass" && verdict === "inconclusive") return judged;
  return { ...judged, verdict, message };
}
