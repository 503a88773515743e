// Setting assumptions: for each id that can be set, a probe shows over a socket that the service changes. Other ids
// and invalid values are rejected.

import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { exampleCalls } from "../../scripts/docs/pages.ts";
import { catalogue } from "../../src/areas/index.ts";
import type { FactValue, ServiceFact } from "../../src/contracts/fact.ts";
import { otherAssumptions, settableFacts } from "../support/other-assumptions.ts";
import { type Answer, type Bench, type CallOptions, open, RULES } from "../support/sandbox.ts";
import { advance, deliver, openRegistered, receive, register, settle } from "../support/webhooks.ts";

const RULE = { name: "Weekend", adjustmentType: "fixed", adjustmentValue: 500 };
const LOGIN = { email: "ola@lodge.example", password: "lodge-password" };

const post =
  (path: string, body: unknown, options: CallOptions = {}) =>
  ({ call }: Bench) =>
    call("POST", path, { body, ...options });
const get =
  (path: string, options: CallOptions = {}) =>
  ({ call }: Bench) =>
    call("GET", path, options);
const keyed = (key: string, body: object = RULE) => post(RULES, body, { headers: { "idempotency-key": key } });
const twice =
  (first: (bench: Bench) => Promise<Answer>, second: (bench: Bench) => Promise<Answer>) => async (bench: Bench) => {
    await first(bench);
    return second(bench);
  };
const deep = (levels: number) => `{"a":${"[".repeat(levels)}${"]".repeat(levels)}}`;

/** For each error, a call that causes it. */
const causes: Record<string, (bench: Bench) => Promise<Answer>> = {
  invalid_json: post(RULES, "{"),
  body_not_object: post(RULES, "[]"),
  body_too_deep: post(RULES, deep(40)),
  validation_failed: post(RULES, {}),
  invalid_limit: get("/v1/payments?limit=0"),
  invalid_cursor: get("/v1/payments?starting_after=pay_nope"),
  invalid_webhook_url: post("/v1/webhooks", { url: "ftp://localhost/", events: ["*"] }),
  idempotency_key_empty: keyed(""),
  idempotency_key_too_long: keyed("k".repeat(256)),
  idempotency_key_invalid: keyed("a b"),
  missing_api_key: get("/v1/payments", { key: null }),
  malformed_authorization: get("/v1/payments", { key: null, headers: { authorization: "Basic abc" } }),
  invalid_api_key: get("/v1/payments", { key: "sk_test_nobody" }),
  async token_expired(bench) {
    const { body } = await post("/v1/merchants/login", LOGIN)(bench);
    await advance(bench, "2h");
    return bench.call("GET", "/v1/payments", { key: body.accessToken });
  },
  invalid_credentials: post("/v1/merchants/login", { ...LOGIN, password: "wrong" }),
  async merchant_suspended(bench) {
    await bench.control("PATCH", "/records/merchant/mer_lodge", { status: "suspended" });
    return bench.call("GET", "/v1/payments");
  },
  resource_not_found: get("/v1/customers/cus_nope"),
  route_not_found: get("/v1/nowhere"),
  method_not_allowed: ({ call }) => call("PATCH", "/v1/payments", { body: {} }),
  invalid_state: post("/v1/hospitality/bookings/bkg_confirmed/decline", {}),
  already_exists: post("/v1/merchants", { name: "Lodge", email: LOGIN.email }),
  async idempotency_key_in_use(bench) {
    await bench.control("POST", "/faults", { action: { type: "idempotency", as: "in_progress" } });
    return keyed("busy")(bench);
  },
  payload_too_large: post(RULES, { x: "x".repeat(1_048_576) }),
  uri_too_long: get(`/v1/payments?x=${"x".repeat(2_100)}`),
  unsupported_media_type: post(RULES, "{}", { contentType: "text/plain" }),
  unsupported_content_encoding: post(RULES, "{}", { headers: { "content-encoding": "gzip" } }),
  expectation_failed: get("/v1/payments", { headers: { expect: "a-miracle" } }),
  idempotency_key_reused: twice(keyed("one"), keyed("one", { ...RULE, name: "Other" })),
  async rate_limit_exceeded(bench) {
    await bench.control("POST", "/faults", { action: { type: "rate_limit", exhaust: true } });
    return bench.call("GET", "/v1/payments");
  },
};

const CLOCK = "2026-01-05T09:00:00Z";
const openWith = (assumptions: Record<string, FactValue>, options = {}) =>
  open({ clock: CLOCK, assumptions, ...options } as never);

type Probe = (id: string) => Promise<void>;

/** The signature of a test event under these assumptions, with the body and the secret. */
async function signatureUnder(assumptions: Record<string, FactValue>) {
  const { bench, receiver, secret } = await openRegistered({ clock: CLOCK, assumptions } as never);
  await deliver(bench);
  const [arrival] = await receiver.arrived(1);
  return { secret, body: arrival?.body ?? "", sent: arrival?.headers["x-webhook-signature"] };
}

/** For each id, a probe that sets the assumption and checks how the service behaves. */
const single: Record<string, Probe> = {
  async "http.body_bytes"(id) {
    const bench = await openWith({ [id]: 100 });
    expect((await post(RULES, { x: "x".repeat(200) })(bench)).status).toBe(413);
    expect((await post(RULES, RULE)(bench)).status).toBe(200);
  },
  async "rate_limit.limit"(id) {
    const bench = await openWith({ [id]: 2 });
    const statuses = [];
    for (let count = 0; count < 3; count++) statuses.push((await get("/v1/payments")(bench)).status);
    expect(statuses).toEqual([200, 200, 429]);
  },
  async "rate_limit.seconds"(id) {
    const { headers } = await get("/v1/payments")(await openWith({ [id]: 3_600 }));
    expect(Number(headers["ratelimit-reset"])).toBe(Date.parse("2026-01-05T10:00:00Z") / 1_000);
  },
  async "rate_limit.retry_after"(id) {
    const bench = await openWith({ [id]: 45, "rate_limit.limit": 1 });
    expect((await twice(get("/v1/payments"), get("/v1/payments"))(bench)).headers["retry-after"]).toBe("45");
  },
  async "idempotency.seconds"(id) {
    const bench = await openWith({ [id]: 60 });
    const first = await keyed("one")(bench);
    expect((await keyed("one")(bench)).body.id).toBe(first.body.id);
    await advance(bench, "61s");
    expect((await keyed("one")(bench)).body.id).not.toBe(first.body.id);
  },
  async "idempotency.key_length"(id) {
    const bench = await openWith({ [id]: 10 });
    expect((await keyed("k".repeat(11))(bench)).body.code).toBe("idempotency_key_too_long");
    expect((await keyed("k".repeat(10))(bench)).status).toBe(200);
  },
  async "webhook.timeout"(id) {
    const { bench, receiver } = await openRegistered({ clock: CLOCK, assumptions: { [id]: 0.2 } } as never);
    receiver.always("hang");
    await deliver(bench);
    const { body } = await bench.call("GET", "/v1/webhook-deliveries");
    expect(body.data[0]).toMatchObject({ status: "failed", errorCode: "timeout" });
  },
  async "retry.schedule"(id) {
    const { bench, receiver } = await openRegistered({
      clock: CLOCK,
      life: "off",
      assumptions: { [id]: [60, 300] },
    } as never);
    receiver.always(500);
    await deliver(bench);
    const counts = [receiver.arrivals.length];
    for (const by of ["59s", "1s", "299s", "1s", "24h"]) {
      await advance(bench, by);
      counts.push(receiver.arrivals.length);
    }
    expect(counts).toEqual([1, 1, 2, 2, 3, 3]);
  },
  async "webhooks.body_format"(id) {
    const { body } = await signatureUnder({ [id]: "compact" });
    expect(body.toString()).toBe(JSON.stringify(JSON.parse(body.toString())));
  },
  async "webhook.signature.key"(id) {
    const { secret, body, sent } = await signatureUnder({
      [id]: "base64 digest of the body, keyed with the whole secret",
    });
    expect(sent).toBe(createHmac("sha256", secret).update(body).digest("base64"));
  },
  async "webhook.signature.prefix"(id) {
    const { secret, body, sent } = await signatureUnder({ [id]: "sha256=" });
    expect(sent).toBe(`sha256=${createHmac("sha256", secret).update(body).digest("hex")}`);
  },
};

/** Sets the status of a success, and calls the operation with its example. */
const probeStatus: Probe = async (id) => {
  const bench = await openWith({ [id]: 202 });
  const own = id.slice(0, -".status".length);
  const replies: Record<string, unknown> = {};
  const { after } = exampleCalls().find((one) => one.id === own) as { after?: string };
  for (const name of after === undefined ? [own] : [after, own]) {
    const example = exampleCalls(replies).find((one) => one.id === name);
    if (!example) throw new Error(`no example of ${name}`);
    const answer = await bench.call(example.method, `/v1${example.path}`, { ...example, key: null, contentType: null });
    replies[name] = answer.body;
    if (name === own) expect([own, answer.status]).toEqual([own, 202]);
  }
};

/** Sets the default, minimum or maximum of a list's `limit`, and sends limits at and beyond this bound. */
const probeBound: Probe = async (id) => {
  const [, own = "", kind = ""] = /^(.*)\.query\.limit\.(\w+)$/.exec(id) ?? [];
  const path = `/v1${catalogue.find((operation) => operation.id === own)?.path}`;
  const values = { default: { [id]: 2 }, minimum: { [id]: 3 }, maximum: { [id]: 40 } }[kind] as Record<string, number>;
  const bench = await openWith(values);
  const receiver = await receive();
  for (const name of ["a", "b", "c"]) await register(bench, `${receiver.url}${name}`);
  await deliver(bench);
  const limited = async (limit: string) => (await bench.call("GET", path + limit)).status;
  if (kind === "default") {
    const { data } = (await bench.call("GET", `${path}?limit=100`)).body;
    expect((await bench.call("GET", path)).body.data).toHaveLength(Math.min(2, data.length));
  } else if (kind === "minimum") expect([await limited("?limit=2"), await limited("?limit=3")]).toEqual([400, 200]);
  else expect([await limited("?limit=41"), await limited("?limit=40")]).toEqual([400, 200]);
};

const probeError: Probe = async (id) => {
  const [, code = "", part = ""] = /^error\.(\w+)\.(\w+)$/.exec(id) ?? [];
  const value = part === "status" ? 418 : "another";
  // A sandbox mounted in an app never sees a request with Expect, so this sandbox gets its own port.
  const bench = await openWith({ [id]: value }, code === "expectation_failed" ? { port: 0 } : {});
  const answer = await (causes[code] ?? (() => Promise.reject(new Error(`no call causes ${code}`))))(bench);
  const seen = { status: answer.status, category: answer.body.error, code: answer.body.code }[part];
  expect([id, seen, part === "code" ? code : answer.body.code]).toEqual([id, value, code]);
};

const probeOf = (id: string, kind: string): Probe | undefined => {
  if (kind === "success_status") return probeStatus;
  if (/\.query\.limit\.\w+$/.test(id)) return probeBound;
  return kind.startsWith("error_") ? probeError : single[id];
};

const settable = settableFacts();

describe("an assumption that is set", () => {
  test.each(settable.map(({ id, kind }) => [id, kind] as const))("%s changes the service", async (id, kind) => {
    const probe = probeOf(id, kind);
    expect(probe, `${id} has no probe in this test`).toBeDefined();
    await probe?.(id);
  });

  test("is listed with its value and its default, for every id", async () => {
    const all = otherAssumptions();
    const bench = await openWith(all);
    const { facts } = await bench.control("GET", "/assumptions");
    const shown = new Map<string, ServiceFact>(facts.map((fact: ServiceFact) => [fact.id, fact]));
    for (const { id, value } of settable)
      expect([id, shown.get(id)]).toEqual([id, expect.objectContaining({ value: all[id], default: value })]);
    expect(facts.filter((fact: object) => "default" in fact)).toHaveLength(settable.length);
  });

  test("is shown by the list of facts, the overview and the OpenAPI document, with its default", async () => {
    const set = {
      "bookings.decline.status": 202,
      "error.validation_failed.status": 422,
      "payouts.list.query.limit.maximum": 50,
    };
    const bench = await openWith(set);
    const { facts } = await bench.control("GET", "/assumptions");
    expect(facts.filter((fact: object) => "default" in fact)).toMatchObject([
      { id: "payouts.list.query.limit.maximum", value: 50, default: 100 },
      { id: "bookings.decline.status", value: 202, default: 200 },
      { id: "error.validation_failed.status", value: 422, default: 400 },
    ]);
    expect((await bench.control("GET", "")).assumptions).toEqual(set);
    const { paths, info } = await bench.control("GET", "/openapi.json");
    expect(info["x-sandbox-assumptions"]).toEqual(set);
    const decline = paths["/hospitality/bookings/{id}/decline"].post.responses;
    expect(Object.keys(decline)).not.toContain("200");
    expect([decline[202].description, decline[400].description]).toEqual([
      "Accepted",
      expect.not.stringContaining("validation_failed"),
    ]);
    expect(decline[422].description).toContain("`validation_failed`");
    expect(paths["/payouts"].get.parameters[0].schema.maximum).toBe(50);
  });

  test("to a status without a body leaves the body out", async () => {
    const bench = await openWith({ "bookings.decline.status": 204 });
    const answer = await post("/v1/hospitality/bookings/bkg_pending/decline", {})(bench);
    expect([answer.status, answer.text]).toEqual([204, ""]);
    await settle(bench);
  });
});

describe("the OpenAPI document with an assumption set", () => {
  test.each(["3.1", "3.0"])("has no extensions in version %s if they are off", async (version) => {
    const bench = await openWith(otherAssumptions());
    const document = await bench.control("GET", `/openapi.json?version=${version}&extensions=off`);
    expect(JSON.stringify(document)).not.toContain("x-sandbox-");
    expect(document.paths["/hospitality/bookings/{id}/decline"].post.responses).toHaveProperty("202");
  });
});

describe("an assumption that cannot be set is refused with the reason:", () => {
  test.each([
    [
      { "bookings.declin.status": 202 },
      /no assumption bookings\.declin\.status\. Did you mean bookings\.decline\.status\?/,
    ],
    [{ "http.paths": "literal" }, /http\.paths cannot be set: it is a rule that the sandbox implements in code/],
    [{ "webhooks.success": 1 }, /webhooks\.success cannot be set: use --webhook-timeout/],
    [{ "payments.list.query.limit.maximum": 7 }, /cannot be set: the service's documentation states it/],
    [{ "error.host_not_allowed.status": 404 }, /cannot be set: the sandbox deliberately differs from every service/],
    [{ "error.outage.status": 500 }, /cannot be set: only fault rules, bugs of the sandbox/],
    [{ "payment.id.prefix": "pm_" }, /cannot be set: it is spread over several schemas/],
    [{ "rate_limit.limit": "many" }, /rate_limit\.limit must be an integer; received "many"\. Default: 6000/],
    [{ "bookings.decline.status": 404 }, /bookings\.decline\.status must be .*; received 404\. Default: 200/],
    [{ "payouts.list.query.limit.maximum": 7 }, /a default of 25 and a maximum of 7: set the others too/],
  ])("%j", async (assumptions, message) => {
    await expect(openWith(assumptions as never)).rejects.toThrow(message);
  });

  test("an unknown id and a wrong value, which TypeScript rejects too", async () => {
    // @ts-expect-error: there is no such id.
    await expect(open({ assumptions: { "bookings.declin.status": 202 } })).rejects.toThrow("no assumption");
    // @ts-expect-error: the value is a number.
    await expect(open({ assumptions: { "rate_limit.limit": "many" } })).rejects.toThrow("must be an integer");
  });

  test("an option that sets another value", async () => {
    const assumptions = { "rate_limit.limit": 7 };
    await expect(openWith(assumptions, { rateLimit: "10/10s" })).rejects.toThrow(
      "rate_limit.limit is set twice: to 7 by the assumptions, and to 10 by --rate-limit. Leave one out.",
    );
    const bench = await openWith(assumptions, { rateLimit: "7/60s" });
    expect((await get("/v1/payments")(bench)).headers["ratelimit-limit"]).toBe("7");
  });
});
