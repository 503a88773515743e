// The Idempotency-Key: its scope, when two requests are the same, which replies are stored, and for how long.

import { describe, expect, test } from "vitest";
import { type Answer, type Bench, type CallOptions, DECLINE, NOON, open, RULES, rule } from "../support/sandbox.ts";

const post = (bench: Bench, path: string, key: string | string[], body: unknown, options: CallOptions = {}) =>
  bench.call("POST", path, { body, ...options, headers: { "idempotency-key": key, ...options.headers } });

const replayed = (answer: Answer) => answer.headers["idempotent-replayed"] === "true";

/** The events of several responses, in the order of the responses. */
async function events(bench: Bench, answers: Answer[]): Promise<string[]> {
  const all = [];
  for (const answer of answers) all.push(...(await bench.events(answer)));
  return all;
}

describe("two requests with one key are the same", () => {
  test("if only their formatting differs", async () => {
    const bench = await open();
    const first = await post(
      bench,
      `${RULES}?b=2&a=1`,
      "key",
      '{"name":"Way","adjustmentType":"fixed","adjustmentValue":100,"metadata":{"a":1,"b":[1,2]}}',
    );
    expect(first.status).toBe(200);
    const same: [path: string, body: string, options?: CallOptions][] = [
      [
        `${RULES}?b=2&a=1`,
        ' {"metadata" : {"b": [1, 2],\n"a": 1}, ' +
          '"adjustmentValue": 1e2, "name": "\\u0057ay", "adjustmentType": "fixed"} ',
      ],
      [
        `${RULES}?a=1&b=2`,
        '{"name":"Way","adjustmentType":"fixed","adjustmentValue":100.0,"metadata":{"a":1,"b":[1,2]}}',
      ],
      [
        `${RULES}?a=1&b=2`,
        '{"name":"Way","adjustmentType":"fixed","adjustmentValue":100,"metadata":{"a":1,"b":[1,2]}}',
        { contentType: "application/json; charset=utf-8", headers: { "user-agent": "another", "x-trace": "2" } },
      ],
    ];
    for (const [path, body, options] of same) {
      const again = await post(bench, path, "key", body, options);
      expect(again).toMatchObject({ status: 200, text: first.text });
      expect(replayed(again)).toBe(true);
    }
  });

  test("but not if method, path, query or body differ; the second then gets 422 and has no effect", async () => {
    const bench = await open();
    const first = await post(bench, DECLINE, "key", { reason: "Full", x: { a: 1 }, list: [1, 2] });
    expect(first.status).toBe(200);
    const others: [method: string, path: string, body: unknown][] = [
      ["POST", DECLINE, { reason: "Other", x: { a: 1 }, list: [1, 2] }],
      ["POST", DECLINE, { reason: "Full", x: { a: 1 }, list: [2, 1] }],
      ["POST", DECLINE, { reason: "Full", x: { a: "1" }, list: [1, 2] }],
      ["POST", DECLINE, { reason: "Full", x: { a: 1, b: null }, list: [1, 2] }],
      ["POST", DECLINE, { reason: "Full", x: [["a", 1, "field"]], list: [1, 2] }],
      ["POST", DECLINE, '{"reason":"Full","x":{"a":1},"list":[1,2],"__proto__":{"y":1}}'],
      ["POST", DECLINE, {}],
      ["POST", `${DECLINE}?verbose=1`, { reason: "Full", x: { a: 1 }, list: [1, 2] }],
      ["POST", DECLINE.replace("bkg_pending", "bkg_confirmed"), { reason: "Full", x: { a: 1 }, list: [1, 2] }],
      ["POST", RULES, { reason: "Full", x: { a: 1 }, list: [1, 2] }],
      ["PATCH", "/v1/statutory/settings", { reason: "Full", x: { a: 1 }, list: [1, 2] }],
    ];
    for (const [method, path, body] of others) {
      const answer = await bench.call(method, path, { body, headers: { "idempotency-key": "key" } });
      expect([path, answer.status, answer.body.code]).toEqual([path, 422, "idempotency_key_reused"]);
      expect(answer.body.error).toBe("idempotency_error");
      expect(answer.body.details.firstRequestId).toBe(first.headers["x-sandbox-request-id"]);
      expect(replayed(answer)).toBe(false);
      expect(await bench.events(answer)).toEqual([]);
    }
    expect(replayed(await post(bench, DECLINE, "key", { reason: "Full", x: { a: 1 }, list: [1, 2] }))).toBe(true);
  });
});

describe("a key", () => {
  test("is compared byte for byte after trimming", async () => {
    const bench = await open();
    await post(bench, RULES, "Key-1", rule);
    expect(replayed(await post(bench, RULES, "  Key-1  ", rule))).toBe(true);
    for (const key of ["key-1", '"Key-1"', "Key-1.", "Key-01"])
      expect(replayed(await post(bench, RULES, key, rule))).toBe(false);
  });

  test("must have 1 to 255 printable characters without spaces, and be sent once", async () => {
    const bench = await open();
    const code = async (key: string | string[]) => (await post(bench, RULES, key, rule)).body.code;
    for (const key of [
      "x",
      "~!@#$%^&*()_+{}|:<>?",
      "k".repeat(255),
      "0b6f5a7e-5a0c-4b5c-9e0e-0d5d9a9f9b1c",
      '"quoted"',
    ])
      expect([key, await code(key)]).toEqual([key, undefined]);
    expect(await code("k".repeat(256))).toBe("idempotency_key_too_long");
    expect(await code("k".repeat(5_000))).toBe("idempotency_key_too_long");
    for (const key of ["", " ", "   "]) expect(await code(key)).toBe("idempotency_key_empty");
    for (const key of ["two words", "tab\there", "caf\u00e9", "\u00a0"])
      expect([key, await code(key)]).toEqual([key, "idempotency_key_invalid"]);
    expect(await code(["one", "two"])).toBe("idempotency_key_invalid");
    expect(await code(["same", "same"])).toBe("idempotency_key_invalid");
  });
});

describe("stored replies", () => {
  test("a 404 and a 409 of the operation are replayed even if the state has changed", async () => {
    const bench = await open();
    const missing = "/v1/hospitality/bookings/bkg_later/decline";
    const confirmed = DECLINE.replace("bkg_pending", "bkg_confirmed");
    const notFound = await post(bench, missing, "missing", {});
    const conflict = await post(bench, confirmed, "state", {});
    expect([notFound.status, conflict.status]).toEqual([404, 409]);
    await bench.control("POST", "/records/booking", { merchant: "mer_lodge", id: "bkg_later" });
    const repeated = await post(bench, missing, "missing", {});
    expect([repeated.status, repeated.text, replayed(repeated)]).toEqual([404, notFound.text, true]);
    expect(replayed(await post(bench, confirmed, "state", {}))).toBe(true);
    expect((await post(bench, missing, "fresh", {})).status).toBe(200);
  });

  test("an already_exists is stored too, and the request that caused it creates nothing", async () => {
    const bench = await open();
    const body = { name: "Twin", email: "ola@lodge.example" };
    const first = await post(bench, "/v1/merchants", "twin", body);
    expect(first).toMatchObject({ status: 409, body: { code: "already_exists" } });
    expect(replayed(await post(bench, "/v1/merchants", "twin", body))).toBe(true);
    expect((await bench.merchants.list()).data.filter(({ name }) => name === "Twin")).toEqual([]);
  });

  test("an invalid request is not stored: a corrected one can use its key, and is replayed from then on", async () => {
    const bench = await open();
    for (const wrong of [
      { ...rule, name: 5 },
      { ...rule, startDate: "2026-02-02", endDate: "2026-02-01" },
    ])
      expect((await post(bench, RULES, "same", wrong)).status).toBe(400);
    const done = await post(bench, RULES, "same", rule);
    expect([done.status, replayed(done)]).toEqual([200, false]);
    expect((await post(bench, RULES, "same", { ...rule, name: "Other" })).status).toBe(422);
    expect((await post(bench, RULES, "same", rule)).text).toBe(done.text);
  });

  test("a failed login is not stored, and a replayed login creates no second session", async () => {
    const bench = await open();
    const login = { email: "karibu@market.example", password: "wrong" };
    const wrong = await post(bench, "/v1/merchants/login", "login", login);
    expect(wrong).toMatchObject({ status: 401, body: { code: "invalid_credentials" } });
    const right = await post(bench, "/v1/merchants/login", "login", { ...login, password: "market-password" });
    const again = await post(bench, "/v1/merchants/login", "login", { ...login, password: "market-password" });
    expect([right.status, replayed(right), replayed(again), again.text === right.text]).toEqual([
      200,
      false,
      true,
      true,
    ]);
    expect(again.headers["cache-control"]).toBe("no-store");
  });

  test("a login is not replayed if its token has expired or expires soon, so the same key logs in again", async () => {
    const bench = await open();
    const login = { email: "karibu@market.example", password: "market-password" };
    const logIn = () => post(bench, "/v1/merchants/login", "login", login);
    const profile = (answer: Answer) => bench.call("GET", "/v1/merchants/me", { key: answer.body.accessToken });
    const first = await logIn();
    await bench.control("POST", "/clock/advance", { by: "3539s" });
    const last = await logIn();
    expect([replayed(last), (await profile(last)).status]).toEqual([true, 200]);
    await bench.control("POST", "/clock/advance", { by: "1s" });
    const fresh = await logIn();
    expect([replayed(fresh), fresh.body.accessToken === first.body.accessToken]).toEqual([false, false]);
    await bench.control("POST", "/clock/advance", { by: "1m" });
    expect([(await profile(first)).body.code, (await profile(fresh)).status]).toEqual(["token_expired", 200]);
  });

  test("a login is not replayed once a reset of its merchant deleted the token; other replies stay", async () => {
    const bench = await open();
    const login = { email: "karibu@market.example", password: "market-password" };
    const own = { email: "ola@lodge.example", password: "lodge-password" };
    const logIn = () => post(bench, "/v1/merchants/login", "login", login);
    const profile = (answer: Answer) => bench.call("GET", "/v1/merchants/me", { key: answer.body.accessToken });
    const first = await logIn();
    await post(bench, "/v1/merchants/login", "own", own);
    await post(bench, RULES, "rule", rule);
    expect(replayed(await logIn())).toBe(true);
    await bench.control("POST", "/reset", { merchant: "mer_market" });
    expect((await profile(first)).status).toBe(401);
    const fresh = await logIn();
    expect([fresh.status, replayed(fresh), (await profile(fresh)).body.id]).toEqual([200, false, "mer_market"]);
    expect(replayed(await post(bench, "/v1/merchants/login", "own", own))).toBe(true);
    expect(replayed(await post(bench, RULES, "rule", rule))).toBe(true);
  });
});

describe("a replayed reply", () => {
  test("has its own Date, counts against the rate limit, and is marked in the request log", async () => {
    const bench = await open();
    const first = await post(bench, RULES, "key", rule);
    await bench.control("POST", "/clock/advance", { by: "90s" });
    const { headers } = await post(bench, RULES, "key", rule);
    expect(headers).toMatchObject({ "ratelimit-remaining": "5999", date: "Mon, 05 Jan 2026 12:01:30 GMT" });
    const { replayOf } = await bench.control("GET", `/requests/${headers["x-sandbox-request-id"]}`);
    expect(replayOf).toBe(first.headers["x-sandbox-request-id"]);
  });

  test("is returned for exactly one day on the sandbox clock", async () => {
    const bench = await open();
    const first = await post(bench, RULES, "key", rule);
    await bench.control("POST", "/clock/advance", { by: "23h" });
    await post(bench, RULES, "key", rule);
    await bench.control("POST", "/clock/advance", { by: "3599s" });
    expect(replayed(await post(bench, RULES, "key", rule))).toBe(true);
    await bench.control("POST", "/clock/advance", { by: "1s" });
    const anew = await post(bench, RULES, "key", { ...rule, name: "Another" });
    expect([anew.status, replayed(anew), anew.body.id === first.body.id]).toEqual([200, false, false]);
    expect(replayed(await post(bench, RULES, "key", { ...rule, name: "Another" }))).toBe(true);
  });
});

describe("a reply that is replayed several times", () => {
  const again = async (bench: Bench) => replayed(await post(bench, RULES, "key", rule));

  test.each<[string, (bench: Bench) => Promise<unknown>]>([
    ["its merchant is reset", (bench) => bench.control("POST", "/reset", { merchant: "mer_lodge" })],
    ["everything is reset", (bench) => bench.control("POST", "/reset", {})],
    ["a snapshot older than the reply is restored", (bench) => bench.control("POST", "/snapshots/before/restore")],
    [
      "a fault expires the key",
      (bench) =>
        bench.control("POST", "/faults", { action: { type: "idempotency", as: "expired" }, trigger: { times: 1 } }),
    ],
    ["24 hours have passed", (bench) => bench.control("POST", "/clock/advance", { by: "24h" })],
    [
      "24 hours had passed before the clock was set back",
      async (bench) => {
        await bench.control("POST", "/clock/advance", { by: "24h" });
        await bench.control("PUT", "/clock", { mode: "frozen", now: NOON });
      },
    ],
  ])("is forgotten when %s", async (_, work) => {
    const bench = await open();
    await bench.control("PUT", "/snapshots/before");
    await post(bench, RULES, "key", rule);
    expect([await again(bench), await again(bench)]).toEqual([true, true]);
    await work(bench);
    expect([await again(bench), await again(bench), await again(bench)]).toEqual([false, true, true]);
  });
});

describe("concurrent requests", () => {
  test.each([
    [RULES, rule, "pricing_rule.created"],
    [DECLINE, { reason: "Full" }, "booking.declined"],
  ])("with one key to %s have one effect and one event, even a hundred of them", async (path, body, event) => {
    const bench = await open();
    const answers = await Promise.all(Array.from({ length: 100 }, () => post(bench, path, "storm", body)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter((answer) => !replayed(answer))).toHaveLength(1);
    expect(await events(bench, answers)).toEqual([event]);
    expect(new Set(answers.map(({ headers }) => headers["ratelimit-remaining"])).size).toBe(100);
    expect(new Set(answers.map(({ headers }) => headers["x-sandbox-request-id"])).size).toBe(100);
  });

  test("with one key have one effect; those with an equal body replay it, and all others get 422", async () => {
    const bench = await open();
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => post(bench, RULES, "storm", { ...rule, name: `Rule ${index % 4}` })),
    );
    const [winner] = answers.filter((answer) => answer.status === 200 && !replayed(answer));
    const name = winner?.body.name as string;
    expect(answers.map((answer) => [answer.status, replayed(answer) || answer === winner])).toEqual(
      answers.map((_, index) => (`Rule ${index % 4}` === name ? [200, true] : [422, false])),
    );
    expect(await events(bench, answers)).toEqual(["pricing_rule.created"]);
  });

  test("are each executed if they have no key", async () => {
    const bench = await open();
    const answers = await Promise.all(Array.from({ length: 50 }, () => bench.call("POST", RULES, { body: rule })));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(50);
    const declines = await Promise.all(Array.from({ length: 20 }, () => bench.call("POST", DECLINE, { body: {} })));
    expect(declines.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(409)]);
    expect(await events(bench, declines)).toEqual(["booking.declined"]);
  });
});
