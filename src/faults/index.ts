// Faults: decides which armed rule affects a call or a delivery, and reports each firing.

import {
  type ApiInjection,
  type ApiPhase,
  type CallSubject,
  DELIVERY_PHASES,
  type DeliveryInjection,
  type DeliverySubject,
  type Firing,
  INLINE_RULE,
  type InlineFault,
} from "../contracts/fault.ts";
import { ApiError, type FieldError, SandboxError } from "../kernel/errors.ts";
import { notify, subscribeTo } from "../kernel/listeners.ts";
import { errorAt, type FileMistake, readJsonFile } from "../store/world/json-file.ts";
import { arm } from "./armed-rule.ts";
import { parseInlineActions } from "./inline-syntax.ts";
import { readRule } from "./read-rule.ts";
import { createRuleIndex, createRuleRegistry, type FaultsOptions } from "./rule-registry.ts";

export type Faults = ReturnType<typeof createFaults>;
export type ApiFaults = Faults["api"];
export type DeliveryFaults = Faults["delivery"];

export function createFaults(options: FaultsOptions) {
  const { clock, known, seed } = options;
  const listeners = new Set<(firing: Firing) => void>();
  const report = (firing: Firing) => notify(listeners, firing);
  const index = createRuleIndex(clock, options.keepHistory);
  return {
    api: {
      /** False while no rule can affect any call. */
      get armed() {
        return index.isArmed.api();
      },
      /** False if no rule acts in this phase, so that the caller can skip `decide`. */
      mayFire: (phase: ApiPhase) => index.hasAny(phase),
      /** Parses X-Sandbox-Inject; fails with 400 unless it names actions on calls. */
      parseInline: (text: string) =>
        parseInlineActions(text).map((action): InlineFault => {
          const armed = arm(INLINE_RULE, readRule({ action }, known), seed, clock.now());
          return {
            phase: armed.rule.action.phase as ApiPhase,
            fire: (call) => armed.tryCall(call, clock.now()) as ApiInjection,
          };
        }),
      /** The effect on a call in this phase; undefined for none. Counts as a match, so call it once per phase. */
      decide(phase: ApiPhase, call: CallSubject, inline?: readonly InlineFault[]) {
        const own = inline?.find((fault) => fault.phase === phase);
        const injection = own ? own.fire(call) : index.firstToFire(phase, (rule, now) => rule.tryCall(call, now));
        if (injection) report(injection.firing);
        return injection as ApiInjection | undefined;
      },
    },
    delivery: {
      /** False while no rule can affect any delivery. */
      get armed() {
        return index.isArmed.delivery();
      },
      /** The effects on an attempt, at most one per phase. Counts as a match, so call it once per attempt. */
      decide: (delivery: DeliverySubject) =>
        DELIVERY_PHASES.flatMap((phase) => {
          const injection = index.firstToFire(phase, (rule, now) => rule.tryDelivery(delivery, now));
          if (!injection) return [];
          report(injection.firing);
          return [{ ...injection, phase } as DeliveryInjection];
        }),
      /** Whether there is a rule with this id. */
      has: (id: string) => index.rules.has(id),
      /** Calls the listener after rules were removed. A removed rule may still hold deliveries. */
      onRemoved: subscribeTo(index.removed),
      /** Reports that an earlier firing affects another attempt, without counting it again. */
      reportAgain: report,
    },
    rules: createRuleRegistry(options, index),
    /** Calls the listener with each firing; the returned function removes it. */
    listen: subscribeTo(listeners),
  };
}

/** Adds the rules of a file, which contains a list of rules, or an object with the list in `faults`. */
export async function addRulesFromFile(
  path: string,
  add: (rule: unknown) => unknown,
  mistake: FileMistake,
): Promise<void> {
  const source = await readJsonFile(path);
  const { value } = source;
  const [rules, parent] = Array.isArray(value)
    ? [value, ""]
    : [(value as { faults?: unknown } | null)?.faults, "/faults"];
  if (!Array.isArray(rules))
    throw new SandboxError(
      `${path}:1: a file of faults is a list of rules, or an object whose "faults" is one.`,
      "badFixture",
    );
  for (const [index, rule] of rules.entries()) {
    try {
      add(rule);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const [first] = (error.details.errors ?? []) as FieldError[];
      throw await errorAt(source, `${parent}/${index}${first?.pointer ?? ""}`, error.message, mistake);
    }
  }
}
