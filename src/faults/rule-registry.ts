// Adds, shows, changes and removes fault rules. Finds the active rules of each phase, in order of evaluation.

import { API_PHASES, type ApiPhase, DELIVERY_PHASES, type DeliveryPhase, type RuleState } from "../contracts/fault.ts";
import type { Clock } from "../kernel/clock.ts";
import { didYouMean } from "../kernel/did-you-mean.ts";
import { fail } from "../kernel/errors.ts";
import { notify } from "../kernel/listeners.ts";
import { createRandom } from "../kernel/random.ts";
import { type ArmedRule, arm } from "./armed-rule.ts";
import { type FaultRule, type KnownNames, readRule } from "./read-rule.ts";
import { jsonSchema, type RuleInput } from "./rule-schema.ts";

export interface FaultsOptions {
  clock: Clock;
  seed: number;
  known: KnownNames;
  /** Called with true while an active rule serves old data to reads. */
  keepHistory(needed: boolean): void;
  /** The ids of rules in the request log and the delivery log, including earlier runs on the same file. */
  loggedRuleIds(): Iterable<string>;
}

const MAX_RULES = 1_000;

export type RuleRegistry = ReturnType<typeof createRuleRegistry>;

export function createRuleRegistry({ clock, seed, known, loggedRuleIds }: FaultsOptions, index: RuleIndex) {
  const { rules } = index;
  const logged = () => new Set(loggedRuleIds());
  const ids = createIds(seed, index, logged);
  const find = (id: string) => rules.get(id) ?? failUnknownRule(id, [...rules.keys()]);
  const put = (armed: ArmedRule): RuleState => {
    rules.set(armed.id, armed);
    index.rebuild();
    return armed.state(clock.now());
  };
  const isLogged = (id: string) => logged().has(id);
  /** Removes the rules that can affect only one merchant (default: every rule), and returns how many. */
  const clear = (merchant?: string) => {
    const removed = [...rules.values()].filter((armed) => merchant === undefined || armed.rule.owner === merchant);
    for (const { id } of removed) rules.delete(id);
    index.rebuild();
    notify(index.removed, undefined);
    return removed.length;
  };
  return {
    /** Fails if the rule is not valid. */
    check: (given: unknown) => void readRule(given, known),
    /**
     * Fails if the rule is invalid, or if its id is in use or logged. `resumes` allows a logged id, whose history the
     * rule then continues.
     */
    add(given: unknown, { resumes = false } = {}) {
      const rule = readRule(given, known);
      if (rule.id !== undefined) checkId(rule.id, rules, !resumes && isLogged(rule.id));
      makeRoom(rules, clock.now());
      return put(arm(rule.id ?? ids.next(rule.owner), rule, seed, clock.now()));
    },
    /** Whether the logs may name a rule with this id, armed or not. */
    isLogged,
    /** The rules in order of evaluation. */
    list: () => index.inOrder().map((armed) => armed.state(clock.now())),
    find: (id: string) => find(id).state(clock.now()),
    /** The counts stay unless the trigger or the ttl changes. */
    change(id: string, changes: Partial<Record<keyof RuleInput, unknown>>) {
      const armed = find(id);
      const next = readRule({ ...inputOf(armed.rule), ...changes, id }, known);
      const counts = changes.trigger === undefined && changes.ttl === undefined ? armed.counts : undefined;
      return put(arm(id, next, seed, clock.now(), counts));
    },
    remove(id: string): RuleState {
      const armed = find(id);
      rules.delete(id);
      index.rebuild();
      notify(index.removed, undefined);
      return { ...armed.state(clock.now()), status: "removed" };
    },
    clear,
    /** Removes rules before a merchant's logs (default: all logs) are erased or replaced. New ids then start again. */
    forget(merchant?: string) {
      clear(merchant);
      ids.restart(merchant);
    },
    schema: jsonSchema,
  };
}

/**
 * Generates rule ids that the logs do not name, so that a new rule does not inherit the requests of a removed one.
 * After a reset, the same run gets the same ids. The ids of rules that can affect only one merchant are counted
 * separately, because a rule's random choices follow from its id.
 */
function createIds(seed: number, { rules }: RuleIndex, readLogged: () => ReadonlySet<string>) {
  const random = createRandom(seed);
  const counts = new Map<string, number>();
  return {
    next(owner = ""): string {
      const logged = readLogged();
      let count = counts.get(owner) ?? 0;
      let id: string;
      do id = random.id("flt", ...(owner === "" ? [] : [owner]), ++count);
      while (rules.has(id) || logged.has(id));
      counts.set(owner, count);
      return id;
    },
    restart(owner?: string) {
      if (owner === undefined) counts.clear();
      else counts.delete(owner);
    },
  };
}

/** The rule as a client would write it. */
function inputOf({ name, match, trigger, fields, expect, ttl, priority, label, enabled }: FaultRule) {
  const named = { ...(name === null ? {} : { name }), ...(ttl === null ? {} : { ttl }) };
  return { ...named, match, trigger, action: fields, expect, priority, label, enabled };
}

function checkId(id: string, rules: ReadonlyMap<string, ArmedRule>, isLogged: boolean): void {
  if (rules.has(id)) fail("already_exists", `There is already a fault rule ${id}. Change it, or remove it first.`);
  if (isLogged)
    fail(
      "already_exists",
      `The logs may still name an earlier fault rule ${id}, whose requests would be counted as this one's. ` +
        "Choose another id, leave it out, or reset everything first.",
    );
}

/** At the limit, removes the oldest rule that is spent or expired. */
function makeRoom(rules: Map<string, ArmedRule>, now: number): void {
  if (rules.size < MAX_RULES) return;
  const over = [...rules.values()].find((armed) => armed.status(now) !== "armed");
  if (!over)
    fail(
      "validation_failed",
      `${MAX_RULES} fault rules are armed, which is the maximum. Remove some, or DELETE /_sandbox/faults.`,
    );
  rules.delete(over.id);
}

function failUnknownRule(id: string, known: readonly string[]): never {
  const choice = known.length > 0 ? ` There are ${known.slice(0, 10).join(", ")}.` : " None is armed.";
  fail("resource_not_found", `There is no fault rule ${id}.${didYouMean(id, known) || choice}`);
}

export type Phase = ApiPhase | DeliveryPhase;

export type RuleIndex = ReturnType<typeof createRuleIndex>;

/** The active rules of each phase. Calls `keepHistory` with true while an active rule serves old data to reads. */
export function createRuleIndex(clock: Clock, keepHistory: (needed: boolean) => void) {
  const rules = new Map<string, ArmedRule>();
  const byPhase = new Map<Phase, ArmedRule[]>();
  let nextEnd = Infinity;
  let builtAt = 0;
  const inOrder = () => [...rules.values()].sort((one, other) => other.rule.priority - one.rule.priority);
  const rebuild = () => {
    builtAt = clock.now();
    nextEnd = Infinity;
    byPhase.clear();
    for (const armed of inOrder().filter((rule) => rule.isActive(builtAt))) {
      const { phase } = armed.rule.action;
      byPhase.set(phase, [...(byPhase.get(phase) ?? []), armed]);
      nextEnd = Math.min(nextEnd, armed.endsAt);
    }
    keepHistory(byPhase.has("read"));
  };
  /** Drops expired rules from the index, and adds them again if the clock was set back. */
  const refresh = () => {
    const now = clock.now();
    if (now >= nextEnd || now < builtAt) rebuild();
  };
  const isArmed = (phases: readonly Phase[]) => {
    if (rules.size === 0) return false;
    refresh();
    return phases.some((phase) => byPhase.has(phase));
  };
  return {
    /** Every rule by id, in the order in which they were added. */
    rules,
    /** Called after rules were removed. */
    removed: new Set<(nothing: undefined) => void>(),
    isArmed: { api: () => isArmed(API_PHASES), delivery: () => isArmed(DELIVERY_PHASES) },
    /** Every rule in order of evaluation: by priority, then as they were added. */
    inOrder,
    hasAny(phase: Phase) {
      refresh();
      return byPhase.has(phase);
    },
    /** Tries the rules of a phase until one fires. Removes inactive rules from the index. */
    firstToFire<Made>(phase: Phase, attempt: (rule: ArmedRule, now: number) => Made | undefined): Made | undefined {
      refresh();
      const now = clock.now();
      let made: Made | undefined;
      let isStale = false;
      for (const rule of byPhase.get(phase) ?? []) {
        made = rule.isActive(now) ? attempt(rule, now) : undefined;
        isStale ||= !rule.isActive(now);
        if (made) break;
      }
      if (isStale) rebuild();
      return made;
    },
    /** Call this after a rule was added or removed. */
    rebuild,
  };
}
