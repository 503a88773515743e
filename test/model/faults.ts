// Fault rules: which calls and deliveries they match, when they fire, and what they do.

import type { Decision, Delivery, World } from "./world.ts";

/** Actions on calls, in pipeline order. Latency adds to any other action. */
export type CallAction =
  | { type: "outage"; as?: "503" | "reset"; retryAfter?: number }
  | { type: "auth"; as: "revoked" | "expired" }
  | { type: "rate_limit"; retryAfter?: number; exhaust?: boolean }
  | { type: "idempotency"; as: "in_progress" | "expired" }
  | { type: "status"; status: number; code?: string; retryAfter?: number }
  | { type: "connection"; as: "reset" | "empty" }
  | { type: "lost_response"; as: "reset" | "empty" | "502" }
  | { type: "latency"; ms: number }
  | { type: "body"; as: "truncate" | "invalid_json" | "html" };

export type DeliveryAction =
  | { type: "drop"; attempts: number | "all" }
  | { type: "delay"; by: string }
  | { type: "duplicate"; copies: number }
  | { type: "signature"; as: "missing" | "wrong_secret" }
  | { type: "payload"; as: "extra_field" };

export interface FaultRuleInput {
  id: string;
  match: { operation?: string[]; merchant?: string; event?: string[] };
  trigger: { times: number; skip?: number; every?: number; for?: string };
  action: CallAction | DeliveryAction;
}

export interface FaultRule extends FaultRuleInput {
  armedAt: number;
  /** How often the rule matched, and how often it fired. */
  seen: number;
  fired: number;
  /** The last attempt that an action on several attempts affects, by event and endpoint. */
  holds: Map<Delivery["event"], Map<string, number>>;
}

export function arm(world: World, given: FaultRuleInput): void {
  world.faults.push({ ...given, armedAt: world.now, seen: 0, fired: 0, holds: new Map() });
}

const UNITS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000 };
/** Parses a duration such as 5m or -5m into milliseconds. */
export const span = (text: string): number => Number(text.slice(0, -1)) * (UNITS[text.slice(-1)] ?? Number.NaN);

const isOver = ({ trigger, armedAt }: FaultRule, now: number) =>
  trigger.for !== undefined && now >= armedAt + span(trigger.for);
const isSpent = ({ trigger, fired }: FaultRule) => fired >= trigger.times;

/** Counts one match and returns whether the rule fires on it. */
function fires(rule: FaultRule): boolean {
  const { skip = 0, every = 1 } = rule.trigger;
  const match = ++rule.seen - skip;
  if (match <= 0 || match % every !== 0) return false;
  rule.fired++;
  return true;
}

/** Returns the action of the first rule with one of these types that fires on the call. */
export function matchCallFault<T extends CallAction["type"]>(
  world: World,
  types: readonly T[],
  call: { operation: string | undefined; merchant: string | undefined; faults: string[] },
): Extract<CallAction, { type: T }> | undefined {
  for (const rule of world.faults) {
    const { match, action } = rule;
    if (!types.includes(action.type as T) || isOver(rule, world.now) || isSpent(rule)) continue;
    if (match.operation && !match.operation.includes(call.operation ?? "")) continue;
    if (match.merchant !== undefined && match.merchant !== call.merchant) continue;
    if (!fires(rule)) continue;
    call.faults.push(rule.id);
    return action as Extract<CallAction, { type: T }>;
  }
  return undefined;
}

/** Decides what the rules do to the next attempt. A delay changes the due time of the delivery at once. */
export function matchDeliveryFaults(world: World, delivery: Delivery): Decision {
  const scheduled = firstOf(world, delivery, ["drop", "delay", "duplicate"]);
  const content = firstOf(world, delivery, ["signature", "payload"]);
  if (scheduled?.type === "delay") delivery.due = Math.max(world.now, delivery.due) + span(scheduled.by);
  return {
    ...(scheduled?.type === "drop" ? { drop: true } : {}),
    ...(scheduled?.type === "duplicate" ? { copies: scheduled.copies } : {}),
    ...(content?.type === "signature" ? { signature: content.as } : {}),
    ...(content?.type === "payload" ? { extraField: true } : {}),
  };
}

function firstOf(world: World, delivery: Delivery, types: DeliveryAction["type"][]): DeliveryAction | undefined {
  for (const rule of world.faults) {
    const { match, action } = rule;
    if (!types.includes(action.type as DeliveryAction["type"]) || isOver(rule, world.now)) continue;
    const held = rule.holds.get(delivery.event) ?? new Map<string, number>();
    const last = held.get(delivery.endpoint);
    const attempt = delivery.attempts + 1;
    // The action from an earlier attempt still applies, and does not count as another match.
    if (last !== undefined && attempt <= last) return action as DeliveryAction;
    held.delete(delivery.endpoint);
    if (isSpent(rule)) continue;
    if (match.event && !match.event.includes(delivery.event.type)) continue;
    if (match.merchant !== undefined && match.merchant !== delivery.event.merchant) continue;
    if (!fires(rule)) continue;
    const attempts = attemptsOf(action as DeliveryAction);
    if (attempts > 1) rule.holds.set(delivery.event, held.set(delivery.endpoint, attempt + attempts - 1));
    return action as DeliveryAction;
  }
  return undefined;
}

/** Number of attempts that one firing affects. */
function attemptsOf(action: DeliveryAction): number {
  if (action.type !== "drop") return 1;
  return action.attempts === "all" ? Number.POSITIVE_INFINITY : action.attempts;
}
