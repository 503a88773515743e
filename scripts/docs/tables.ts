// The tables of the API reference: errors, events, headers and limits.

import { type ErrorCode, errors } from "../../src/kernel/errors.ts";
import type { EventType } from "../../src/reference/events.ts";
import { deliveryHeaders, idempotencyKey, serviceHeaders } from "../../src/reference/headers.ts";
import type { TSchema } from "../../src/schema/shapes.ts";
import { type Catalogue, codes, type DeclaredOperation, errorsOf, ownErrorsOf } from "../reference/api-surface.ts";
import { descriptionOf } from "../reference/subschemas.ts";
import { ASSUMED_MARK, boundsOf, DEFAULT_MAX_LENGTH, markedDescriptionOf, typeOf } from "./fields.ts";
import { blocks, code, link, table } from "./markdown.ts";

export function errorTable(service: Catalogue, control: Catalogue): string {
  const rows = codes.map((name) => {
    const { status, error, when } = errors[name];
    return [String(status), code(name), code(error), when, returnedBy(name, service, control)];
  });
  return table(["Status", "Code", "Category", "When", "Returned by"], rows);
}

const FEW = 4;

function returnedBy(name: ErrorCode, { surface, operations }: Catalogue, control: Catalogue): string {
  if (surface.errors.always.includes(name)) return "any operation";
  if (surface.errors.body.includes(name)) return "any operation with a body";
  if (surface.errors.key.includes(name)) return "any operation that honours `Idempotency-Key`";
  const matching = operations.filter((operation) => ownErrorsOf(surface, operation).includes(name));
  if (matching.length > FEW) return `${matching.length} operations`;
  if (matching.length > 0) return matching.map(({ id }) => link(code(id), `#${id}`)).join(", ");
  const isControl = control.operations.some((operation) => errorsOf(control.surface, operation).includes(name));
  return isControl ? "the control API" : "requests that match no operation";
}

export function eventTable(events: readonly EventType[]): string {
  const rows = events.map(({ type, kind, arrivals, operations, assumption }) => [
    `${code(type)}${assumption ? ` ${ASSUMED_MARK}` : ""}`,
    kind === undefined ? "" : link(kind, `#record-${kind}`),
    arrivals.map(code).join(", "),
    operations.map((id) => link(code(id), `#${id}`)).join(", ") || "control API only",
  ]);
  return table(["Type", "Data", "On status", "Emitted by"], rows);
}

export function headerTables(): string {
  const replies = serviceHeaders.map(({ name, schema, on, assumption }) => [
    `${code(name)}${assumption ? ` ${ASSUMED_MARK}` : ""}`,
    on,
    `${descriptionOf(schema)}`,
  ]);
  const deliveries = deliveryHeaders.map(({ name, schema }) => [code(name), markedDescriptionOf(schema)]);
  const { name, schema } = idempotencyKey;
  return blocks(
    "Request headers:",
    table(
      ["Header", "Description"],
      [
        [code("Authorization"), "`Bearer` and an API key; required on every request"],
        [code("Content-Type"), "`application/json`; required with a body"],
        [code(name), `${descriptionOf(schema)}; honoured on every POST and PATCH except the webhook operations`],
      ],
    ),
    "Response headers:",
    table(["Header", "Sent with", "Description"], replies),
    "Webhook delivery headers; the body is `application/json`:",
    table(["Header", "Description"], deliveries),
  );
}

/** Error codes for exceeded limits. The description of each code states the limit. */
const LIMIT_CODES: readonly ErrorCode[] = [
  "body_too_deep",
  "payload_too_large",
  "uri_too_long",
  "headers_too_large",
  "request_timeout",
];

export function limitTable(operations: readonly DeclaredOperation[]): string {
  const pageSizes = operations.flatMap(({ query }) =>
    query.properties.limit ? [limitOf(query.properties.limit)] : [],
  );
  const answer = (name: ErrorCode) => `${errors[name].status} ${code(name)}`;
  const rows = [
    ...[...new Set(pageSizes)].map((limit) => ["`limit` of a list", limit, answer("invalid_limit")]),
    [code(idempotencyKey.name), limitOf(idempotencyKey.schema), answer("idempotency_key_too_long")],
    [
      "Text fields (default)",
      `at most ${DEFAULT_MAX_LENGTH.toLocaleString("en-US")} characters`,
      answer("validation_failed"),
    ],
    ...LIMIT_CODES.map((name) => ["Entire request", errors[name].when, answer(name)]),
  ];
  return table(["Applies to", "Limit", "Error"], rows);
}

const limitOf = (schema: TSchema) => typeOf(schema) + boundsOf(schema);
