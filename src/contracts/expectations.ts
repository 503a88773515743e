// The schemas of expectations, with which a test checks a run, and of the result.

import { Condition, Count } from "../schema/conditions.ts";
import { PATTERNS } from "../schema/patterns.ts";
import { flag, oneOf, oneOrSeveral, type Static, Type, text } from "../schema/shapes.ts";
import { RulePattern, VERDICTS } from "./verdict.ts";

const closed = { additionalProperties: false } as const;
const some = { ...closed, minProperties: 1 } as const;
const optionalText = (description: string) => Type.Optional(text(description, { minLength: 1 }));

const RequestMatch = Type.Object(
  {
    operation: Type.Optional(
      oneOrSeveral("operation", "Ids of operations, such as payments.list; payroll.* matches a whole area"),
    ),
    merchant: optionalText("Id of the merchant whose key was sent"),
    status: Type.Optional(
      Type.Union([Type.Integer(), Type.String({ pattern: PATTERNS.status.pattern })], {
        description: "A status such as 429, or a class such as 4xx",
      }),
    ),
    method: Type.Optional(oneOf(["GET", "HEAD", "POST", "PATCH", "PUT", "DELETE"], "The method")),
    path: optionalText("The path without its query; * matches anything"),
    query: Type.Optional(Type.Record(Condition, { description: "Query parameters by name, as text" })),
    key: optionalText("An API key, or its last four characters"),
    idempotencyKey: Type.Optional(Condition),
    replayed: Type.Optional(flag("Whether the response was the stored one of its Idempotency-Key")),
    header: Type.Optional(Type.Record(Condition, { description: "Request headers by name, in any case" })),
    body: Type.Optional(Type.Record(Condition, { description: "Values in the request body by JSON Pointer" })),
  },
  { ...some, title: "request_match", description: "Which requests match; all conditions must hold" },
);

const DeliveryMatch = Type.Object(
  {
    event: Type.Optional(
      oneOrSeveral(
        "event",
        "Event types, such as payment.succeeded; payment.* matches all of a kind; or the id of an event",
      ),
    ),
    endpoint: optionalText("Id of the endpoint, or its URL"),
    merchant: optionalText("Id of the merchant whose event it is"),
  },
  { ...some, title: "delivery_match", description: "Which deliveries match; all conditions must hold" },
);

const DELIVERY_STATES = ["pending", "sending", "succeeded", "failed", "cancelled"] as const;

const duration = (description: string) => Type.Optional(text(`${description}, such as 500ms or 5s, in real time`));
const count = Type.Optional(Count);

export const Expectation = Type.Object(
  {
    requests: Type.Optional(
      Type.Object({ match: RequestMatch, count }, { ...closed, description: "A number of matching requests" }),
    ),
    sequence: Type.Optional(
      Type.Array(RequestMatch, {
        minItems: 1,
        maxItems: 100,
        description: "Matching requests in this order; others may come between them",
      }),
    ),
    never: Type.Optional(
      Type.Object(
        { match: RequestMatch, for: duration("How much longer no matching request may arrive") },
        { ...closed, description: "No matching request" },
      ),
    ),
    deliveries: Type.Optional(
      Type.Object(
        {
          match: DeliveryMatch,
          count,
          attempts: Type.Optional(Count),
          final: Type.Optional(oneOf(DELIVERY_STATES, "The state that each of them must be in")),
        },
        {
          ...closed,
          description:
            "A number of matching deliveries: one event to one endpoint, with all its attempts, is one delivery",
        },
      ),
    ),
    records: Type.Optional(
      Type.Object(
        {
          kind: text("The kind of record, such as remittance"),
          where: Type.Optional(Type.Record(Condition, { description: "Values in the record by JSON Pointer" })),
          count,
        },
        { ...closed, description: "A number of matching records" },
      ),
    ),
    verdicts: Type.Optional(
      Type.Object(
        {
          rules: Type.Array(RulePattern, { minItems: 1, maxItems: 100 }),
          faults: Type.Optional(
            Type.Array(text("Id of a fault rule"), {
              minItems: 1,
              maxItems: 100,
              description: "Only verdicts that these fault rules led to",
            }),
          ),
          pass: count,
          fail: count,
          inconclusive: count,
        },
        { ...closed, description: "A number of verdicts of the judge (default: no failures)" },
      ),
    ),
    scenario: Type.Optional(
      Type.Object(
        {
          name: text("Name of an armed scenario"),
          merchant: optionalText("The merchant that it is armed for; needed only if it is armed more than once"),
          score: Type.Optional(Count),
        },
        { ...closed, description: "That a scenario passes, or has a number of points" },
      ),
    ),
    effects: Type.Optional(
      Type.Object(
        {
          match: Type.Optional(DeliveryMatch),
          made: Type.Integer({ minimum: 0, description: "How often the receiver has acted on matching events" }),
        },
        {
          ...closed,
          description: "That the receiver acted once on each matching event, however often it was delivered",
        },
      ),
    ),
    fault: Type.Optional(
      Type.Object(
        { id: text("Id of a fault rule"), fired: count },
        { ...closed, description: "That a fault rule fired" },
      ),
    ),
  },
  { ...some, maxProperties: 1, title: "expectation", description: "One thing that is expected" },
);

/** The body of `POST /_sandbox/verify`. */
export const Expectations = Type.Object({
  within: duration("How long to wait until everything holds (default: 0s)"),
  merchant: optionalText("Id of the merchant whose data is checked (default: all merchants)"),
  all: Type.Array(Expectation, {
    minItems: 1,
    maxItems: 100,
    description: "Everything that must hold at the same time",
  }),
});

const NearMiss = Type.Object(
  {
    id: Type.String(),
    what: Type.String({ description: "The request or record, in a few words" }),
    differs: Type.Array(Type.Object({ field: Type.String(), expected: Type.Unknown(), received: Type.Unknown() }), {
      description: "Where it differs from what was expected",
    }),
  },
  { title: "near_miss" },
);

const VerificationResult = Type.Object(
  {
    expectation: Type.String({ description: "The kind of expectation, such as requests" }),
    verdict: oneOf(VERDICTS, "`inconclusive` if nothing that happened decides it"),
    message: Type.String(),
    found: Type.Integer({ description: "How many matched" }),
    evidence: Type.Array(Type.String(), { description: "Ids of the newest that matched" }),
    closest: Type.Array(NearMiss, { description: "If something is missing: what came closest to it" }),
  },
  { title: "verification_result" },
);

export const Verification = Type.Object({
  verdict: oneOf(VERDICTS, "The worst of all results"),
  waited: Type.Integer({ description: "Real milliseconds" }),
  results: Type.Array(VerificationResult, { description: "One for each expectation, in order" }),
});

export type Expectation = Static<typeof Expectation>;
export type Expectations = Static<typeof Expectations>;
export type ExpectationKind = keyof Expectation;
export type ExpectationOf<Kind extends ExpectationKind> = NonNullable<Expectation[Kind]>;
export type RequestMatch = Static<typeof RequestMatch>;
export type DeliveryMatch = Static<typeof DeliveryMatch>;
export type NearMiss = Static<typeof NearMiss>;
export type VerificationResult = Static<typeof VerificationResult>;
export type Verification = Static<typeof Verification>;
