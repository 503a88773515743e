// What holds for all operations, as tables: errors, events, headers, limits, behaviour.

import { type ErrorCode, errors } from "../kernel/errors.ts";
import type { Behaviour } from "../schema/assumed.ts";
import type { TSchema } from "../schema/shapes.ts";
import { type Catalogue, codes, type Declared, errorsOf, ownErrorsOf } from "./api-surface.ts";
import type { EventType } from "./events.ts";
import { ASSUMED_MARK, boundsOf, meaningOf, typeOf, USUAL_LENGTH } from "./fields.ts";
import { deliveryHeaders, idempotencyKey, serviceHeaders } from "./headers.ts";
import { blocks, code, link, table } from "./markdown.ts";
import { descriptionOf } from "./subschemas.ts";

export function errorTable(service: Catalogue, control: Catalogue): string {
  const rows = codes.map((name) => {
    const { status, error, when } = errors[name];
    return [String(status), code(name), code(error), when, answeredBy(name, service, control)];
  });
  return table(["Status", "Code", "Category", "When", "Answered by"], rows);
}

const FEW = 4;

function answeredBy(name: ErrorCode, { surface, operations }: Catalogue, control: Catalogue): string {
  if (surface.errors.always.includes(name)) return "any operation";
  if (surface.errors.body.includes(name)) return "any operation that is sent a body";
  if (surface.errors.key.includes(name)) return "any operation that honours `Idempotency-Key`";
  const those = operations.filter((operation) => ownErrorsOf(surface, operation).includes(name));
  if (those.length > FEW) return `${those.length} operations`;
  if (those.length > 0) return those.map(({ id }) => link(code(id), `#${id}`)).join(", ");
  const isControl = control.operations.some((operation) => errorsOf(control.surface, operation).includes(name));
  return isControl ? "the control plane" : "whatever reaches no operation";
}

export function eventTable(events: readonly EventType[]): string {
  const rows = events.map(({ type, kind, arrivals, operations, assumption }) => [
    `${code(type)}${assumption ? ` ${ASSUMED_MARK}` : ""}`,
    kind === undefined ? "" : link(kind, `#record-${kind}`),
    arrivals.map(code).join(", "),
    operations.map((id) => link(code(id), `#${id}`)).join(", ") || "the control plane only",
  ]);
  return table(["Type", "Data", "When it becomes", "Made by"], rows);
}

export function headerTables(): string {
  const replies = serviceHeaders.map(({ name, schema, on, assumption }) => [
    `${code(name)}${assumption ? ` ${ASSUMED_MARK}` : ""}`,
    on,
    `${descriptionOf(schema)}`,
  ]);
  const deliveries = deliveryHeaders.map(({ name, schema }) => [code(name), meaningOf(schema)]);
  const { name, schema } = idempotencyKey;
  return blocks(
    "On requests:",
    table(
      ["Header", "Meaning"],
      [
        [code("Authorization"), "`Bearer` and a key, on every request"],
        [code("Content-Type"), "`application/json`, wherever there is a body"],
        [code(name), `${descriptionOf(schema)}; on every POST and PATCH but those of the webhooks`],
      ],
    ),
    "On replies:",
    table(["Header", "On", "Meaning"], replies),
    "On deliveries of webhooks, whose body is `application/json`:",
    table(["Header", "Meaning"], deliveries),
  );
}

/** Codes that say that a limit was passed; what the limit is stands in their reason. */
const LIMIT_CODES: readonly ErrorCode[] = ["body_too_deep", "payload_too_large", "uri_too_long", "headers_too_large", "request_timeout"];

export function limitTable(operations: readonly Declared[]): string {
  const pageSizes = operations.flatMap(({ query }) => (query.properties.limit ? [limitOf(query.properties.limit)] : []));
  const answer = (name: ErrorCode) => `${errors[name].status} ${code(name)}`;
  const rows = [
    ...[...new Set(pageSizes)].map((limit) => ["`limit` of a list", limit, answer("invalid_limit")]),
    [code(idempotencyKey.name), limitOf(idempotencyKey.schema), answer("idempotency_key_too_long")],
    ["Text, where its field says nothing else", `at most ${USUAL_LENGTH.toLocaleString("en-US")} characters`, answer("validation_failed")],
    ...LIMIT_CODES.map((name) => ["The request as a whole", errors[name].when, answer(name)]),
  ];
  return table(["Of", "Limit, or what passes it", "Answered with"], rows);
}

const limitOf = (schema: TSchema) => typeOf(schema) + boundsOf(schema);

export function behaviourTable(behaviours: readonly Behaviour[]): string {
  const rows = behaviours.map(({ id, fact, setting }) => [code(id), fact, setting === undefined ? "" : code(setting)]);
  return table(["Rule", "What happens", "Setting"], rows);
}
