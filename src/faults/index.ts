// Faults: decides which armed rule affects a call or a delivery, and reports each firing.

import {
  type ApiFaults,
  type ApiInjection,
  type ApiPhase,
  DELIVERY_PHASES,
  type DeliveryFaults,
  type DeliveryInjection,
  type Firing,
  type RuleRegistry,
} from "../contracts/fault.ts";
import { arm } from "./armed-rule.ts";
import { parseInlineActions } from "./inline-syntax.ts";
import { readRule } from "./read-rule.ts";
import { createRuleIndex } from "./rule-index.ts";
import { createRuleRegistry, type FaultsOptions } from "./rule-registry.ts";

export interface Faults {
  readonly api: ApiFaults;
  readonly delivery: DeliveryFaults;
  readonly rules: RuleRegistry;
  /** Calls the listener with each firing; the returned function removes it. */
  listen(listener: (firing: Firing) => void): () => void;
}

/** The rule id in the firings of X-Sandbox-Inject. */
const INLINE_ID = "flt_brought";

export function createFaults(options: FaultsOptions): Faults {
  const { clock, known, seed } = options;
  const listeners = new Set<(firing: Firing) => void>();
  const report = (firing: Firing) => {
    for (const listener of listeners) listener(firing);
  };
  const index = createRuleIndex(clock, options.keepHistory);
  return {
    api: {
      get armed() {
        return index.isArmed.api();
      },
      mayFire: index.hasAny,
      parseInline: (text) =>
        parseInlineActions(text).map((action) => {
          const armed = arm(INLINE_ID, readRule({ action }, known), seed, clock.now());
          return { phase: armed.rule.action.phase as ApiPhase, fire: (call) => armed.tryCall(call, clock.now()) as ApiInjection };
        }),
      decide(phase, call, inline) {
        const own = inline?.find((fault) => fault.phase === phase);
        const injection = own ? own.fire(call) : index.firstToFire(phase, (rule, now) => rule.tryCall(call, now));
        if (injection) report(injection.firing);
        return injection as ApiInjection | undefined;
      },
    },
    delivery: {
      get armed() {
        return index.isArmed.delivery();
      },
      decide: (delivery) =>
        DELIVERY_PHASES.flatMap((phase) => {
          const injection = index.firstToFire(phase, (rule, now) => rule.tryDelivery(delivery, now));
          if (!injection) return [];
          report(injection.firing);
          return [{ ...injection, phase } as DeliveryInjection];
        }),
      reportAgain: report,
    },
    rules: createRuleRegistry(options, index),
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
