// Every rule there is, and at hand those that may touch something in a phase.

import { API_PHASES, type ApiPhase, DELIVERY_PHASES, type DeliveryPhase } from "../contracts/fault.ts";
import type { Clock } from "../kernel/clock.ts";
import type { ArmedRule } from "./armed-rule.ts";
import { isNamed } from "./matching.ts";

export type Phase = ApiPhase | DeliveryPhase;

/** Every rule by id in the order in which they came, and those that are active by phase. */
export interface Shelf {
  readonly rules: Map<string, ArmedRule>;
  readonly armed: { readonly api: boolean; readonly delivery: boolean };
  /** Those that may touch a call of this operation, or a delivery of this type of event. */
  active(phase: Phase, name: string | undefined): readonly ArmedRule[];
  /** All in the order in which they are tried: by priority, then as they came. */
  tried(): ArmedRule[];
  now(): number;
  /** To be called whenever a rule came, went, or has nothing left. */
  sort(): void;
}

const MOST_NAMES = 1_000;

/** `keepPast` is told whether any rule lets reads look back. */
export function createShelf(clock: Clock, keepPast: (wanted: boolean) => void): Shelf {
  const rules = new Map<string, ArmedRule>();
  const atHand = createIndex();
  let soonestEnd = Infinity;
  let sortedAt = 0;
  const tried = () => [...rules.values()].sort((one, other) => other.rule.priority - one.rule.priority);
  const sort = () => {
    sortedAt = clock.now();
    const active = tried().filter((rule) => rule.isActive(sortedAt));
    atHand.fill(active);
    soonestEnd = active.reduce((soonest, { ends }) => Math.min(soonest, ends), Infinity);
    keepPast(atHand.hasAny(["read"]));
  };
  // A rule whose time is over goes even if nothing comes by any more that it could touch; where the clock was set back, it is there again.
  const renew = () => {
    const now = clock.now();
    if (now >= soonestEnd || now < sortedAt) sort();
  };
  const isArmed = (phases: readonly Phase[]) => {
    if (rules.size === 0) return false;
    renew();
    return atHand.hasAny(phases);
  };
  return {
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
    tried,
    active(phase, name) {
      renew();
      return atHand.find(phase, name);
    },
    sort,
  };
}

/** Rules by the phase they step in at, and by the name that is asked for. */
function createIndex() {
  const byPhase = new Map<Phase, ArmedRule[]>();
  /** The same by phase and name, as they are asked for. */
  const byName = new Map<Phase, Map<string | undefined, ArmedRule[]>>();
  const look = (phase: Phase, name: string | undefined) => {
    const found = (byPhase.get(phase) ?? []).filter((rule) => mayTouch(rule, name));
    const known = byName.get(phase) ?? new Map();
    // Types of test events are made up by whoever sends them.
    if (known.size >= MOST_NAMES) known.clear();
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
    find: (phase: Phase, name: string | undefined) => byName.get(phase)?.get(name) ?? look(phase, name),
  };
}

/** A rule names operations, types of events, or neither. */
function mayTouch({ rule: { match } }: ArmedRule, name: string | undefined): boolean {
  const names = match.operation ?? match.event;
  return names === undefined || isNamed([names].flat(), name);
}
