// Looks up the rules that may fire in a phase, by operation or event type, without trying all of them.

import { API_PHASES, type ApiPhase, DELIVERY_PHASES, type DeliveryPhase } from "../contracts/fault.ts";
import type { Clock } from "../kernel/clock.ts";
import type { ArmedRule } from "./armed-rule.ts";
import { matchesName } from "./matching.ts";

export type Phase = ApiPhase | DeliveryPhase;

export type RuleIndex = ReturnType<typeof createRuleIndex>;

/** Beyond this many names in one phase, the lookups are forgotten: clients make up the types of test events. */
const MAX_NAMES = 1_000;

/** `keepHistory` is called with whether any active rule answers reads from the past. */
export function createRuleIndex(clock: Clock, keepHistory: (needed: boolean) => void) {
  const rules = new Map<string, ArmedRule>();
  const lookup = createLookup();
  let nextEnd = Infinity;
  let builtAt = 0;
  const inOrder = () => [...rules.values()].sort((one, other) => other.rule.priority - one.rule.priority);
  const rebuild = () => {
    builtAt = clock.now();
    const active = inOrder().filter((rule) => rule.isActive(builtAt));
    lookup.fill(active);
    nextEnd = active.reduce((soonest, { endsAt }) => Math.min(soonest, endsAt), Infinity);
    keepHistory(lookup.hasAny(["read"]));
  };
  /** Drops expired rules, and restores them if the clock was set back. */
  const refresh = () => {
    const now = clock.now();
    if (now >= nextEnd || now < builtAt) rebuild();
  };
  const isArmed = (phases: readonly Phase[]) => {
    if (rules.size === 0) return false;
    refresh();
    return lookup.hasAny(phases);
  };
  return {
    /** Every rule by id, in the order in which they were added. */
    rules,
    armed: {
      get api() {
        return isArmed(API_PHASES);
      },
      get delivery() {
        return isArmed(DELIVERY_PHASES);
      },
    },
    now: clock.now,
    /** Every rule in order of evaluation: by priority, then as they were added. */
    inOrder,
    /** The active rules of a phase that may affect calls of this operation, or deliveries of this event type. */
    candidates(phase: Phase, name: string | undefined) {
      refresh();
      return lookup.find(phase, name);
    },
    /** Call this after a rule was added, removed, or used up. */
    rebuild,
  };
}

function createLookup() {
  const byPhase = new Map<Phase, ArmedRule[]>();
  /** Caches the result for each phase and name. */
  const byName = new Map<Phase, Map<string | undefined, ArmedRule[]>>();
  const search = (phase: Phase, name: string | undefined) => {
    const found = (byPhase.get(phase) ?? []).filter((rule) => mayTouch(rule, name));
    const known = byName.get(phase) ?? new Map();
    if (known.size >= MAX_NAMES) known.clear();
    byName.set(phase, known.set(name, found));
    return found;
  };
  return {
    fill(active: readonly ArmedRule[]) {
      byPhase.clear();
      byName.clear();
      for (const armed of active) {
        const { phase } = armed.rule.action;
        byPhase.set(phase, [...(byPhase.get(phase) ?? []), armed]);
      }
    },
    hasAny: (phases: readonly Phase[]) => byPhase.size > 0 && phases.some((phase) => byPhase.has(phase)),
    find: (phase: Phase, name: string | undefined) => byName.get(phase)?.get(name) ?? search(phase, name),
  };
}

function mayTouch({ rule: { match } }: ArmedRule, name: string | undefined): boolean {
  const patterns = match.operation ?? match.event;
  return patterns === undefined || matchesName([patterns].flat(), name);
}
