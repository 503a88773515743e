// A fault rule in words: its name in lists, its action, its trigger, and what was armed.

import type { FaultRule, FaultsAddInput } from "../../generated/control-api.ts";
import { count, counted } from "../view/format.ts";

/** The rule's name, or a description such as `429 on payments.list`. */
export function ruleTitle({ name, action, match }: FaultRule): string {
  if (name !== null) return name;
  const { type, status, as } = action;
  const variant = [status, as].filter((value) => value !== undefined && value !== null).join(" ");
  const { operation, event, merchant } = match;
  const matches = [operation, event, merchant].filter((value) => value !== undefined).map(String);
  const what = type === "rate_limit" ? "429" : String(type).replaceAll("_", " ");
  return `${what}${variant === "" ? "" : ` ${variant}`}${matches.length === 0 ? "" : ` on ${matches.join(", ")}`}`;
}

/** The action of a rule, its target and how often it applies, as in `latency (ms 500) on payments.list, 1 time`. */
export function describeRule({ target, action, match, trigger }: FaultRule): string {
  const { type, ...fields } = action;
  const { operation, event, merchant, ...others } = match;
  const details = fieldsText(fields);
  const where = String(operation ?? event ?? (target === "api" ? "all operations" : "all events"));
  const conditions = fieldsText(others);
  return [
    `${type}${details && ` (${details})`} on ${where}${merchant === undefined ? "" : ` of ${merchant}`}`,
    ...(conditions === "" ? [] : [`only ${conditions}`]),
    triggerText(trigger),
  ].join(", ");
}

/** The fields that are set, as in `retryAfter 2, as cut`. */
export function fieldsText(fields: Readonly<Record<string, unknown>>): string {
  const set = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined);
  return set.map(([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`).join(", ");
}

export function triggerText(trigger: Readonly<Record<string, unknown>>): string {
  const { times, skip, every, probability, after, for: lasting, per } = trigger as Partial<Record<string, string | number | null>>;
  const parts = [
    typeof times === "number" ? counted(times, "time") : "every match",
    ...(skip ? [`after skipping ${count(Number(skip))}`] : []),
    ...(every ? [`on every ${count(Number(every))} matches`] : []),
    ...(typeof probability === "number" && probability < 1 ? [`with probability ${probability}`] : []),
    ...(after ? [`starting ${after} after it is armed`] : []),
    ...(lasting ? [`for ${lasting}`] : []),
    ...(per && per !== "rule" ? [`counted per ${String(per).replace("_", " ")}`] : []),
  ];
  return parts.join(", ");
}

/** The rule as a client would write it, to arm the same again. */
export function definitionOf({ name, target, match, trigger, action, expect, ttl, priority, label, enabled }: FaultRule): FaultsAddInput {
  const named = { ...(name === null ? {} : { name }), ...(ttl === null ? {} : { ttl }) };
  return { ...named, target, match, trigger, action: action as FaultsAddInput["action"], expect, priority, label, enabled };
}
