// Every rule there is, and at hand those that may touch something in a phase.

import type { Clock } from "../kernel/clock.ts";
import { API_PHASES, type ApiPhase, DELIVERY_PHASES, type DeliveryPhase } from "../kernel/fault.ts";
import type { ArmedRule } from "./armed.ts";

/** Every rule by id in the order in which they came, and those that are active by phase. */
export interface Shelf {
  readonly rules: Map<string, ArmedRule>;
  readonly armed: { api: boolean; delivery: boolean };
  active(phase: ApiPhase | DeliveryPhase): readonly ArmedRule[];
  /** All in the order in which they are tried: by priority, then as they came. */
  tried(): ArmedRule[];
  now(): number;
  /** To be called whenever a rule came, went, or has nothing left. */
  sort(): void;
}

/** `keepPast` is told whether any rule lets reads look back. */
export function createShelf(clock: Clock, keepPast: (wanted: boolean) => void): Shelf {
  const rules = new Map<string, ArmedRule>();
  const byPhase = new Map<string, ArmedRule[]>();
  const armed = { api: false, delivery: false };
  const tried = () => [...rules.values()].sort((one, other) => other.rule.priority - one.rule.priority);
  const isOn = (phases: readonly string[]) => phases.some((phase) => byPhase.has(phase));
  return {
    rules,
    armed,
    now: clock.now,
    tried,
    active: (phase) => byPhase.get(phase) ?? [],
    sort() {
      byPhase.clear();
      const now = clock.now();
      for (const rule of tried()) {
        const { phase } = rule.rule.action;
        if (rule.isActive(now)) byPhase.set(phase, [...(byPhase.get(phase) ?? []), rule]);
      }
      keepPast(byPhase.has("read"));
      armed.api = isOn(API_PHASES);
      armed.delivery = isOn(DELIVERY_PHASES);
    },
  };
}
