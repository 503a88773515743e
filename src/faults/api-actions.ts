// The actions on calls, in the order of the documentation.

import { type CorruptionForm, type DisconnectForm, EVOLUTIONS, type Evolution } from "../contracts/fault.ts";
import { count, flag, type Static, type TObject, Type, text, withDefault } from "../schema/shapes.ts";
import { type FiringContext, onCalls } from "./action.ts";
import { choice, milliseconds, retryAfter, span } from "./fields.ts";

const status = onCalls({
  type: "status",
  phase: "before",
  description: "Sends an error response of your choice, before any effect.",
  example: "status=503 payments.list --retry-after 2",
  main: "status",
  outcome: "refused",
  fields: {
    status: Type.Integer({ description: "400 to 599", minimum: 400, maximum: 599 }),
    code: Type.Optional(withDefault(text("The `code` of the error", { minLength: 1 }), "the usual one for the status")),
    message: Type.Optional(text("The `message` of the error")),
    retryAfter: retryAfter(),
  },
  prepare: ({ type: _, ...fields }) => ({ kind: "respond", ...fields }),
});

const rateLimit = onCalls({
  type: "rate_limit",
  phase: "limit",
  description:
    "Sends a 429 as if the rate limit were exceeded; " +
    "with `exhaust`, uses up the merchant's real rate-limit window instead.",
  example: "429 payments.list --times 3 --retry-after 2",
  main: "retryAfter",
  // With `exhaust`, the rate limiter itself responds with the 429.
  outcome: ({ exhaust }) => (exhaust ? "normal" : "refused"),
  fields: {
    retryAfter: retryAfter(),
    exhaust: Type.Optional(
      flag(
        "Uses up the real window, so that every call gets a 429 until it ends (after `retryAfter` seconds, if given)",
      ),
    ),
  },
  check: ({ exhaust, retryAfter: wait }) =>
    exhaust && wait !== undefined && (typeof wait !== "number" || wait === 0)
      ? "action.retryAfter must be a number of seconds, at least 1, if exhaust is set: it determines when the real " +
        "window ends."
      : undefined,
  prepare: ({ exhaust = false, retryAfter: wait }) => {
    if (exhaust) return { kind: "exhaust", ...(typeof wait === "number" ? { resetIn: wait * 1_000 } : {}) };
    return { kind: "respond", status: 429, code: "injected_rate_limit", retryAfter: wait ?? 1 };
  },
});

const DISTRIBUTIONS = ["fixed", "uniform", "lognormal"] as const;

/** Maximum delay in milliseconds. */
const LONGEST = 600_000;

/** The fields that each distribution requires. Other distributions do not allow them. */
const FIELDS_OF: Record<(typeof DISTRIBUTIONS)[number], readonly (keyof Parameters)[]> = {
  fixed: ["ms"],
  uniform: ["min", "max"],
  lognormal: ["median", "sigma"],
};

const parameters = {
  ms: Type.Optional(Type.Number({ description: "fixed: milliseconds", minimum: 0, maximum: LONGEST })),
  min: Type.Optional(span("uniform: the shortest")),
  max: Type.Optional(span("uniform: the longest")),
  median: Type.Optional(span("lognormal: half of the delays are shorter")),
  sigma: Type.Optional(Type.Number({ description: "lognormal: how wide, such as 0.5", minimum: 0, maximum: 5 })),
};

type Parameters = Static<TObject<typeof parameters>>;

const latency = onCalls({
  type: "latency",
  phase: "latency",
  description: "Delays the response, in real time. The operation still takes effect, and any other fault can act too.",
  example: "latency=600ms payments.list --times 5",
  main: "ms",
  onlyWith: Object.fromEntries(
    Object.entries(FIELDS_OF).flatMap(([value, names]) => names.map((name) => [name, ["distribution", value]])),
  ),
  outcome: "normal",
  fields: {
    distribution: choice(DISTRIBUTIONS, "How the delay is drawn"),
    ...parameters,
    in: choice(["headers", "body"], "Before the headers, or between headers and body"),
  },
  check({ distribution = "fixed", ...given }) {
    const needed = FIELDS_OF[distribution];
    const missing = needed.find((name) => given[name] === undefined);
    if (missing !== undefined)
      return `action.${missing} is required: a ${distribution} latency has ${needed.join(" and ")}.`;
    const { min = "0ms", max = "0ms" } = given;
    if (distribution === "uniform" && milliseconds(min) > milliseconds(max))
      return `action.max must not be shorter than action.min; received ${max} and ${min}.`;
    return undefined;
  },
  prepare({ distribution = "fixed", in: before = "headers", ...given }) {
    const draw = DRAWS[distribution](given);
    return (moment) => ({ kind: "delay", milliseconds: Math.min(LONGEST, Math.round(draw(moment))), before });
  },
});

type Draw = (moment: FiringContext) => number;

const read = (written = "0ms") => milliseconds(written);

const DRAWS: Record<(typeof DISTRIBUTIONS)[number], (given: Parameters) => Draw> = {
  fixed({ ms = 0 }) {
    return () => ms;
  },
  uniform({ min, max }) {
    const [least, most] = [read(min), read(max)];
    return ({ chance }) => least + chance("latency") * (most - least);
  },
  lognormal({ median, sigma = 0 }) {
    const middle = read(median);
    return ({ chance }) => middle * Math.exp(sigma * normal(chance("radius"), chance("angle")));
  },
};

/** Box-Muller: turns two uniform numbers into one that is normally distributed. */
const normal = (radius: number, angle: number) => Math.sqrt(-2 * Math.log(1 - radius)) * Math.cos(2 * Math.PI * angle);

const lostResponse = onCalls({
  type: "lost_response",
  phase: "after",
  description:
    "Lets the operation take effect, then loses the response. A retry with the same Idempotency-Key gets the response.",
  example: "lost-response payroll.create",
  main: "as",
  outcome: "response_lost",
  fields: { as: choice(["reset", "empty", "hang", "502"], "What the client gets instead") },
  prepare: ({ as = "reset" }) =>
    as === "502"
      ? { kind: "respond", status: 502, message: "The gateway received no response in time." }
      : { kind: "disconnect", as },
});

const connection = onCalls({
  type: "connection",
  phase: "before",
  description: "Breaks the connection before any effect.",
  example: "connection=malformed_chunk payments.list",
  main: "as",
  outcome: "disconnected",
  fields: {
    as: choice<DisconnectForm>(["reset", "empty", "garbage", "malformed_chunk", "hang"], "How it breaks"),
  },
  prepare: ({ as = "reset" }) => ({ kind: "disconnect", as }),
});

/** Bytes per second: slow enough to notice, fast enough to finish. */
const DEFAULT_DRIP = 100;

const body = onCalls({
  type: "body",
  phase: "body",
  description: "Corrupts or patches the response body. The operation still takes effect.",
  example: "body=truncate payments.list",
  main: "as",
  onlyWith: { bytesPerSecond: ["as", "drip"], patch: ["as", "patch"] },
  outcome: ({ as }) => (as === "patch" ? "normal" : "response_lost"),
  fields: {
    as: choice<CorruptionForm | "patch">(
      ["truncate", "invalid_json", "html", "wrong_content_type", "drip", "patch"],
      "How it is corrupted; `patch` leaves it valid",
    ),
    patch: Type.Optional(
      Type.Record(Type.Unknown(), { description: "JSON Merge Patch (RFC 7396) of the response: null removes a field" }),
    ),
    bytesPerSecond: Type.Optional(
      withDefault(count("How fast `drip` sends", { minimum: 1, maximum: 1_000_000 }), String(DEFAULT_DRIP)),
    ),
  },
  check: ({ as, patch }) =>
    as === "patch" && patch === undefined ? 'action.patch is required, as in {"status": "held"}.' : undefined,
  prepare: ({ patch = {}, as = "truncate", bytesPerSecond = DEFAULT_DRIP }) =>
    as === "patch" ? { kind: "patch", patch } : { kind: "corrupt", as, bytesPerSecond },
});

const evolve = onCalls({
  type: "evolve",
  phase: "body",
  description:
    "Answers as a later version of the service might: with unknown fields, unknown values of enumerations, null " +
    "where it is allowed, and fields in another order. Finds clients that read responses too strictly.",
  example: "evolve payments.list",
  main: "as",
  outcome: "normal",
  fields: { as: choice<Evolution>(EVOLUTIONS, "What is changed") },
  prepare: ({ as = "everything" }) => ({ kind: "evolve", as }),
});

const OUTAGE_RETRY_AFTER = 5;

const outage = onCalls({
  type: "outage",
  phase: "outage",
  description:
    "Takes the whole service down, for every operation and every key. Requests with a disallowed Host still get 403.",
  example: "outage --for 30s",
  main: "as",
  onlyWith: { retryAfter: ["as", "503"] },
  outcome: ({ as }) => (as === "reset" ? "disconnected" : "refused"),
  fields: {
    as: choice(["503", "reset"], "What every call gets"),
    retryAfter: retryAfter(),
  },
  prepare: ({ as = "503", retryAfter: wait = OUTAGE_RETRY_AFTER }) => {
    if (as === "reset") return { kind: "disconnect", as };
    const message = "The service is down. Try again later.";
    return ({ endsAt }) => ({ kind: "respond", status: 503, code: "outage", message, retryAfter: wait, endsAt });
  },
});

const INVALID_TOKEN = { "WWW-Authenticate": 'Bearer error="invalid_token"' };

const auth = onCalls({
  type: "auth",
  phase: "auth",
  description: "Rejects a valid key, as if it had been revoked or its session had expired.",
  example: "auth=expired payments.list",
  main: "as",
  outcome: "refused",
  fields: { as: choice(["revoked", "expired"], "What happened to the key") },
  prepare: ({ as = "revoked" }) => {
    const code = as === "revoked" ? "invalid_api_key" : "token_expired";
    const message =
      as === "revoked" ? "This key was revoked." : "The session has expired. Log in again at POST /v1/merchants/login.";
    return { kind: "respond", status: 401, code, message, headers: INVALID_TOKEN, asService: true };
  },
});

const idempotency = onCalls({
  type: "idempotency",
  phase: "recall",
  description:
    "Treats the call's Idempotency-Key as still in use (409), or as expired, so that the operation runs again.",
  example: "idempotency=in_progress payroll.create",
  main: "as",
  outcome: ({ as }) => (as === "expired" ? "normal" : "refused"),
  fields: { as: choice(["in_progress", "expired"], "The state of the key") },
  prepare: ({ as = "in_progress" }) => {
    if (as === "expired") return { kind: "forget" };
    const message = "A request with this Idempotency-Key is still running. Wait for its response, then send it again.";
    return { kind: "respond", status: 409, code: "idempotency_key_in_use", message, asService: true };
  },
});

const staleRead = onCalls({
  type: "stale_read",
  phase: "read",
  description: "Responds to reads with the records as they were some time ago, like a lagging replica.",
  example: "stale-read=5s payments.list --times 3",
  main: "lag",
  outcome: "normal",
  fields: { lag: span("How far back, in sandbox time; at most back to when the rule was added") },
  prepare: ({ lag }) => ({ kind: "lag", milliseconds: milliseconds(lag) }),
});

export const apiActions = [
  status,
  rateLimit,
  latency,
  lostResponse,
  connection,
  body,
  evolve,
  outage,
  auth,
  idempotency,
  staleRead,
] as const;
