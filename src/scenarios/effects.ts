// Decides whether a receiver acted once on each event of a scenario, by counts of its effects.

import type { VerdictMessage } from "../contracts/verdict.ts";
import { matchesWildcard } from "../schema/conditions.ts";
import type { LoggedDelivery } from "../store/request-log/run-summary.ts";
import type { compareEffects } from "../verify/check-effects.ts";
import type { VerdictsResult } from "../verify/check-verdicts.ts";

export const UNCHECKED = "not checked: whether it acted once";

export interface GivenEffects {
  /** How often the receiver had acted when the scenario was armed. */
  before: number;
  /** The events on which it acts (default: all, if they are of one type). */
  event: string | undefined;
}

export interface CountedEffects extends GivenEffects {
  /** How often it had acted when it was last counted. */
  now: number | null;
}

/** The worse of what the judge saw and what the counts show. `delivered` are the deliveries since it was armed. */
export function withCountedEffects(
  judged: VerdictsResult<VerdictMessage>,
  effects: CountedEffects | undefined,
  delivered: () => readonly LoggedDelivery[],
  compare: typeof compareEffects,
): VerdictsResult<VerdictMessage> {
  if (!effects || effects.now === null) {
    const how = effects ? "scenario score --effects <command>" : "scenario start --effects <command>";
    return judged.verdict === "inconclusive"
      ? { ...judged, message: `${UNCHECKED}. Count its effects with ${how}.` }
      : judged;
  }
  const { before, now, event } = effects;
  const matching = delivered().filter(({ type }) => event === undefined || matchesWildcard(type, event));
  const { verdict, message } = compare(matching, Math.max(0, now - before), event !== undefined);
  if (judged.verdict === "fail") return judged;
  if (judged.verdict === "pass" && verdict === "inconclusive") return judged;
  return { ...judged, verdict, message };
}
