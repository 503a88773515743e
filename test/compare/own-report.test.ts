// The sandbox compared with itself: its own report, read back, contradicts nothing.

import { expect, test } from "vitest";
import { exampleCalls } from "../../scripts/docs/pages.ts";
import { compare } from "../../src/compare/compare.ts";
import { readHar } from "../../src/compare/read-recording.ts";
import { comparedSandbox } from "../../src/sandbox/documents.ts";
import { type Bench, open, RULES } from "../support/sandbox.ts";
import { receive } from "../support/webhooks.ts";

const KEY = { key: "sk_test_lodge" };
const RULE = { name: "Weekend", adjustmentType: "fixed", adjustmentValue: 500 };

/** Errors that `compare` recognises in a report, which masks Authorization and omits bodies that are not JSON. */
const RECOGNISED = [
  ...["missing_api_key", "invalid_limit", "invalid_cursor", "validation_failed", "invalid_json"],
  ...["body_not_object", "idempotency_key_too_long", "idempotency_key_reused", "invalid_state"],
  ...["resource_not_found", "idempotency_key_empty", "idempotency_key_invalid"],
];
const SHOWN = [
  "payments.list.order",
  "idempotency.replay",
  "idempotency.seconds",
  "rate_limit.limit",
  "retry.schedule",
];

/** Makes calls that cause each error that a recording can show. */
async function refusals({ call }: Bench): Promise<void> {
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    call("POST", path, { ...KEY, body, headers });
  const keyed = (value: string) => ({ "Idempotency-Key": value });
  await call("GET", "/v1/payments", { key: null });
  await call("GET", "/v1/payments", { key: null, headers: { Authorization: "Basic abc" } });
  await call("GET", "/v1/payments", { key: "sk_test_nobody" });
  for (const query of [
    "limit=0",
    "limit=101",
    "limit=ten",
    "limit=1",
    "limit=100",
    "starting_after=pay_nope",
    "after=pay_1",
  ])
    await call("GET", `/v1/payments?${query}`, KEY);
  await call("GET", "/v1/payments?starting_after=a&ending_before=b", KEY);
  await call("GET", "/v1/customers/cus_nope", KEY);
  await call("GET", "/v1/nowhere", KEY);
  await call("PATCH", "/v1/payments", { ...KEY, body: {} });
  for (const body of [
    {},
    { ...RULE, name: 7 },
    { ...RULE, adjustmentType: "sometimes" },
    { ...RULE, startDate: "soon" },
    [],
    "{",
  ])
    await post(RULES, body);
  await post(RULES, { ...RULE, colour: "blue", startDate: "2026-03-01", endDate: "2026-02-01" });
  await post(RULES, { ...RULE, colour: "blue" });
  await call("POST", RULES, { ...KEY, body: "name=x", contentType: "text/plain" });
  for (const key of ["one", "one", "", "k".repeat(256), "a b"]) await post(RULES, RULE, keyed(key));
  await post(RULES, { ...RULE, name: "Other" }, keyed("one"));
  for (const id of ["bkg_pending", "bkg_pending", "bkg_confirmed", "bkg_nope"])
    await post(`/v1/hospitality/bookings/${id}/decline`, {});
  await post("/v1/hospitality/bookings/bkg_nope/decline", { reason: 5 });
}

test("the report of a run with every operation and many errors contradicts nothing", async () => {
  const receiver = await receive();
  receiver.always(500);
  const bench = await open({ endpoints: [{ url: receiver.url }] });
  for (const { id, after, method, path, headers, body } of exampleCalls())
    if (after === undefined && id !== "webhooks.delete")
      await bench.call(method, `/v1${path}`, { key: null, headers, body, contentType: null });
  await refusals(bench);
  await bench.control("POST", "/clock/advance", { by: "25h" });
  const keyed = { ...KEY, body: RULE, headers: { "Idempotency-Key": "one" } };
  await bench.call("POST", RULES, keyed);
  const har = await bench.control("GET", "/report?format=har");
  const found = compare(comparedSandbox(), readHar(JSON.stringify(har), "report.har"));
  const differences = found.verdicts.filter(({ seen }) => seen.length > 0);
  expect(differences.map(({ fact, seen }) => [fact.id, seen])).toEqual([]);
  expect(found.base).toBe(bench.baseUrl);
  const confirmed = new Set(found.verdicts.filter(({ verdict }) => verdict === "confirmed").map(({ fact }) => fact.id));
  expect(RECOGNISED.map((code) => `error.${code}.code`).filter((id) => !confirmed.has(id))).toEqual([]);
  expect(SHOWN.filter((id) => !confirmed.has(id))).toEqual([]);
});
