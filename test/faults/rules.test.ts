// Fault rules: validation, matching, triggers, limits for each key, and expiry.

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseArguments } from "../../src/cli/arguments.ts";
import { fault, ruleOf } from "../../src/cli/commands/fault.ts";
import { apiActions } from "../../src/faults/api-actions.ts";
import { createFaults } from "../../src/faults/index.ts";
import { actions, jsonSchema } from "../../src/faults/rule-schema.ts";
import { createClock } from "../../src/kernel/clock.ts";
import { folder, temporaryFile } from "../support/program.ts";
import { type Answer, type Bench, open, share, shareForBlock } from "../support/sandbox.ts";
import { advance, receive } from "../support/webhooks.ts";

const post = (bench: Bench, rule: unknown) => bench.call("POST", "/_sandbox/faults", { key: null, body: rule });
const add = (bench: Bench, rule: unknown) => bench.control("POST", "/faults", rule);
const get = (bench: Bench, id: string) => bench.control("GET", `/faults/${id}`);
const list = (bench: Bench, key = "sk_test_lodge") => bench.call("GET", "/v1/payments", { key });
const FAIL = { type: "status", status: 500 } as const;

/** Makes `count` calls, one after another, and returns their statuses. */
async function statuses(count: number, one: (index: number) => Promise<Answer>): Promise<number[]> {
  const found: number[] = [];
  for (let index = 0; index < count; index++) found.push((await one(index)).status);
  return found;
}

describe("an invalid rule is rejected with a suggestion", () => {
  const sandbox = shareForBlock();

  const refused: [rule: object, pointer: string, says: string][] = [
    [{}, "/action", "action is required"],
    [{ action: { type: "lost_respons" } }, "/action/type", "Did you mean lost_response?"],
    [{ action: { type: "status", status: 200 } }, "/action/status", "at least 400"],
    [{ action: FAIL, target: "delivery" }, "/target", "target must be one of api"],
    [{ action: FAIL, match: { operation: "payment.list" } }, "/match/operation", "Did you mean payments.list?"],
    [{ action: FAIL, match: { operation: "zoo.*" } }, "/match/operation", "There is no operation"],
    [
      { action: FAIL, match: { operation: "payment.succeeded" } },
      "/match/operation",
      "It is a type of event; these affect deliveries of events: duplicate, reorder, ",
    ],
    [{ action: FAIL, match: { merchant: "mer_lodg" } }, "/match/merchant", "Did you mean mer_lodge?"],
    [{ action: FAIL, match: { key: "sk_test_nobody" } }, "/match/key", "not a key of this sandbox"],
    [{ action: FAIL, match: { key: "sk_test_lodge", merchant: "mer_market" } }, "/match/key", "a key of mer_lodge"],
    [
      { action: FAIL, match: { event: "payment.succeeded" } },
      "/match/event",
      "Allowed: operation, key, header, merchant, body",
    ],
    [
      { action: { type: "drop" }, match: { event: "Made Up" } },
      "/match/event",
      "must be an event type such as payment.succeeded, a pattern",
    ],
    [{ action: FAIL, match: { body: { amount: 1 } } }, "/match/body/amount", "JSON Pointers"],
    [{ action: FAIL, match: { body: { "/amount": { gtt: 1 } } } }, "/match/body/~1amount/gtt", "Did you mean gt?"],
    [{ action: FAIL, trigger: { for: "soon" } }, "/trigger/for", "duration"],
    [{ action: FAIL, trigger: { per: "event" } }, "/trigger/per", "for calls"],
    [
      { action: { type: "outage" }, match: { operation: "payments.list" } },
      "/match/operation",
      "before the operation is known",
    ],
    [{ action: { type: "rate_limit" }, match: { body: { "/a": 1 } } }, "/match/body", "before the body is read"],
    [{ action: { type: "latency" } }, "/action", "action.ms is required"],
    [
      { action: { type: "latency", ms: 1, min: "1s" } },
      "/action",
      "action.min is allowed only with distribution: uniform",
    ],
    [{ action: { type: "latency", distribution: "uniform", min: "2s", max: "1s" } }, "/action", "must not be shorter"],
    [{ action: { type: "rate_limit", exhaust: true, retryAfter: "past" } }, "/action", "must be a number of seconds"],
    [{ action: { type: "body", as: "html", bytesPerSecond: 1 } }, "/action", "is allowed only with as: drip"],
    [{ action: { type: "delay" } }, "/action", "either action.by (delay=5s) or action.until"],
    [{ action: { type: "payload", as: "patch" } }, "/action", "action.patch is required"],
    [{ action: FAIL, enabeld: true }, "", "Did you mean enabled?"],
  ];

  test.each(refused)("%j", async (rule, pointer, says) => {
    const bench = sandbox();
    const answer = await post(bench, rule);
    expect(answer.status).toBe(400);
    expect(answer.body.message).toContain(says);
    if (pointer !== "") expect(answer.body.details.errors[0].pointer).toBe(pointer);
    expect(answer.text).not.toContain("sk_live_");
    expect((await bench.control("GET", "/faults")).data).toEqual([]);
  });

  test("and one response lists all its mistakes, in types and in meaning", async () => {
    const match = { operation: "payment.list", merchant: "mer_lodg", body: { amount: 1 } };
    const rule = {
      action: { type: "status", status: 200 },
      match,
      trigger: { times: 0 },
      ttl: "999999d",
      expect: ["no.such"],
      priority: "high",
    };
    const { errors } = (await post(sandbox(), rule)).body.details;
    expect(errors.map(({ pointer }: { pointer: string }) => pointer).sort()).toEqual([
      ...[
        "/action/status",
        "/expect/0",
        "/match/body/amount",
        "/match/merchant",
        "/match/operation",
        "/priority",
        "/trigger/times",
        "/ttl",
      ],
    ]);
  });

  test("if it contains a live key, but the message does not repeat the key", async () => {
    const answer = await post(sandbox(), { action: FAIL, match: { key: "sk_live_secret" } });
    expect([answer.status, answer.text.includes("secret")]).toEqual([403, false]);
  });

  test("if its id is in use, and so is the removal of an unknown id", async () => {
    const bench = sandbox();
    await add(bench, { id: "flt_one", action: FAIL });
    expect(await post(bench, { id: "flt_one", action: FAIL })).toMatchObject({
      status: 409,
      body: { code: "already_exists" },
    });
    expect(await bench.call("DELETE", "/_sandbox/faults/flt_on", { key: null })).toMatchObject({
      status: 404,
      body: { message: expect.stringContaining("Did you mean flt_one?") },
    });
    expect((await bench.control("DELETE", "/faults")).removed).toBe(1);
  });
});

describe("a rule", () => {
  test("is shown with its defaults", async () => {
    const bench = await open();
    expect(await add(bench, { action: { type: "lost_response", as: 502 } })).toEqual({
      id: expect.stringMatching(/^flt_\w+$/),
      name: null,
      warnings: [],
      target: "api",
      match: {},
      trigger: { skip: 0, times: 1, every: null, probability: 1, seed: null, after: null, for: null, per: "rule" },
      action: { type: "lost_response", as: "502" },
      expect: [],
      ttl: null,
      priority: 0,
      label: true,
      enabled: true,
      status: "armed",
      matched: 0,
      fired: 0,
      remaining: 1,
      lastFiredAt: null,
      endsAt: null,
    });
    expect(await add(bench, { action: { type: "lost_response" }, ttl: "10m" })).toMatchObject({
      endsAt: "2026-01-05T12:10:00.000Z",
    });
  });

  test("is tried and listed by priority, then by creation", async () => {
    const bench = await open();
    const status = (status: number, priority?: number) =>
      add(bench, { action: { type: "status", status }, ...(priority === undefined ? {} : { priority }) });
    for (const [answer, priority] of [
      [500, undefined],
      [502, 0],
      [503, 7],
      [504, -1],
    ] as const)
      await status(answer, priority);
    const { data } = await bench.control("GET", "/faults");
    expect(data.map(({ priority }: { priority: number }) => priority)).toEqual([7, 0, 0, -1]);
    await bench.control("PATCH", `/faults/${data[3].id}`, { priority: 1 });
    const answers = [];
    for (let time = 0; time < 5; time++) answers.push((await list(bench)).status);
    expect(answers).toEqual([503, 504, 500, 502, 200]);
    const wrong = await bench.call("POST", "/_sandbox/faults", { key: null, body: { action: FAIL, priority: 1.5 } });
    expect([wrong.status, wrong.body.message]).toEqual([400, expect.stringContaining("priority")]);
  });

  test("can expect only rules that the judge has, by id or pattern", async () => {
    const bench = await open();
    expect((await add(bench, { action: FAIL, expect: ["retry_after.*", "effect.single"] })).expect).toEqual([
      "retry_after.*",
      "effect.single",
    ]);
    const wrong = async (name: string) => {
      const { status, body } = await bench.call("POST", "/_sandbox/faults", {
        key: null,
        body: { action: FAIL, expect: ["retry.happened", name] },
      });
      return [status, body.details.errors[0].pointer, body.message];
    };
    expect(await wrong("retry.bound")).toEqual([400, "/expect/1", expect.stringContaining("retry.bounded")]);
    expect(await wrong("nothing.*")).toEqual([400, "/expect/1", expect.stringContaining("webhook.single_effect")]);
  });

  test("is changed field by field; a new trigger resets its counts", async () => {
    const bench = await open();
    const { id } = await add(bench, { action: FAIL });
    expect((await list(bench)).status).toBe(500);
    expect(await bench.control("PATCH", `/faults/${id}`, { name: "again" })).toMatchObject({
      name: "again",
      status: "spent",
      fired: 1,
    });
    expect(await bench.control("PATCH", `/faults/${id}`, { trigger: { times: 2 } })).toMatchObject({
      status: "armed",
      fired: 0,
      remaining: 2,
    });
    await bench.control("PATCH", `/faults/${id}`, { enabled: false });
    expect((await list(bench)).status).toBe(200);
    await bench.control("PATCH", `/faults/${id}`, { enabled: true, action: { type: "status", status: 502 } });
    expect((await list(bench)).status).toBe(502);
    const wrong = await bench.call("PATCH", `/_sandbox/faults/${id}`, {
      key: null,
      body: { action: { type: "status", status: 1 } },
    });
    expect(wrong.status).toBe(400);
    expect(await bench.control("DELETE", `/faults/${id}`)).toMatchObject({ status: "removed", fired: 1 });
    expect((await list(bench)).status).toBe(200);
  });

  test("expires at its ttl, to the millisecond", async () => {
    const bench = await open();
    const { id } = await add(bench, { action: FAIL, trigger: { times: null }, ttl: "10s" });
    await advance(bench, "9999ms");
    expect((await list(bench)).status).toBe(500);
    await advance(bench, "1ms");
    expect((await list(bench)).status).toBe(200);
    expect(await get(bench, id)).toMatchObject({ status: "expired", fired: 1, matched: 1 });
  });

  test("never gets the id of another rule in the logs, even after rules are removed or after a restart", async () => {
    const db = join(folder(), "sandbox.db");
    const receiver = await receive();
    const first = await share({ memory: false, db });
    await first.call("POST", "/v1/webhooks", { body: { url: receiver.url, events: ["payment.failed"] } });
    const ids: string[] = [(await add(first, { action: FAIL })).id];
    await list(first);
    await first.control("DELETE", `/faults/${ids[0]}`);
    ids.push((await add(first, { action: { type: "duplicate" } })).id);
    await first.control("POST", "/events", { type: "payment.failed" });
    await receiver.arrived(2);
    await first.control("DELETE", "/faults");
    ids.push((await add(first, { action: FAIL })).id);
    await list(first);
    await first.close();
    const second = await open({ memory: false, db });
    for (const _ of [1, 2, 3]) ids.push((await add(second, { action: FAIL })).id);
    expect(new Set(ids).size).toBe(6);
    await second.control("POST", "/reset", {});
    expect((await add(second, { action: FAIL })).id).toBe(ids[0]);
  });

  test("cannot take the id of a removed rule that fired, until everything is reset", async () => {
    const bench = await open();
    const rule = { id: "flt_mine", action: FAIL };
    const again = () => post(bench, rule);
    await add(bench, rule);
    await bench.control("DELETE", "/faults/flt_mine");
    await add(bench, rule);
    await list(bench);
    await bench.control("PATCH", "/faults/flt_mine", { trigger: { times: 2 } });
    await bench.control("DELETE", "/faults/flt_mine");
    expect(await again()).toMatchObject({
      status: 409,
      body: {
        code: "already_exists",
        message: expect.stringContaining("Choose another id, leave it out, or reset everything first."),
      },
    });
    await bench.control("POST", "/reset", {});
    expect((await again()).status).toBe(201);
    await list(bench);
    await bench.control("DELETE", "/faults");
    expect((await again()).status).toBe(409);
  });

  test("may take the id of a rule that fired for one merchant once that merchant's logs are erased", async () => {
    const bench = await open();
    const rule = (merchant: string) => ({ id: "flt_mine", action: FAIL, match: { merchant } });
    await add(bench, rule("mer_lodge"));
    await list(bench);
    await bench.control("POST", "/reset", { merchant: "mer_lodge" });
    expect(await add(bench, rule("mer_market"))).toMatchObject({ matched: 0, fired: 0 });
  });

  test("of a file or a scenario is armed again after a restart on the same database", async () => {
    const rules = [{ id: "flt_mine", action: FAIL, match: { operation: "payouts.list" } }];
    const faults = temporaryFile(JSON.stringify(rules), "faults.json");
    const options = { memory: false, db: join(dirname(faults), "sandbox.db"), faults, scenario: ["rate-limit-burst"] };
    const idsOf = async (bench: Bench) =>
      (await bench.control("GET", "/faults")).data.map(({ id }: { id: string }) => id);
    const first = await share(options);
    await first.call("GET", "/v1/payouts");
    await list(first);
    const struck = await idsOf(first);
    await first.close();
    const second = await open(options);
    const ids = await idsOf(second);
    expect(struck.filter((id: string) => ids.includes(id))).toEqual(["flt_mine"]);
    expect(ids).toHaveLength(struck.length);
  });

  test("is removed by a reset, but by a merchant's reset only if it names that merchant", async () => {
    const bench = await open();
    await add(bench, { id: "flt_all", action: FAIL, match: { operation: "payouts.list" } });
    await add(bench, { id: "flt_lodge", action: FAIL, match: { merchant: "mer_lodge" } });
    await add(bench, { id: "flt_key", action: FAIL, match: { key: "sk_test_lodge" } });
    await add(bench, { id: "flt_market", action: FAIL, match: { merchant: "mer_market" } });
    const ids = async () => (await bench.control("GET", "/faults")).data.map(({ id }: { id: string }) => id);
    await bench.control("POST", "/reset", { merchant: "mer_lodge" });
    expect(await ids()).toEqual(["flt_all", "flt_market"]);
    await bench.control("DELETE", "/faults?merchant=mer_market");
    expect(await ids()).toEqual(["flt_all"]);
    await bench.control("POST", "/reset", {});
    expect(await ids()).toEqual([]);
  });
});

describe("matching", () => {
  const hits = async (match: object, one: (bench: Bench) => Promise<Answer>) => {
    const bench = await open();
    await add(bench, { action: { type: "status", status: 599 }, match });
    return (await one(bench)).status === 599;
  };
  const create =
    (body: object, headers = {}) =>
    (bench: Bench) =>
      bench.call("POST", "/v1/employees/payroll", { body, headers });

  test.each([
    [{ operation: "payroll.create" }, true],
    [{ operation: ["payments.list", "payroll.create"] }, true],
    [{ operation: "payroll.*" }, true],
    [{ operation: "payments.list" }, false],
    [{ merchant: "mer_lodge" }, true],
    [{ merchant: "mer_market" }, false],
    [{ key: "sk_test_lodge" }, true],
    [{ key: "sk_test_market" }, false],
    [{ header: { "Idempotency-Key": { present: true } } }, true],
    [{ header: { "idempotency-key": "abc" } }, true],
    [{ header: { "idempotency-key": { startsWith: "x" } } }, false],
    [{ header: { "X-Nothing": { present: false } } }, true],
    [{ body: { "/amount": { gte: 10_000 } } }, true],
    [{ body: { "/amount": { gt: 10_000 } } }, false],
    [{ body: { "/amount": 10_000, "/deep/0/name": { contains: "nn" } } }, true],
    [{ body: { "/amount": { gte: 1, lt: 10_000 } } }, false],
    [{ body: { "/kind": { in: ["a", "b"] }, "/nothing": { present: false } } }, true],
    [{ body: { "/kind": { ne: "b" } } }, false],
    [{ merchant: "mer_lodge", operation: "payments.list" }, false],
  ])("of one call against %j is %s", async (match, expected) => {
    const body = { amount: 10_000, deep: [{ name: "anna" }], kind: "b" };
    expect(await hits(match, create(body, { "idempotency-key": "abc" }))).toBe(expected);
  });

  test("a merchant's rule never affects another merchant, whatever the action", async () => {
    const bench = await open();
    for (const { example } of apiActions) {
      const [action = ""] = example.split(" ");
      await add(bench, { ...ruleOf(action, [], {}), match: { merchant: "mer_market" }, trigger: { times: 5 } });
    }
    const plain = await (await open()).call("GET", "/v1/payments");
    const beside = await list(bench);
    expect([beside.status, beside.text, beside.rawHeaders]).toEqual([plain.status, plain.text, plain.rawHeaders]);
    const rules = (await bench.control("GET", "/faults")).data as { matched: number }[];
    expect(rules.map(({ matched }) => matched)).toEqual(rules.map(() => 0));
  });
});

describe("triggers", () => {
  const fired = async (trigger: object, count: number) => {
    const bench = await open();
    await add(bench, { action: FAIL, trigger });
    return (await statuses(count, () => list(bench))).map((status) => (status === 500 ? "x" : ".")).join("");
  };

  test.each([
    [{}, "x....."],
    [{ times: 3 }, "xxx..."],
    [{ times: null }, "xxxxxx"],
    [{ skip: 2 }, "..x..."],
    [{ skip: 1, times: 2 }, ".xx..."],
    [{ every: 3 }, "..x..x"],
    [{ every: 2, times: 2, skip: 1 }, "..x.x."],
    [{ probability: 0 }, "......"],
    [{ probability: 1, times: 2 }, "xx...."],
  ])("%j fires on the calls marked x: %s", async (trigger, expected) => {
    expect(await fired(trigger, 6)).toBe(expected);
  });

  test("a probability makes the same choices for the same seed, and different ones for another seed", async () => {
    const [one, again, other] = [
      await fired({ probability: 0.5, seed: 42 }, 40),
      await fired({ probability: 0.5, seed: 42 }, 40),
      await fired({ probability: 0.5, seed: 43 }, 40),
    ];
    expect(again).toBe(one);
    expect(other).not.toBe(one);
    expect(one.split("x").length - 1).toBeGreaterThan(8);
    expect(one.split(".").length - 1).toBeGreaterThan(8);
  });

  test("`after` and `for` use sandbox time", async () => {
    const bench = await open();
    await add(bench, { action: FAIL, trigger: { after: "10s", for: "5s" } });
    const found: number[] = [];
    for (const by of ["0ms", "9999ms", "1ms", "4999ms", "1ms"]) {
      await advance(bench, by);
      found.push((await list(bench)).status);
    }
    expect(found).toEqual([200, 200, 500, 500, 200]);
  });

  test("per idempotency_key fire once for each key, even with concurrent calls", async () => {
    const bench = await open();
    await add(bench, {
      action: FAIL,
      match: { operation: "pricing_rules.create" },
      trigger: { per: "idempotency_key" },
    });
    const body = { name: "x", adjustmentType: "fixed", adjustmentValue: 1 };
    const one = async (key: string) => {
      const headers = { "idempotency-key": key };
      const tried = await statuses(3, () => bench.call("POST", "/v1/hospitality/pricing-rules", { body, headers }));
      return tried.join();
    };
    expect(await Promise.all(Array.from({ length: 10 }, (_, index) => one(`k${index}`)))).toEqual(
      Array(10).fill("500,200,200"),
    );
  });

  test("per operation or per key fire once for each operation or API key", async () => {
    const bench = await open();
    const { id } = await add(bench, { action: FAIL, trigger: { per: "operation" } });
    const me = () => bench.call("GET", "/v1/merchants/me");
    expect([(await list(bench)).status, (await me()).status, (await list(bench)).status, (await me()).status]).toEqual([
      500, 500, 200, 200,
    ]);
    await bench.control("PATCH", `/faults/${id}`, { trigger: { per: "key" } });
    expect([(await list(bench)).status, (await me()).status, (await list(bench, "sk_test_market")).status]).toEqual([
      500, 200, 500,
    ]);
  });
});

describe("an inline fault (X-Sandbox-Inject)", () => {
  const send = (bench: Bench, inject: string) =>
    bench.call("GET", "/v1/payments", { headers: { "x-sandbox-inject": inject } });

  test.each([
    ["status=503; retryAfter=9", 503, "9"],
    ["status=503;retryAfter=past", 503, "Mon, 05 Jan 2026 11:00:00 GMT"],
    ["rate_limit=4", 429, "4"],
    ["outage", 503, "5"],
    ["auth=expired", 401, undefined],
    ["latency=1ms, status=502", 502, undefined],
    ["lost-response=502", 502, undefined],
  ])("%s affects only its own call", async (inject, status, wait) => {
    const bench = await open();
    const answer = await send(bench, inject);
    expect([answer.status, answer.headers["retry-after"]]).toEqual([status, wait]);
    expect(answer.headers["x-sandbox-fault"]).toContain("flt_inline");
    expect((await list(bench)).status).toBe(200);
  });

  test.each([
    ["stauts=503", "Did you mean status?"],
    ["status=200", "at least 400"],
    ["status", "status"],
    ["duplicate=2", "acts on deliveries"],
    ["status=500; retryaftr=2", "Did you mean retryAfter?"],
    ["", "There is no action"],
  ])("%j is rejected with the service's own error", async (inject, says) => {
    const answer = await send(await open(), inject);
    expect(answer).toMatchObject({ status: 400, body: { code: "validation_failed" } });
    expect(answer.body.message).toContain(says);
  });
});

describe("rate-limit windows", () => {
  test("are shown, and can be changed until a reset", async () => {
    const bench = await open({ rateLimit: ["100/1m", "payouts.list=5/10s"] });
    await bench.call("GET", "/v1/payouts");
    await list(bench);
    const { data } = await bench.control("GET", "/rate-limits");
    const shared = { limit: 100, window: 60_000, remaining: 99, reset: "2026-01-05T12:01:00.000Z", resetIn: 60_000 };
    const own = { limit: 5, window: 10_000, remaining: 4, reset: "2026-01-05T12:00:10.000Z", resetIn: 10_000 };
    expect(data.filter(({ merchant }: { merchant: string }) => merchant === "mer_lodge")).toEqual([
      { merchant: "mer_lodge", operation: null, ...shared },
      { merchant: "mer_lodge", operation: "payouts.list", ...own },
    ]);
    expect(
      await bench.control("PUT", "/rate-limits/mer_lodge", { limit: 10, window: "20s", remaining: 1, resetIn: "7s" }),
    ).toMatchObject({
      limit: 10,
      window: 20_000,
      remaining: 1,
      resetIn: 7_000,
    });
    expect(await statuses(2, () => list(bench))).toEqual([200, 429]);
    expect((await list(bench)).headers["retry-after"]).toBe("7");
    await advance(bench, "7s");
    expect((await list(bench)).headers).toMatchObject({ "ratelimit-limit": "10", "ratelimit-remaining": "9" });
    await bench.control("POST", "/reset", {});
    expect((await list(bench)).headers["ratelimit-limit"]).toBe("100");
  });

  test.each([[{ limit: 0 }], [{ remaining: 7_000 }], [{ resetIn: "soon" }], [{ resetIn: "0s" }], [{ limits: 1 }]])(
    "cannot be set to %j",
    async (body) => {
      const bench = await open();
      expect((await bench.call("PUT", "/_sandbox/rate-limits/mer_lodge", { key: null, body })).status).toBe(400);
      expect((await bench.call("PUT", "/_sandbox/rate-limits/mer_nobody", { key: null, body: {} })).status).toBe(404);
    },
  );
});

const CALL = {
  requestId: "req_1",
  merchant: undefined,
  key: undefined,
  operation: "a.b",
  address: "",
  header: () => undefined,
  body: {},
};

function makeFaults() {
  const known = { operations: ["a.b"], eventTypes: [], merchants: () => [], ownerOf: () => undefined, judgeRules: [] };
  return createFaults({ clock: createClock(0), seed: 1, known, keepHistory: () => {}, loggedRuleIds: () => [] });
}

describe("latency distributions", () => {
  const draws = (action: object, count: number) => {
    const made = makeFaults();
    made.rules.add({ action: { type: "latency", ...action }, trigger: { times: count, seed: 7 } });
    return Array.from({ length: count }, () => {
      const effect = made.api.decide("latency", CALL)?.effect;
      return effect?.kind === "delay" ? effect.milliseconds : Number.NaN;
    });
  };

  test("fixed, uniform and lognormal have their own spread; lognormal repeats for the same seed", () => {
    expect(draws({ ms: 20 }, 3)).toEqual([20, 20, 20]);
    const even = draws({ distribution: "uniform", min: "100ms", max: "200ms" }, 400);
    expect(Math.min(...even)).toBeGreaterThanOrEqual(100);
    expect(Math.max(...even)).toBeLessThanOrEqual(200);
    expect(even.filter((drawn) => drawn < 150).length).toBeGreaterThan(150);
    const tailed = draws({ distribution: "lognormal", median: "100ms", sigma: 0.5 }, 400);
    expect(tailed.filter((drawn) => drawn < 100).length).toBeGreaterThan(150);
    expect(tailed.filter((drawn) => drawn > 200).length).toBeGreaterThan(5);
    expect(draws({ distribution: "lognormal", median: "100ms", sigma: 0.5 }, 400)).toEqual(tailed);
  });
});

describe("rules from a file", () => {
  const write = (text: string) => temporaryFile(text, "faults.json");

  test("are armed at the start, from an array or from a named field", async () => {
    const rule = { id: "flt_filed", action: FAIL };
    for (const text of [JSON.stringify([rule]), JSON.stringify({ faults: [rule] })]) {
      const bench = await open({ faults: write(text) });
      expect((await list(bench)).headers["x-sandbox-fault"]).toBe("flt_filed");
    }
  });

  test.each([
    [
      '[\n  {"action": {"type": "status", "status": 500}},\n  {"action": {"type": "statsu"}}\n]',
      /faults\.json:3 \/1\/action\/type: .*Did you mean status/,
    ],
    [
      '{"faults": [\n{"action":\n{"type": "status", "status": 700}}]}',
      /faults\.json:3 \/faults\/0\/action\/status: .*at most 599/,
    ],
    ["[\n{]", /faults\.json:2: is not JSON/],
    ["7", /faults\.json:1: a file of faults is a list/],
  ])("are rejected with the line of the error: %j", async (text, says) => {
    await expect(open({ faults: write(text) })).rejects.toThrow(says);
    await expect(open({ faults: join(folder(), "nowhere.json") })).rejects.toThrow(/Cannot read/);
  });
});

describe("the command line", () => {
  test.each([
    [
      "503",
      ["a.b", "c.d"],
      { merchant: "mer_lodge" },
      {
        match: { operation: ["a.b", "c.d"], merchant: "mer_lodge" },
        trigger: {},
        action: { type: "status", status: 503 },
      },
    ],
    ["rate_limit", [], { exhaust: "" }, { match: {}, trigger: {}, action: { type: "rate_limit", exhaust: true } }],
  ] as const)(
    "makes the right rule of fault add %s, the arguments %j and the options %j",
    (action, names, own, rule) => {
      expect(ruleOf(action, names, own)).toEqual(rule);
    },
  );

  const wordsOf = (example: string) =>
    [...example.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");

  test.each(actions.map(({ type, example }) => [type, example] as const))(
    "makes a valid rule from the example of %s",
    async (type, example) => {
      const { positionals, flags } = parseArguments(wordsOf(example), {
        name: "fault add",
        sandboxOptions: [],
        flags: fault.flags,
      });
      const [action = "", ...names] = positionals;
      expect((await add(await open(), ruleOf(action, names, flags))).action.type).toBe(type);
    },
  );
});

test("the published schema names every action, and the page shows an example of each", async () => {
  const bench = await open();
  expect(await bench.control("GET", "/faults/schema.json")).toEqual(JSON.parse(JSON.stringify(jsonSchema())));
  const titles = (jsonSchema().oneOf as { title: string }[]).map(({ title }) => title);
  expect(titles).toEqual(actions.map(({ type }) => type));
  const page = readFileSync(join(import.meta.dirname, "../../docs/faults.md"), "utf8");
  const missing = actions
    .map(({ type, description, example }) => `| \`${type}\` | ${description} | \`fault add ${example}\` |`)
    .filter((row) => !page.includes(row));
  expect(missing, "docs/faults.md is out of date: run npm run docs").toEqual([]);
});

test("`armed` is true only while a rule is armed, so calls evaluate no rules otherwise", () => {
  const made = makeFaults();
  expect([made.api.armed, made.delivery.armed]).toEqual([false, false]);
  const { id } = made.rules.add({ action: FAIL });
  expect([made.api.armed, made.delivery.armed]).toEqual([true, false]);
  expect(made.api.decide("before", CALL)?.firing.ruleId).toBe(id);
  expect(made.api.armed).toBe(false);
});
