// What a rule touches: calls by operation, merchant, key, header and body; deliveries by event, endpoint and attempt too.

import type { CallSubject, DeliverySubject } from "../contracts/fault.ts";
import { Condition, meetsCondition } from "../schema/conditions.ts";
import { count, type Static, Type, text } from "../schema/shapes.ts";
import { valueAt } from "../schema/validator.ts";
import { milliseconds, span } from "./fields.ts";

const names = (description: string) =>
  Type.Optional(Type.Union([text("One"), Type.Array(text("One of several"), { minItems: 1, maxItems: 100 })], { description }));

/** Fields that both targets have. */
const common = {
  merchant: Type.Optional(text("Only this merchant's, such as mer_lodge")),
  body: Type.Optional(Type.Record(Condition, { description: "JSON Pointers into the body, each with a value or a comparison" })),
};

export const apiMatchSchema = Type.Object(
  {
    operation: names("Ids of operations such as payments.list; payroll.* stands for all of an area"),
    key: Type.Optional(text("Only calls with this API key")),
    header: Type.Optional(Type.Record(Condition, { description: "Names of headers, each with a value or a comparison" })),
    ...common,
  },
  { additionalProperties: false, description: "Which calls; all, unless given" },
);

export const deliveryMatchSchema = Type.Object(
  {
    event: names("Types of events such as payment.succeeded; payment.* stands for all of a kind"),
    endpoint: Type.Optional(text("Only deliveries to this endpoint")),
    attempt: Type.Optional(
      Type.Union([count("One attempt", { minimum: 1 }), Condition], { description: "Which attempt, counted from one" }),
    ),
    rotatedWithin: Type.Optional(span("Only deliveries to an endpoint whose secret was rotated no longer ago, in sandbox time")),
    ...common,
  },
  { additionalProperties: false, description: "Which deliveries; all, unless given" },
);

export type ApiMatch = Static<typeof apiMatchSchema>;
export type DeliveryMatch = Static<typeof deliveryMatchSchema>;

export function callMatcher(match: ApiMatch): (call: CallSubject) => boolean {
  const { merchant, key } = match;
  const operations = match.operation === undefined ? undefined : [match.operation].flat();
  const headers = Object.entries(match.header ?? {});
  const body = Object.entries(match.body ?? {});
  return (call) =>
    (merchant === undefined || merchant === call.merchant) &&
    (key === undefined || key === call.key) &&
    (operations === undefined || isNamed(operations, call.operation)) &&
    headers.every(([name, asked]) => meetsCondition(asked, call.header(name))) &&
    body.every(([pointer, asked]) => meetsCondition(asked, valueAt(call.body, pointer)));
}

export function deliveryMatcher(match: DeliveryMatch): (delivery: DeliverySubject, now: number) => boolean {
  const { merchant, endpoint, attempt } = match;
  const events = match.event === undefined ? undefined : [match.event].flat();
  const body = Object.entries(match.body ?? {});
  const within = match.rotatedWithin === undefined ? undefined : milliseconds(match.rotatedWithin);
  return (delivery, now) =>
    (merchant === undefined || merchant === delivery.merchant) &&
    (endpoint === undefined || endpoint === delivery.endpoint) &&
    (attempt === undefined || meetsCondition(attempt, delivery.attempt)) &&
    (events === undefined || isNamed(events, delivery.eventType)) &&
    body.every(([pointer, asked]) => meetsCondition(asked, valueAt(delivery.event?.(), pointer))) &&
    (within === undefined || now - (delivery.rotatedAt?.() ?? -Infinity) <= within);
}

/** Whether one of the names is this one; `payroll.*` names all that begin with `payroll.`. */
export function isNamed(wantedNames: readonly string[], name: string | undefined): boolean {
  if (name === undefined) return false;
  return wantedNames.some((asked) => (asked.endsWith(".*") ? name.startsWith(asked.slice(0, -1)) : asked === name));
}
