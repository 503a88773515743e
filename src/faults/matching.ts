// Matches rules: calls by operation, merchant, key, header and body; deliveries by event, endpoint, attempt and body.

import { API_PHASES, type ApiPhase, type CallSubject, type DeliverySubject } from "../contracts/fault.ts";
import { Condition, meetsCondition } from "../schema/conditions.ts";
import { valueAt } from "../schema/json-pointer.ts";
import { PATTERNS } from "../schema/patterns.ts";
import { count, oneOrSeveral, type Static, Type, text } from "../schema/shapes.ts";
import { milliseconds, span } from "./fields.ts";

/** The match fields for both calls and deliveries. */
const common = {
  merchant: Type.Optional(text("Only this merchant, such as mer_lodge")),
  body: Type.Optional(
    Type.Record(Condition, { description: "JSON Pointers into the body, each with a value or a comparison" }),
  ),
};

export const apiMatchSchema = Type.Object(
  {
    operation: Type.Optional(
      oneOrSeveral("operation", "Ids of operations such as payments.list; payroll.* matches a whole area"),
    ),
    key: Type.Optional(text("Only calls with this API key")),
    header: Type.Optional(
      Type.Record(Condition, { description: "Names of headers, each with a value or a comparison" }),
    ),
    ...common,
  },
  { additionalProperties: false, description: "Which calls (default: all)" },
);

export const deliveryMatchSchema = Type.Object(
  {
    event: Type.Optional(
      oneOrSeveral("event", "Event types such as payment.succeeded; payment.* matches all of a kind, and * all types", {
        pattern: PATTERNS.matchedEvent.pattern,
      }),
    ),
    endpoint: Type.Optional(text("Only deliveries to this endpoint")),
    attempt: Type.Optional(
      Type.Union([count("One attempt", { minimum: 1 }), Condition], { description: "Which attempt; the first is 1" }),
    ),
    rotatedWithin: Type.Optional(
      span("Only deliveries to an endpoint whose secret was rotated within this time, in sandbox time"),
    ),
    ...common,
  },
  { additionalProperties: false, description: "Which deliveries (default: all)" },
);

/**
 * Whether `phase` is at or after `needed`, so that the request data read in `needed`, such as the body, is available.
 */
export const isReached = (needed: ApiPhase, phase: ApiPhase) => API_PHASES.indexOf(phase) >= API_PHASES.indexOf(needed);

export type ApiMatch = Static<typeof apiMatchSchema>;
export type DeliveryFaultMatch = Static<typeof deliveryMatchSchema>;

export function callMatcher(match: ApiMatch): (call: CallSubject) => boolean {
  const { merchant, key } = match;
  const operations = match.operation === undefined ? undefined : [match.operation].flat();
  const headers = Object.entries(match.header ?? {});
  const body = Object.entries(match.body ?? {});
  return (call) =>
    (merchant === undefined || merchant === call.merchant) &&
    (key === undefined || key === call.key) &&
    (operations === undefined || matchesName(operations, call.operation)) &&
    headers.every(([name, condition]) => meetsCondition(condition, call.header(name))) &&
    body.every(([pointer, condition]) => meetsCondition(condition, valueAt(call.body, pointer)));
}

export function deliveryMatcher(match: DeliveryFaultMatch): (delivery: DeliverySubject, now: number) => boolean {
  const { merchant, endpoint, attempt } = match;
  const events = match.event === undefined ? undefined : [match.event].flat();
  const body = Object.entries(match.body ?? {});
  const within = match.rotatedWithin === undefined ? undefined : milliseconds(match.rotatedWithin);
  return (delivery, now) =>
    (merchant === undefined || merchant === delivery.merchant) &&
    (endpoint === undefined || endpoint === delivery.endpoint) &&
    (attempt === undefined || meetsCondition(attempt, delivery.attempt)) &&
    (events === undefined || matchesName(events, delivery.eventType)) &&
    body.every(([pointer, condition]) => meetsCondition(condition, valueAt(delivery.event?.(), pointer))) &&
    (within === undefined || now - (delivery.rotatedAt?.() ?? -Infinity) <= within);
}

/**
 * Whether one of the patterns matches; `payroll.*` matches every name that begins with `payroll.`, and `*` every name.
 */
export function matchesName(patterns: readonly string[], name: string | undefined): boolean {
  if (name === undefined) return false;
  return patterns.some((pattern) => (pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : pattern === name));
}
