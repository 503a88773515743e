// What a test may expect of a run: requests, their order, their absence, deliveries, records, verdicts, faults. The grammar only.

import { Condition, Count } from "../schema/conditions.ts";
import { flag, oneOf, type Static, Type, text } from "../schema/shapes.ts";

const closed = { additionalProperties: false } as const;
const some = { ...closed, minProperties: 1 } as const;
const words = (description: string) => Type.Optional(text(description, { minLength: 1 }));

const names = (description: string) =>
  Type.Optional(
    Type.Union([text("One", { minLength: 1 }), Type.Array(text("One of several", { minLength: 1 }), { minItems: 1, maxItems: 100 })], {
      description,
    }),
  );

const RequestMatch = Type.Object(
  {
    operation: names("Ids of operations, such as payments.list; payroll.* stands for all of an area"),
    merchant: words("Id of the merchant whose key was sent"),
    status: Type.Optional(
      Type.Union([Type.Integer(), Type.String({ pattern: "^[1-5]([0-9]{2}|xx)$" })], {
        description: "A status such as 429, or a class such as 4xx",
      }),
    ),
    method: Type.Optional(oneOf(["GET", "HEAD", "POST", "PATCH", "PUT", "DELETE"], "The method")),
    path: words("The path without its query, where * stands for anything"),
    query: Type.Optional(Type.Record(Condition, { description: "Query parameters by name, as text" })),
    key: words("An API key, or its last four characters"),
    idempotencyKey: Type.Optional(Condition),
    replayed: Type.Optional(flag("Whether it was answered with what is remembered for its Idempotency-Key")),
    header: Type.Optional(Type.Record(Condition, { description: "Headers of the request by name, in any case" })),
    body: Type.Optional(Type.Record(Condition, { description: "Values of the request's body by JSON Pointer" })),
  },
  { ...some, title: "request_match", description: "What a request must be like; all of it" },
);

const DeliveryMatch = Type.Object(
  {
    event: names("Types of events, such as payment.succeeded; payment.* stands for all of a kind; or the id of one"),
    endpoint: words("Id of the endpoint, or its address"),
    merchant: words("Id of the merchant whose event it is"),
  },
  { ...some, title: "delivery_match", description: "What a delivery must be like; all of it" },
);

const DELIVERY_STATES = ["pending", "sending", "succeeded", "failed", "cancelled"] as const;

const span = (description: string) => Type.Optional(text(`${description}, such as 500ms or 5s, in real time`));
const count = Type.Optional(Count);

export const Expectation = Type.Object(
  {
    requests: Type.Optional(Type.Object({ match: RequestMatch, count }, { ...closed, description: "So many requests like this" })),
    sequence: Type.Optional(
      Type.Array(RequestMatch, {
        minItems: 1,
        maxItems: 100,
        description: "Requests like these, in this order, whatever came between them",
      }),
    ),
    never: Type.Optional(
      Type.Object({ match: RequestMatch, for: span("How much longer none may come") }, { ...closed, description: "No request like this" }),
    ),
    deliveries: Type.Optional(
      Type.Object(
        {
          match: DeliveryMatch,
          count,
          attempts: Type.Optional(Count),
          final: Type.Optional(oneOf(DELIVERY_STATES, "What each of them must have come to")),
        },
        { ...closed, description: "So many deliveries like this: one is one event to one endpoint, with all its attempts" },
      ),
    ),
    records: Type.Optional(
      Type.Object(
        {
          kind: text("The kind of record, such as remittance"),
          where: Type.Optional(Type.Record(Condition, { description: "Values of the record by JSON Pointer" })),
          count,
        },
        { ...closed, description: "So many records like this" },
      ),
    ),
    verdicts: Type.Optional(
      Type.Object(
        {
          rules: Type.Array(text("Id of a rule of the judge, or several at once, as in retry_after.*"), { minItems: 1, maxItems: 100 }),
          pass: count,
          fail: count,
          inconclusive: count,
        },
        { ...closed, description: "So many verdicts of the judge; none that failed unless something else is said" },
      ),
    ),
    scenario: Type.Optional(
      Type.Object(
        {
          name: text("Name of a scenario that is armed"),
          merchant: words("For whom it is armed; need not be said where it is armed once"),
          score: Type.Optional(Count),
        },
        { ...closed, description: "That a scenario came to pass, or that it has so many points" },
      ),
    ),
    fault: Type.Optional(
      Type.Object({ id: text("Id of a fault rule"), fired: count }, { ...closed, description: "That a fault rule fired" }),
    ),
  },
  { ...some, maxProperties: 1, title: "expectation", description: "One thing that is expected" },
);

/** What `POST /_sandbox/verify` is asked. */
export const Expectations = Type.Object({
  within: span("How long to wait for everything to hold; 0s unless given"),
  merchant: words("Id of a merchant: nothing of any other is looked at"),
  all: Type.Array(Expectation, { minItems: 1, maxItems: 100, description: "Everything that must hold, at one and the same moment" }),
});

export type Expectation = Static<typeof Expectation>;
export type Expectations = Static<typeof Expectations>;
export type ExpectationKind = keyof Expectation;
export type RequestMatch = Static<typeof RequestMatch>;
export type DeliveryMatch = Static<typeof DeliveryMatch>;

export const VERDICTS = ["pass", "fail", "inconclusive"] as const;
export type Verdict = (typeof VERDICTS)[number];
