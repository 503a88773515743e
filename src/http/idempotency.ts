// Idempotency-Keys: checks a key's syntax, computes the request's fingerprint, and replays stored replies.

import type { MeasuredBehaviour } from "../contracts/fact.ts";
import { memoize } from "../kernel/bounded-cache.ts";
import { type ErrorCode, fail } from "../kernel/errors.ts";
import { fingerprint } from "../kernel/fingerprint.ts";
import { maskIdempotencyKey } from "../kernel/mask-headers.ts";
import { KEY_PATTERN, MAX_KEY_LENGTH } from "../kernel/request-limits.ts";
import { Type } from "../schema/shapes.ts";
import { assumedValue, settableFact } from "../store/assumptions.ts";
import type { Operation } from "../store/operation-context.ts";
import { type IdempotencyReplies, REPLAY_WINDOW, type StoredReply } from "../store/records/idempotency-replies.ts";
import { contextOf, headerOnce, passOn, type RequestContext, type Stage } from "./context.ts";

const KEY = new RegExp(KEY_PATTERN);
const MAX_CACHED_FINGERPRINTS = 500;
/** Maximum characters of a request whose fingerprint is cached. */
const MAX_CACHED_LENGTH = 4_096;

const HEADER = "Idempotency-Key";

export const keyLengthFact = settableFact<number>(
  "idempotency.key_length",
  "limit",
  MAX_KEY_LENGTH,
  Type.Integer({ minimum: 1, maximum: 1_000 }),
);

export const replayWindowFact = settableFact<number>(
  "idempotency.seconds",
  "replay_window",
  REPLAY_WINDOW / 1_000,
  Type.Integer({ minimum: 1, maximum: 31_622_400 }),
);

export const readIdempotencyKey: Stage = (request, _response, next) => {
  const context = contextOf(request);
  if (context.operation?.idempotent) readKey(context, context.operation);
  else if (request.headers["idempotency-key"] !== undefined) context.headers["X-Sandbox-Ignored-Headers"] = HEADER;
  next();
};

function readKey(context: RequestContext, operation: Operation): void {
  // Node has already trimmed surrounding spaces.
  const key = headerOnce(context.incoming, "idempotency-key");
  if (key === undefined) return;
  if (typeof key !== "string") fail("idempotency_key_invalid", `${HEADER} was sent ${key.length} times; send it once.`);
  if (key === "")
    fail(
      "idempotency_key_empty",
      `${HEADER} is empty. Send a value of your choice, such as a UUID, or leave the header out.`,
    );
  const most = assumedValue(context.assumed, keyLengthFact);
  if (key.length > most)
    fail("idempotency_key_too_long", `${HEADER} may have ${most} characters; received ${key.length}.`);
  if (!KEY.test(key)) fail("idempotency_key_invalid", `${HEADER} must be printable ASCII without spaces.`);
  context.idempotencyKey = maskIdempotencyKey(key);
  const { path, search, bodyText } = context;
  const requestText = `${operation.method} ${path}${search}\n${bodyText}`;
  context.fingerprint =
    requestText.length > MAX_CACHED_LENGTH
      ? computeFingerprint(requestText, context)
      : cachedFingerprint(requestText, context);
}

const computeFingerprint = (_requestText: string, { operation, path, search, body }: RequestContext) =>
  fingerprint(operation?.method, path, search, body);
/** A retry usually repeats the first call byte for byte, so the cache avoids sorting and hashing its fields again. */
const cachedFingerprint = memoize(MAX_CACHED_FINGERPRINTS, computeFingerprint);

/** Responds with the stored reply, if the key has one. */
export const recall =
  (replies: IdempotencyReplies): Stage =>
  (request, _response, next) => {
    const context = contextOf(request);
    const { idempotencyKey: key } = context;
    const stored = key === undefined ? undefined : replies.find(context.identity?.merchant ?? "", key);
    if (stored) replay(context, stored);
    passOn(context, next);
  };

/** Replays the first reply byte for byte, with this call's own headers for rate limit, request id and date. */
export function replay(context: RequestContext, stored: StoredReply): void {
  if (stored.fingerprint !== context.fingerprint)
    fail(
      "idempotency_key_reused",
      "This Idempotency-Key was used for another request: method, path, query or body differ. " +
        "Use a new key for a new request.",
      { firstRequestId: stored.request },
    );
  context.replayOf = stored.request;
  context.headers["Idempotent-Replayed"] = "true";
  Object.assign(context.headers, context.operation?.headers);
  context.reply = { status: stored.status, body: stored.body };
}

/**
 * Whether an error is stored for the key. Errors of earlier stages are not stored, so a corrected request may use the
 * same key.
 */
export const isStoredError = (code: ErrorCode) =>
  code === "resource_not_found" || code === "invalid_state" || code === "already_exists";

export const behaviours: MeasuredBehaviour[] = [
  {
    id: "idempotency.scope",
    fact: "Keys are scoped to the merchant. Reusing a key with a different method, path, query or body returns 422.",
    why: "This is the strictest rule in common use; a client that complies with it works with laxer services too.",
  },
  {
    id: "idempotency.window",
    fact: "The first response is replayed for 24 hours on the sandbox clock, with `Idempotent-Replayed: true`.",
    why:
      "The service's documentation gives no window; 24 hours is the most common one, " +
      "and the header is a common convention.",
    facts: [{ id: "idempotency.replay", kind: "replay", value: "the first response" }, replayWindowFact],
  },
  {
    id: "idempotency.login",
    fact:
      "The response of a login is replayed for 59 minutes only; " +
      "later the same key logs in again and returns a new token.",
    why: "The token expires after an hour, and the replay of an expired token would be of no use.",
  },
  {
    id: "idempotency.remembered",
    fact:
      "Responses with 2xx, 404 and 409 are stored. " +
      "Requests rejected earlier (400, 401, 403, 413, 415, 422, 429), injected faults and 500 are not.",
    why:
      "A rejected request had no effect, so a corrected one may use the same key; " +
      "a 500 was rolled back, so a retry is safe.",
  },
  {
    id: "idempotency.bound",
    fact: `Keys are 1 to ${MAX_KEY_LENGTH} printable ASCII characters on all eleven operations.`,
    why:
      "The service's documentation states this limit for eight of them; " +
      "applying it to the other three is the stricter reading.",
    facts: [keyLengthFact],
  },
  {
    id: "idempotency.webhooks",
    fact: "The webhook operations ignore `Idempotency-Key`, and say so in `X-Sandbox-Ignored-Headers`.",
    why: "They are not in the documented list of operations that accept it, and a replay would return a secret twice.",
  },
];
