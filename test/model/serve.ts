// The way of a call: from its first byte to its answer, the first that fails wins.

import { bodies, knownFields, wrongFields } from "./bodies.ts";
import { type Call, Refused, type Request, refuse, statusOf } from "./call.ts";
import { ofCall } from "./faults.ts";
import type { Fields } from "./kinds.ts";
import { checkQuery, PAGE_NAMES } from "./lists.ts";
import { type Operation, operations, ownFields, sortedDeep } from "./operations.ts";
import { type Expected, INVALID_TOKEN, type Result, strike, type Way } from "./way.ts";
import { type Merchant, merchantOf, type Remembered, secondsOf, type World, windowOf } from "./world.ts";

const DAY = 24 * 3_600_000;
const STRANGERS = "strangers";

/** Answers a call, and does what it asks for. `told` is what the service answered: new ids and secrets are taken from there. */
export function serve(world: World, request: Request, told: unknown): Expected {
  const [path = "", search = ""] = request.path.split(/\?(.*)/s);
  const token = /^bearer +([A-Za-z0-9._~+/=-]+) *$/i.exec(request.headers.authorization ?? "")?.[1];
  const whose = token === undefined ? undefined : world.keys.get(token)?.merchant;
  const sent = { request, path, search: new URLSearchParams(search), token, whose };
  const nothing = { operation: undefined, params: {}, faults: [], headers: {}, surprises: [], remember: undefined };
  const way: Way = { world, told, ...sent, ...nothing, window: windowOf(world, whose ?? STRANGERS) };
  return finish(way, answer(way));
}

function answer(way: Way): Result {
  try {
    return pass(way);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    Object.assign(way.headers, error.headers);
    return { status: statusOf(error.code), code: error.code };
  }
}

/** The stages, in their order; beside each what it may answer. Where a fault strikes, its answer is the last word. */
function pass(way: Way): Result {
  return (
    strike(way, ["outage"]) ?? // 503, for everybody
    route(way) ?? // 404 405
    (way.whose === undefined ? undefined : strike(way, ["auth"])) ?? // 401
    serveMerchant(way, authenticate(way)) // 401 403, 429 for strangers
  );
}

function serveMerchant(way: Way, merchant: Merchant): Result {
  const limited = strike(way, ["rate_limit"]); // 429
  if (limited) return limited;
  take(way); // 429
  const operation = way.operation as Operation;
  const sent = readBody(way.request); // 415 400
  const key = operation.keyed ? readKey(way.request) : undefined; // 400
  if (key === undefined) return execute(way, operation, merchant, sent);
  const busy = strike(way, ["idempotency"], () => merchant.remembered.delete(key)); // 409
  if (busy) return busy;
  const request = JSON.stringify([way.request.method, way.path, [...way.search].map(String).sort(), sortedDeep(sent)]);
  const known = merchant.remembered.get(key);
  if (known && known.expires > way.world.now) return replay(way, known, request); // 422, or the remembered answer
  const result = execute(way, operation, merchant, sent);
  if (result.isRemembered) {
    way.remember = { request, text: undefined, expires: way.world.now + DAY, ...result };
    merchant.remembered.set(key, way.remember);
  }
  return result;
}

function execute(way: Way, operation: Operation, merchant: Merchant, sent: Fields): Result & { isRemembered?: boolean } {
  const broken = strike(way, ["status", "connection"]); // any status, or none
  if (broken) return broken;
  const call = validate(way, operation, merchant, sent); // 400
  strike(way, ["clock_skew"], (by) => skew(way, call, by));
  const result = run(operation, call); // 404 409, or the answer
  return { ...result, isServed: result.code === undefined, isRemembered: true };
}

function route(way: Way): undefined {
  const given = way.path.split("/");
  const fits = ({ path }: Operation) => {
    const steps = `/v1${path}`.split("/");
    return (
      steps.length === given.length && steps.every((step, place) => (step.startsWith("{") ? given[place] !== "" : step === given[place]))
    );
  };
  // A path without parameters goes before one that has some.
  const found = operations.filter(fits).sort((one, other) => Number(one.path.includes("{")) - Number(other.path.includes("{")));
  if (found.length === 0) refuse("route_not_found");
  const allowed = found.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
  const named = found.find(({ method }) => method === way.request.method);
  const operation = named ?? refuse("method_not_allowed", { allow: allowed.join(", ") });
  const steps = `/v1${operation.path}`.split("/").entries();
  for (const [place, step] of steps) if (step.startsWith("{")) way.params[step.slice(1, -1)] = decodeURIComponent(given[place] ?? "");
  way.operation = operation;
}

/** Strangers share a window, so that a merchant's own tells them nothing. */
function authenticate(way: Way): Merchant {
  try {
    return merchantOfCall(way);
  } catch (error) {
    way.window = windowOf(way.world, STRANGERS);
    take(way);
    throw error;
  }
}

function merchantOfCall({ request, world, token }: Way): Merchant {
  if (Object.values({ ...request.headers, path: request.path }).some((text) => /sk_live_/i.test(text))) refuse("live_key_refused");
  if (request.headers.authorization === undefined) refuse("missing_api_key", { "www-authenticate": "Bearer" });
  if (token === undefined) refuse("malformed_authorization", { "www-authenticate": "Bearer" });
  const key = world.keys.get(token) ?? refuse("invalid_api_key", INVALID_TOKEN);
  if (key.expires !== undefined && key.expires <= world.now) refuse("token_expired", INVALID_TOKEN);
  const merchant = merchantOf(world, key.merchant);
  if (merchant.records.get("merchant")?.[0]?.status === "suspended") refuse("merchant_suspended");
  return merchant;
}

/** Counts the call; one that is refused for lack of room counts nothing. */
function take({ world, window }: Way): void {
  if (window.used >= window.limit) {
    const wait = Math.max(1, Math.ceil(window.end / 1_000) - secondsOf(world.now));
    refuse("rate_limit_exceeded", { "retry-after": String(wait), "cache-control": "no-store" });
  }
  window.used++;
}

function readBody({ method, headers, body }: Request): Fields {
  if (method === "GET" || body === undefined || body === "") return {};
  if ((headers["content-encoding"] ?? "identity") !== "identity") refuse("unsupported_content_encoding");
  if (!/^application\/json *(; *charset *= *"?utf-?8"? *)?$/i.test(headers["content-type"] ?? "")) refuse("unsupported_media_type");
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

/** The first answer once more; only what tells of this call itself is new. */
function replay(way: Way, known: Remembered, request: string): Result {
  if (known.request !== request) refuse("idempotency_key_reused");
  way.headers["idempotent-replayed"] = "true";
  if (way.operation?.id === "merchants.login") way.headers["cache-control"] = "no-store";
  way.remember = known;
  return { ...known, isServed: known.code === undefined };
}

function validate({ world, told, search, params, headers, surprises }: Way, operation: Operation, merchant: Merchant, sent: Fields): Call {
  const isList = operation.method === "GET" && (operation.id.endsWith(".list") || operation.id === "deliveries.list");
  const filters = operation.id === "deliveries.list" ? ["eventId", "endpointId", "type", "status"] : [];
  const unknown = checkQuery(search, isList ? [...PAGE_NAMES, ...filters] : []);
  if (unknown.length > 0) headers["x-sandbox-unknown-params"] = unknown.join(", ");
  const shape = bodies[operation.id] ?? { required: {}, optional: {} };
  const isKnown = (name: string) => knownFields(shape).includes(name);
  const owned = ownFields(operation);
  const wrong = wrongFields(shape, sent);
  if (wrong.length > 0 && world.rules.bodies === "checked") refuse("validation_failed");
  const misfits = Object.keys(sent).filter((name) => wrong.includes(name));
  const body = Object.fromEntries(Object.entries(sent).filter(([name]) => isKnown(name) && !wrong.includes(name)));
  const others = Object.entries(sent).filter(([name]) => !isKnown(name));
  const odd = [...others.map(([name]) => name), ...misfits];
  if (odd.length > 0) headers["x-sandbox-unknown-fields"] = odd.join(", ");
  const extra = Object.fromEntries(others.filter(([name]) => !owned.includes(name)));
  const query = new Map(isList ? search : []);
  return { world, merchant, now: secondsOf(world.now), params, query, body, extra, told, headers, surprises };
}

/** For one call the clock is wrong: in what it makes, and in what its headers say. */
function skew({ world, window, headers }: Way, call: Call, by: number): void {
  const wrong = Math.max(0, world.now + by);
  call.now = secondsOf(wrong);
  headers["ratelimit-reset"] = String(Math.ceil((window.end + wrong - world.now) / 1_000));
}

/** A 404 and a 409 are answers like any other: they are remembered too. */
function run(operation: Operation, call: Call): Result {
  try {
    return { status: operation.status, body: frozen(operation.run(call)) };
  } catch (error) {
    if (!(error instanceof Refused) || ![404, 409].includes(statusOf(error.code))) throw error;
    return { status: statusOf(error.code), code: error.code };
  }
}

/** The answer as it is now, whatever becomes of the records that it shows. */
function frozen(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(frozen);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, frozen(child)]));
}

/** The way back: an answer that is good may be lost or spoilt, any may come late, and all tell of the window. */
function finish(way: Way, result: Result): Expected {
  const { world, operation } = way;
  const call = { operation: operation?.id, merchant: way.whose, faults: way.faults };
  const isGood = result.isServed === true && Number(result.status) < 400;
  const lost = isGood ? strike(way, ["lost_response"]) : undefined;
  ofCall(world, ["latency"], call);
  const spoilt = isGood && !lost ? ofCall(world, ["body"], call)?.as : undefined;
  const { window } = way;
  const opinions = ["retry-after", "idempotent-replayed", "allow", "www-authenticate", "cache-control", "x-sandbox-warning"];
  const unknowns = ["x-sandbox-unknown-fields", "x-sandbox-unknown-params"];
  const headers = {
    ...Object.fromEntries([...opinions, ...unknowns].map((name) => [name, undefined])),
    "x-sandbox-fault": way.faults.length > 0 ? way.faults.join(", ") : undefined,
    "ratelimit-limit": String(window.limit),
    "ratelimit-remaining": String(Math.max(0, window.limit - window.used)),
    "ratelimit-reset": String(Math.ceil(window.end / 1_000)),
    ...way.headers,
  };
  const { status, code, body, text } = lost ?? result;
  const told = { operation: operation?.id, status, code, body, text, headers, spoilt, surprises: way.surprises };
  return way.remember ? { ...told, remember: way.remember } : told;
}
