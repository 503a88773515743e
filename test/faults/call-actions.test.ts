// Each action on a call as a raw socket sees it: the bytes, their order, and the state of the connection.

import { connect, type Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { apiActions } from "../../src/faults/api-actions.ts";
import { type Bench, lines, NOON_SECONDS, open } from "../support/sandbox.ts";

const DRAFT = {
  periodStart: "2026-01-01",
  periodEnd: "2026-01-31",
  payDate: "2026-02-01",
  items: [{ employeeId: "emp_1", grossAmount: 100 }],
};
const PAYROLL = JSON.stringify(DRAFT);

const tried = new Set<string>();

function add(bench: Bench, action: { type: string } & Record<string, unknown>, rest: object = {}) {
  tried.add(action.type);
  return bench.control("POST", "/faults", { action, ...rest });
}

/** A sandbox with a rule of this action, and the id of the rule. */
async function armed(action: Parameters<typeof add>[1], rest?: object) {
  const bench = await open();
  const { id } = await add(bench, action, rest);
  return { bench, id: id as string };
}

const rule = (bench: Bench, id: string) => bench.control("GET", `/faults/${id}`);
const list = (bench: Bench) => bench.call("GET", "/v1/payments");
const create = (bench: Bench, key?: string) =>
  bench.call("POST", "/v1/employees/payroll", {
    body: DRAFT,
    headers: key === undefined ? {} : { "idempotency-key": key },
  });
const created = async (bench: Bench) =>
  (await bench.control("GET", "/events?type=payroll.created&limit=100")).data.length as number;

interface Seen {
  text: string;
  /** How the connection ended. */
  end: "closed" | "reset" | "open";
}

const GET = lines("GET /v1/payments?limit=1 HTTP/1.1", "Host: localhost", "Authorization: Bearer sk_test_lodge");
const post = (body: string, key: string) =>
  lines(
    "POST /v1/employees/payroll HTTP/1.1",
    "Host: localhost",
    "Authorization: Bearer sk_test_lodge",
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
    `Idempotency-Key: ${key}`,
  ) + body;

/**
 * Sends bytes, and returns the response and how the connection ended. If the connection stays open, closes it once
 * `until` returns true.
 */
function watch(bench: Bench, bytes: string, until?: () => Promise<boolean>): Promise<Seen> {
  return new Promise((resolve) => {
    const socket: Socket = connect(bench.port, "127.0.0.1", () =>
      socket.write(bytes.replace("Host: localhost", `Host: localhost:${bench.port}`)),
    );
    let text = "";
    let reset = false;
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
    });
    socket.on("error", (error: NodeJS.ErrnoException) => {
      reset = error.code === "ECONNRESET";
    });
    socket.on("close", () => resolve({ text, end: reset ? "reset" : "closed" }));
    const look = async () => {
      if (!until || socket.destroyed) return;
      if (!(await until())) return void look();
      socket.removeAllListeners("close");
      socket.destroy();
      resolve({ text, end: "open" });
    };
    void look();
  });
}

describe("status", () => {
  test("sends an error in the service's format, before any effect, once by default", async () => {
    const { bench, id } = await armed(
      { type: "status", status: 503, retryAfter: 7 },
      { match: { operation: "payroll.create" } },
    );
    const answer = await create(bench, "k");
    expect(answer).toMatchObject({
      status: 503,
      headers: {
        "retry-after": "7",
        "x-sandbox-fault": id,
        "content-type": "application/json",
        "ratelimit-limit": "6000",
      },
      body: {
        error: "service_unavailable",
        code: "outage",
        details: { retryAfter: 7, requestId: answer.headers["x-sandbox-request-id"] },
      },
    });
    expect(await created(bench)).toBe(0);
    const retry = await create(bench, "k");
    expect([retry.status, retry.headers["x-sandbox-fault"], retry.headers["idempotent-replayed"]]).toEqual([
      200,
      undefined,
      undefined,
    ]);
    expect(await rule(bench, id)).toMatchObject({
      status: "spent",
      matched: 1,
      fired: 1,
      remaining: 0,
      lastFiredAt: "2026-01-05T12:00:00.000Z",
    });
    expect((await bench.control("GET", `/requests/${answer.headers["x-sandbox-request-id"]}`)).fault).toBe(id);
  });

  test.each([
    [404, "not_found", "resource_not_found"],
    [418, "invalid_request", "injected_error"],
    [422, "idempotency_error", "idempotency_key_reused"],
    [429, "rate_limited", "injected_rate_limit"],
    [502, "api_error", "injected_error"],
  ])("%i has the category %s and the code %s", async (status, error, code) => {
    const { bench } = await armed({ type: "status", status });
    expect(await list(bench)).toMatchObject({ status, body: { error, code } });
  });

  test("sends the given code and message, and with label: false no X-Sandbox-Fault", async () => {
    const { bench } = await armed(
      { type: "status", status: 409, code: "booking_locked", message: "Locked." },
      { label: false },
    );
    const answer = await list(bench);
    expect(answer).toMatchObject({
      status: 409,
      body: { error: "conflict", code: "booking_locked", message: "Locked." },
    });
    expect(answer.headers["x-sandbox-fault"]).toBeUndefined();
  });
});

describe("rate_limit", () => {
  test("sends consistent headers and does not use up the real window", async () => {
    const bench = await open({ clock: "2026-01-05T12:00:00.400Z" });
    await add(bench, { type: "rate_limit", retryAfter: 2 });
    expect(await list(bench)).toMatchObject({
      status: 429,
      headers: {
        "retry-after": "2",
        "ratelimit-limit": "6000",
        "ratelimit-remaining": "0",
        "ratelimit-reset": String(NOON_SECONDS + 2),
        "cache-control": "no-store",
      },
      body: { error: "rate_limited", code: "injected_rate_limit", details: { limit: 6000, retryAfter: 2 } },
    });
    expect((await list(bench)).headers["ratelimit-remaining"]).toBe("5999");
  });

  test.each([
    ["absent", undefined, 1],
    ["zero", "0", 0],
    ["past", "Mon, 05 Jan 2026 11:00:00 GMT", 0],
    ["invalid", "soon", 1],
    [{ form: "http_date", seconds: 90 }, "Mon, 05 Jan 2026 12:01:30 GMT", 90],
  ])("with retryAfter %j, the header Retry-After is %s", async (retryAfter, header, seconds) => {
    const { bench } = await armed({ type: "rate_limit", retryAfter });
    const { status, headers } = await list(bench);
    expect([status, headers["retry-after"], headers["ratelimit-reset"]]).toEqual([
      429,
      header,
      String(NOON_SECONDS + seconds),
    ]);
  });
});

describe("latency", () => {
  const timed = async (work: () => Promise<unknown>) => {
    const started = performance.now();
    await work();
    return performance.now() - started;
  };

  test("delays the response in real time, and the operation takes effect", async () => {
    const { bench } = await armed({ type: "latency", ms: 150 });
    const waited = await timed(() => create(bench));
    expect(waited).toBeGreaterThanOrEqual(145);
    expect(await created(bench)).toBe(1);
  });

  test("with in=body sends the headers first and the body later", async () => {
    const { bench } = await armed({ type: "latency", ms: 600, in: "body" });
    const chunks: string[] = [];
    const started = performance.now();
    const socket = connect(bench.port, "127.0.0.1").setEncoding("utf8");
    socket.write(
      `GET /v1/merchants/me HTTP/1.1\r\nHost: localhost:${bench.port}\r\n` +
        "Authorization: Bearer sk_test_lodge\r\nConnection: close\r\n\r\n",
    );
    for await (const chunk of socket) chunks.push(chunk);
    expect(performance.now() - started).toBeGreaterThanOrEqual(595);
    const [head = "", ...body] = chunks;
    expect(head).toMatch(/\r\n\r\n$/);
    expect(JSON.parse(body.join("")).id).toBe("mer_lodge");
  });

  test("is added to another fault that affects the call", async () => {
    const bench = await open();
    const slow = await add(bench, { type: "latency", ms: 100 });
    const broken = await add(bench, { type: "status", status: 500 });
    let answer: Awaited<ReturnType<typeof list>> | undefined;
    const waited = await timed(async () => {
      answer = await list(bench);
    });
    expect(waited).toBeGreaterThanOrEqual(95);
    expect(answer?.status).toBe(500);
    expect(answer?.headers["x-sandbox-fault"]).toBe(`${broken.id}, ${slow.id}`);
  });

  test("releases delayed calls when the sandbox is reset", async () => {
    const { bench, id } = await armed({ type: "latency", ms: 60_000 });
    const answer = list(bench);
    while ((await rule(bench, id)).fired === 0);
    await bench.control("POST", "/reset", {});
    expect((await answer).status).toBe(200);
  });
});

describe("lost_response", () => {
  test.each([
    ["reset", "reset"],
    ["empty", "closed"],
  ])(
    "as %s lets the operation take effect; the connection is %s, and a retry gets the first response",
    async (as, end) => {
      const { bench, id } = await armed({ type: "lost_response", as }, { match: { operation: "payroll.create" } });
      expect(await watch(bench, post(PAYROLL, "lost"))).toEqual({ text: "", end });
      expect(await created(bench)).toBe(1);
      const retry = await create(bench, "lost");
      expect([retry.status, retry.headers["idempotent-replayed"]]).toEqual([200, "true"]);
      expect(retry.body.object).toBe("payroll");
      expect(await created(bench)).toBe(1);
      expect(await rule(bench, id)).toMatchObject({ fired: 1, status: "spent" });
      const [, lost] = (await bench.control("GET", "/requests?operation=payroll.create")).data;
      expect(lost).toMatchObject({ status: 0, fault: id });
    },
  );

  test("as hang sends nothing and keeps the connection open", async () => {
    const { bench } = await armed({ type: "lost_response", as: "hang" });
    const seen = await watch(bench, post(PAYROLL, "hung"), async () => (await created(bench)) === 1);
    expect(seen).toEqual({ text: "", end: "open" });
    expect((await create(bench, "hung")).headers["idempotent-replayed"]).toBe("true");
  });

  test("fires only for a call that succeeds", async () => {
    const { bench, id } = await armed({ type: "lost_response", as: 502 });
    const refused = await bench.call("POST", "/v1/employees/payroll", { body: {} });
    expect([refused.status, (await rule(bench, id)).fired]).toEqual([400, 0]);
    expect((await create(bench)).status).toBe(502);
  });
});

describe("connection", () => {
  test.each([
    ["reset", "", "reset"],
    ["empty", "", "closed"],
  ] as const)("as %s sends no bytes, and the operation has no effect", async (as, text, end) => {
    const { bench } = await armed({ type: "connection", as });
    expect(await watch(bench, post(PAYROLL, "k"))).toEqual({ text, end });
    expect(await created(bench)).toBe(0);
    expect((await create(bench, "k")).headers["idempotent-replayed"]).toBeUndefined();
  });

  test("as garbage sends bytes that are not HTTP", async () => {
    const { bench } = await armed({ type: "connection", as: "garbage" });
    const { text, end } = await watch(bench, GET);
    expect([text.startsWith("HTTP"), text.length > 0, end]).toEqual([false, true, "closed"]);
  });

  test("as malformed_chunk sends valid headers, then a chunk without a length", async () => {
    const { bench } = await armed({ type: "connection", as: "malformed_chunk" });
    const { text, end } = await watch(bench, GET);
    expect(text.split("\r\n")[0]).toBe("HTTP/1.1 200 OK");
    expect([text.includes("Transfer-Encoding: chunked"), end]).toEqual([true, "closed"]);
  });

  test("as hang keeps the connection open until a reset", async () => {
    const { bench, id } = await armed({ type: "connection", as: "hang" });
    const hanging = watch(bench, GET);
    while ((await rule(bench, id)).fired === 0);
    await bench.control("POST", "/reset", {});
    expect((await hanging).text).toBe("");
  });
});

describe("body", () => {
  const whole = async (bench: Bench) => (await list(bench)).text;

  test("as truncate sends half of Content-Length and closes the connection", async () => {
    const { bench } = await armed({ type: "body", as: "truncate" });
    const { text, end } = await watch(bench, GET);
    const length = Number(/Content-Length: (\d+)/.exec(text)?.[1]);
    const received = text.slice(text.indexOf("\r\n\r\n") + 4);
    expect([received.length, end]).toEqual([Math.ceil(length / 2), "closed"]);
  });

  test("as invalid_json sends a complete response that does not parse", async () => {
    const { bench } = await armed({ type: "body", as: "invalid_json" });
    const answer = await list(bench);
    expect([answer.status, answer.headers["content-type"], answer.body]).toEqual([200, "application/json", undefined]);
    expect(Number(answer.headers["content-length"])).toBe(Buffer.byteLength(answer.text));
  });

  test("as html and as wrong_content_type keeps the status and changes the content type", async () => {
    const { bench } = await armed({ type: "body", as: "html" });
    const page = await list(bench);
    expect([page.status, page.headers["content-type"], page.text.startsWith("<!DOCTYPE html>")]).toEqual([
      200,
      "text/html; charset=utf-8",
      true,
    ]);
    await add(bench, { type: "body", as: "wrong_content_type" });
    const mislabelled = await list(bench);
    expect([mislabelled.status, mislabelled.headers["content-type"], mislabelled.body.object]).toEqual([
      200,
      "text/plain; charset=utf-8",
      "list",
    ]);
  });

  test("as drip sends the same bytes slowly", async () => {
    const bench = await open();
    const usual = await bench.call("GET", "/v1/merchants/me");
    await add(bench, { type: "body", as: "drip", bytesPerSecond: 2_000 });
    const started = performance.now();
    const slow = await bench.call("GET", "/v1/merchants/me");
    expect(slow.text).toBe(usual.text);
    expect(performance.now() - started).toBeGreaterThanOrEqual((usual.text.length / 2_000) * 1_000 - 110);
  });

  test("affects neither errors nor responses to HEAD", async () => {
    const { bench, id } = await armed({ type: "body", as: "html" });
    expect((await bench.call("GET", "/v1/customers/cus_nobody")).status).toBe(404);
    expect((await bench.call("HEAD", "/v1/payments")).headers["content-type"]).toBe("application/json");
    expect((await rule(bench, id)).fired).toBe(0);
    expect(await whole(bench)).toContain("It works!");
  });
});

describe("outage", () => {
  test("fails every route before any other check, for its duration", async () => {
    const { bench } = await armed({ type: "outage", retryAfter: 30 }, { trigger: { for: "30s" } });
    const [fine, stranger, nowhere] = [
      await list(bench),
      await bench.call("GET", "/v1/payments", { key: null }),
      await bench.call("GET", "/v1/nowhere"),
    ];
    for (const answer of [fine, stranger, nowhere])
      expect(answer).toMatchObject({
        status: 503,
        headers: { "retry-after": "30" },
        body: { error: "service_unavailable", code: "outage" },
      });
    expect(fine.headers["ratelimit-remaining"]).toBe("6000");
    expect((await bench.call("GET", "/_sandbox/health", { key: null })).status).toBe(200);
    await bench.control("POST", "/clock/advance", { by: "29999ms" });
    expect((await list(bench)).status).toBe(503);
    await bench.control("POST", "/clock/advance", { by: "1ms" });
    expect((await list(bench)).status).toBe(200);
    const [state] = (await bench.control("GET", "/faults")).data;
    expect(state).toMatchObject({ status: "expired", matched: 4, fired: 4, remaining: null });
  });

  test.each([{ ttl: "30s" }, { trigger: { for: "30s" } }])(
    "with %j names the command that ends it while the clock is frozen",
    async (rule) => {
      const { bench } = await armed({ type: "outage" }, rule);
      await bench.control("POST", "/clock/advance", { by: "10s" });
      const answer = await list(bench);
      expect(answer).toMatchObject({ status: 503, body: { details: { retryAfter: 5, clock: "frozen" } } });
      const [, by = ""] = /frozen.*`npx merchant-sandbox clock advance (\w+)`/.exec(answer.body.message) ?? [];
      expect(by).toBe("20s");
      await bench.control("POST", "/clock/advance", { by });
      expect((await list(bench)).status).toBe(200);
    },
  );

  test("does not mention the clock if it has no end, or if the clock runs", async () => {
    const { bench, id } = await armed({ type: "outage" });
    expect((await list(bench)).body).toMatchObject({
      message: "The service is down. Try again later.",
      details: { retryAfter: 5 },
    });
    await bench.control("DELETE", `/faults/${id}`);
    await bench.control("PUT", "/clock", { mode: "real" });
    await add(bench, { type: "outage" }, { ttl: "1h" });
    const { body } = await list(bench);
    expect([body.message, body.details.clock]).toEqual(["The service is down. Try again later.", undefined]);
  });
});

describe("auth", () => {
  test.each([
    ["revoked", "invalid_api_key"],
    ["expired", "token_expired"],
  ])("as %s rejects a valid key with %s", async (as, code) => {
    const { bench } = await armed({ type: "auth", as });
    expect((await bench.call("GET", "/v1/payments", { key: null })).body.code).toBe("missing_api_key");
    expect(await list(bench)).toMatchObject({
      status: 401,
      headers: { "www-authenticate": 'Bearer error="invalid_token"', "ratelimit-remaining": "6000" },
      body: { error: "authentication_error", code },
    });
    expect((await list(bench)).status).toBe(200);
  });
});

describe("idempotency", () => {
  test("as expired deletes the stored response, so the retry takes effect again", async () => {
    const bench = await open();
    await create(bench, "old");
    await add(bench, { type: "idempotency", as: "expired" });
    const again = await create(bench, "old");
    expect([again.status, again.headers["idempotent-replayed"], await created(bench)]).toEqual([200, undefined, 2]);
    expect((await create(bench, "old")).headers["idempotent-replayed"]).toBe("true");
  });
});

describe("stale_read", () => {
  test("returns an earlier state, without the records and changes that were made since then", async () => {
    const bench = await open();
    const before = await list(bench);
    await add(bench, { type: "stale_read", lag: "10s" }, { trigger: { times: null } });
    await bench.control("POST", "/clock/advance", { by: "1s" });
    await bench.control("POST", "/records/payment", { merchant: "mer_lodge", amount: 5, currency: "EUR" });
    await bench.control("PATCH", "/records/payment/pay_pending", { merchant: "mer_lodge", status: "succeeded" });
    expect((await list(bench)).body).toEqual(before.body);
    await bench.control("POST", "/clock/advance", { by: "10s" });
    const now = await list(bench);
    expect(now.body.data[0].amount).toBe(5);
    await bench.control("DELETE", "/faults");
    expect((await list(bench)).body).toEqual(now.body);
  });

  test("fires once for each rule by default, even for a rule that is added later", async () => {
    const bench = await open();
    const newest = async () => (await list(bench)).body.data[0].id;
    for (const amount of [1, 2]) {
      const before = await newest();
      await add(bench, { type: "stale_read", lag: "10s" });
      await bench.control("POST", "/clock/advance", { by: "1s" });
      const { id } = await bench.control("POST", "/records/payment", {
        merchant: "mer_lodge",
        amount,
        currency: "EUR",
      });
      expect([await newest(), await newest()]).toEqual([before, id]);
    }
  });

  test("affects neither writes nor the stored records", async () => {
    const { bench, id } = await armed({ type: "stale_read", lag: "1h" });
    await bench.control("POST", "/clock/advance", { by: "1s" });
    expect((await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline")).status).toBe(200);
    expect((await rule(bench, id)).fired).toBe(0);
    const [stale, fresh] = [
      await bench.call("GET", "/v1/memberships/renewals"),
      await bench.call("GET", "/v1/memberships/renewals"),
    ];
    expect(stale.body).toEqual(fresh.body);
    expect((await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline")).status).toBe(409);
  });
});

describe("a changed response", () => {
  test("of body=patch contains the patch, but the stored reply does not", async () => {
    const patch = { status: "held", metadata: { rush: true }, period: null };
    const { bench } = await armed({ type: "body", as: "patch", patch }, { match: { operation: "payroll.create" } });
    const [patched, replayed] = [await create(bench, "k"), await create(bench, "k")];
    const { period: _, ...others } = replayed.body;
    expect(patched.body).toEqual({ ...others, status: "held", metadata: { ...others.metadata, rush: true } });
    expect([patched.status, patched.headers["content-length"]]).toEqual([replayed.status, String(patched.text.length)]);
    const [logged] = await bench.requests.list({ operation: "payroll.create" }).then(({ data }) => data.slice(-1));
    expect((await bench.requests.get({ id: logged?.id ?? "" })).response.body).toContain('"held"');
    const refused = await bench.call("POST", "/_sandbox/faults", { body: { action: { type: "body", as: "patch" } } });
    expect(refused.body.message).toBe('action.patch is required, as in {"status": "held"}.');
  });

  test("of evolve has new fields and values at each level, null where it is allowed, and another order", async () => {
    const { bench } = await armed({ type: "evolve" });
    const [later, now] = [(await list(bench)).body, (await list(bench)).body];
    const [one, before] = [later.data[0], now.data[0]];
    expect(Object.keys(later)).toEqual([...Object.keys(now).reverse(), "addedLater"]);
    expect(Object.keys(one)).toEqual([...Object.keys(before).reverse(), "addedLater"]);
    expect([one.id, one.object, one.amount, one.status]).toEqual([before.id, "payment", null, "added_later"]);
  });

  test("of evolve=fields, enums, nulls or order has only that change", async () => {
    const bench = await open();
    const before = (await list(bench)).body.data[0];
    const evolvedBy = async (as: string) => {
      await add(bench, { type: "evolve", as });
      return (await list(bench)).body.data[0];
    };
    const addedLater = { by: "a later version" };
    const metadata = { ...before.metadata, addedLater };
    expect(await evolvedBy("fields")).toEqual({ ...before, metadata, addedLater });
    const enums = await evolvedBy("enums");
    expect(Object.keys(before).filter((name) => before[name] !== enums[name])).toEqual(
      expect.arrayContaining(["status"]),
    );
    expect(enums).toMatchObject({ id: before.id, amount: before.amount, status: "added_later" });
    const { metadata: _, ...nulls } = await evolvedBy("nulls");
    expect(Object.keys(nulls).filter((name) => before[name] !== nulls[name] && nulls[name] !== null)).toEqual([]);
    const ordered = await evolvedBy("order");
    expect([ordered, Object.keys(ordered)]).toEqual([before, Object.keys(before).reverse()]);
  });
});

test("every action on a call is tested", () => {
  const untested = apiActions.map(({ type }) => type).filter((type) => !tried.has(type));
  expect(untested, "no test of this file arms these actions with add()").toEqual([]);
});
