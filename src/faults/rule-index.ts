// The active rules of each phase, in order of evaluation.

import { API_PHASES, type ApiPhase, DELIVERY_PHASES, type DeliveryPhase } from "../contracts/fault.ts";
import type { Clock } from "../kernel/clock.ts";
import type { ArmedRule } from "./armed-rule.ts";

export type Phase = ApiPhase | DeliveryPhase;

export type RuleIndex = ReturnType<typeof createRuleIndex>;

/** Calls `keepHistory` with true while an active rule serves old data to reads. */
export function createRuleIndex(clock: Clock, keepHistory: (needed: boolean) => void) {
  const rules = new Map<string, ArmedRule>();
  const byPhase = new Map<Phase, ArmedRule[]>();
  let nextEnd = Infinity;
  let builtAt = 0;
  const inOrder = () => [...rules.values()].sort((one, other) => other.rule.priority - one.rule.priority);
  const rebuild = () => {
    builtAt = clock.now();
    nextEnd = Infinity;
    byPhase.clear();
    for (const armed of inOrder().filter((rule) => rule.isActive(builtAt))) {
      const { phase } = armed.rule.action;
      byPhase.set(phase, [...(byPhase.get(phase) ?? []), armed]);
      nextEnd = Math.min(nextEnd, armed.endsAt);
    }
    keepHistory(byPhase.has("read"));
  };
  /** Drops expired rules, and restores them if the clock was set back. */
  const refresh = () => {
    const now = clock.now();
    if (now >= nextEnd || now < builtAt) rebuild();
  };
  const isArmed = (phases: readonly Phase[]) => {
    if (rules.size === 0) return false;
    refresh();
    return phases.some((phase) => byPhase.has(phase));
  };
  return {
    /** Every rule by id, in the order in which they were added. */
    rules,
    isArmed: { api: () => isArmed(API_PHASES), delivery: () => isArmed(DELIVERY_PHASES) },
    /** Every rule in order of evaluation: by priority, then as they were added. */
    inOrder,
    hasAny(phase: Phase) {
      refresh();
      return byPhase.has(phase);
    },
    /** Tries the rules of a phase until one fires. Removes inactive rules from the index. */
    firstToFire<Made>(phase: Phase, attempt: (rule: ArmedRule, now: number) => Made | undefined): Made | undefined {
      refresh();
      const now = clock.now();
      let made: Made | undefined;
      let isStale = false;
      for (const rule of byPhase.get(phase) ?? []) {
        made = rule.isActive(now) ? attempt(rule, now) : undefined;
        isStale ||= !rule.isActive(now);
        if (made) break;
      }
      if (isStale) rebuild();
      return made;
    },
    /** Call this after a rule was added or removed. */
    rebuild,
  };
}
