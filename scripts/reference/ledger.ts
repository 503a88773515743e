// The list of facts about the service: what its documentation states, what the sandbox assumes, and where it differs by
// design.

import { OWN_INVALID_FIELDS } from "../../src/compare/invalid-fields.ts";
import { ownForm } from "../../src/compare/value-formats.ts";
import { envelope, errorObject } from "../../src/contracts/envelopes.ts";
import type { DeclaredFact, MeasuredBehaviour, ServiceFact } from "../../src/contracts/fact.ts";
import type { Resource } from "../../src/contracts/resource.ts";
import { type ErrorCode, errors } from "../../src/kernel/errors.ts";
import type { EventType } from "../../src/reference/events.ts";
import { deliveryHeaders, idempotencyKey, serviceHeaders } from "../../src/reference/headers.ts";
import { ASSUMED, type Assumption, isAssumed } from "../../src/schema/assumed.ts";
import type { TSchema } from "../../src/schema/shapes.ts";
import { nameOf, recordsOf } from "../../src/schema/walk.ts";
import { BOUNDS, boundFact, errorFacts, successStatusFact } from "../../src/store/assumptions.ts";
import { codes, type DeclaredOperation } from "./api-surface.ts";
import { ERRORS_ASSUMPTION } from "./error-replies.ts";
import { createSchemaFacts, factFrom, type Reason, valuesFacts } from "./schema-facts.ts";
import type { DocumentedKeywords } from "./subschemas.ts";

export interface Ledger {
  /** The number of facts that the service's documentation does not state. */
  total: number;
  facts: ServiceFact[];
}

export interface LedgerSource {
  operations: readonly DeclaredOperation[];
  resources: readonly Resource[];
  events: readonly EventType[];
  behaviours: readonly MeasuredBehaviour[];
}

export function ledger(source: LedgerSource): Ledger {
  const behaviours = source.behaviours.flatMap(behaviourFacts);
  const declared = new Set(behaviours.map(({ id }) => id));
  const facts = [
    ...behaviours,
    ...source.operations.flatMap((operation) => operationFacts(operation, source.behaviours)),
    // A behaviour takes precedence over the schema, because the schema follows the service's documentation and a
    // behaviour may promise more.
    ...schemaFacts(source).filter(({ id }) => !declared.has(id)),
    factFrom({ id: "error.envelope", kind: "envelope", value: "none" }, undefined),
    factFrom({ id: "error.invalid_fields", kind: "invalid_fields", value: OWN_INVALID_FIELDS }, ERRORS_ASSUMPTION),
    ...codes.flatMap(factsOfError),
    ...eventFacts(source),
    ...headerFacts(),
  ];
  const stated = facts.map(asStated);
  return { total: stated.filter(({ origin }) => origin === "assumed").length, facts: stated };
}

/**
 * Facts about a new endpoint's secret and its prefix. The service's documentation states these facts, but not the other
 * fields of the response.
 */
const STATED = /^webhooks\.create\.reply\.secret(\.|$)/;

function asStated(fact: ServiceFact): ServiceFact {
  const { why: _, setting: __, ...rest } = fact;
  return STATED.test(fact.id) ? { ...rest, origin: "document" } : fact;
}

const behaviourFacts = ({ id, fact, facts = [], ...assumption }: MeasuredBehaviour): ServiceFact[] => [
  { id, kind: "behaviour", value: fact, origin: "assumed", ...assumption },
  ...facts.map((declared) => factFrom(declared, assumption)),
];

const markOf = (schema: TSchema): Reason => (schema as { [ASSUMED]?: Assumption })[ASSUMED];

function operationFacts(operation: DeclaredOperation, behaviours: readonly MeasuredBehaviour[]): ServiceFact[] {
  const { id, status, query, body, reply } = operation;
  const items = recordsOf(reply);
  const order = behaviours.find((behaviour) => behaviour.id === "lists.order");
  const bodyReason = body && markOf(body);
  return [
    isAssumed(status)
      ? factFrom(successStatusFact(id, status.fact), status.assumption)
      : factFrom(successStatusFact(id, status), undefined),
    factFrom({ id: `${id}.reply.envelope`, kind: "envelope", value: items ? "data" : "none" }, markOf(reply)),
    ...(items ? [factFrom({ id: `${id}.order`, kind: "order", value: "newest first" }, order && reasonOf(order))] : []),
    ...Object.entries(query.properties).flatMap(([name, schema]) => parameterFacts(`${id}.query.${name}`, schema)),
    factFrom({ id: `${id}.query.other_parameters`, kind: "other_parameters", value: "none" }, NO_PARAMETERS),
    ...(body
      ? [
          factFrom(
            { id: `${id}.body.accepted`, kind: "accepted", value: "every body that meets its facts" },
            bodyReason,
          ),
        ]
      : []),
  ];
}

const NO_PARAMETERS: Assumption = {
  why: "The service's documentation lists few parameters; the sandbox ignores others.",
};

const reasonOf = ({ why, setting }: Assumption): Assumption => (setting === undefined ? { why } : { why, setting });

function parameterFacts(id: string, schema: TSchema): ServiceFact[] {
  const reason = markOf(schema);
  const keywords = schema as DocumentedKeywords;
  const bounds = BOUNDS.flatMap((kind) =>
    keywords[kind] === undefined ? [] : [factFrom(boundFact(id, kind, Number(keywords[kind])), reason)],
  );
  const values = keywords.enum ? valuesFacts(id, keywords.enum.map(String), reason) : [];
  return [factFrom({ id, kind: "parameter", value: "known" }, reason), ...bounds, ...values];
}

function schemaFacts({ operations, resources }: LedgerSource): ServiceFact[] {
  const { facts, object } = createSchemaFacts();
  for (const { kind, schema } of resources) object(kind, schema, undefined);
  for (const { id, body, reply } of operations) {
    if (body) object(`${id}.body`, body, undefined, true);
    object(nameOf(reply, `${id}.reply`), reply, undefined);
  }
  for (const schema of [errorObject, envelope]) object("", schema, undefined);
  return facts;
}

/** Errors that only the sandbox has. A real service does not run on this machine, and accepts live keys. */
const OWN_ERRORS: ReadonlySet<ErrorCode> = new Set([
  ...([
    "live_key_refused",
    "test_merchant_refused",
    "test_merchant_missing",
    "host_not_allowed",
    "origin_not_allowed",
    "control_token_required",
    "verification_failed",
  ] as const),
  ...([
    "webhook_url_not_local",
    "webhook_url_loopback",
    "injected_error",
    "injected_rate_limit",
    "part_not_built",
  ] as const),
  ...(["database_missing", "sandbox_unavailable"] as const),
]);

const OWN_ERROR_WHY = "Only a sandbox on this machine has this error.";

function factsOfError(code: ErrorCode): ServiceFact[] {
  const { isSettable, ...facts } = errorFacts(code);
  const isOwn = OWN_ERRORS.has(code);
  const make = ({ settable, ...fact }: DeclaredFact, reason: Reason): ServiceFact =>
    isOwn
      ? { ...fact, origin: "design", why: OWN_ERROR_WHY }
      : factFrom(isSettable && settable ? { ...fact, settable } : fact, reason);
  return [
    make(facts.status, "documented" in errors[code] ? undefined : ERRORS_ASSUMPTION),
    make(facts.category, ERRORS_ASSUMPTION),
    make(facts.code, ERRORS_ASSUMPTION),
  ];
}

const EVENT_TYPES = "event.type.values";
const CATALOGUE_WHY: Assumption = { why: "The service's documentation names one event type, and has no list of them." };

const eventFacts = ({ events }: LedgerSource): ServiceFact[] => [
  ...events.map(({ type, assumption }) =>
    factFrom({ id: `${EVENT_TYPES}.${type}`, kind: "value", value: type }, assumption),
  ),
  factFrom({ id: EVENT_TYPES, kind: "values", value: events.map(({ type }) => type) }, CATALOGUE_WHY),
];

/** The forms of the headers that contain a number of seconds. */
const HEADER_FORMS: Readonly<Record<string, string>> = {
  "Retry-After": ownForm("wait"),
  "RateLimit-Reset": ownForm("reset"),
};

const headerFacts = (): ServiceFact[] => [
  ...serviceHeaders.flatMap(({ name, assumption }): ServiceFact[] => {
    const fact = { id: `header.${name}`, kind: "header", value: "sent" } as const;
    if (assumption && name.startsWith("X-Sandbox-")) return [{ ...fact, origin: "design", ...assumption }];
    const form = HEADER_FORMS[name];
    return [
      factFrom(fact, assumption),
      ...(form === undefined
        ? []
        : [factFrom({ id: `header.${name}.format`, kind: "format" as const, value: form }, assumption)]),
    ];
  }),
  factFrom({ id: "idempotency.header", kind: "idempotency_header", value: idempotencyKey.name }, undefined),
  ...deliveryHeaders.map(({ name }) =>
    factFrom({ id: `webhook.header.${name}`, kind: "delivery_header", value: "sent" }, undefined),
  ),
];
