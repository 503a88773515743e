// The headers of requests and replies: what each says, which replies carry it, and which of them the service's document states.

import type { Method } from "../contracts/endpoint.ts";
import { type Assumption, assumed } from "../schema/assumed.ts";
import { count, oneOf, type TSchema, Type, text } from "../schema/shapes.ts";

/** What decides whether a reply carries a header. */
interface Sender {
  method: Method;
  idempotent: boolean;
}

export interface HeaderFact {
  name: string;
  schema: TSchema;
  /** Which replies carry it, in words. */
  on: string;
  /** None where the service's document states the header. */
  assumption?: Assumption;
  sentWith(operation: Sender, status: number): boolean;
}

export const REQUEST_ID_HEADER = "X-Sandbox-Request-Id";

const succeeded = (status: number) => status < 300;

/** A stranger to the machine is turned away before anything else is looked at. */
const ALMOST_EVERY = "Every reply but the refusal of a foreign `Host` or `Origin`";

const window: HeaderFact[] = [
  { name: "RateLimit-Limit", schema: count("How many requests a window admits"), on: ALMOST_EVERY, sentWith: () => true },
  { name: "RateLimit-Remaining", schema: count("How many of them are left"), on: ALMOST_EVERY, sentWith: () => true },
  { name: "RateLimit-Reset", schema: count("When the window ends, in Unix seconds"), on: ALMOST_EVERY, sentWith: () => true },
  {
    name: "Retry-After",
    schema: count("How many seconds to wait before trying again", { minimum: 1 }),
    on: "429 and 503",
    sentWith: (_, status) => status === 429 || status === 503,
  },
];

const invented: HeaderFact[] = [
  {
    name: REQUEST_ID_HEADER,
    schema: text("The request's id in the sandbox's own journal"),
    on: "Every reply",
    assumption: { why: "The document shows no correlation header; this one cannot be taken for one of the service's." },
    sentWith: () => true,
  },
  {
    name: "X-Sandbox-Unknown-Params",
    schema: text("Query parameters that were ignored because no operation here knows them"),
    on: "Any success",
    assumption: { why: "The document does not say what becomes of unknown parameters; they are ignored, and named." },
    sentWith: (_, status) => succeeded(status),
  },
  {
    name: "X-Sandbox-Unknown-Fields",
    schema: text("Fields of the body that were kept as they came because no operation here knows them"),
    on: "Any success of POST, PATCH and DELETE",
    assumption: { why: "The document does not show the bodies, so a field that is unknown here may be known there." },
    sentWith: ({ method }, status) => succeeded(status) && method !== "GET",
  },
  {
    name: "X-Sandbox-Warning",
    schema: text("What was done as asked, though it looks like a mistake"),
    on: "Any success of POST, PATCH and DELETE",
    assumption: { why: "The document lists no types of event, so a name that is unknown here is taken, and remarked upon." },
    sentWith: ({ method }, status) => succeeded(status) && method !== "GET",
  },
  {
    name: "Idempotent-Replayed",
    schema: oneOf(["true"], "The reply repeats the first one to this `Idempotency-Key`"),
    on: "A repeated success, 404 or 409",
    assumption: { why: "The document is silent; the name is a common convention, and a client may ignore it." },
    sentWith: ({ idempotent }, status) => idempotent && (succeeded(status) || status === 404 || status === 409),
  },
];

const injected: HeaderFact[] = [
  {
    name: "X-Sandbox-Fault",
    schema: text("The fault rules that touched the reply, parted by commas"),
    on: "Any reply that a labelled fault rule touched",
    assumption: { why: "An injected failure must not be taken for one of the service's own while somebody looks for its cause." },
    sentWith: () => true,
  },
];

const standard: HeaderFact[] = [
  {
    name: "WWW-Authenticate",
    schema: text('`Bearer`, with `error="invalid_token"` where a token was sent and refused'),
    on: "401",
    assumption: { why: "RFC 9110 asks for it with every 401, and RFC 6750 says what it holds." },
    sentWith: (_, status) => status === 401,
  },
  {
    name: "Cache-Control",
    schema: oneOf(["no-store"], "The reply must not be kept by any cache"),
    on: "429, and replies that show a secret",
    assumption: { why: "RFC 6585 forbids to store a 429, and a secret is nobody's to keep." },
    sentWith: (_, status) => status === 429,
  },
];

export const serviceHeaders: readonly HeaderFact[] = [...window, ...invented, ...injected, ...standard];

/** The one request header that is neither authentication nor media type. */
export const idempotencyKey = {
  name: "Idempotency-Key",
  schema: Type.String({
    description:
      "A value of the client's own making, such as a UUID: a repeated request with the same key gets the first reply again and has no second effect",
    minLength: 1,
    maxLength: 255,
    pattern: "^[!-~]+$",
  }),
};

/** What signs and names a delivery. Content-Type is stated too, and stands with the body. */
export const deliveryHeaders: readonly { name: string; schema: TSchema }[] = [
  {
    name: "X-Webhook-Signature",
    schema: assumed(
      Type.String({ description: "HMAC-SHA256 of the body's exact bytes, as 64 lower-case hex digits", pattern: "^[0-9a-f]{64}$" }),
      "The document does not say which key feeds the digest: here it is the endpoint's whole secret, `whsec_` included, as UTF-8.",
    ),
  },
  { name: "X-Webhook-Id", schema: text("The event's id, the same on every attempt") },
  { name: "X-Webhook-Event", schema: text("The event's type, such as `payment.succeeded`") },
];
