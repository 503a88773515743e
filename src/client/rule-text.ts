// A fault rule in words, for everything that shows one.

import type { FaultRule } from "../../generated/control-api.ts";
import { count, plural } from "../kernel/text.ts";

/** The action of a rule, its target and how often it applies, as in `latency (ms 500) on payments.list, 1 time`. */
export function describeRule({
  target,
  action,
  match,
  trigger,
}: Pick<FaultRule, "target" | "action" | "match" | "trigger">): string {
  const { type, ...fields } = action;
  const { operation, event, merchant, ...others } = match;
  const details = fieldsText(fields);
  const where = [operation ?? event ?? (target === "api" ? "all operations" : "all events")].flat().join(", ");
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
  return set.map(([name, value]) => `${name} ${valueText(value)}`).join(", ");
}

function valueText(value: unknown): string {
  if (typeof value === "string") return value;
  return Array.isArray(value) ? value.join(", ") : JSON.stringify(value);
}

export function triggerText(trigger: Readonly<Record<string, unknown>>): string {
  const given = trigger as Partial<Record<string, string | number | null>>;
  const { times, skip, every, probability, after, for: lasting, per } = given;
  const parts = [
    typeof times === "number" ? plural(times, "time") : "every match",
    ...(skip ? [`after skipping ${count(Number(skip))}`] : []),
    ...(every ? [`on every ${count(Number(every))} matches`] : []),
    ...(typeof probability === "number" && probability < 1 ? [`with probability ${probability}`] : []),
    ...(after ? [`starting ${after} after it is armed`] : []),
    ...(lasting ? [`for ${lasting}`] : []),
    ...(per && per !== "rule" ? [`counted per ${String(per).replace("_", " ")}`] : []),
  ];
  return parts.join(", ");
}
