// When a rule that matches fires: what it skips, how often, how likely, and whose budget each firing is taken from.

import { count, optional, type Static, Type } from "../schema/shapes.ts";
import { span } from "./fields.ts";

export const BUDGETS = ["rule", "key", "operation", "idempotency_key", "event", "endpoint"] as const;
export type BudgetOf = (typeof BUDGETS)[number];

export const triggerSchema = Type.Object(
  {
    skip: optional(count("How many matches to let pass first")),
    times: optional(
      count("How often to fire; null is without bound. Once unless given, or without bound where every, probability or for is given", {
        minimum: 1,
      }),
    ),
    every: optional(count("Fire at every so many matches", { minimum: 1 })),
    probability: optional(Type.Number({ description: "How likely a match fires", minimum: 0, maximum: 1 })),
    seed: optional(count("Makes the same choices of probability and latency again; the sandbox's own seed unless given")),
    after: optional(span("How long to wait before the rule begins")),
    for: optional(span("How long the rule holds once it has begun")),
    per: optional(
      Type.Unsafe<BudgetOf>({ type: "string", enum: [...BUDGETS], description: "Whose budget is counted; the rule's own unless given" }),
    ),
  },
  { additionalProperties: false, description: "When it fires: the next time it matches, unless given" },
);

export type GivenTrigger = Static<typeof triggerSchema>;

/** A trigger with everything said. */
export interface Trigger {
  skip: number;
  times: number | null;
  every: number | null;
  probability: number;
  seed: number | null;
  after: string | null;
  for: string | null;
  per: BudgetOf;
}

/** `usual` is how often the action fires where nobody said. An explicit null takes the bound away. */
export function completeTrigger(given: GivenTrigger, usual: number): Trigger {
  const { every = null, probability, for: span = null } = given;
  const repeats = every !== null || probability != null || span !== null;
  return {
    skip: given.skip ?? 0,
    times: given.times === undefined ? (repeats ? null : usual) : given.times,
    every,
    probability: probability ?? 1,
    seed: given.seed ?? null,
    after: given.after ?? null,
    for: span,
    per: given.per ?? "rule",
  };
}

/** What one budget has been asked for, and what it gave. */
export interface Budget {
  seen: number;
  fired: number;
}

/** Counts one match and says whether it fires. `chance` is asked only where it decides. */
export function fires(trigger: Trigger, budget: Budget, chance: (match: number) => number): boolean {
  const match = ++budget.seen - trigger.skip;
  if (match <= 0) return false;
  if (trigger.times !== null && budget.fired >= trigger.times) return false;
  if (trigger.every !== null && match % trigger.every !== 0) return false;
  if (trigger.probability < 1 && chance(match) >= trigger.probability) return false;
  budget.fired++;
  return true;
}
