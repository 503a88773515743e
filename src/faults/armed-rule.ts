// An armed rule: matches calls or deliveries, counts its firings against its limits, and makes the effect of each
// firing.

import type { CallSubject, DeliverySubject, Firing, Injection, RuleState, RuleStatus } from "../contracts/fault.ts";
import { setBounded } from "../kernel/bounded-cache.ts";
import { isoTime, LATEST_TIME } from "../kernel/clock.ts";
import { pick } from "../kernel/pick.ts";
import { createRandom } from "../kernel/random.ts";
import { milliseconds } from "./fields.ts";
import { callMatcher, deliveryMatcher } from "./matching.ts";
import type { FaultRule } from "./read-rule.ts";
import { type Budget, type BudgetScope, fires } from "./trigger.ts";

type AnyInjection = Injection<unknown>;

export type ArmedRule = ReturnType<typeof arm>;

export type Counts = ReturnType<typeof freshCounts>;

/**
 * The most budgets that a rule keeps, and the most deliveries of which it affects further attempts. It keeps the
 * newest.
 */
const MAX_BUDGETS = 10_000;
const MAX_COVERED = 10_000;

/** Arms a rule. If `counts` has the counts of an earlier definition of the rule, they continue. */
export function arm(id: string, rule: FaultRule, seed: number, now: number, counts: Counts = freshCounts(now)) {
  const { trigger, action } = rule;
  const beginsAt = counts.armedAt + spanOf(trigger.after, 0);
  // A rule without `after` is never pending, even if the clock was set back since it was armed.
  const isPending = (now: number) => trigger.after !== null && now < beginsAt;
  const endsAt = Math.min(beginsAt + spanOf(trigger.for, Infinity), counts.armedAt + spanOf(rule.ttl, Infinity));
  const isSpent = () => trigger.per === "rule" && trigger.times !== null && counts.fired >= trigger.times;
  const { fire, fireAgain } = createFiring(id, rule, seed, counts, endsAt);
  const matchesCall = callMatcher(rule.match);
  const precedesResponse = action.precedesResponse?.(rule.fields) ?? false;
  const matchesMatch = deliveryMatcher(rule.match);
  const matchesDelivery = (delivery: DeliverySubject, now: number) =>
    (delivery.canPrecedeResponse || !precedesResponse) && matchesMatch(delivery, now);
  /** The last attempt of each delivery that an earlier firing covers. */
  const covered = new Map<string, number>();

  const status = (now: number): RuleStatus => {
    if (isSpent()) return "spent";
    return now >= endsAt ? "expired" : "armed";
  };
  return {
    id,
    rule,
    counts,
    /** Sandbox milliseconds at which the rule's ttl or `for` ends. */
    endsAt,
    isActive: (now: number) => rule.enabled && now < endsAt && !(isSpent() && covered.size === 0),
    status,
    tryCall(call: CallSubject, now: number) {
      if (isPending(now) || isSpent() || !matchesCall(call)) return undefined;
      return fire(budgetOfCall(trigger.per, call), now, { merchant: call.merchant ?? null, requestId: call.requestId });
    },
    tryDelivery(delivery: DeliverySubject, now: number) {
      const { merchant, endpoint, eventId, attempt, attemptId = null } = delivery;
      const rotatedAt = action.phase === "content" ? (delivery.rotatedAt?.() ?? null) : null;
      const subject = { merchant, attemptId, eventId, endpointId: endpoint, rotatedAt };
      const name = `${merchant} ${endpoint} ${eventId}`;
      const lastAttempt = covered.get(name);
      if (lastAttempt !== undefined && attempt <= lastAttempt) return fireAgain(now, subject);
      if (lastAttempt !== undefined) covered.delete(name);
      if (isPending(now) || isSpent() || !matchesDelivery(delivery, now)) return undefined;
      const injection = fire(budgetOfDelivery(trigger.per, delivery), now, subject);
      const attempts = action.attempts?.(rule.fields) ?? 1;
      if (injection && attempts > 1) setBounded(covered, name, attempt + attempts - 1, MAX_COVERED);
      return injection;
    },
    state: (now: number) => describe(id, rule, counts, endsAt, status(now)),
  };
}

const freshCounts = (armedAt: number) => ({
  armedAt,
  matched: 0,
  fired: 0,
  lastFiredAt: null as number | null,
  budgets: new Map<string, Budget>(),
  dice: new Map<string, Budget>(),
});

const spanOf = (text: string | null, otherwise: number) => (text === null ? otherwise : milliseconds(text));

/** Counts matches against their budgets, and makes the injection if a match fires. */
function createFiring(id: string, rule: FaultRule, seed: number, counts: Counts, endsAt: number) {
  const { action, trigger, fields } = rule;
  const effect = action.prepare(fields);
  const random = createRandom(trigger.seed ?? seed);
  // A rule with its own seed makes the same choices under any id.
  const stream = trigger.seed === null ? id : "own";
  const always = {
    ruleId: id,
    name: rule.name,
    target: action.target,
    action: action.type,
    form: formOf(fields),
    outcome: action.outcome(fields),
    expect: rule.expect,
    merchant: null,
    requestId: null,
    attemptId: null,
    eventId: null,
    endpointId: null,
    rotatedAt: null,
  };
  const inject = (now: number, scope: string, fired: number, subject: Partial<Firing>): AnyInjection => {
    counts.lastFiredAt = now;
    const moment = { chance: (purpose: string) => random.fraction(stream, purpose, scope, fired), endsAt };
    const made = typeof effect === "function" ? effect(moment) : effect;
    return { effect: made, firing: { ...always, ...subject, at: now }, label: rule.label };
  };
  return {
    fire(scope: string, now: number, subject: Partial<Firing>): AnyInjection | undefined {
      counts.matched++;
      const budget = counts.budgets.get(scope) ?? { matched: 0, fired: 0 };
      setBounded(counts.budgets, scope, budget, MAX_BUDGETS);
      // Random choices use the count of each merchant's own matches, so that calls of other merchants do not change
      // them.
      const dice = `${subject.merchant ?? ""} ${scope}`;
      const own = counts.dice.get(dice) ?? { matched: 0, fired: 0 };
      setBounded(counts.dice, dice, own, MAX_BUDGETS);
      own.matched++;
      if (!fires(trigger, budget, () => random.fraction(stream, "fires", scope, own.matched))) return undefined;
      counts.fired++;
      return inject(now, scope, ++own.fired, subject);
    },
    /** Applies an earlier firing to another attempt that it covers, without using any budget. */
    fireAgain(now: number, subject: Partial<Firing>): AnyInjection {
      counts.matched++;
      return inject(now, "again", 1, subject);
    },
  };
}

const formOf = (fields: object): string | null => ("as" in fields && typeof fields.as === "string" ? fields.as : null);

/**
 * The name of the budget that a match counts against; empty for the rule's only budget. Except for operations, two
 * merchants never share a named budget.
 */
function budgetOfCall(per: BudgetScope, call: CallSubject): string {
  if (per === "key") return `key ${call.key ?? ""}`;
  if (per === "operation") return `operation ${call.operation ?? ""}`;
  if (per === "idempotency_key") return `call ${call.merchant ?? ""} ${call.header("idempotency-key") ?? call.address}`;
  return "";
}

function budgetOfDelivery(per: BudgetScope, { merchant, endpoint, eventId }: DeliverySubject): string {
  if (per === "event") return `event ${merchant} ${eventId}`;
  if (per === "endpoint") return `endpoint ${merchant} ${endpoint}`;
  return "";
}

function describe(
  id: string,
  rule: FaultRule,
  { matched, fired, lastFiredAt }: Counts,
  endsAt: number,
  status: RuleStatus,
): RuleState {
  const { action, trigger, fields, expect } = rule;
  const isBounded = trigger.per === "rule" && trigger.times !== null;
  return {
    id,
    name: rule.name,
    target: action.target,
    match: rule.match,
    trigger: { ...trigger },
    action: { ...fields },
    expect: [...expect],
    ...pick(rule, ["ttl", "priority", "label", "enabled"]),
    status,
    matched,
    fired,
    remaining: isBounded ? Math.max(0, (trigger.times ?? 0) - fired) : null,
    warnings: rule.warnings,
    lastFiredAt: lastFiredAt === null ? null : isoTime(lastFiredAt),
    // With a sandbox clock near its maximum, the end may be beyond the latest date.
    endsAt: endsAt <= LATEST_TIME ? isoTime(endsAt) : null,
  };
}
