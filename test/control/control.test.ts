// The control API: the responses, errors and effects of every route, through a real socket.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { controlCatalogue } from "../../src/control/index.ts";
import { folder } from "../support/program.ts";
import { type Answer, attempted, type Bench, NOON, NOON_SECONDS, open, shareForBlock } from "../support/sandbox.ts";
import { advance, deliver, log, openRegistered, receive, register, settle, trigger } from "../support/webhooks.ts";

const plain = { key: null };

/** Calls the control API, and accepts a response with any status. */
const ask = (bench: Bench, method: string, path: string, body?: unknown) =>
  bench.call(method, `/_sandbox${path}`, { ...plain, ...(body === undefined ? {} : { body }) });

const refused = (answer: Answer) => [answer.status, answer.body.code];

/** The path of a route, with `x` in place of each parameter. */
const filled = (path: string) => `/_sandbox${path.replaceAll(/\{\w+\}/g, "x")}`;

const operations = controlCatalogue.map((operation) => ({ ...operation, path: filled(operation.path) }));
const writing = operations.filter(({ method }) => method !== "GET");

describe("every operation", () => {
  // Tests of rejections share one sandbox, because a rejected request changes nothing.
  const shared = shareForBlock({});

  test.each(operations)(
    "$id rejects an unknown parameter or field, and suggests the closest name",
    async ({ method, path, query, body }) => {
      /** Whether unknown fields are rejected. Operations on records also accept the fields of the record's kind. */
      const isClosed =
        method !== "GET" && (body as { additionalProperties?: boolean } | undefined)?.additionalProperties !== true;
      for (const { properties, inBody } of [
        { ...query, inBody: false },
        ...(isClosed ? [{ properties: body?.properties ?? {}, inBody: true }] : []),
      ]) {
        const names = Object.keys(properties);
        const [known = "unheard"] = names;
        const wrong = `${known}~`;
        const target = inBody ? path : `${path}?${encodeURIComponent(wrong)}=1`;
        const answer = await shared().call(method, target, { ...plain, ...(inBody && { body: { [wrong]: 1 } }) });
        expect(refused(answer), answer.text).toEqual([400, "validation_failed"]);
        expect(answer.body.message).toContain(wrong);
        expect(answer.body.message).toContain(names.length > 0 ? `Did you mean ${known}?` : "This call takes no ");
      }
    },
  );

  test.each(writing)("$id accepts only a JSON object as its body", async ({ method, path: filledPath }) => {
    const path = filledPath;
    for (const contentType of [null, "text/plain", "application/x-www-form-urlencoded"])
      expect(refused(await shared().call(method, path, { ...plain, contentType, body: "{}" }))).toEqual([
        415,
        "unsupported_media_type",
      ]);
    expect(refused(await shared().call(method, path, { ...plain, body: "[]" }))).toEqual([400, "body_not_object"]);
    expect(refused(await shared().call(method, path, { ...plain, body: "{" }))).toEqual([400, "invalid_json"]);
  });

  test.each([...new Set(operations.map(({ path }) => path))])(
    "%s rejects methods that it does not support, and names the supported methods",
    async (path) => {
      const here: string[] = operations.filter((one) => one.path === path).map(({ method }) => method);
      if (here.includes("GET")) here.push("HEAD");
      for (const wrong of ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].filter(
        (method) => !here.includes(method),
      )) {
        const answer = await shared().call(wrong, path, plain);
        expect(refused(answer), answer.text).toEqual([405, "method_not_allowed"]);
        expect(answer.headers.allow?.split(", ").sort()).toEqual(here.sort());
        expect(answer.body.message).toContain(wrong);
      }
    },
  );

  test("changes neither rate limits nor the request log, and sends headers that protect a browser", async () => {
    const bench = await open();
    for (const { id, method, path, documents } of operations) {
      const { headers } = await bench.call(method, path, plain);
      expect([id, ...Object.keys(headers).filter((name) => /ratelimit|request-id|access-control/.test(name))]).toEqual([
        id,
      ]);
      const type = headers["content-type"]?.replace(/;.*/, "");
      expect([id, headers["x-content-type-options"], ["application/json", ...Object.values(documents)]]).toEqual([
        id,
        "nosniff",
        expect.arrayContaining([type]),
      ]);
      if (type !== "application/json")
        expect([id, headers["content-security-policy"]]).toEqual([id, expect.stringMatching(/default-src 'none'/)]);
    }
    expect((await bench.control("GET", "/requests")).data).toEqual([]);
    const first = await bench.call("GET", "/v1/payments");
    expect(first.headers).toMatchObject({ "x-sandbox-request-id": "req_lodge_1", "ratelimit-remaining": "5999" });
  });
});

describe("unknown paths", () => {
  const shared = shareForBlock();

  test.each([
    ["/_sandbox/requets", "Did you mean /_sandbox/requests?"],
    ["/_sandbox/clock/", "Did you mean /_sandbox/clock?"],
    ["/_sandbox/Clock", "Did you mean /_sandbox/clock?"],
    ["/_sandbox/nothing/of/this/kind/at/all", "GET /_sandbox lists what there is."],
    ["/favicon.ico", "the control API is under /_sandbox"],
    ["/_sandbox/requests/%E0%A4%A", "Nothing is at"],
  ])("%s is a 404 with a hint", async (path, hint) => {
    const answer = await shared().call("GET", path, plain);
    expect(refused(answer)).toEqual([404, "route_not_found"]);
    expect(answer.body.message).toContain(hint);
  });
});

describe("overview", () => {
  test("the index links to every resource, and its links work", async () => {
    const bench = await open();
    const index = await bench.control("GET", "");
    expect(index).toMatchObject({
      name: "merchant-sandbox",
      baseUrl: bench.baseUrl,
      database: null,
      signature: "hex digest of the body, keyed with the whole secret",
      clock: { mode: "frozen", now: "2026-01-05T12:00:00.000Z", unix: NOON_SECONDS },
    });
    expect(index.merchants.map(({ id, apiKeys }: { id: string; apiKeys: string[] }) => [id, ...apiKeys])).toEqual([
      ["mer_lodge", "sk_test_lodge"],
      ["mer_market", "sk_test_market"],
      ["mer_stage", "sk_test_stage"],
      ["mer_blank", "sk_test_blank"],
    ]);
    for (const link of Object.values(index.links as Record<string, string>)) {
      const answer = await bench.call("GET", link.slice(bench.url.length), plain);
      expect([link, answer.status]).toEqual([link, 200]);
    }
    expect(await bench.control("GET", "/health")).toEqual({ status: "ready", version: expect.any(String) });
    const head = await bench.call("HEAD", "/_sandbox/health", plain);
    expect([head.status, head.text]).toEqual([200, ""]);
  });
});

describe("the clock", () => {
  const clock = (bench: Bench, method: string, body?: object, path = "/clock") => ask(bench, method, path, body);

  test("can be frozen, moved, run from another time, and set back to real time", async () => {
    const bench = await open();
    expect((await clock(bench, "GET")).body).toEqual({
      mode: "frozen",
      now: "2026-01-05T12:00:00.000Z",
      unix: NOON_SECONDS,
    });
    const moved = await clock(bench, "PUT", { mode: "frozen", now: "2026-02-01T00:00:00+01:00" });
    expect(moved.body).toEqual({ mode: "frozen", now: "2026-01-31T23:00:00.000Z", unix: 1_769_900_400 });
    expect((await clock(bench, "PUT", { mode: "frozen" })).body).toEqual(moved.body);
    expect((await bench.control("POST", "/records/payment", { merchant: "mer_lodge" })).created).toBe(1_769_900_400);

    const offset = (await clock(bench, "PUT", { mode: "offset", now: "2030-01-01T00:00:00Z" })).body;
    expect([offset.mode, offset.now.slice(0, 16)]).toEqual(["offset", "2030-01-01T00:00"]);
    const real = (await clock(bench, "PUT", { mode: "real" })).body;
    expect([real.mode, Math.abs(real.unix - Date.now() / 1000) < 60]).toEqual(["real", true]);
    const advanced = (await clock(bench, "POST", { by: "7d" }, "/clock/advance")).body;
    expect([advanced.mode, Math.abs(advanced.unix - real.unix - 7 * 86_400) < 60]).toEqual(["offset", true]);
  });

  test.each([
    ["PUT", "/clock", { mode: "frosen" }, '"frosen"'],
    ["PUT", "/clock", { mode: "frozen", now: "noon" }, '"noon"'],
    ["PUT", "/clock", { mode: "frozen", now: "2026-13-01T00:00:00Z" }, "such as 2026-01-05T09:00:00Z"],
    ["PUT", "/clock", { mode: "real", now: NOON }, "use mode offset"],
    ["POST", "/clock/advance", { by: "soon" }, '"soon"'],
    ["POST", "/clock/advance", { by: "-1h" }, '"-1h"'],
    ["POST", "/clock/advance", { by: "40000d" }, "40000d"],
  ])("%s %s rejects %j", async (method, path, body, words) => {
    const bench = await open();
    const answer = await ask(bench, method, path, body);
    expect(refused(answer)).toEqual([400, "validation_failed"]);
    expect(answer.body.message).toContain(words);
    expect((await bench.control("GET", "/clock")).unix).toBe(NOON_SECONDS);
  });

  test("cannot be advanced beyond the end of the year 9999", async () => {
    const bench = await open();
    await clock(bench, "PUT", { mode: "frozen", now: "9999-12-31T23:59:00Z" });
    const answer = await clock(bench, "POST", { by: "2m" }, "/clock/advance");
    expect(refused(answer)).toEqual([400, "validation_failed"]);
    expect(answer.body.message).toContain("9999-12-31T23:59:59.999Z");
    expect((await clock(bench, "POST", { by: "1s" }, "/clock/advance")).status).toBe(200);
  });

  test("makes attempts in order when it is advanced, and returns everything that became due", async () => {
    const bench = await open({ rateLimit: "4/1m" });
    const receiver = await receive();
    const [failing, good] = [
      await register(bench, `${receiver.url}/a`, ["a.b"]),
      await register(bench, `${receiver.url}/b`, ["a.b"]),
    ];
    receiver.always((arrival, outgoing) => outgoing.writeHead(arrival.url.endsWith("/a") ? 500 : 200).end());
    const rule = { name: "once", adjustmentType: "fixed", adjustmentValue: 5 };
    const once = () =>
      bench.call("POST", "/v1/hospitality/pricing-rules", { body: rule, headers: { "idempotency-key": "once" } });
    const first = await once();
    const event = await trigger(bench, "a.b");
    expect(refused(await bench.call("GET", "/v1/payments"))).toEqual([429, "rate_limit_exceeded"]);

    const played = await advance(bench, "6s");
    expect(played).toMatchObject({
      mode: "frozen",
      now: "2026-01-05T12:00:06.000Z",
      unix: NOON_SECONDS + 6,
      expired: 0,
    });
    const seen = played.attempts.map(({ at, endpointId, attempt, status, nextAttemptAt }: Record<string, unknown>) =>
      [
        at,
        endpointId === failing.id ? "failing" : endpointId === good.id && "good",
        attempt,
        status,
        nextAttemptAt,
      ].join(" "),
    );
    // The first attempts may have ended before the clock was moved, and in any order.
    const atOnce = [
      `2026-01-05T12:00:00.000Z failing 1 failed ${NOON_SECONDS + 1}`,
      "2026-01-05T12:00:00.000Z good 1 succeeded ",
    ];
    expect(seen.filter((line: string) => !atOnce.includes(line))).toEqual([
      `2026-01-05T12:00:01.000Z failing 2 failed ${NOON_SECONDS + 6}`,
      `2026-01-05T12:00:06.000Z failing 3 failed ${NOON_SECONDS + 21}`,
    ]);
    expect(played.attempts[0]).toMatchObject({ merchant: "mer_lodge", eventId: event, eventType: "a.b" });
    expect(receiver.arrivals).toHaveLength(4);

    expect((await advance(bench, "24h")).expired).toBe(1);
    const anew = await once();
    expect([anew.status, anew.headers["idempotent-replayed"], anew.body.id === first.body.id]).toEqual([
      200,
      undefined,
      false,
    ]);
    expect(anew.headers["ratelimit-remaining"]).toBe("3");
    expect(await advance(bench, "0s")).toMatchObject({ attempts: [], expired: 0 });
  });
});

describe("merchants", () => {
  test("an unknown fixture is rejected with a suggestion, and uses up no id", async () => {
    const bench = await open();
    const answer = await ask(bench, "POST", "/merchants", { fixture: "lodgs" });
    expect(refused(answer)).toEqual([400, "validation_failed"]);
    expect(answer.body.message).toContain("Did you mean lodge?");
    const other = await open();
    const { id: merchant, apiKey } = await other.control("POST", "/merchants", { fixture: "lodge" });
    expect(await bench.control("POST", "/merchants", {})).toMatchObject({ id: merchant, apiKey });
  });

  test("deleting a merchant deletes its keys and pending deliveries, and keeps its requests", async () => {
    const bench = await open();
    const receiver = await receive();
    const { id: merchant, apiKey: key } = await bench.control("POST", "/merchants", {});
    await register(bench, receiver.url, ["*"], key);
    receiver.always(500);
    await trigger(bench, "a.b", {}, key);
    await settle(bench);
    expect(await bench.control("DELETE", `/merchants/${merchant}`)).toEqual({ removed: merchant });
    expect(refused(await bench.call("GET", "/v1/merchants/me", { key }))).toEqual([401, "invalid_api_key"]);
    expect(refused(await ask(bench, "DELETE", `/merchants/${merchant}`))).toEqual([404, "resource_not_found"]);
    const [event] = (await bench.control("GET", `/events?merchant=${merchant}`)).data;
    expect(event.deliveries).toMatchObject({ pending: 0, cancelled: 1 });
    const once = { requests: { match: { operation: "webhooks.create" }, count: { exactly: 1 } } };
    expect(await bench.control("POST", "/verify", { merchant, all: [once] })).toMatchObject({ verdict: "pass" });
  });
});

/** Makes calls of every kind, and returns every response with its headers. */
async function busyHour(bench: Bench, hooks: string, key = "sk_test_lodge"): Promise<string[]> {
  const answers: Answer[] = [];
  const act = async (method: string, path: string, body?: object, headers = {}) => {
    const answer = await bench.call(method, `/v1${path}`, { key, headers, ...(body ? { body } : {}) });
    answers.push(answer);
    return answer;
  };
  const { body: endpoint } = await act("POST", "/webhooks", { url: hooks, events: ["*"] });
  await act("POST", "/hospitality/bookings/bkg_pending/decline", { reason: "full" }, { "idempotency-key": "a" });
  await act("POST", "/hospitality/bookings/bkg_pending/decline", { reason: "full" }, { "idempotency-key": "a" });
  await act("POST", "/hospitality/bookings/bkg_confirmed/decline", {}, { "idempotency-key": "b" });
  await act("POST", "/merchants/login", { email: "ola@lodge.example", password: "lodge-password" });
  await act("POST", "/webhook-events/test", { type: "a.b", data: {} });
  await advance(bench, "2s");
  await act("POST", `/webhooks/${endpoint.id}/rotate-secret`);
  await act("GET", "/webhook-deliveries");
  await act("GET", "/payments");
  await act("GET", "/webhooks");
  await act("GET", "/payments?limit=200");
  return answers.map(({ status, rawHeaders, text }) => JSON.stringify([status, rawHeaders, text]));
}

const rewind = (bench: Bench) => bench.control("PUT", "/clock", { mode: "frozen", now: NOON });

describe("reset", () => {
  test("clears limits, endpoints, deliveries, stored replies, sessions, new merchants and requests", async () => {
    const bench = await open({ rateLimit: "100/1h" });
    const receiver = await receive();
    receiver.always(500);
    const { apiKey } = await bench.control("POST", "/merchants", {});
    await busyHour(bench, receiver.url);
    await busyHour(bench, receiver.url, apiKey);
    const { body: session } = await bench.call("POST", "/v1/merchants/login", {
      body: { email: "ola@lodge.example", password: "lodge-password" },
    });
    await bench.control("POST", "/reset", {});
    const fresh = await open({ rateLimit: "100/1h" });
    for (const path of ["/requests", "/events", "/deliveries", "/operations"])
      expect([path, await bench.control("GET", path)]).toEqual([path, await fresh.control("GET", path)]);
    expect((await bench.control("GET", "")).merchants).toEqual((await fresh.control("GET", "")).merchants);
    expect((await bench.call("GET", "/v1/payments")).headers["ratelimit-remaining"]).toBe("99");
    expect((await bench.call("GET", "/v1/webhooks")).body.data).toEqual([]);
    for (const key of [apiKey, session.accessToken])
      expect(refused(await bench.call("GET", "/v1/merchants/me", { key }))).toEqual([401, "invalid_api_key"]);
    const anew = await bench.call("POST", "/v1/hospitality/bookings/bkg_confirmed_2/decline", {
      headers: { "idempotency-key": "a" },
    });
    expect([anew.status, anew.headers["idempotent-replayed"]]).toEqual([409, undefined]);
    const arrived = receiver.arrivals.length;
    expect((await advance(bench, "24h")).attempts).toEqual([]);
    expect(receiver.arrivals).toHaveLength(arrived);
  });

  test("of one merchant restores its records with their ids, and changes no other merchant", async () => {
    const bench = await open({ rateLimit: "100/1h" });
    const receiver = await receive();
    receiver.always(500);
    await register(bench, receiver.url, ["*"], "sk_test_market");
    await trigger(bench, "c.d", {}, "sk_test_market");
    // Leaves out the ids of requests, and the lengths of bodies, which may contain these ids.
    const withoutIds = (answers: string[]) =>
      answers.map((answer) => answer.replaceAll(/req_lodge_\d+|"Content-Length","\d+"/g, ""));
    const first = withoutIds(await busyHour(bench, receiver.url));
    const merchants = (await bench.control("GET", "")).merchants;
    await rewind(bench);
    const nothing = { faults: [], scenarios: [], endpoints: [] };
    expect(await bench.control("POST", "/reset", { merchant: "mer_lodge" })).toEqual({
      reset: "mer_lodge",
      clock: null,
      ...nothing,
    });
    expect((await bench.control("GET", "")).merchants).toEqual(merchants);
    expect((await bench.control("GET", "/requests?merchant=mer_lodge")).data).toEqual([]);
    expect((await bench.control("GET", "/events")).data.map(({ merchant }: { merchant: string }) => merchant)).toEqual([
      "mer_market",
    ]);
    expect(withoutIds(await busyHour(bench, receiver.url))).toEqual(first);
    expect(await log(bench, "", "sk_test_market")).not.toEqual([]);
  });

  test("restores the clock, fault rules, scenario and endpoints that the options set", async () => {
    const faults = join(folder(), "faults.json");
    const rules = ["mer_lodge", "mer_market"].map((merchant) => ({
      action: { type: "status", status: 503 },
      match: { merchant, operation: "payments.list" },
    }));
    writeFileSync(faults, JSON.stringify([...rules, { id: "flt_all", action: { type: "latency", ms: 1 } }]));
    const endpoints = ["lodge", "market"].map((merchant) => ({
      url: "http://localhost:3000/hooks",
      events: ["payment.*"],
      merchant,
    }));
    const bench = await open({ faults, scenario: "lost-response", endpoints });
    const state = async () => {
      const [{ data: rules }, { scenarios, clock }] = [
        await bench.control("GET", "/faults"),
        await bench.control("GET", ""),
      ];
      const keys = ["sk_test_lodge", "sk_test_market"];
      const registered = await Promise.all(
        keys.map(async (key) => (await bench.call("GET", "/v1/webhooks", { key })).body.data),
      );
      return { rules, scenarios, clock, registered };
    };
    const start = await state();
    writeFileSync(faults, "[]");
    const change = async () => {
      await bench.control("DELETE", "/faults");
      await advance(bench, "1h");
      for (const { id } of (await state()).registered.flat()) await bench.control("DELETE", `/endpoints/${id}`);
    };
    await change();
    const ofLodge = await bench.control("POST", "/reset", { merchant: "mer_lodge" });
    expect(ofLodge).toMatchObject({
      reset: "mer_lodge",
      clock: null,
      faults: [expect.any(String)],
      scenarios: [],
      endpoints: [expect.any(String)],
    });
    expect(await state()).toMatchObject({
      rules: [{ id: ofLodge.faults[0], match: { merchant: "mer_lodge" } }],
      clock: { now: "2026-01-05T13:00:00.000Z" },
      registered: [[{ id: ofLodge.endpoints[0] }], []],
    });
    await change();
    const all = await bench.control("POST", "/reset", {});
    expect(all).toMatchObject({ reset: "everything", clock: start.clock, scenarios: ["lost-response"] });
    expect([all.faults.length, all.endpoints.length]).toEqual([3, 2]);
    expect(await state()).toEqual(start);
  });

  test("restores the snapshot that the options name", async () => {
    const first = await open();
    await first.control("POST", "/records/customer", { id: "cus_saved" });
    const { file: snapshot } = await first.control("PUT", "/snapshots/saved");
    const bench = await open({ snapshot });
    await bench.control("POST", "/records/customer", { id: "cus_later" });
    await bench.control("POST", "/reset", {});
    const found = ["cus_saved", "cus_later"].map((id) => bench.call("GET", `/v1/customers/${id}`));
    expect((await Promise.all(found)).map(({ status }) => status)).toEqual([200, 404]);
  });

  test("of an unknown merchant, or of one created through the API, is rejected", async () => {
    const bench = await open();
    expect(refused(await ask(bench, "POST", "/reset", { merchant: "mer_nobody" }))).toEqual([
      404,
      "resource_not_found",
    ]);
    const { body } = await bench.call("POST", "/v1/merchants", { body: { name: "New", email: "new@example.com" } });
    const answer = await ask(bench, "POST", "/reset", { merchant: body.id });
    expect(refused(answer)).toEqual([400, "validation_failed"]);
    expect((await bench.call("GET", "/v1/merchants/me", { key: body.apiKey })).status).toBe(200);
  });
});

const newest = async (bench: Bench) => (await bench.control("GET", "/events?limit=1")).data[0];

describe("records", () => {
  test("that are partly refunded emit payment.partially_refunded, and keep their status", async () => {
    const bench = await open();
    const paid = await bench.control("POST", "/records/payment", {
      merchant: "mer_blank",
      status: "succeeded",
      amount: 1_000,
    });
    const refund = (refundedAmount: number) => ask(bench, "PATCH", `/records/payment/${paid.id}`, { refundedAmount });
    expect((await refund(400)).body).toMatchObject({
      status: "succeeded",
      refundedAmount: 400,
      refundedAt: NOON_SECONDS,
    });
    expect(await newest(bench)).toMatchObject({
      type: "payment.partially_refunded",
      body: { data: { refundedAmount: 400 } },
    });
    for (const wrong of [1_000, 1_001]) {
      const answer = await refund(wrong);
      expect(refused(answer)).toEqual([400, "validation_failed"]);
      expect(answer.body.details.errors[0]).toMatchObject({ pointer: "/refundedAmount", code: "out_of_range" });
    }
    const { body } = await ask(bench, "PATCH", `/records/payment/${paid.id}`, { status: "refunded" });
    expect(body).toMatchObject({ status: "refunded", refundedAmount: 1_000 });
  });

  test("are created with the given fields, and delivered like any other change", async () => {
    const { bench, receiver } = await openRegistered({}, ["payment.succeeded"]);
    const answer = await ask(bench, "POST", "/records/payment", {
      merchant: "mer_lodge",
      id: "pay_mine",
      amount: 7,
      currency: "EUR",
      status: "succeeded",
      created: 1_700_000_000,
    });
    expect([answer.status, answer.body]).toEqual([
      201,
      expect.objectContaining({
        id: "pay_mine",
        amount: 7,
        status: "succeeded",
        created: 1_700_000_000,
        refundedAmount: 0,
      }),
    ]);
    await settle(bench);
    expect(receiver.arrivals.map(({ event }) => event.data.id)).toEqual(["pay_mine"]);
    const list = await bench.call("GET", "/v1/payments?limit=100&starting_after=pay_001");
    expect(list.status).toBe(200);
    const changed = await bench.control("PATCH", "/records/payment/pay_mine", { reference: "R-1" });
    expect([changed.reference, changed.status]).toEqual(["R-1", "succeeded"]);
    expect((await newest(bench)).type).toBe("payment.updated");
  });

  test.each([
    ["POST", "/records/payments", { merchant: "mer_lodge" }, 404, "Did you mean payment?"],
    [
      "POST",
      "/records/webhook_endpoint",
      { merchant: "mer_lodge" },
      404,
      "There is no kind of record webhook_endpoint",
    ],
    ["POST", "/records/payment", { merchant: "mer_lodg" }, 404, "Did you mean mer_lodge?"],
    ["POST", "/records/payment", { merchant: "mer_lodge", amuont: 5 }, 400, "Did you mean amount?"],
    ["POST", "/records/payment", { merchant: "mer_lodge", amount: "5" }, 400, 'received "5"'],
    ["POST", "/records/payment", { merchant: "mer_lodge", livemode: true }, 400, "livemode cannot be set"],
    ["POST", "/records/payment", { merchant: "mer_lodge", id: "pay_pending" }, 409, "pay_pending exists already"],
    [
      "POST",
      "/records/product_variant",
      { merchant: "mer_lodge", productId: "prod_honey", sku: "HONEY-250" },
      409,
      "sku exists already",
    ],
    ["GET", "/records/payments", undefined, 404, "Did you mean payment?"],
    ["GET", "/records/payment?status=suceeded", undefined, 400, "Did you mean succeeded?"],
    ["GET", "/records/customer?status=new", undefined, 400, "A customer has no status"],
    ["GET", "/records/payment?starting_after=pay_nobody", undefined, 400, "starting_after must be the id of a payment"],
    ["GET", "/records/payment?limit=0", undefined, 400, "limit"],
    ["GET", "/records/payment/pay_nobody", undefined, 404, "No merchant has a payment pay_nobody"],
    ["GET", "/records/payment/pay_pending?merchant=mer_blank", undefined, 404, "No such payment"],
    ["PATCH", "/records/payment/pay_pending", { merchant: "mer_blank", status: "failed" }, 404, "No such payment"],
    ["PATCH", "/records/payment/pay_pending", { statsu: "failed" }, 400, "Did you mean status?"],
    ["PATCH", "/records/payment/pay_pending", { id: "pay_001" }, 400, "id cannot be set on a payment"],
    ["PATCH", "/records/payment/pay_pending", { created: 1 }, 400, "created cannot be set on a payment"],
  ])("for %s %s, the body %j gets %i", async (method, path, body, status, words) => {
    const bench = await open();
    const answer = await ask(bench, method, path, body);
    expect([answer.status, answer.body.message]).toEqual([status, expect.stringContaining(words)]);
    expect(await newest(bench)).toBeUndefined();
    const { data } = (await bench.call("GET", "/v1/payments?limit=1")).body;
    expect(data[0]).toMatchObject({ id: "pay_pending", status: "pending" });
  });

  test("are listed with the cursors of the API, by merchant and status", async () => {
    const bench = await open();
    const list = async (query: string) => {
      const { object, data, has_more } = await bench.control("GET", `/records/payment?${query}`);
      return [object, data.map(({ id }: { id: string }) => id), has_more];
    };
    const { data } = (await bench.call("GET", "/v1/payments?limit=5")).body;
    const ids = data.map(({ id }: { id: string }) => id);
    expect(await list("limit=3")).toEqual(["list", ids.slice(0, 3), true]);
    expect(await list(`limit=2&starting_after=${ids[1]}`)).toEqual(["list", ids.slice(2, 4), true]);
    expect(await list(`ending_before=${ids[3]}`)).toEqual(["list", ids.slice(0, 3), false]);
    const { body } = await bench.call("GET", "/v1/payments?limit=100");
    const failed = body.data
      .filter(({ status }: { status: string }) => status === "failed")
      .map(({ id }: { id: string }) => id);
    expect(await list("status=failed&limit=2")).toEqual(["list", failed.slice(0, 2), true]);
    expect((await list(`status=failed&limit=1&starting_after=${failed[0]}`))[1]).toEqual([failed[1]]);
    expect((await list(`status=failed&limit=1&ending_before=${failed[2]}`))[1]).toEqual([failed[1]]);
    expect(await list("merchant=mer_blank")).toEqual(["list", [], false]);
  });

  test("with an id that several merchants have can be changed only if the call names the merchant", async () => {
    const bench = await open();
    const { id: merchant } = await bench.control("POST", "/merchants", {});
    expect((await ask(bench, "GET", "/records/booking/bkg_pending")).body.message).toContain(`mer_lodge, ${merchant}:`);
    const answer = await ask(bench, "PATCH", "/records/booking/bkg_pending", { status: "confirmed" });
    expect(refused(answer)).toEqual([400, "validation_failed"]);
    expect(answer.body.message).toContain(`mer_lodge, ${merchant}:`);
    const confirmed = await bench.control("PATCH", "/records/booking/bkg_pending", { merchant, status: "confirmed" });
    expect([confirmed.merchantId, (await newest(bench)).merchant]).toEqual([merchant, merchant]);
  });
});

describe("the request log", () => {
  const ids = async (bench: Bench, query: string) =>
    (await bench.control("GET", `/requests?${query}`)).data.map(({ id }: { id: string }) => id);

  test("can be filtered by operation, merchant, status, key and time, and has pages", async () => {
    const bench = await open();
    await bench.call("GET", "/v1/payments");
    await bench.call("GET", "/v1/payouts", { key: "sk_test_market" });
    await bench.call("GET", "/v1/payments?limit=0");
    await advance(bench, "1h");
    await bench.call("GET", "/v1/payments", { key: null });
    await bench.call("GET", "/v1/nothing?x=1");
    expect(await ids(bench, "")).toEqual(["req_lodge_3", "req_1", "req_lodge_2", "req_market_1", "req_lodge_1"]);
    expect(await ids(bench, "operation=payments.list")).toEqual(["req_1", "req_lodge_2", "req_lodge_1"]);
    expect(await ids(bench, "merchant=mer_market")).toEqual(["req_market_1"]);
    expect(await ids(bench, "status=4xx")).toEqual(["req_lodge_3", "req_1", "req_lodge_2"]);
    expect(await ids(bench, "status=401")).toEqual(["req_1"]);
    expect(await ids(bench, "key=sk_test_market")).toEqual(["req_market_1"]);
    expect(await ids(bench, "since=2026-01-05T13:00:00Z")).toEqual(["req_lodge_3", "req_1"]);
    expect(await ids(bench, "limit=2&starting_after=req_1")).toEqual(["req_lodge_2", "req_market_1"]);
    expect((await bench.control("GET", "/requests?limit=2")).has_more).toBe(true);
    expect((await bench.control("GET", "/requests?limit=2&starting_after=req_lodge_2")).has_more).toBe(false);
  });

  test.each([
    ["/requests?limit=0", 400, "invalid_limit"],
    ["/requests?since=yesterday", 400, "validation_failed"],
    ["/requests?starting_after=req_lodge_99", 400, "invalid_cursor"],
    ["/requests/req_lodge_99", 404, "resource_not_found"],
    ["/events?limit=101", 400, "invalid_limit"],
    ["/events?starting_after=evt_none", 400, "invalid_cursor"],
    ["/deliveries?ending_before=whd_none", 400, "invalid_cursor"],
    ["/deliveries/whd_none", 404, "resource_not_found"],
    ["/drain", 400, "validation_failed", { within: "a while" }],
    ["/signature/explain", 404, "resource_not_found", { endpoint: "we_none", body: "", signature: "0" }],
    ["/signature/explain", 400, "validation_failed", { endpoint: "we_none", body: "" }],
  ])("%s is rejected with %i %s", async (path, status, code, body?: object) => {
    expect(refused(await ask(await open(), body ? "POST" : "GET", path, body))).toEqual([status, code]);
  });

  test("shows a whole request, with its events and the request that it replays", async () => {
    const bench = await open();
    const headers = { "idempotency-key": "one", "x-mine": "yes" };
    const act = () =>
      bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline", { headers, body: { reason: "full" } });
    const [first, second] = [await act(), await act()];
    const detail = await bench.control("GET", "/requests/req_lodge_1");
    expect(detail).toMatchObject({
      id: "req_lodge_1",
      at: "2026-01-05T12:00:00.000Z",
      method: "POST",
      path: "/v1/hospitality/bookings/bkg_pending/decline",
      query: "",
      operation: "bookings.decline",
      merchant: "mer_lodge",
      status: 200,
      key: "…odge",
      idempotencyKey: "one",
      replayOf: null,
      request: { headers: { "x-mine": "yes" }, body: '{"reason":"full"}', bytes: 17 },
      response: {
        headers: { "X-Sandbox-Request-Id": "req_lodge_1" },
        body: first.text,
        bytes: Buffer.byteLength(first.text),
      },
    });
    const [event] = (await bench.control("GET", "/events")).data;
    expect(detail.events).toEqual([{ id: event.id, type: "booking.declined" }]);
    expect(event).toMatchObject({ request: "req_lodge_1", body: { data: first.body } });
    expect(second.text).toBe(first.text);
    expect(await bench.control("GET", "/requests/req_lodge_2")).toMatchObject({ replayOf: "req_lodge_1", events: [] });
  });

  test("masks secrets in requests and responses", async () => {
    const bench = await open();
    const { secret } = await register(bench, "http://localhost:3000/hooks");
    const { body: login } = await bench.call("POST", "/v1/merchants/login", {
      body: { email: "ola@lodge.example", password: "lodge-password" },
    });
    await bench.call("POST", "/v1/merchants/payout-method", {
      key: login.accessToken,
      body: { type: "bank_account", accountNumber: "PT50000201231234567890154" },
    });
    const { body: made } = await bench.call("POST", "/v1/merchants", {
      body: { name: "New", email: "new@example.com", password: "hush-hush" },
    });
    const whole = await Promise.all(
      [1, 2, 3, 4].map((number) => bench.control("GET", `/requests/req_lodge_${number}`)),
    );
    const text = JSON.stringify(whole);
    for (const hidden of [
      secret,
      login.accessToken,
      "lodge-password",
      "PT50000201231234567890154",
      made.apiKey,
      "hush-hush",
      "sk_test_lodge",
    ])
      expect([hidden, text.includes(hidden)]).toEqual([hidden, false]);
    expect(whole.map(({ status }) => status)).toEqual([201, 200, 200, 200]);
  });
});

describe("webhooks", () => {
  test("events and attempts of every merchant are listed, filtered and shown", async () => {
    const { bench, receiver } = await openRegistered();
    const market = await register(bench, receiver.url, ["*"], "sk_test_market");
    receiver.script(200, 500, 200);
    const one = await deliver(bench, "a.b", { n: 1 });
    const two = await trigger(bench, "c.d", { n: 2 }, "sk_test_market");
    await advance(bench, "1s");

    const events = async (query: string) =>
      (await bench.control("GET", `/events?${query}`)).data.map(({ id }: { id: string }) => id);
    expect(await events("")).toEqual([two, one]);
    expect(await events("merchant=mer_lodge")).toEqual([one]);
    expect(await events(`limit=1&starting_after=${two}`)).toEqual([one]);
    expect((await bench.control("GET", "/events")).data[0]).toMatchObject({
      type: "c.d",
      merchant: "mer_market",
      body: { id: two, data: { n: 2 } },
      deliveries: { pending: 0, succeeded: 1, failed: 0, cancelled: 0 },
    });

    const attempts = async (query: string) =>
      (await bench.control("GET", `/deliveries?${query}`)).data.map(({ eventId, attempt }: Record<string, unknown>) => [
        eventId,
        attempt,
      ]);
    expect(await attempts("")).toEqual([
      [two, 2],
      [two, 1],
      [one, 1],
    ]);
    expect(await attempts("merchant=mer_lodge")).toEqual([[one, 1]]);
    expect(await attempts(`status=failed&endpointId=${market.id}`)).toEqual([[two, 1]]);

    const { data } = await bench.control("GET", `/deliveries?eventId=${two}`);
    const shown = await bench.control("GET", `/deliveries/${data[1].id}`);
    expect(shown).toEqual({ attempt: data[1], attempts: data, request: "req_market_2" });
    expect((await bench.control("GET", `/deliveries?requestId=${shown.request}`)).data).toEqual(data);
    expect((await bench.control("GET", "/deliveries?requestId=req_lodge_1")).data).toEqual([]);
    expect(data[1]).toMatchObject({
      status: "failed",
      responseStatus: 500,
      requestBody: receiver.arrivals[1]?.body.toString(),
    });
  });
});

test("a clock that reaches the end of the year 9999 stops there, and no response is a 500", async () => {
  const bench = await open();
  attempted("Malformed input", 3);
  await bench.control("PUT", "/clock", { mode: "offset", now: "9999-12-31T23:59:59.999Z" });
  expect((await bench.control("GET", "/clock")).now).toBe("9999-12-31T23:59:59.999Z");
  expect((await bench.control("POST", "/records/payout", { merchant: "mer_lodge" })).created).toBeGreaterThan(0);
  const advanced = await bench.call("POST", "/_sandbox/clock/advance", { key: null, body: { by: "1d" } });
  expect([advanced.status, advanced.body.message]).toEqual([
    400,
    expect.stringContaining("The clock goes no further than 9999-12-31T23:59:59.999Z"),
  ]);
  expect((await bench.call("GET", "/v1/payments")).status).toBe(200);
});

test("the requests of one trace are found by the trace id of their traceparent headers", async () => {
  const bench = await open();
  const [trace, other] = ["4bf92f3577b34da6a3ce929d0e0e4736", "0af7651916cd43dd8448eb211c80319c"];
  const call = (path: string, id: string) =>
    bench.call("GET", path, { headers: { traceparent: `00-${id}-00f067aa0ba902b7-01` } });
  await call("/v1/payments", trace);
  await call("/v1/payouts", trace);
  await call("/v1/payouts", other);
  await bench.call("GET", "/v1/payouts");
  const pathsOf = async (id: string) => (await bench.requests.list({ trace: id })).data.map(({ path }) => path);
  expect(await pathsOf(trace)).toEqual(["/v1/payouts", "/v1/payments"]);
  expect(await pathsOf(other.toUpperCase())).toEqual(["/v1/payouts"]);
  const refused = await bench.call("GET", "/_sandbox/requests?trace=4bf9");
  expect([refused.status, refused.body.message]).toEqual([
    400,
    'trace must be a trace id of 32 hex digits; received "4bf9".',
  ]);
});
