// Every rule there is, and at hand those that may touch something in a phase.

import type { Clock } from "../kernel/clock.ts";
import { API_PHASES, type ApiPhase, DELIVERY_PHASES, type DeliveryPhase } from "../kernel/fault.ts";
import type { ArmedRule } from "./armed.ts";
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
  const byPhase = new Map<string, ArmedRule[]>();
  /** The same by phase and name, as they are asked for. */
  const byName = new Map<string, Map<string | undefined, ArmedRule[]>>();
  let soonestEnd = Infinity;
  let sortedAt = 0;
  const armed = { api: false, delivery: false };
  const tried = () => [...rules.values()].sort((one, other) => other.rule.priority - one.rule.priority);
  const isOn = (phases: readonly string[]) => phases.some((phase) => byPhase.has(phase));
  const sort = () => {
    byPhase.clear();
    byName.clear();
    const now = clock.now();
    sortedAt = now;
    const active = tried().filter((rule) => rule.isActive(now));
    for (const rule of active) byPhase.set(rule.rule.action.phase, [...(byPhase.get(rule.rule.action.phase) ?? []), rule]);
    soonestEnd = active.reduce((soonest, { ends }) => Math.min(soonest, ends), Infinity);
    keepPast(byPhase.has("read"));
    armed.api = isOn(API_PHASES);
    armed.delivery = isOn(DELIVERY_PHASES);
  };
  // A rule whose time is over goes even if nothing comes by any more that it could touch; where the clock was set back, it is there again.
  const renew = () => {
    const now = clock.now();
    if (now >= soonestEnd || now < sortedAt) sort();
  };
  const find = (phase: Phase, name: string | undefined) => {
    const found = (byPhase.get(phase) ?? []).filter((rule) => mayTouch(rule, name));
    const known = byName.get(phase) ?? new Map();
    // Types of test events are made up by whoever sends them.
    if (known.size >= MOST_NAMES) known.clear();
    byName.set(phase, known.set(name, found));
    return found;
  };
  return {
    rules,
    armed: {
      get api() {
        if (rules.size > 0) renew();
        return armed.api;
      },
      get delivery() {
        if (rules.size > 0) renew();
        return armed.delivery;
      },
    },
    now: clock.now,
    tried,
    active(phase, name) {
      renew();
      return byName.get(phase)?.get(name) ?? find(phase, name);
    },
    sort,
  };
}

/** A rule names operations, types of events, or neither. */
function mayTouch({ rule: { match } }: ArmedRule, name: string | undefined): boolean {
  const names = match.operation ?? match.event;
  return names === undefined || isNamed([names].flat(), name);
}
