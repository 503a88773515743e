// The Idempotency-Key of a request: its syntax, its fingerprint, and the answer that may be remembered for it.

import { memoize } from "../kernel/bounded-cache.ts";
import { type ErrorCode, fail } from "../kernel/errors.ts";
import { fingerprint } from "../kernel/fingerprint.ts";
import type { Behaviour } from "../schema/assumed.ts";
import type { IdempotencyReplies, StoredReply } from "../store/records/idempotency-replies.ts";
import { headerOnce, type RequestContext, type Stage } from "./context.ts";

const MAX_KEY = 255;
const MOST_KNOWN = 500;
/** Characters. */
const LONGEST_KNOWN = 4_096;

export const readIdempotencyKey: Stage = (context) => {
  if (!context.operation?.idempotent) return;
  // Node has taken the spaces around it away; whatever else is there counts.
  const key = headerOnce(context.incoming, "idempotency-key");
  if (key === undefined) return;
  if (typeof key !== "string") fail("idempotency_key_invalid", `Idempotency-Key was sent ${key.length} times; send it once.`);
  if (key === "")
    fail("idempotency_key_empty", "Idempotency-Key is empty. Send a value of your own making, such as a UUID, or leave the header out.");
  if (key.length > MAX_KEY) fail("idempotency_key_too_long", `Idempotency-Key may have ${MAX_KEY} characters; received ${key.length}.`);
  if (!/^[\x21-\x7e]+$/.test(key)) fail("idempotency_key_invalid", "Idempotency-Key must be printable ASCII without spaces.");
  context.idempotencyKey = key;
  const { operation, path, search, bodyText } = context;
  const said = `${operation.method} ${path}${search}\n${bodyText}`;
  context.fingerprint = said.length > LONGEST_KNOWN ? fingerprintOf(said, context) : fingerprintOfKnown(said, context);
};

const fingerprintOf = (_said: string, { operation, path, search, body }: RequestContext) =>
  fingerprint(operation?.method, path, search, body);
/** A retry says to the byte what the first call said: then nothing need be put in order, nor hashed. */
const fingerprintOfKnown = memoize(MOST_KNOWN, fingerprintOf);

/** Answers at once where an answer is remembered. */
export const recall =
  (replies: IdempotencyReplies): Stage =>
  (context) => {
    const { idempotencyKey: key } = context;
    const remembered = key === undefined ? undefined : replies.find(context.identity?.merchant ?? "", key);
    if (remembered) replay(context, remembered);
  };

/** Repeats the first answer to the byte; the headers of this call (rate limit, request id, date) stay its own. */
export function replay(context: RequestContext, remembered: StoredReply): void {
  if (remembered.fingerprint !== context.fingerprint)
    fail(
      "idempotency_key_reused",
      "This Idempotency-Key was used for another request: method, path, query or body differ. Use a new key for a new request.",
      { firstRequestId: remembered.request },
    );
  context.replayOf = remembered.request;
  context.headers["Idempotent-Replayed"] = "true";
  Object.assign(context.headers, context.operation?.headers);
  context.reply = { status: remembered.status, body: remembered.body };
}

/** What the handler itself found out is worth remembering; what stopped the request before it is not. */
export const isRemembered = (code: ErrorCode) => code === "resource_not_found" || code === "invalid_state" || code === "already_exists";

export const behaviours: Behaviour[] = [
  {
    id: "idempotency.scope",
    fact: "Keys are scoped to the merchant. Reusing a key with a different method, path, query or body returns 422.",
    why: "This is the strictest rule in common use; a client that complies with it works with laxer services too.",
  },
  {
    id: "idempotency.window",
    fact: "The first response is replayed for 24 hours on the sandbox clock, with `Idempotent-Replayed: true`.",
    why: "The service's documentation gives no window; 24 hours is the most common one, and the header is a common convention.",
  },
  {
    id: "idempotency.remembered",
    fact: "Responses with 2xx, 404 and 409 are stored. Requests rejected earlier (400, 401, 403, 413, 415, 422, 429), injected faults and 500 are not.",
    why: "A rejected request had no effect, so a corrected one may use the same key; a 500 was rolled back, so a retry is safe.",
  },
  {
    id: "idempotency.bound",
    fact: "Keys are 1 to 255 printable ASCII characters on all eleven operations.",
    why: "The service's documentation states this limit for eight of them; applying it to the other three is the stricter reading.",
  },
  {
    id: "idempotency.webhooks",
    fact: "The webhook operations ignore `Idempotency-Key`.",
    why: "They are not in the documented list of operations that accept it, and a replay would return a secret twice.",
  },
];
