// The request pipeline, stage by stage. The first stage that fails decides the response.

import { factOf } from "../../src/schema/assumed.ts";
import { ApiError, type Call, type Request, refuse, statusOf } from "./call.ts";
import { type Expected, INVALID_TOKEN, injectFault, type PipelineContext, type Result } from "./call-outcome.ts";
import { matchCallFault } from "./faults.ts";
import { knownFields, type Operation, operations, ownFields, runs, sortedDeep, wrongFields } from "./operations.ts";
import { checkQuery, PAGE_NAMES } from "./pagination.ts";
import type { Fields } from "./record-kinds.ts";
import { type IdempotencyReply, type Merchant, merchantOf, secondsOf, type World, windowOf } from "./world.ts";

const DAY = 24 * 3_600_000;
/** The reply to a login is stored for a minute less than its token is valid. */
const LOGIN_WINDOW = 59 * 60_000;
const ANONYMOUS = "anonymous";

/** Handles one request. Reads generated ids and secrets from `observed`, the body that the sandbox returned. */
export function handleRequest(world: World, request: Request, observed: unknown): Expected {
  const [path = "", search = ""] = request.path.split(/\?(.*)/s);
  const token = /^bearer +([A-Za-z0-9._~+/=-]+) *$/i.exec(request.headers.authorization ?? "")?.[1];
  const merchantId = token === undefined ? undefined : world.keys.get(token)?.merchant;
  const sent = { request, path, search: new URLSearchParams(search), token, merchantId };
  const nothing = {
    operation: undefined,
    params: {},
    faults: [],
    headers: {},
    violations: [],
    idempotencyReply: undefined,
  };
  const context: PipelineContext = {
    world,
    observed,
    ...sent,
    ...nothing,
    window: windowOf(world, merchantId ?? ANONYMOUS),
  };
  return finish(context, answer(context));
}

function answer(context: PipelineContext): Result {
  try {
    return pass(context);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    Object.assign(context.headers, error.headers);
    return { status: statusOf(error.code), code: error.code };
  }
}

/** The stages in order, each with the statuses it may return. A fault at a stage ends the pipeline. */
function pass(context: PipelineContext): Result {
  return (
    injectFault(context, ["outage"]) ?? // 503, with or without a key
    route(context) ?? // 404 405
    (context.merchantId === undefined ? undefined : injectFault(context, ["auth"])) ?? // 401
    serveMerchant(context, authenticate(context)) // 401 403, 429 when unauthenticated
  );
}

function serveMerchant(context: PipelineContext, merchant: Merchant): Result {
  const limited = injectFault(context, ["rate_limit"]); // 429
  if (limited) return limited;
  consumeQuota(context); // 429
  const operation = context.operation as Operation;
  const sent = readBody(context.request); // 415 400
  if (!operation.idempotent && "idempotency-key" in context.request.headers)
    context.headers["x-sandbox-ignored-headers"] = "Idempotency-Key";
  const key = operation.idempotent ? readKey(context.request) : undefined; // 400
  if (key === undefined) return execute(context, operation, merchant, sent);
  const busy = injectFault(context, ["idempotency"], () => merchant.idempotencyReplies.delete(key)); // 409
  if (busy) return busy;
  const request = JSON.stringify([
    context.request.method,
    context.path,
    [...context.search].map(String).sort(),
    sortedDeep(sent),
  ]);
  const known = merchant.idempotencyReplies.get(key);
  if (known && known.expires > context.world.now) return replay(context, known, request); // 422, or the stored reply
  const result = execute(context, operation, merchant, sent);
  if (result.isStored) {
    context.idempotencyReply = {
      request,
      text: undefined,
      expires: context.world.now + replayWindow(operation),
      ...result,
    };
    merchant.idempotencyReplies.set(key, context.idempotencyReply);
  }
  return result;
}

const replayWindow = ({ id }: Operation) => (id === "merchants.login" ? LOGIN_WINDOW : DAY);

function execute(
  context: PipelineContext,
  operation: Operation,
  merchant: Merchant,
  sent: Fields,
): Result & { isStored?: boolean } {
  const broken = injectFault(context, ["status", "connection"]); // any status, or none
  if (broken) return broken;
  const call = validate(context, operation, merchant, sent); // 400
  const result = run(operation, call); // 404 409, or the response
  return { ...result, isServed: result.code === undefined, isStored: true };
}

function route(context: PipelineContext): undefined {
  const given = context.path.split("/");
  const fits = ({ path }: Operation) => {
    const segments = `/v1${path}`.split("/");
    return (
      segments.length === given.length &&
      segments.every((step, place) => (step.startsWith("{") ? given[place] !== "" : step === given[place]))
    );
  };
  // A literal path wins over a path with parameters.
  const found = operations
    .filter(fits)
    .sort((one, other) => Number(one.path.includes("{")) - Number(other.path.includes("{")));
  if (found.length === 0) refuse("route_not_found");
  const allowed = found.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
  const named = found.find(({ method }) => method === context.request.method);
  const operation = named ?? refuse("method_not_allowed", { allow: allowed.join(", ") });
  const segments = `/v1${operation.path}`.split("/").entries();
  for (const [place, step] of segments)
    if (step.startsWith("{")) context.params[step.slice(1, -1)] = decodeURIComponent(given[place] ?? "");
  context.operation = operation;
}

/** Unauthenticated calls share one rate-limit window, so their headers reveal nothing about a merchant. */
function authenticate(context: PipelineContext): Merchant {
  try {
    return merchantOfCall(context);
  } catch (error) {
    context.window = windowOf(context.world, ANONYMOUS);
    consumeQuota(context);
    throw error;
  }
}

function merchantOfCall({ request, world, token }: PipelineContext): Merchant {
  if (Object.values({ ...request.headers, path: request.path }).some((text) => /sk_live_/i.test(text)))
    refuse("live_key_refused");
  if (request.headers.authorization === undefined) refuse("missing_api_key", { "www-authenticate": "Bearer" });
  if (token === undefined) refuse("malformed_authorization", { "www-authenticate": "Bearer" });
  const key = world.keys.get(token) ?? refuse("invalid_api_key", INVALID_TOKEN);
  if (key.expires !== undefined && key.expires <= world.now) refuse("token_expired", INVALID_TOKEN);
  const merchant = merchantOf(world, key.merchant);
  if (merchant.records.get("merchant")?.[0]?.status === "suspended") refuse("merchant_suspended");
  return merchant;
}

/** Counts the call against its window. A call rejected by the rate limit is not counted. */
function consumeQuota({ world, window }: PipelineContext): void {
  if (window.used >= window.limit) {
    const wait = Math.max(1, Math.ceil(window.end / 1_000) - secondsOf(world.now));
    refuse("rate_limit_exceeded", { "retry-after": String(wait), "cache-control": "no-store" });
  }
  window.used++;
}

function readBody({ method, headers, body }: Request): Fields {
  if (method === "GET" || body === undefined || body === "") return {};
  if ((headers["content-encoding"] ?? "identity") !== "identity") refuse("unsupported_content_encoding");
  if (!/^application\/json *(; *charset *= *"?utf-?8"? *)?$/i.test(headers["content-type"] ?? ""))
    refuse("unsupported_media_type");
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    refuse("invalid_json");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) refuse("body_not_object");
  return value as Fields;
}

function readKey({ headers }: Request): string | undefined {
  const key = headers["idempotency-key"];
  if (key === undefined) return undefined;
  if (key === "") refuse("idempotency_key_empty");
  if (key.length > 255) refuse("idempotency_key_too_long");
  return /^[!-~]+$/.test(key) ? key : refuse("idempotency_key_invalid");
}

/** Replays the stored reply. Only headers that describe this call are new. */
function replay(context: PipelineContext, known: IdempotencyReply, request: string): Result {
  if (known.request !== request) refuse("idempotency_key_reused");
  context.headers["idempotent-replayed"] = "true";
  if (context.operation?.id === "merchants.login") context.headers["cache-control"] = "no-store";
  context.idempotencyReply = known;
  return { ...known, isServed: known.code === undefined };
}

function validate(
  { world, observed, search, params, headers, violations }: PipelineContext,
  operation: Operation,
  merchant: Merchant,
  sent: Fields,
): Call {
  const isList = operation.method === "GET" && (operation.id.endsWith(".list") || operation.id === "deliveries.list");
  const filters = operation.id === "deliveries.list" ? ["eventId", "endpointId", "type", "status"] : [];
  const unknown = checkQuery(search, isList ? [...PAGE_NAMES, ...filters] : []);
  if (unknown.length > 0) headers["x-sandbox-unknown-params"] = unknown.join(", ");
  const isKnown = (name: string) => knownFields(operation).includes(name);
  const owned = ownFields(operation);
  const wrong = wrongFields(operation, sent);
  const isDocumented = ["webhooks.create", "events.test"].includes(operation.id);
  if (wrong.length > 0 && (world.rules.bodies === "checked" || isDocumented)) refuse("validation_failed");
  const rejected = Object.keys(sent).filter((name) => wrong.includes(name));
  const body = Object.fromEntries(Object.entries(sent).filter(([name]) => isKnown(name) && !wrong.includes(name)));
  const others = Object.entries(sent).filter(([name]) => !isKnown(name));
  const odd = [...others.map(([name]) => name), ...rejected];
  if (odd.length > 0) headers["x-sandbox-unknown-fields"] = odd.join(", ");
  const extra = Object.fromEntries(others.filter(([name]) => !owned.includes(name)));
  const asSent = Object.fromEntries(
    rejected.map((name) => [name, isSecret(name) && sent[name] !== null ? MASKED : sent[name]]),
  );
  const query = new Map(isList ? search : []);
  return {
    world,
    merchant,
    now: secondsOf(world.now),
    params,
    query,
    body,
    extra,
    asSent,
    observed,
    headers,
    violations,
  };
}

const MASKED = "…redacted…";
const isSecret = (name: string) => name === "accountNumber" || name === "password";

/** Runs the operation. Returns 404 and 409 errors, which are stored like a success. Throws other errors. */
function run(operation: Operation, call: Call): Result {
  try {
    return { status: factOf(operation.status), body: frozen(runs[operation.id]?.(call)) };
  } catch (error) {
    // A response to a rejected call has no warning.
    delete call.headers["x-sandbox-warning"];
    if (!(error instanceof ApiError) || ![404, 409].includes(statusOf(error.code))) throw error;
    return { status: statusOf(error.code), code: error.code };
  }
}

/** Copies the response body, so that later changes to its records do not alter the copy. */
function frozen(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(frozen);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, frozen(child)]));
}

/** Applies response faults (lost, delayed or corrupted) and adds the rate-limit headers. */
function finish(context: PipelineContext, result: Result): Expected {
  const { world, operation } = context;
  const call = { operation: operation?.id, merchant: context.merchantId, faults: context.faults };
  const isGood = result.isServed === true && Number(result.status) < 400;
  const lost = isGood ? injectFault(context, ["lost_response"]) : undefined;
  matchCallFault(world, ["latency"], call);
  const corruption = isGood && !lost ? matchCallFault(world, ["body"], call)?.as : undefined;
  const { window } = context;
  const predicted = [
    "retry-after",
    "idempotent-replayed",
    "allow",
    "www-authenticate",
    "cache-control",
    "x-sandbox-warning",
  ];
  const ignored = ["x-sandbox-unknown-fields", "x-sandbox-unknown-params", "x-sandbox-ignored-headers"];
  const headers = {
    ...Object.fromEntries([...predicted, ...ignored].map((name) => [name, undefined])),
    "x-sandbox-fault": context.faults.length > 0 ? context.faults.join(", ") : undefined,
    "ratelimit-limit": String(window.limit),
    "ratelimit-remaining": String(Math.max(0, window.limit - window.used)),
    "ratelimit-reset": String(Math.ceil(window.end / 1_000)),
    ...context.headers,
  };
  const { status, code, body, text } = lost ?? result;
  const expected = {
    operation: operation?.id,
    status,
    code,
    body,
    text,
    headers,
    corruption,
    violations: context.violations,
  };
  return context.idempotencyReply ? { ...expected, idempotencyReply: context.idempotencyReply } : expected;
}
