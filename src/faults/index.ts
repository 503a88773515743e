// Faults: decides which armed rule affects a call or a delivery, and reports each firing.

import {
  type ApiFaults,
  type ApiInjection,
  type CallSubject,
  DELIVERY_PHASES,
  type DeliveryFaults,
  type DeliveryInjection,
  type DeliverySubject,
  type Firing,
  type Injection,
  type InlineFault,
  type RuleRegistry,
} from "../contracts/fault.ts";
import type { ArmedRule } from "./armed-rule.ts";
import { parseInlineFaults } from "./inline-syntax.ts";
import { createRuleIndex, type Phase, type RuleIndex } from "./rule-index.ts";
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
  const { clock } = options;
  const listeners = new Set<(firing: Firing) => void>();
  const report = (firing: Firing) => {
    for (const listener of listeners) listener(firing);
  };
  const index = createRuleIndex(clock, options.keepHistory);
  return {
    api: {
      get armed() {
        return index.armed.api;
      },
      mayFire: (phase, operation) => index.candidates(phase, operation).length > 0,
      parseInline: parseInlineFaults,
      decide(phase, call, inline) {
        const own = inline?.find((fault) => fault.phase === phase);
        const injection = own
          ? inlineInjection(own, call, clock.now())
          : firstToFire(index, phase, call.operation, (rule, now) => rule.tryCall(call, now));
        if (injection) report(injection.firing);
        return injection as ApiInjection | undefined;
      },
    },
    delivery: {
      get armed() {
        return index.armed.delivery;
      },
      decide: (delivery) => decideDelivery(index, delivery, report),
      reportAgain: report,
    },
    rules: createRuleRegistry(options, index),
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

function inlineInjection({ action, outcome, effect }: InlineFault, call: CallSubject, at: number): ApiInjection {
  const firing = {
    ruleId: INLINE_ID,
    name: null,
    target: "api" as const,
    action,
    form: "as" in effect ? String(effect.as) : null,
    outcome,
    expect: [],
    merchant: call.merchant ?? null,
    requestId: call.requestId,
    attemptId: null,
    eventId: null,
    endpointId: null,
    rotatedAt: null,
    at,
  };
  return { effect, firing, label: true };
}

function decideDelivery(index: RuleIndex, delivery: DeliverySubject, report: (firing: Firing) => void): DeliveryInjection[] {
  return DELIVERY_PHASES.flatMap((phase) => {
    const injection = firstToFire(index, phase, delivery.eventType, (rule, now) => rule.tryDelivery(delivery, now));
    if (!injection) return [];
    report(injection.firing);
    return [{ ...injection, phase } as DeliveryInjection];
  });
}

/** The first rule of a phase that fires wins. Rules that are no longer active leave the index on the way. */
function firstToFire<Made extends Injection<unknown>>(
  index: RuleIndex,
  phase: Phase,
  name: string | undefined,
  attempt: (rule: ArmedRule, now: number) => Made | undefined,
): Made | undefined {
  const now = index.now();
  let injection: Made | undefined;
  let isStale = false;
  for (const rule of index.candidates(phase, name)) {
    injection = rule.isActive(now) ? attempt(rule, now) : undefined;
    isStale ||= !rule.isActive(now);
    if (injection) break;
  }
  if (isStale) index.rebuild();
  return injection;
}
