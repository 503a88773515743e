// The facts about the emulated service: the kinds of facts, and how a recording shows each.

import type { Behaviour } from "../schema/assumed.ts";
import type { TSchema } from "../schema/shapes.ts";

/** The kinds of facts. `observed` says how a recording shows them. */
export const factKinds = {
  success_status: { observed: "the status of a success of the operation" },
  field: { observed: "whether the object has the field, in every success or event that shows the object" },
  other_fields: { observed: "fields of the object or the body that no other fact names" },
  type: { observed: "the JSON type of each value of the field" },
  value: { observed: "this value in the field" },
  values: { observed: "values of the field other than the listed ones" },
  prefix: { observed: "the text up to the first `_` of each id" },
  format: { observed: "the form of each value: the unit of a time, the notation of an amount, a date or a code" },
  envelope: { observed: "the field of the response that holds the records or the object" },
  order: { observed: "`created` of consecutive records of a page" },
  parameter: { observed: "the parameter in the query of a success" },
  other_parameters: {
    observed: "parameters of a success that no other fact names",
  },
  default: { observed: "the length of a page requested without `limit`, if there are more" },
  minimum: { observed: "the smallest `limit` accepted, and the largest one below it refused" },
  maximum: { observed: "the largest `limit` accepted, and the smallest one above it refused" },
  body_field: { observed: "the field in the body of a success" },
  required: { observed: "successes without the field, and refusals that name it" },
  accepted: {
    observed: "refusals of bodies that meet every other fact",
  },
  error_status: { observed: "the status of the response, wherever the condition is recognised" },
  error_category: { observed: "`error` of the response, wherever the condition is recognised" },
  error_code: { observed: "`code` of the response, wherever the condition is recognised" },
  invalid_fields: { observed: "the part of the error that lists the invalid fields of a refused body" },
  header: { observed: "the header on the responses that should carry it" },
  rate_limit: { observed: "`RateLimit-Limit`, and the distance of two values of `RateLimit-Reset`" },
  retry_after: { observed: "`Retry-After` of 429 responses at different times before the end of the window" },
  idempotency_header: { observed: "request headers whose names speak of idempotency" },
  replay: { observed: "a second call with the same key and the same request" },
  replay_window: { observed: "the time between two calls with the same key and the same request" },
  delivery_header: { observed: "the header on each recorded webhook" },
  signature: { observed: "the signatures of recorded webhooks, if the recording shows the secret" },
  body_format: { observed: "not from a recording: programs that record traffic often format the bodies" },
  schedule: { observed: "the time between two attempts of one event" },
  limit: { observed: "not from a recording: the largest accepted size is not known from smaller ones" },
  time_out: { observed: "not from a recording: receivers rarely respond just in time" },
  behaviour: {
    observed: "not from a recording: it is a rule of the service that single calls do not show",
  },
} as const satisfies Record<string, { observed: string }>;

export type FactKind = keyof typeof factKinds;

/** The source of a fact. `design`: the sandbox differs from every real service on purpose. */
export type FactOrigin = "document" | "assumed" | "design";

export type FactValue = string | number | boolean | readonly string[] | readonly number[];

/** A fact that a module declares explicitly, because no schema contains it. */
export interface DeclaredFact {
  id: string;
  kind: FactKind;
  value: FactValue;
  /** The schema of the values that `assumptions` may set; undefined for a fact that cannot be set. */
  settable?: TSchema;
}

/** A rule in words, and the parts of it that a recording can measure. */
export interface MeasuredBehaviour extends Behaviour {
  facts?: readonly DeclaredFact[];
}

/** One claim about the service. */
export interface ServiceFact extends DeclaredFact {
  origin: FactOrigin;
  /** Why the sandbox assumes it, or differs by design. */
  why?: string;
  /** The command line option that changes the fact. */
  setting?: string;
  /** The sandbox's own value, where an option has set another. */
  default?: FactValue;
}

/**
 * Which side accepts more where a recording contradicts a fact. A sandbox that accepts more than the service misleads
 * clients.
 */
export type Lenient = "sandbox" | "service";

/** Where the fact's value lies relative to a number in a recording: below it, at or above it, or at or below it. */
export type FactBound = "below" | "at_least" | "at_most";

/** A value of one fact, with the calls or webhooks of a recording that show it. */
export interface Observation {
  /** The id of the fact. */
  fact: string;
  /** The value seen, of the same kind as the fact's; never a secret or personal data. */
  seen: FactValue;
  agrees: boolean;
  bound?: FactBound;
  lenient?: Lenient;
  /** The operation; undefined for webhooks and for calls that match no operation. */
  operation?: string;
  /** How often the value was seen. */
  count: number;
  /** The first few entries with the value, by recording and number, such as `shop.har#12`. */
  entries: string[];
}
