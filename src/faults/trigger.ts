// The trigger of a rule: which of its matches fire.

import type { FaultTarget } from "../contracts/fault.ts";
import { count, oneOf, optional, type Static, Type, withDefault } from "../schema/shapes.ts";
import { span } from "./fields.ts";

export const BUDGET_SCOPES = ["rule", "key", "operation", "idempotency_key", "event", "endpoint"] as const;
export const SCOPES_OF: Record<FaultTarget, readonly BudgetScope[]> = {
  api: ["rule", "key", "operation", "idempotency_key"],
  delivery: ["rule", "event", "endpoint"],
};

export type BudgetScope = (typeof BUDGET_SCOPES)[number];

export const triggerSchema = Type.Object(
  {
    skip: optional(count("How many matches to let pass first")),
    times: optional(
      withDefault(
        count("How often to fire; null is unlimited", { minimum: 1 }),
        "1, or unlimited with `every`, `probability` or `for`",
      ),
    ),
    every: optional(count("Fire on every nth match", { minimum: 1 })),
    probability: optional(Type.Number({ description: "Probability that a match fires", minimum: 0, maximum: 1 })),
    seed: optional(
      withDefault(count("Repeats the same random choices of probability and latency"), "the sandbox's own seed"),
    ),
    after: optional(span("How long to wait before the rule begins")),
    for: optional(span("How long the rule is active once it has begun")),
    per: optional(
      withDefault(oneOf(BUDGET_SCOPES, "What has its own count of matches and firings"), "`rule`, one count for all"),
    ),
  },
  { additionalProperties: false, description: "Which matches fire (default: the next one)" },
);

export type TriggerInput = Static<typeof triggerSchema>;

/** A trigger with its defaults filled in. A `times` or `for` of null means no limit; another null, not set. */
export type Trigger = Required<Pick<TriggerInput, "times" | "every" | "seed" | "after" | "for">> & {
  skip: number;
  probability: number;
  per: BudgetScope;
};

/** Fills in the defaults. `defaultTimes` is the action's default for `times`; an explicit null is unlimited. */
export function completeTrigger(given: TriggerInput, defaultTimes: number): Trigger {
  const { every = null, probability, for: span = null } = given;
  const repeats = every !== null || probability != null || span !== null;
  const usualTimes = repeats ? null : defaultTimes;
  return {
    skip: given.skip ?? 0,
    times: given.times === undefined ? usualTimes : given.times,
    every,
    probability: probability ?? 1,
    seed: given.seed ?? null,
    after: given.after ?? null,
    for: span,
    per: given.per ?? "rule",
  };
}

/** The counts of one rule, key, operation, Idempotency-Key, event or endpoint. */
export interface Budget {
  matched: number;
  fired: number;
}

/** Counts one match, and returns whether the rule fires. `chance` is called only if the probability decides. */
export function fires(trigger: Trigger, budget: Budget, chance: () => number): boolean {
  const match = ++budget.matched - trigger.skip;
  if (match <= 0) return false;
  if (trigger.times !== null && budget.fired >= trigger.times) return false;
  if (trigger.every !== null && match % trigger.every !== 0) return false;
  if (trigger.probability < 1 && chance() >= trigger.probability) return false;
  budget.fired++;
  return true;
}
