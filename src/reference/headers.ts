// The headers of requests, responses and deliveries: their meaning, when they are sent, and which are assumed.

import type { Endpoint } from "../contracts/endpoint.ts";
import { KEY_PATTERN, MAX_KEY_LENGTH } from "../kernel/request-limits.ts";
import { type Assumption, assumed } from "../schema/assumed.ts";
import { count, oneOf, type TSchema, Type, text } from "../schema/shapes.ts";

export interface HeaderFact {
  name: string;
  schema: TSchema;
  /** The responses that carry the header, as text for the reference. */
  on: string;
  /** Undefined if the service's documentation states the header. */
  assumption?: Assumption;
  sentWith(operation: Pick<Endpoint, "method" | "idempotent">, status: number): boolean;
}

export const REQUEST_ID_HEADER = "X-Sandbox-Request-Id";

const succeeded = (status: number) => status < 300;

/** The exceptions are rejected before the sandbox knows their rate-limit window. */
const ALMOST_EVERY =
  "Every response, except to a foreign `Host` or `Origin`, an unknown `Expect`, a URL or headers that are too " +
  "long, or malformed HTTP";

export const serviceHeaders: readonly HeaderFact[] = [
  {
    name: "RateLimit-Limit",
    schema: count("Number of requests allowed per window"),
    on: ALMOST_EVERY,
    sentWith: () => true,
  },
  {
    name: "RateLimit-Remaining",
    schema: count("Number of requests left in the window"),
    on: ALMOST_EVERY,
    sentWith: () => true,
  },
  {
    name: "RateLimit-Reset",
    schema: count("End of the window, in Unix seconds"),
    on: ALMOST_EVERY,
    sentWith: () => true,
  },
  {
    name: "Retry-After",
    schema: count("Number of seconds to wait before retrying", { minimum: 1 }),
    on: "429 and 503",
    sentWith: (_, status) => status === 429 || status === 503,
  },
  {
    name: REQUEST_ID_HEADER,
    schema: text("Id of the request in the sandbox's request log"),
    on: "Every response",
    assumption: {
      why:
        "The service's documentation shows no request id header; " +
        "the `X-Sandbox-` prefix shows that this header is not the service's.",
    },
    sentWith: () => true,
  },
  {
    name: "X-Sandbox-Unknown-Params",
    schema: text("Unknown query parameters, which were ignored"),
    on: "Successful responses",
    assumption: {
      why:
        "The service's documentation does not say how unknown parameters are handled; " +
        "the sandbox ignores and reports them.",
    },
    sentWith: (_, status) => succeeded(status),
  },
  {
    name: "X-Sandbox-Ignored-Headers",
    schema: text("Header that was ignored, because the operation does not take it"),
    on: "Responses to a request with `Idempotency-Key` whose operation takes none",
    assumption: {
      why:
        "The service's documentation lists the operations that take `Idempotency-Key`. " +
        "A client that sends the header to another operation would wrongly expect safe retries.",
    },
    sentWith: ({ idempotent }) => !idempotent,
  },
  {
    name: "X-Sandbox-Unknown-Fields",
    schema: text(
      "Body fields that the sandbox does not know and, under `--bodies open`, fields of another type than it " +
        "expects. They are stored with secrets masked, except fields that the service sets itself",
    ),
    on: "Successful POST, PATCH and DELETE",
    assumption: {
      why:
        "The service's documentation does not show the bodies, so the service may know a field that the sandbox " +
        "does not.",
    },
    sentWith: ({ method }, status) => succeeded(status) && method !== "GET",
  },
  {
    name: "X-Sandbox-Request-Body",
    schema: oneOf(
      ["reserialized"],
      "The app around the sandbox had parsed the body; the request log shows it serialised again",
    ),
    on: "POST, PATCH and DELETE in an app, behind a body parser that keeps no `rawBody`",
    assumption: {
      why:
        "The bytes that the client sent are then lost, so a developer who reads the log must know that it shows " +
        "other bytes.",
    },
    sentWith: ({ method }) => method !== "GET",
  },
  {
    name: "X-Sandbox-Warning",
    schema: text("Warning about a successful request that is probably a mistake"),
    on: "Successful POST, PATCH and DELETE",
    assumption: {
      why:
        "The service's documentation has no list of event types and no rules on values, so the sandbox accepts " +
        "unknown types and unlikely values with a warning.",
    },
    sentWith: ({ method }, status) => succeeded(status) && method !== "GET",
  },
  {
    name: "Idempotent-Replayed",
    schema: oneOf(["true"], "This is a replay of the first response to this `Idempotency-Key`"),
    on: "A replayed success, 404 or 409",
    assumption: {
      why:
        "The service's documentation does not mention such a header; " +
        "the name is a common convention, and clients may ignore it.",
    },
    sentWith: ({ idempotent }, status) => idempotent && (succeeded(status) || status === 404 || status === 409),
  },
  {
    name: "X-Sandbox-Fault",
    schema: text("Names of the fault rules that affected the response, separated by commas"),
    on: "Any response affected by a labelled fault rule",
    assumption: {
      why: "Developers who debug a failure must be able to tell an injected fault from a response of the service.",
    },
    sentWith: () => true,
  },
  {
    name: "WWW-Authenticate",
    schema: text('`Bearer`, with `error="invalid_token"` if the token sent is invalid'),
    on: "401",
    assumption: { why: "RFC 9110 requires it with every 401, and RFC 6750 defines its value." },
    sentWith: (_, status) => status === 401,
  },
  {
    name: "Cache-Control",
    schema: oneOf(["no-store"], "Caches must not store the response"),
    on: "429, and responses that contain a secret",
    assumption: { why: "RFC 6585 forbids caches to store a 429, and secrets must not be cached." },
    sentWith: (_, status) => status === 429,
  },
];

export const idempotencyKey = {
  name: "Idempotency-Key",
  schema: Type.String({
    description:
      "A unique value generated by the client, such as a UUID; " +
      "a retry with the same key returns the first response and has no further effect",
    minLength: 1,
    maxLength: MAX_KEY_LENGTH,
    pattern: KEY_PATTERN,
  }),
};

/** The headers of a delivery. `Content-Type` is documented with the body. */
export const deliveryHeaders: readonly { name: string; schema: TSchema }[] = [
  {
    name: "X-Webhook-Signature",
    schema: assumed(
      Type.String({
        description: "HMAC-SHA256 of the exact bytes of the body, as 64 lower-case hex digits",
        pattern: "^[0-9a-f]{64}$",
      }),
      "The service's documentation does not name the HMAC key; " +
        "the sandbox uses the endpoint's whole secret, including `whsec_`, as UTF-8.",
    ),
  },
  { name: "X-Webhook-Id", schema: text("Id of the event, the same on every attempt") },
  { name: "X-Webhook-Event", schema: text("Event type, such as `payment.succeeded`") },
];
