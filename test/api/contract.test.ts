// Contract tests over the catalogue: every operation's replies, errors, idempotent replays and events match its
// declaration.

import { describe, expect, test } from "vitest";
import { catalogue } from "../../src/areas/index.ts";
import { type ErrorCode, errors } from "../../src/kernel/errors.ts";
import { ASSUMED, factOf } from "../../src/schema/assumed.ts";
import { fieldErrors } from "../../src/schema/validator.ts";
import { type Answer, type Bench, type CallOptions, NOON_SECONDS, open, shareForBlock } from "../support/sandbox.ts";

type Operation = (typeof catalogue)[number];

const names = catalogue.map((operation) => [operation.id, operation] as const);
const withBody = names.filter(([, { body }]) => body !== undefined);
const withQuery = names.filter(([, { query }]) => "limit" in query.properties);

/** The webhook endpoint for operations that need one; the seeded data has none. Its id is the same in every sandbox. */
let endpointId = "";

const params = (operation: Operation) =>
  operation.path.startsWith("/webhooks/{id}") ? { id: endpointId } : operation.exampleParams;

const pathOf = (operation: Operation, values: Readonly<Record<string, string>> = params(operation)) =>
  `/v1${operation.path.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "")}`;

/** Calls an operation with its example, except for the given parts. */
function run(bench: Bench, operation: Operation, options: CallOptions & { query?: string } = {}): Promise<Answer> {
  return bench.call(operation.method, pathOf(operation) + (options.query ?? ""), {
    body: operation.example,
    ...options,
  });
}

/** Prepares a sandbox in which every example succeeds: adds a webhook endpoint with a failed delivery. */
async function furnish(bench: Bench): Promise<Bench> {
  const { body } = await bench.call("POST", "/v1/webhooks", {
    body: { url: "http://127.0.0.1:2/nobody", events: ["payment.pending"] },
  });
  endpointId = body.id;
  await bench.call("POST", "/v1/webhook-events/test", { body: { type: "payment.pending" } });
  await bench.control("POST", "/clock/advance", { by: "0s" });
  return bench;
}

/** An error body without its request id. */
function errorOf({ body }: Answer) {
  const { requestId, ...details } = body.details;
  expect(requestId).toMatch(/^req_\w+_\d+$/);
  return { ...body, details };
}

function expectError(answer: Answer, code: ErrorCode) {
  const { status, error } = errors[code];
  expect([answer.status, answer.body.code], answer.text).toEqual([status, code]);
  expect(Object.keys(answer.body)).toEqual(["error", "message", "code", "details"]);
  expect(answer.body.error).toBe(error);
  expect(answer.body.message).toMatch(/\S.*[.?]$/s);
  expect(answer.body.details.requestId).toBe(answer.headers["x-sandbox-request-id"]);
  expect(answer.headers["www-authenticate"]?.startsWith("Bearer")).toBe(status === 401 ? true : undefined);
  expect(answer.headers["content-type"]).toBe("application/json");
  expect(answer.headers.date).toBe("Mon, 05 Jan 2026 12:00:00 GMT");
}

describe("the example call has the declared response and event:", () => {
  test.each(names)("%s", async (_, operation) => {
    const bench = await furnish(await open());
    expect(operation.body === undefined || operation.example !== undefined).toBe(true);
    const answer = await run(bench, operation);
    expect(answer.status, answer.text).toBe(factOf(operation.status));
    expect(fieldErrors(operation.reply, answer.body)).toEqual([]);
    const declared = Object.keys((operation.reply as { properties?: object }).properties ?? {});
    expect(Object.keys(answer.body), "the fields of the reply and of its schema").toEqual(declared);
    for (const [name, value] of Object.entries(operation.headers))
      expect(answer.headers[name.toLowerCase()]).toBe(value);
    const types = operation.id === "events.test" ? [operation.example?.type] : operation.emits.map(factOf);
    const [first, ...consequences] = await bench.events(answer);
    expect([first]).toEqual(types.length === 0 ? [undefined] : types);
    expect(consequences.filter((type) => operation.mayEmit[type] === undefined)).toEqual([]);
    if (first !== undefined) expect((await newestEvent(bench, first)).body).toEqual(envelope(operation, answer, first));
  });
});

const newestEvent = async (bench: Bench, type: string) =>
  (await bench.control("GET", `/events?limit=1&type=${type}`)).data[0];

/** The delivered event: the record as in the response, without the key that only the response may contain. */
function envelope(operation: Operation, answer: Answer, type: unknown) {
  const { apiKey, ...record } = answer.body;
  const data = operation.id === "events.test" ? operation.example?.data : record;
  return {
    id: expect.stringMatching(/^evt_\w+$/),
    object: "event",
    type,
    created: NOON_SECONDS,
    livemode: false,
    merchantId: "mer_lodge",
    data,
  };
}

/** A call that causes each error code that an operation may declare. */
const ways: Partial<Record<ErrorCode, (bench: Bench, operation: Operation) => Promise<Answer>>> = {
  validation_failed: (bench, operation) =>
    operation.body
      ? run(bench, operation, { body: misfits(operation) })
      : run(bench, operation, { query: "?status=wrong" }),
  resource_not_found: (bench, operation) =>
    operation.path.includes("{")
      ? bench.call(operation.method, pathOf(operation, { id: "nobody", iid: "nobody", productId: "nobody" }), {
          body: operation.example,
        })
      : run(bench, operation, { key: "sk_test_blank" }),
  invalid_state: async (bench, operation) => {
    if (operation.id === "payroll.override_item")
      await bench.control("PATCH", "/records/payroll/pyr_draft", { status: "pending" });
    else if (operation.id === "variants.create")
      await bench.control("PATCH", "/records/product/prod_honey", { status: "archived" });
    else if (operation.id === "webhooks.create") {
      // Registers endpoints up to the merchant's limit.
      for (let status = 201; status === 201; ) ({ status } = await run(bench, operation));
    } else await run(bench, operation);
    return run(bench, operation);
  },
  already_exists: async (bench, operation) => {
    await run(bench, operation);
    return run(bench, operation);
  },
  invalid_limit: (bench, operation) => run(bench, operation, { query: "?limit=0" }),
  invalid_cursor: (bench, operation) => run(bench, operation, { query: "?starting_after=nobody" }),
  invalid_credentials: (bench, operation) =>
    run(bench, operation, { body: { ...operation.example, password: "wrong" } }),
  invalid_webhook_url: (bench, operation) => run(bench, operation, { body: { ...operation.example, url: "nowhere" } }),
  webhook_url_not_local: (bench, operation) =>
    run(bench, operation, { body: { ...operation.example, url: "http://example.com/hooks" } }),
};

/** The example, with a value of the wrong type in its first known field. */
function misfits(operation: Operation): Record<string, unknown> {
  const [field = ""] = Object.keys(operation.body?.properties ?? {});
  return { ...operation.example, [field]: [[]] };
}

/** Only a sandbox that listens beyond loopback returns this code; test/webhooks/target-policy.test.ts covers it. */
const BEYOND_LOOPBACK: ErrorCode = "webhook_url_loopback";

const declared = names.flatMap(([id, operation]) =>
  operation.errors.filter((code) => code !== BEYOND_LOOPBACK).map((code) => [id, code, operation] as const),
);

/** Codes that need an earlier call, which changes records. All others are caused in a shared sandbox. */
const NEED_A_CALL: readonly ErrorCode[] = ["invalid_state", "already_exists"];

describe("every error that an operation declares is reachable", () => {
  const shared = shareForBlock({}, furnish);

  test.each(declared)("%s responds with %s", async (_, code, operation) => {
    const way = ways[code];
    if (!way) throw new Error(`${operation.id} declares ${code}, and no test knows how to reach it`);
    const bench = NEED_A_CALL.includes(code) ? await furnish(await open()) : shared();
    const answer = await way(bench, operation);
    expectError(answer, code);
    expect(await bench.events(answer)).toEqual([]);
  });
});

describe("idempotent replay", () => {
  const honoured = names.filter(([, { idempotent }]) => idempotent);
  const others = names.filter(([, { idempotent }]) => !idempotent);

  test("is honoured by every POST and PATCH except those about webhooks", () => {
    const expected = names.filter(([, { method, area }]) => method !== "GET" && area !== "Webhooks");
    expect(honoured.map(([id]) => id)).toEqual(expected.map(([id]) => id));
  });

  test.each(honoured)("%s responds with the same bytes again, without any effect", async (_, operation) => {
    const bench = await furnish(await open({ rateLimit: "100/1m" }));
    const headers = { "idempotency-key": "the-same" };
    const first = await run(bench, operation, { headers });
    const second = await run(bench, operation, { headers });
    expect(second).toMatchObject({ status: first.status, text: first.text });
    expect(first.headers["idempotent-replayed"]).toBeUndefined();
    expect(second.headers["idempotent-replayed"]).toBe("true");
    expect(second.headers["x-sandbox-request-id"]).not.toBe(first.headers["x-sandbox-request-id"]);
    expect([first, second].map(({ headers }) => headers["ratelimit-remaining"])).toEqual(["97", "96"]);
    expect(await bench.events(second)).toEqual([]);
  });

  test.each(others)("%s ignores an Idempotency-Key, whatever its value", async (_, operation) => {
    const bench = await furnish(await open());
    const first = await run(bench, operation, { headers: { "idempotency-key": "the-same" } });
    const second = await run(bench, operation, { headers: { "idempotency-key": "the-same" } });
    const odd = await run(bench, operation, { headers: { "idempotency-key": "not a key" } });
    expect(first.status).toBe(factOf(operation.status));
    for (const { headers, body } of [second, odd]) {
      expect(headers["idempotent-replayed"]).toBeUndefined();
      expect(body.error).not.toBe("idempotency_error");
    }
  });
});

describe("authentication", () => {
  const bench = shareForBlock({}, furnish);

  test.each(names)("%s requires exactly one valid key", async (_, operation) => {
    const refused: [code: ErrorCode, options: CallOptions][] = [
      ["missing_api_key", { key: null }],
      ["malformed_authorization", { key: null, headers: { authorization: "sk_test_lodge" } }],
      ["malformed_authorization", { key: null, headers: { authorization: "Basic c2tfdGVzdF9sb2RnZTo=" } }],
      ["malformed_authorization", { key: null, headers: { authorization: "Bearer" } }],
      ["malformed_authorization", { key: null, headers: { authorization: "Bearer sk_test_lodge sk_test_lodge" } }],
      [
        "malformed_authorization",
        { key: null, headers: { authorization: ["Bearer sk_test_lodge", "Bearer sk_test_lodge"] } },
      ],
      ["invalid_api_key", { key: "sk_test_nobody" }],
      ["invalid_api_key", { key: "SK_TEST_LODGE" }],
      ["invalid_api_key", { key: "pk_test_lodge" }],
      ["live_key_refused", { key: "sk_live_4eC39HqLyjWDarjtT1zdp7dc" }],
    ];
    for (const [code, options] of refused) {
      const answer = await run(bench(), operation, options);
      expectError(answer, code);
      expect(answer.headers["www-authenticate"]?.includes("invalid_token") ?? false).toBe(code === "invalid_api_key");
      expect(answer.text).not.toContain("4eC39HqLyjWDarjtT1zdp7dc");
    }
    expectError(await run(bench(), operation, { query: "?api_key=sk_test_lodge", key: null }), "missing_api_key");
  });
});

test("a suspended merchant is rejected everywhere until it is active again", async () => {
  const bench = await furnish(await open());
  await bench.control("PATCH", "/records/merchant/mer_lodge", { status: "suspended" });
  for (const [, operation] of names) expectError(await run(bench, operation), "merchant_suspended");
  expect((await bench.call("GET", "/v1/merchants/me", { key: "sk_test_market" })).status).toBe(200);
  await bench.control("PATCH", "/records/merchant/mer_lodge", { status: "active" });
  expect((await bench.call("GET", "/v1/merchants/me")).status).toBe(200);
});

describe("another merchant's records", () => {
  test.each(names.filter(([, { path }]) => path.includes("{")))(
    "are not found by %s, which returns the same error as for an unknown id",
    async (_, operation) => {
      const bench = await furnish(await open());
      const key = "sk_test_blank";
      const foreign = pathOf(operation);
      const unknown = foreign.replace(Object.values(params(operation))[0] as string, "nobody");
      const [theirs, nobodys] = [foreign, unknown].map((path) =>
        bench.call(operation.method, path, { key, body: operation.example }),
      );
      const [one, other] = [await (theirs as Promise<Answer>), await (nobodys as Promise<Answer>)];
      expectError(one, "resource_not_found");
      const id = Object.values(params(operation))[0] as string;
      expect(JSON.stringify(errorOf(one)).replaceAll(id, "nobody")).toBe(JSON.stringify(errorOf(other)));
      expect(one.rawHeaders.filter((_, index) => index % 2 === 0)).toEqual(
        other.rawHeaders.filter((_, index) => index % 2 === 0),
      );
      expect((await run(bench, operation)).status).toBe(factOf(operation.status));
    },
  );

  test.each(withQuery)("are not listed by %s, and their ids are not valid cursors", async (_, operation) => {
    const bench = await furnish(await open());
    const mine = await run(bench, operation);
    expect(mine.body.data.length).toBeGreaterThan(0);
    const theirs = await run(bench, operation, { key: "sk_test_blank" });
    expect(theirs.body).toEqual({ object: "list", data: [], has_more: false });
    const id = mine.body.data[0].id as string;
    for (const name of ["starting_after", "ending_before"]) {
      const foreign = await run(bench, operation, { key: "sk_test_blank", query: `?${name}=${id}` });
      const unknown = await run(bench, operation, { key: "sk_test_blank", query: `?${name}=nobody` });
      expectError(foreign, "invalid_cursor");
      expect(JSON.stringify(errorOf(foreign)).replaceAll(id, "nobody")).toBe(JSON.stringify(errorOf(unknown)));
    }
  });
});

describe("every operation", () => {
  const bench = shareForBlock({}, furnish);

  test.each(names)("%s responds with 405 to methods that its path does not have", async (_, operation) => {
    const here = catalogue.filter(({ path }) => path === operation.path).map(({ method }) => method as string);
    const allowed = here.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]));
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"]) {
      if (allowed.includes(method)) continue;
      const answer = await bench().call(method, pathOf(operation));
      expectError(answer, "method_not_allowed");
      expect(answer.headers.allow).toBe(allowed.join(", "));
      expect(answer.body.details.allowed).toEqual(allowed);
    }
  });

  test.each(names.filter(([, { method }]) => method === "GET"))(
    "%s responds to HEAD with the headers of GET and no body",
    async (_, operation) => {
      const get = await run(bench(), operation);
      const head = await bench().call("HEAD", pathOf(operation));
      expect(head).toMatchObject({ status: get.status, text: "" });
      const own = ["x-sandbox-request-id", "ratelimit-remaining"];
      const rest = ({ headers }: Answer) => Object.entries(headers).filter(([name]) => !own.includes(name));
      expect(rest(head)).toEqual(rest(get));
      expect((await bench().call("HEAD", `${pathOf(operation)}?limit=x`)).text).toBe("");
    },
  );

  test.each(withBody)(
    "%s rejects an invalid body and names the field; if the body's shape is assumed, it suggests --bodies open",
    async (_, operation) => {
      const refused: [code: ErrorCode, options: CallOptions][] = [
        ["invalid_json", { body: "{" }],
        ["body_not_object", { body: "[]" }],
        ["body_too_deep", { body: `{"x":${"[".repeat(40)}${"]".repeat(40)}}` }],
        ["payload_too_large", { body: JSON.stringify({ x: "x".repeat(1_048_576) }) }],
        ["unsupported_media_type", { contentType: "text/plain" }],
        ["unsupported_media_type", { contentType: null }],
        ["unsupported_content_encoding", { headers: { "content-encoding": "gzip" } }],
      ];
      for (const [code, options] of refused) expectError(await run(bench(), operation, { body: {}, ...options }), code);
      const answer = await run(bench(), operation, { body: misfits(operation) });
      expectError(answer, "validation_failed");
      const [field] = Object.keys(operation.body?.properties ?? {});
      const [first] = answer.body.details.errors;
      expect(first).toMatchObject({
        pointer: `/${field}`,
        field,
        code: expect.any(String),
        message: expect.any(String),
      });
      expect(answer.body.message.includes("--bodies open"), answer.body.message).toBe(
        ASSUMED in (operation.body ?? {}),
      );
    },
  );
});

describe("the catalogue", () => {
  test("has every operation that the service documents, in the same order", () => {
    const documented = [
      "GET /customers/{id}",
      "POST /hospitality/pricing-rules",
      "POST /employees/payroll",
      "POST /merchants/payout-method",
      "POST /merchants/login",
      "POST /merchants",
      "GET /payouts",
      "GET /marketplace/orders",
      "GET /payments",
      "GET /employees/disciplinary",
      "GET /memberships/renewals",
      "GET /events/organizer",
      "GET /integrations/sync-logs",
      "GET /employees/appraisals",
      "GET /merchants/me",
      "POST /hospitality/bookings/{id}/decline",
      "PATCH /employees/payroll/{id}/items/{iid}/override",
      "POST /retail/products/{productId}/variants",
      "POST /statutory/remittances/{id}/confirm",
      "POST /gov-payments/{id}/post-to-books",
      "PATCH /statutory/settings",
      "GET /statutory/settings",
      "POST /webhooks",
      "GET /webhooks",
      "DELETE /webhooks/{id}",
      "POST /webhooks/{id}/rotate-secret",
      "GET /webhook-deliveries",
      "POST /webhook-events/test",
    ];
    const declared = catalogue.map(({ method, path }) => `${method} ${path}`);
    expect(declared.filter((name) => documented.includes(name))).toEqual(documented);
  });

  test("declares 201 for the creation of a webhook endpoint, and 200 for every other operation", () => {
    const created = catalogue.filter(({ status }) => factOf(status) !== 200);
    expect(created.map(({ id, status }) => [id, factOf(status)])).toEqual([["webhooks.create", 201]]);
  });
});
