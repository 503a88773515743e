// Faults: the rules that are armed, and the decision which of them touches a call or a delivery.

import {
  type ApiFaults,
  type ApiInjection,
  type CallSubject,
  DELIVERY_PHASES,
  type DeliveryEffect,
  type DeliveryFaults,
  type DeliverySubject,
  type Firing,
  type InlineFault,
  type RuleRegistry,
} from "../contracts/fault.ts";
import type { ArmedRule, Hit } from "./armed-rule.ts";
import { readBrought } from "./inline-syntax.ts";
import { createShelf, type Phase, type Shelf } from "./rule-index.ts";
import { type BookNeeds, openBook } from "./rule-registry.ts";

export interface Faults {
  readonly api: ApiFaults;
  readonly delivery: DeliveryFaults;
  readonly rules: RuleRegistry;
  /** Hears of each firing; the returned function ends that. */
  listen(listener: (firing: Firing) => void): () => void;
}

/** The id under which a fault fires that a request brought along. */
const BROUGHT = "flt_brought";

export function createFaults(needs: BookNeeds): Faults {
  const { clock } = needs;
  const listeners = new Set<(firing: Firing) => void>();
  const tell = (firing: Firing) => {
    for (const listener of listeners) listener(firing);
  };
  const shelf = createShelf(clock, needs.keepPast);
  const rules = openBook(needs, shelf);
  return {
    api: {
      get armed() {
        return shelf.armed.api;
      },
      concerns: (phase, operation) => shelf.active(phase, operation).length > 0,
      read: readBrought,
      decide(phase, call, brought) {
        const own = brought?.find((fault) => fault.phase === phase);
        const made = own
          ? broughtInjection(own, call, clock.now())
          : firstOf(shelf, phase, call.operation, (rule, now) => rule.tryCall(call, now));
        if (made) tell(made.firing);
        return made as ApiInjection | undefined;
      },
    },
    delivery: {
      get armed() {
        return shelf.armed.delivery;
      },
      forDelivery: (delivery) => decideDelivery(shelf, delivery, tell),
      repeat: tell,
    },
    rules,
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

function broughtInjection({ action, effect }: InlineFault, call: CallSubject, at: number): ApiInjection {
  const nobody = { attemptId: null, eventId: null, endpointId: null, rotatedAt: null };
  const firing: Firing = {
    ruleId: BROUGHT,
    name: null,
    target: "api",
    action,
    form: "as" in effect ? String(effect.as) : null,
    expect: [],
    merchant: call.merchant ?? null,
    requestId: call.requestId,
    ...nobody,
    at,
  };
  return { effect, firing, label: true };
}

function decideDelivery(shelf: Shelf, delivery: DeliverySubject, tell: (firing: Firing) => void) {
  return DELIVERY_PHASES.flatMap((phase) => {
    const made = firstOf(shelf, phase, delivery.eventType, (rule, now) => rule.tryDelivery(delivery, now));
    if (!made) return [];
    tell(made.firing);
    return [{ ...made, phase, effect: made.effect as DeliveryEffect }];
  });
}

/** The first rule of a phase that fires. Those whose time is over are taken off the shelf on the way. */
function firstOf(
  shelf: Shelf,
  phase: Phase,
  name: string | undefined,
  attempt: (rule: ArmedRule, now: number) => Hit | undefined,
): Hit | undefined {
  const now = shelf.now();
  let made: Hit | undefined;
  let over = false;
  for (const rule of shelf.active(phase, name)) {
    made = rule.isActive(now) ? attempt(rule, now) : undefined;
    over ||= !rule.isActive(now);
    if (made) break;
  }
  if (over) shelf.sort();
  return made;
}
