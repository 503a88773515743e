// A stand-in for the real service, written without any code of the sandbox. It has its own clock, so a test can let a
// day pass at once.

import { createHmac } from "node:crypto";
import { asTheSandbox, type Behaviour } from "./behaviour.ts";
import { bookings, customers, merchant, payments, payouts, START, type Stored } from "./records.ts";

export interface ServiceRequest {
  method: string;
  /** The path with the query. */
  path: string;
  headers: Readonly<Record<string, string>>;
  body?: unknown;
}

export interface ServiceResponse {
  status: number;
  headers: Record<string, string>;
  body: unknown;
}

/** A webhook as its receiver gets it. `at` is in Unix milliseconds. */
type Delivered = Record<"url" | "body", string> & { at: number; headers: Record<string, string> };

type Condition = keyof Behaviour["errors"];

interface Call {
  behaviour: Behaviour;
  query: URLSearchParams;
  body: Stored;
  id: string;
}

/** Thrown to refuse a request. */
class Refused extends Error {
  readonly condition: Condition;
  readonly details: Stored;

  constructor(condition: Condition, details: Stored = {}) {
    super(`Refused: ${condition}.`);
    this.condition = condition;
    this.details = details;
  }
}

interface Handler {
  operation: string;
  method: string;
  /** The first group matches the id, if the path contains an id. */
  path: RegExp;
  run(call: Call): Stored;
}

const KEY = "sk_live_51H8realRealRealReal";
export const PASSWORD = "correct horse";
/** The lifetime of a token, in seconds. */
const LIFETIME = 600;

export type RealService = ReturnType<typeof createRealService>;

/** `change` makes the service behave differently from the sandbox. */
export function createRealService(change: (behaviour: Behaviour) => void = () => {}) {
  const behaviour = asTheSandbox();
  change(behaviour);
  const store = {
    payments: payments(),
    payouts: payouts(),
    customers: customers(),
    bookings: bookings(),
    rules: [] as Stored[],
  };
  const endpoints: Stored[] = [];
  const tokens = new Map<string, number>();
  /** The time at which the call in flight ends, by Idempotency-Key. */
  const busyUntil = new Map<string, number>();
  const replies = new Map<string, { request: string; at: number; response: ServiceResponse }>();
  const delivered: Delivered[] = [];
  let now = START * 1_000;
  let made = 0;
  let remaining = behaviour.rate.limit;
  const seconds = () => Math.floor(now / 1_000);
  const newId = (prefix: string) => `${prefix}_R3al${String(++made).padStart(12, "0")}`;

  const emit = (type: string, data: Stored) => {
    const { events, deliveries } = behaviour;
    const id = newId("evt");
    const name = events.names[type] ?? type;
    const plain = { id, object: "event", type: name, created: seconds(), livemode: true, merchantId: "mer_real", data };
    const body = JSON.stringify(events.envelope(plain));
    for (const { url, secret, events: wanted } of endpoints) {
      if (!(wanted as string[]).includes(type)) continue;
      const headers = {
        "content-type": deliveries.contentType,
        [deliveries.headers.signature]: deliveries.sign(body, String(secret)),
        [deliveries.headers.id]: id,
        [deliveries.headers.event]: name,
      };
      let at = now + 200;
      // The receiver refuses every attempt, so that the recording shows the whole schedule.
      for (const gap of [0, ...deliveries.schedule]) {
        at += gap * 1_000;
        delivered.push({ at, url: String(url), headers, body });
      }
    }
  };

  const listOf = (kind: "payments" | "payouts", { query }: Call): Stored => {
    const { lists } = behaviour;
    const bounds = lists[kind];
    const given = query.get("limit");
    const asked = given === null ? bounds.default : Number(given);
    if (given !== null && !bounds.clamps && (asked < bounds.minimum || asked > bounds.maximum))
      throw new Refused("invalid_limit", { field: "limit" });
    const limit = given === null ? asked : Math.max(bounds.minimum, Math.min(bounds.maximum, asked));
    const ordered = lists.newestFirst ? store[kind] : store[kind].toReversed();
    const after = query.get(lists.cursor);
    const all = ordered.map((one) => behaviour.record({ ...one }, kind));
    const start = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1;
    return {
      object: lists.object,
      [lists.data]: all.slice(start, start + limit),
      [lists.more]: start + limit < all.length,
    };
  };

  const found = (kind: "customers" | "bookings", id: string): Stored =>
    store[kind].find((one) => one.id === id) ?? refuse("resource_not_found", { resource: kind.slice(0, -1), id });
  const refuse = (condition: Condition, details: Stored): never => {
    throw new Refused(condition, details);
  };

  const handlers: Handler[] = [
    {
      operation: "customers.get",
      method: "GET",
      path: /^\/customers\/([^/]+)$/,
      run: ({ id }) => behaviour.record({ ...found("customers", id) }, "customers"),
    },
    { operation: "payments.list", method: "GET", path: /^\/payments$/, run: (call) => listOf("payments", call) },
    { operation: "payouts.list", method: "GET", path: /^\/payouts$/, run: (call) => listOf("payouts", call) },
    {
      operation: "pricing_rules.create",
      method: "POST",
      path: /^\/hospitality\/pricing-rules$/,
      run({ body }) {
        const { required, takesUnknownFields, known } = behaviour.pricingRule;
        const errors = [
          ...required.filter((field) => body[field] === undefined).map((field) => fieldError(field, "required")),
          ...Object.keys(body)
            .filter((field) => !takesUnknownFields && !known.includes(field))
            .map((field) => fieldError(field, "unknown")),
          ...(body.adjustmentType !== undefined && !["percentage", "fixed"].includes(String(body.adjustmentType))
            ? [fieldError("adjustmentType", "not_allowed")]
            : []),
        ];
        if (errors.length > 0) refuse("validation_failed", { errors });
        const rule: Stored = {
          id: newId("prl"),
          object: "pricing_rule",
          merchantId: "mer_real",
          status: "active",
          name: body.name ?? "",
          adjustmentType: body.adjustmentType ?? "fixed",
          adjustmentValue: body.adjustmentValue ?? 0,
          ...{ roomTypeId: null, startDate: null, endDate: null, daysOfWeek: null, minNights: null, maxNights: null },
          ...{ priority: body.priority ?? 0, deactivatedAt: null, metadata: {}, created: seconds(), livemode: true },
        };
        store.rules.push(rule);
        const shown = behaviour.record({ ...rule }, "rules");
        emit("pricing_rule.created", shown);
        return shown;
      },
    },
    {
      operation: "bookings.decline",
      method: "POST",
      path: /^\/hospitality\/bookings\/([^/]+)\/decline$/,
      run({ id }) {
        const booking = found("bookings", id);
        if (booking.status !== "pending")
          refuse("invalid_state", { currentStatus: booking.status, allowedFrom: ["pending"] });
        Object.assign(booking, { status: "declined", declinedAt: seconds() });
        const shown = behaviour.record({ ...booking }, "bookings");
        emit("booking.declined", shown);
        return shown;
      },
    },
    {
      operation: "merchants.login",
      method: "POST",
      path: /^\/merchants\/login$/,
      run({ body }) {
        if (body.password !== PASSWORD) refuse("invalid_credentials", {});
        const accessToken = `tok_R3al${++made}`;
        tokens.set(accessToken, now + LIFETIME * 1_000);
        return { object: "session", accessToken, tokenType: "Bearer", expiresIn: LIFETIME, merchant: merchant() };
      },
    },
    {
      operation: "webhooks.create",
      method: "POST",
      path: /^\/webhooks$/,
      run({ body }) {
        if (!/^https?:/.test(String(body.url))) refuse("invalid_webhook_url", { url: body.url });
        const endpoint = {
          id: newId("we"),
          ...{
            object: "webhook_endpoint",
            merchantId: "mer_real",
            status: "enabled",
            url: body.url,
            events: body.events,
          },
          ...{ metadata: {}, created: seconds(), livemode: true, health: behaviour.endpointHealth },
        };
        const secret = `${behaviour.secretPrefix}_${createHmac("sha256", "seed").update(endpoint.id).digest("hex")}`;
        endpoints.push({ ...endpoint, secret });
        return behaviour.record({ ...endpoint, secret }, "endpoints");
      },
    },
  ];
  const fieldError = (field: string, code: string) => ({
    pointer: `/${field}`,
    field,
    code,
    message: `${field}: ${code}.`,
  });

  const checkKey = (authorization: string) => {
    const expires = tokens.get(authorization.replace("Bearer ", ""));
    if (expires !== undefined && expires <= now) throw new Refused("token_expired");
    if (expires === undefined && authorization !== `Bearer ${KEY}`) throw new Refused("invalid_api_key");
  };

  const respond = (request: ServiceRequest): ServiceResponse => {
    const url = new URL(request.path, "http://service");
    const handler = handlers.find(({ method, path }) => method === request.method && path.test(url.pathname));
    const id = handler?.path.exec(url.pathname)?.[1] ?? "";
    try {
      if (request.headers.authorization === undefined) throw new Refused("missing_api_key");
      checkKey(request.headers.authorization);
      if (!handler)
        throw new Refused(
          handlers.some(({ path }) => path.test(url.pathname)) ? "method_not_allowed" : "route_not_found",
        );
      if (remaining <= 0) throw new Refused("rate_limit_exceeded");
      remaining--;
      return replayed(request, handler, () => {
        const call = { behaviour, query: url.searchParams, body: (request.body ?? {}) as Stored, id };
        const body = behaviour.reply(handler.run(call), handler.operation);
        return { status: behaviour.success[handler.operation] ?? 200, headers: {}, body };
      });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return refusal(error);
    }
  };

  /** Within the window, a request with a key gets the response to the first request with that key. */
  const replayed = (request: ServiceRequest, { operation }: Handler, run: () => ServiceResponse): ServiceResponse => {
    const { header, window, replays } = behaviour.idempotency;
    const key = request.headers[header.toLowerCase()];
    if (key === undefined || request.method === "GET") return run();
    const text = JSON.stringify([operation, request.path, request.body]);
    if ((busyUntil.get(key) ?? 0) > now) throw new Refused("idempotency_key_in_use");
    const first = replies.get(key);
    if (first && now - first.at < window * 1_000) {
      if (first.request !== text) throw new Refused("idempotency_key_reused");
      if (replays === "first response")
        return { ...first.response, headers: { ...first.response.headers, ...behaviour.replayed } };
      if (replays === "refused") throw new Refused("already_exists");
    }
    const response = attempt(run);
    if (response.status < 500) replies.set(key, { request: text, at: now, response });
    return response;
  };
  const attempt = (run: () => ServiceResponse): ServiceResponse => {
    try {
      return run();
    } catch (error) {
      // Invalid requests are not stored, because a corrected request may have the same key.
      if (error instanceof Refused && error.condition !== "validation_failed") return refusal(error);
      throw error;
    }
  };

  const refusal = ({ condition, details }: Refused): ServiceResponse => {
    const { status, error, code } = behaviour.errors[condition];
    const wait = behaviour.rate.seconds - (seconds() % behaviour.rate.seconds);
    const retryAfter = condition === "rate_limit_exceeded" ? behaviour.rate.retryAfter(wait, now) : undefined;
    const headers: Record<string, string> = {
      ...(retryAfter === undefined ? {} : { [behaviour.rate.names.retryAfter]: retryAfter }),
      ...(status === 401 ? { "www-authenticate": "Bearer" } : {}),
      ...(status === 429 ? { "cache-control": "no-store" } : {}),
    };
    const body = { error, message: `It says ${condition}.`, code, details: { ...details, requestId: newId("req") } };
    return { status, headers, body: behaviour.error(body) };
  };

  const rateHeaders = (): Record<string, string> => {
    const { names, limit, seconds: length, reset } = behaviour.rate;
    const end = (Math.floor(seconds() / length) + 1) * length;
    return { [names.limit]: String(limit), [names.remaining]: String(remaining), [names.reset]: reset(end, seconds()) };
  };

  return {
    key: KEY,
    behaviour,
    delivered: delivered as readonly Delivered[],
    now: () => now,
    pass(duration: number) {
      const { limit, seconds: length } = behaviour.rate;
      const before = Math.floor(seconds() / length);
      now += duration * 1_000;
      if (Math.floor(seconds() / length) !== before) remaining = limit;
    },
    /** Uses up the window, as other clients of the merchant would. */
    exhaustLimit() {
      remaining = 0;
    },
    /** `duration` is the number of milliseconds that the service takes to respond. */
    exchange(request: ServiceRequest, duration = 0): ServiceResponse {
      const { status, headers, body } = respond(request);
      const key = request.headers[behaviour.idempotency.header.toLowerCase()];
      if (key !== undefined && duration > 0) busyUntil.set(key, now + duration);
      return { status, headers: { "content-type": "application/json", ...rateHeaders(), ...headers }, body };
    },
  };
}
