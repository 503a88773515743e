// What can be done to a call: one entry an action, in the order of the page.

import type { CutForm, MangleForm } from "../contracts/fault.ts";
import { count, flag, Type, text } from "../schema/shapes.ts";
import { onCalls } from "./action.ts";
import { choice, milliseconds, retryAfter, span } from "./fields.ts";
import { latency } from "./latency.ts";

const status = onCalls({
  type: "status",
  phase: "before",
  does: "Answers with a status of your choice instead of the service, before any effect.",
  example: "status=503 payments.list --retry-after 2",
  main: "status",
  fields: {
    status: Type.Integer({ description: "400 to 599", minimum: 400, maximum: 599 }),
    code: Type.Optional(text("The `code` of the error; one that goes with the status unless given", { minLength: 1 })),
    message: Type.Optional(text("The `message` of the error")),
    retryAfter: retryAfter(),
  },
  prepare: (fields) => () => ({ kind: "refuse", ...fields }),
});

const rateLimit = onCalls({
  type: "rate_limit",
  phase: "limit",
  does: "Answers 429 as if the window were used up, or uses the merchant's real window up.",
  example: "429 payments.list --times 3 --retry-after 2",
  main: "retryAfter",
  fields: {
    retryAfter: retryAfter(),
    exhaust: Type.Optional(flag("Spends the real window, so that every call is refused until it ends: in `retryAfter` seconds if given")),
  },
  check: ({ exhaust, retryAfter: wait }) =>
    exhaust && wait !== undefined && (typeof wait !== "number" || wait === 0)
      ? "action.retryAfter must be a number of seconds, from 1, where exhaust spends the real window: the window itself says when it ends."
      : undefined,
  prepare: ({ exhaust = false, retryAfter: wait }) => {
    if (exhaust) return () => ({ kind: "exhaust", ...(typeof wait === "number" ? { resetIn: wait * 1_000 } : {}) });
    return () => ({ kind: "refuse", status: 429, code: "injected_rate_limit", retryAfter: wait ?? 1 });
  },
});

const lostResponse = onCalls({
  type: "lost_response",
  phase: "after",
  does: "Lets the call take effect, then loses the answer: a retry with the same Idempotency-Key gets it again.",
  example: "lost-response payroll.create",
  main: "as",
  fields: { as: choice(["reset", "empty", "hang", "502"], "What the client sees instead; `reset` unless given") },
  prepare: ({ as = "reset" }) => {
    if (as === "502") return () => ({ kind: "refuse", status: 502, message: "The gateway got no answer in time." });
    return () => ({ kind: "cut", as });
  },
});

const connection = onCalls({
  type: "connection",
  phase: "before",
  does: "Breaks the connection before any effect.",
  example: "connection=malformed_chunk payments.list",
  main: "as",
  fields: {
    as: choice<CutForm>(["reset", "empty", "garbage", "malformed_chunk", "hang"], "How it breaks; `reset` unless given"),
  },
  prepare:
    ({ as = "reset" }) =>
    () => ({ kind: "cut", as }),
});

/** Slow enough to be seen, fast enough to end. */
const USUAL_DRIP = 100;

const body = onCalls({
  type: "body",
  phase: "body",
  does: "Spoils the body of an answer that is otherwise good: the effect stands.",
  example: "body=truncate payments.list",
  main: "as",
  fields: {
    as: choice<MangleForm>(
      ["truncate", "invalid_json", "html", "wrong_content_type", "drip"],
      "What becomes of it; `truncate` unless given",
    ),
    bytesPerSecond: Type.Optional(count(`How fast \`drip\` sends; ${USUAL_DRIP} unless given`, { minimum: 1, maximum: 1_000_000 })),
  },
  check: ({ as, bytesPerSecond }) =>
    bytesPerSecond !== undefined && as !== "drip" ? "action.bytesPerSecond belongs to as: drip; leave it out." : undefined,
  prepare:
    ({ as = "truncate", bytesPerSecond = USUAL_DRIP }) =>
    () => ({ kind: "mangle", as, bytesPerSecond }),
});

const OUTAGE_WAIT = 5;

const outage = onCalls({
  type: "outage",
  phase: "outage",
  does: "Takes the whole service down, whatever is called and by whom, before anything else is looked at.",
  example: "outage --for 30s",
  main: "as",
  fields: {
    as: choice(["503", "reset"], "What every call gets; `503` unless given"),
    retryAfter: retryAfter(),
  },
  check: ({ as, retryAfter: wait }) =>
    as === "reset" && wait !== undefined ? "action.retryAfter belongs to as: 503; a reset connection says nothing." : undefined,
  prepare: ({ as = "503", retryAfter: wait = OUTAGE_WAIT }) => {
    if (as === "reset") return () => ({ kind: "cut", as });
    return () => ({ kind: "refuse", status: 503, code: "outage", message: "The service is down. Try again later.", retryAfter: wait });
  },
});

const REFUSED_TOKEN = { "WWW-Authenticate": 'Bearer error="invalid_token"' };

const auth = onCalls({
  type: "auth",
  phase: "auth",
  does: "Refuses a key that is good, as if it had been revoked or its session had expired.",
  example: "auth=expired payments.list",
  main: "as",
  fields: { as: choice(["revoked", "expired"], "What became of the key; `revoked` unless given") },
  prepare: ({ as = "revoked" }) => {
    const code = as === "revoked" ? "invalid_api_key" : "token_expired";
    const message = as === "revoked" ? "This key was revoked." : "The session has expired. Log in again at POST /v1/merchants/login.";
    return () => ({ kind: "refuse", status: 401, code, message, headers: REFUSED_TOKEN });
  },
});

const idempotency = onCalls({
  type: "idempotency",
  phase: "recall",
  does: "Treats the call's Idempotency-Key as still in use (409), or as one whose answer was forgotten.",
  example: "idempotency=in_progress payroll.create",
  main: "as",
  fields: { as: choice(["in_progress", "expired"], "What became of the first call; `in_progress` unless given") },
  prepare: ({ as = "in_progress" }) => {
    if (as === "expired") return () => ({ kind: "forget" });
    const message = "A request with this Idempotency-Key is still running. Wait for its answer, then send it again.";
    return () => ({ kind: "refuse", status: 409, code: "idempotency_key_in_use", message });
  },
});

const staleRead = onCalls({
  type: "stale_read",
  phase: "read",
  does: "Lets reads answer what was true a while ago, as a replica that lags behind would.",
  example: "stale-read=5s payments.list --times 3",
  main: "lag",
  fields: { lag: span("How far back, in sandbox time; never further than to the moment at which the rule came") },
  prepare: ({ lag }) => {
    const behind = milliseconds(lag);
    return () => ({ kind: "lag", milliseconds: behind });
  },
});

const clockSkew = onCalls({
  type: "clock_skew",
  phase: "effect",
  does: "Lets the service's clock be wrong: in Date, RateLimit-Reset, and the times of what the call makes.",
  example: "clock-skew=5m payments.list",
  main: "by",
  fields: {
    by: text("How far it is ahead, such as 5m; behind with a minus, such as -5m", {
      pattern: "^-?[0-9]+(\\.[0-9]+)?(ms|s|m|h|d)$",
      maxLength: 30,
    }),
  },
  prepare: ({ by }) => {
    const ahead = by.startsWith("-") ? -milliseconds(by.slice(1)) : milliseconds(by);
    return () => ({ kind: "skew", milliseconds: ahead });
  },
});

export const apiActions = [
  status,
  rateLimit,
  latency,
  lostResponse,
  connection,
  body,
  outage,
  auth,
  idempotency,
  staleRead,
  clockSkew,
] as const;
