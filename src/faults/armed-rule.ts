// One rule at work: what it matches, what it has left, and what it does when it fires.

import type { CallSubject, DeliverySubject, Firing, RuleState, RuleStatus } from "../contracts/fault.ts";
import { isoTime, LATEST_TIME } from "../kernel/clock.ts";
import { createRandom } from "../kernel/random.ts";
import { milliseconds } from "./fields.ts";
import { callMatcher, deliveryMatcher } from "./matching.ts";
import type { Rule } from "./read-rule.ts";
import { type Budget, fires } from "./trigger.ts";

/** What a firing did, and to whom. */
export interface Hit {
  effect: unknown;
  firing: Firing;
  label: boolean;
}

export interface ArmedRule {
  readonly id: string;
  readonly rule: Rule;
  /** When its time is over, in sandbox milliseconds. */
  readonly ends: number;
  isActive(now: number): boolean;
  status(now: number): RuleStatus;
  tryCall(call: CallSubject, now: number): Hit | undefined;
  tryDelivery(delivery: DeliverySubject, now: number): Hit | undefined;
  /** Says how it stands. */
  state(now: number): RuleState;
  /** The same under changed words: what was counted stays, unless the trigger is another. */
  changed(rule: Rule, now: number): ArmedRule;
}

/** What a rule has been through. */
interface Past {
  armedAt: number;
  seen: number;
  fired: number;
  lastFiredAt: number | null;
  budgets: Map<string, Budget>;
}

/** Beyond this many, the oldest budget is forgotten. */
const MOST_BUDGETS = 10_000;
/** And of this many deliveries it is remembered that one firing holds for their next attempts too. */
const MOST_HELD = 10_000;

export function arm(id: string, rule: Rule, seed: number, now: number, past: Past = freshPast(now)): ArmedRule {
  const { trigger, action } = rule;
  const begins = past.armedAt + spanOf(trigger.after, 0);
  // A rule that does not wait has begun, even where the clock was set back since it was armed.
  const isToCome = (now: number) => trigger.after !== null && now < begins;
  const ends = Math.min(begins + spanOf(trigger.for, Infinity), past.armedAt + spanOf(rule.ttl, Infinity));
  const isSpent = () => trigger.per === "rule" && trigger.times !== null && past.fired >= trigger.times;
  const hit = fuse(id, rule, seed, past, begins);
  const matchesCall = callMatcher(rule.match);
  const matchesDelivery = deliveryMatcher(rule.match);
  const held = new Map<string, number>();

  const armed: ArmedRule = {
    id,
    rule,
    ends,
    isActive: (now) => rule.enabled && now < ends && !(isSpent() && held.size === 0),
    status: (now) => (isSpent() ? "spent" : now >= ends ? "expired" : "armed"),
    tryCall(call, now) {
      if (isToCome(now) || isSpent() || !matchesCall(call)) return undefined;
      return hit(budgetOfCall(trigger.per, call), now, { merchant: call.merchant ?? null, requestId: call.requestId });
    },
    tryDelivery(delivery, now) {
      const { merchant, endpoint, eventId, attempt, attemptId = null } = delivery;
      const rotatedAt = action.phase === "content" ? (delivery.rotatedAt?.() ?? null) : null;
      const about = { merchant, attemptId, eventId, endpointId: endpoint, rotatedAt };
      const name = `${merchant} ${endpoint} ${eventId}`;
      const lastAttempt = held.get(name);
      if (lastAttempt !== undefined && attempt <= lastAttempt) return hit.again(now, about);
      if (lastAttempt !== undefined) held.delete(name);
      if (isToCome(now) || isSpent() || !matchesDelivery(delivery, now)) return undefined;
      const made = hit(budgetOfDelivery(trigger.per, delivery), now, about);
      const attempts = action.attempts(rule.fields);
      if (made && attempts > 1) remember(held, name, attempt + attempts - 1, MOST_HELD);
      return made;
    },
    state: (now) => describe(armed, past, now, ends),
    changed: (next, at) => arm(id, next, seed, at, next.trigger === trigger ? past : freshPast(at)),
  };
  return armed;
}

const freshPast = (armedAt: number): Past => ({ armedAt, seen: 0, fired: 0, lastFiredAt: null, budgets: new Map() });

const spanOf = (written: string | null, otherwise: number) => (written === null ? otherwise : milliseconds(written));

/** Counts a match against its budget, and carries the action out where that lets it. */
function fuse(id: string, rule: Rule, seed: number, past: Past, begins: number) {
  const { action, trigger, fields } = rule;
  const carryOut = action.prepare(fields);
  const random = createRandom(trigger.seed ?? seed);
  // A seed of its own makes the same choices again even under another id.
  const stream = trigger.seed === null ? id : "own";
  const span = trigger.for === null ? undefined : milliseconds(trigger.for);

  const told = (now: number, about: Partial<Firing>): Firing => ({
    ruleId: id,
    name: rule.name,
    target: action.target,
    action: action.type,
    form: formOf(fields),
    expect: rule.expect,
    ...NOBODY,
    ...about,
    at: now,
  });
  const effectAt = (now: number, scope: string, budget: Budget) => {
    const progress =
      trigger.times !== null && trigger.times > 1 ? (budget.fired - 1) / (trigger.times - 1) : span ? (now - begins) / span : 1;
    return carryOut({
      progress: Math.min(1, Math.max(0, progress)),
      chance: (purpose) => random.fraction(stream, purpose, scope, budget.fired),
    });
  };
  const hit = (scope: string, now: number, about: Partial<Firing>): Hit | undefined => {
    past.seen++;
    const budget = past.budgets.get(scope) ?? { seen: 0, fired: 0 };
    remember(past.budgets, scope, budget, MOST_BUDGETS);
    if (!fires(trigger, budget, (match) => random.fraction(stream, "fires", scope, match))) return undefined;
    past.fired++;
    past.lastFiredAt = now;
    return { effect: effectAt(now, scope, budget), firing: told(now, about), label: rule.label };
  };
  /** What a firing before did, done to a later attempt: no budget is asked. */
  hit.again = (now: number, about: Partial<Firing>): Hit => {
    past.seen++;
    past.lastFiredAt = now;
    return { effect: effectAt(now, "again", { seen: 1, fired: 1 }), firing: told(now, about), label: rule.label };
  };
  return hit;
}

const NOBODY = { merchant: null, requestId: null, attemptId: null, eventId: null, endpointId: null, rotatedAt: null };

const formOf = (fields: object): string | null => ("as" in fields && typeof fields.as === "string" ? fields.as : null);

/** Keeps the newest so many. */
function remember<V>(map: Map<string, V>, name: string, value: V, most: number): void {
  if (map.has(name)) return;
  map.set(name, value);
  if (map.size > most) map.delete(map.keys().next().value as string);
}

/** Whose budget a match is taken from. Keys of two merchants are never the same budget. */
function budgetOfCall(per: Rule["trigger"]["per"], call: CallSubject): string {
  if (per === "key") return `key ${call.key ?? ""}`;
  if (per === "operation") return `operation ${call.operation ?? ""}`;
  if (per === "idempotency_key") return `call ${call.merchant ?? ""} ${call.header("idempotency-key") ?? call.address}`;
  return "";
}

function budgetOfDelivery(per: Rule["trigger"]["per"], { merchant, endpoint, eventId }: DeliverySubject): string {
  if (per === "event") return `event ${merchant} ${eventId}`;
  if (per === "endpoint") return `endpoint ${merchant} ${endpoint}`;
  return "";
}

function describe(armed: ArmedRule, past: Past, now: number, ends: number): RuleState {
  const { id, rule } = armed;
  const { name, action, match, trigger, fields, expect, ttl, priority, label, enabled } = rule;
  const bounded = trigger.per === "rule" && trigger.times !== null;
  return {
    id,
    name,
    target: action.target,
    match,
    trigger: { ...trigger },
    action: fields,
    expect,
    ttl,
    priority,
    label,
    enabled,
    status: armed.status(now),
    seen: past.seen,
    fired: past.fired,
    remaining: bounded ? Math.max(0, (trigger.times ?? 0) - past.fired) : null,
    lastFiredAt: past.lastFiredAt === null ? null : isoTime(past.lastFiredAt),
    // A clock that was set late may put the end where no calendar reaches.
    endsAt: ends <= LATEST_TIME ? isoTime(ends) : null,
  };
}
