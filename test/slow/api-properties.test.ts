// Property tests: any input gets a valid response, never a 5xx.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { catalogue, resources } from "../../src/areas/index.ts";
import { controlCatalogue } from "../../src/control/index.ts";
import { isoTime } from "../../src/kernel/clock.ts";
import { type ErrorCode, errors } from "../../src/kernel/errors.ts";
import { factOf } from "../../src/schema/assumed.ts";
import { fieldErrors } from "../../src/schema/validator.ts";
import { anyText, changed, edit, edited, inputs, JSON_TOKENS, oddValue, someChanges } from "../support/fuzzing.ts";
import { type Answer, attempted, type Bench, NOON_SECONDS, open } from "../support/sandbox.ts";
import { violations } from "../support/world-file.ts";

type Operation = (typeof catalogue)[number];

/** `documents` lists the media types that a successful response may have instead of JSON. */
function expectSound(answer: Answer, label: string, documents: Readonly<Record<string, string>> = {}) {
  expect(answer.status, label).toBeLessThan(500);
  const types = answer.status < 300 ? Object.values(documents) : [];
  expect(["application/json", ...types], label).toContain(answer.headers["content-type"]?.replace(/;.*/, ""));
  if (answer.status < 300 || answer.text === "") return;
  expect(answer.body, label).toBeDefined();
  const known = errors[answer.body.code as ErrorCode];
  expect(known, label).toBeDefined();
  expect([answer.status, answer.body.error], label).toEqual([known.status, known.error]);
  expect(Object.keys(answer.body), label).toEqual(["error", "message", "code", "details"]);
  expect(answer.body.message, label).toMatch(/\S/);
  for (const { pointer, field, code, message } of answer.body.details.errors ?? [])
    for (const text of [pointer, field, code, message]) expect(typeof text, label).toBe("string");
}

const odd = fc.oneof(
  oddValue,
  anyText(),
  fc.constantFrom<unknown>(
    "EUR",
    "eur",
    "2026-01-05",
    1,
    100,
    0.1,
    "PT",
    "percentage",
    "lodge@lodge.example",
    ["monday"],
    { a: "b" },
    "http://localhost:1",
  ),
);

const name = (operation: Operation) =>
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.constantFrom("metadata", "id", "status", "x", ...Object.keys(operation.body?.properties ?? {})),
    },
    { weight: 1, arbitrary: anyText({ maxLength: 12 }) },
    {
      weight: 1,
      arbitrary: fc.constantFrom("__proto__", "constructor", "toString", "apiKey", "password", "requestId", ""),
    },
  );

/** A body: the example with changed, removed and added fields, any JSON, any text, or none. */
const bodyOf = (operation: Operation): fc.Arbitrary<string | undefined> =>
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc
        .array(fc.tuple(name(operation), fc.option(odd, { freq: 4, nil: undefined })), { maxLength: 4 })
        .map((changes) =>
          // `Object.fromEntries` allows `__proto__` as a field name.
          JSON.stringify(Object.fromEntries([...Object.entries(operation.example ?? {}), ...changes])),
        ),
    },
    { weight: 1, arbitrary: fc.json({ maxDepth: 4 }) },
    { weight: 1, arbitrary: anyText({ maxLength: 40 }) },
    { weight: 1, arbitrary: fc.constant(undefined) },
  );

const id = fc.oneof(
  fc.constantFrom(
    "bkg_pending",
    "bkg_confirmed",
    "cus_ines",
    "pyr_draft",
    "rem_overdue",
    "gov_paid",
    "prod_honey",
    "nobody",
    "..",
    "%00",
    "a/b",
  ),
  anyText({ minLength: 1, maxLength: 20 }),
);

const pair = fc.tuple(
  fc.oneof(
    fc.constantFrom("limit", "starting_after", "ending_before", "status", "type", "x"),
    fc.string({ maxLength: 8 }),
  ),
  fc.oneof(fc.constantFrom("1", "100", "0", "succeeded", "pay_001", ""), anyText({ maxLength: 12 })),
);
const query = fc.oneof(
  fc.constant(""),
  fc.array(pair, { maxLength: 4 }).map((pairs) => new URLSearchParams(pairs).toString()),
  fc.stringMatching(/^[!-~]{0,30}$/).map((text) => text.replace(/[#\s]/g, "")),
);

const headerValue = fc.stringMatching(/^[ -~\x80-\xff]{0,40}$/);
const headers = fc.dictionary(
  fc.constantFrom(
    "accept",
    "content-type",
    "content-encoding",
    "idempotency-key",
    "user-agent",
    "x-trace",
    "if-match",
    "range",
    "cookie",
    "expect-ct",
  ),
  fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom("application/json", "k1", "k2", "identity", "*/*") },
    { weight: 1, arbitrary: headerValue },
  ),
  { maxKeys: 3 },
);

const call = fc.constantFrom(...catalogue).chain((operation) =>
  fc.record({
    operation: fc.constant(operation),
    body: operation.method === "GET" ? fc.constant(undefined) : bodyOf(operation),
    params: fc.record({ id, iid: fc.oneof(fc.constant("pyi_draft_ines"), id), productId: id }),
    query,
    headers,
  }),
);

type Draft = typeof call extends fc.Arbitrary<infer D> ? D : never;

const targetOf = ({ operation, params, query: search }: Draft) => {
  const path = operation.path.replace(/\{(\w+)\}/g, (_, param: "id") =>
    encodeURIComponent(params[param].toWellFormed()).replaceAll("*", "%2A"),
  );
  return `/v1${path}${search === "" ? "" : `?${search}`}`.slice(0, 2_048);
};

async function send(bench: Bench, draft: Draft, bodies = "checked"): Promise<Answer> {
  const { operation, body, headers: given } = draft;
  const target = targetOf(draft);
  const answer = await bench.call(operation.method, target, { body, headers: given });
  const label = `${operation.method} ${target} ${body}: ${answer.status} ${answer.text.slice(0, 500)}`;
  expectSound(answer, label);
  for (const name of ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset", "x-sandbox-request-id"])
    expect(answer.headers[name], label).toMatch(/\d/);
  if (answer.status < 300) {
    expect(answer.status, label).toBe(factOf(operation.status));
    // With open bodies, a record may contain any value that this call or an earlier one sent, whatever its schema.
    if (bodies === "checked") expect(fieldErrors(operation.reply, answer.body), label).toEqual([]);
  }
  return answer;
}

describe("any input to the operations", () => {
  test.each(["checked", "open"] as const)("gets a valid response if the option bodies is %s", async (bodies) => {
    const bench = await open({ bodies, rateLimit: "none" });
    const statuses = new Set<number>();
    const property = fc.asyncProperty(
      call,
      async (draft) => void statuses.add((await send(bench, draft, bodies)).status),
    );
    await fc.assert(property, { numRuns: inputs(120) });
    for (const status of [200, 400, 404, 415]) expect(statuses).toContain(status);
  });

  test("gets the same response twice if it is sent twice at once with one Idempotency-Key", async () => {
    const bench = await open({ rateLimit: "none" });
    const keyed = call.filter(({ operation }) => operation.idempotent);
    let count = 0;
    const property = fc.asyncProperty(keyed, async (draft) => {
      const options = { body: draft.body, headers: { "idempotency-key": `key-${count++}` } };
      const target = targetOf(draft);
      const [one, other] = await Promise.all([0, 1].map(() => bench.call(draft.operation.method, target, options)));
      const comparable = ({ status, text }: Answer) => [status, text.replace(/"requestId":"req_\w+"/, "")];
      expect(comparable(other as Answer)).toEqual(comparable(one as Answer));
      const isStored = [200, 404, 409].includes(one?.status ?? 0) && one?.body.code !== "route_not_found";
      const replays = [one, other].filter((answer) => answer?.headers["idempotent-replayed"] === "true");
      expect(replays).toHaveLength(isStored ? 1 : 0);
    });
    await fc.assert(property, { numRuns: inputs(60) });
  });
});

describe("any input to the control operations", () => {
  /** All operations except `drain` and `verify`, which wait for the duration in the body. */
  const operations = controlCatalogue.filter(({ id: one }) => !["sandbox.drain", "sandbox.verify"].includes(one));
  const param = fc.oneof(
    fc.constantFrom("bkg_pending", "mer_lodge", "lodge", "one", "req_1", "evt_1", "brownout", "__proto__", "..", "%00"),
    fc.constantFrom(...resources.map(({ kind }) => kind)),
    anyText({ minLength: 1, maxLength: 20 }),
  );
  const controlCall = fc.record({
    operation: fc.constantFrom(...operations),
    edits: fc.array(edit, { maxLength: 3 }),
    changes: someChanges(JSON_TOKENS, 3, 4),
    param,
    search: fc.oneof(
      query,
      fc.constantFrom("limit=1e9", "merchant=mer_lodge", "merchant=__proto__", "status=5xx", "strict=1", "since=NaN"),
    ),
  });

  test("gets a valid response in any order of calls, and the sandbox stays healthy", async () => {
    const bench = await open({ rateLimit: "none" });
    const property = fc.asyncProperty(controlCall, async ({ operation, edits, changes, param: name, search }) => {
      const { method, example, documents } = operation;
      const place = operation.path.replace(/\{\w+\}/g, () => encodeURIComponent(name.toWellFormed()));
      const path = `/_sandbox${place}?${search}`;
      const written = JSON.stringify(edited(example ?? {}, edits)) ?? "null";
      const body = method === "GET" ? undefined : changed(Buffer.from(written), changes);
      attempted("Malformed input");
      const answer = await bench.call(method, path, { key: null, body });
      const label = `${method} ${path} ${body?.subarray(0, 1_000)}: ${answer.status} ${answer.text.slice(0, 500)}`;
      expectSound(answer, label, documents);
      expect(bench.defects, label).toEqual([]);
    });
    await fc.assert(property, { numRuns: inputs(150) });
    expect((await bench.call("GET", "/_sandbox/health", { key: null })).status).toBe(200);
  });
});

describe("concurrent calls of both APIs", () => {
  const controlCalls: [method: string, path: string, body?: unknown][] = [
    ["POST", "/reset", {}],
    ["POST", "/reset", { merchant: "mer_lodge" }],
    ["POST", "/merchants", { fixture: "stage" }],
    ["POST", "/clock/advance", { by: "25h" }],
    ["POST", "/drain", { within: "1s" }],
    ["PUT", "/snapshots/one"],
    ["POST", "/snapshots/one/restore", {}],
    ["POST", "/records/payment", { merchant: "mer_lodge", status: "succeeded" }],
    ["PATCH", "/records/merchant/mer_market", { status: "suspended" }],
    ["PATCH", "/records/merchant/mer_market", { status: "active" }],
    ["GET", "/requests"],
    ["GET", "/events"],
    ["GET", ""],
  ];
  const step = fc.oneof(
    { weight: 4, arbitrary: call.map((draft) => ({ draft })) },
    { weight: 1, arbitrary: fc.constantFrom(...controlCalls).map((steer) => ({ steer })) },
  );

  test("get valid responses and leave consistent records; a reset then restores the fixtures", async () => {
    const bench = await open({ rateLimit: "none" });
    const untouched = await bench.call("GET", "/v1/payments?limit=100");
    await bench.control("PUT", "/snapshots/one");
    const property = fc.asyncProperty(fc.array(step, { minLength: 80, maxLength: 80 }), async (steps) => {
      await bench.call("POST", "/v1/webhooks", { body: { url: "http://127.0.0.1:2/", events: ["*"] } });
      const answers = steps.map(async (one) => {
        if ("draft" in one) {
          const { operation, body } = one.draft;
          return [JSON.stringify(body), await bench.call(operation.method, targetOf(one.draft), { body })] as const;
        }
        const [method, path, body] = one.steer;
        return [path, await bench.call(method, `/_sandbox${path}`, { key: null, body })] as const;
      });
      for (const [label, answer] of await Promise.all(answers))
        expectSound(answer, `${label}: ${answer.status} ${answer.text.slice(0, 300)}`);
      expect(await violations(bench)).toEqual([]);
    });
    await fc.assert(property, { numRuns: inputs(3), endOnFailure: true });
    // A reset dates the records by the clock, so the clock is first set back to the time of `untouched`.
    await bench.control("PUT", "/clock", { mode: "frozen", now: isoTime(NOON_SECONDS * 1_000) });
    await bench.control("POST", "/reset", {});
    expect((await bench.call("GET", "/v1/payments?limit=100")).text).toBe(untouched.text);
  });
});
