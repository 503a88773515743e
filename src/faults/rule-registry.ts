// The rules as somebody adds, changes and removes them.

import type { RuleRegistry, RuleState } from "../contracts/fault.ts";
import type { Clock } from "../kernel/clock.ts";
import { didYouMean } from "../kernel/did-you-mean.ts";
import { fail } from "../kernel/errors.ts";
import { createRandom } from "../kernel/random.ts";
import { type ArmedRule, arm } from "./armed-rule.ts";
import { type Known, type Rule, readRule } from "./read-rule.ts";
import type { Shelf } from "./rule-index.ts";
import { type GivenRule, jsonSchema } from "./rule-schema.ts";

export interface BookNeeds {
  clock: Clock;
  seed: number;
  known: Known;
  /** Told whether any rule lets reads look back. */
  keepPast(wanted: boolean): void;
}

const MOST_RULES = 1_000;

export function openBook({ clock, seed, known }: BookNeeds, shelf: Shelf): RuleRegistry {
  const { rules } = shelf;
  const random = createRandom(seed);
  let count = 0;
  const freshId = (): string => {
    const id = random.id("flt", ++count);
    return rules.has(id) ? freshId() : id;
  };
  const find = (id: string) =>
    rules.get(id) ??
    fail("resource_not_found", `There is no fault rule ${id}.${didYouMean(id, rules.keys()) || " GET /_sandbox/faults lists them."}`);
  const put = (armed: ArmedRule): RuleState => {
    rules.set(armed.id, armed);
    shelf.sort();
    return armed.state(clock.now());
  };
  return {
    check: (given) => void readRule(given, known),
    add(given) {
      const rule = readRule(given, known);
      if (rule.id !== undefined && rules.has(rule.id))
        fail("already_exists", `There is a fault rule ${rule.id} already. Change it, or remove it first.`);
      makeRoom(rules, clock.now());
      return put(arm(rule.id ?? freshId(), rule, seed, clock.now()));
    },
    list: () => shelf.tried().map((armed) => armed.state(clock.now())),
    find: (id) => find(id).state(clock.now()),
    change: (id, changes) => {
      const armed = find(id);
      return put(armed.changed(changedRule(armed.rule, id, changes as Partial<GivenRule>, known), clock.now()));
    },
    remove(id) {
      const armed = find(id);
      rules.delete(id);
      shelf.sort();
      return { ...armed.state(clock.now()), status: "removed" };
    },
    clear(merchant) {
      const gone = [...rules.values()].filter((armed) => merchant === undefined || armed.rule.owner === merchant);
      for (const { id } of gone) rules.delete(id);
      // Equal runs with a reset between them give their rules equal ids.
      if (rules.size === 0) count = 0;
      shelf.sort();
      return gone.length;
    },
    schema: jsonSchema,
  };
}

/** What was counted goes on unless the trigger or the time to live is given anew: `changed` knows by the trigger. */
function changedRule(rule: Rule, id: string, changes: Partial<GivenRule>, known: Known): Rule {
  const next = readRule({ ...written(rule), ...changes, id }, known);
  return changes.trigger === undefined && changes.ttl === undefined ? { ...next, trigger: rule.trigger } : next;
}

/** A rule as somebody would write it. */
function written({ name, match, trigger, fields, expect, ttl, priority, label, enabled }: Rule) {
  const named = { ...(name === null ? {} : { name }), ...(ttl === null ? {} : { ttl }) };
  return { ...named, match, trigger, action: fields, expect, priority, label, enabled };
}

/** Rules that are over make room for new ones, the oldest first. */
function makeRoom(rules: Map<string, ArmedRule>, now: number): void {
  if (rules.size < MOST_RULES) return;
  const over = [...rules.values()].find((armed) => armed.status(now) !== "armed");
  if (!over)
    fail("validation_failed", `${MOST_RULES} fault rules are armed, and there can be no more. Remove some, or DELETE /_sandbox/faults.`);
  rules.delete(over.id);
}
