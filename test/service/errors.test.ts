// Statuses, codes and errors under a service file, and how errors list the invalid fields of a body.

import { describe, expect, test } from "vitest";
import { formOfInvalidFields, invalidFieldsForms } from "../../src/contracts/invalid-fields.ts";
import { valueAt } from "../../src/schema/json-pointer.ts";
import { openAs } from "../support/sandbox.ts";

const RULE = { name: "Weekend", adjustmentType: "fixed", adjustmentValue: 5 };
const RULES = "/v1/hospitality/pricing-rules";

describe("successes", () => {
  test("have the status of the file, for the operation that it names", async () => {
    const bench = await openAs({ "bookings.decline.status": 202 });
    const declined = await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline");
    expect([declined.status, declined.body.status]).toEqual([202, "declined"]);
    expect((await bench.call("GET", "/v1/payments")).status).toBe(200);
  });

  test("a replay has the status of the first response", async () => {
    const bench = await openAs({ "bookings.decline.status": { value: 202, seen: 3, in: ["shop.har#1"] } });
    const decline = () =>
      bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline", { headers: { "idempotency-key": "one" } });
    await decline();
    expect(await decline()).toMatchObject({ status: 202, headers: { "idempotent-replayed": "true" } });
  });

  test("a 204 has no body", async () => {
    const bench = await openAs({ "webhooks.delete.status": 204 });
    const { body } = await bench.call("POST", "/v1/webhooks", {
      body: { url: "http://localhost:3000/webhooks", events: ["*"] },
    });
    const { status, text, headers } = await bench.call("DELETE", `/v1/webhooks/${body.id}`);
    expect([status, text, headers["content-length"], headers["content-type"]]).toEqual([204, "", undefined, undefined]);
    expect((await bench.call("GET", "/v1/webhooks")).body.data).toEqual([]);
  });
});

describe("errors", () => {
  test("have the status, category and code of the file", async () => {
    const bench = await openAs({
      "error.resource_not_found.status": 410,
      "error.resource_not_found.category": "gone",
      "error.resource_not_found.code": "E_NOT_FOUND",
    });
    const { status, body } = await bench.call("POST", "/v1/hospitality/bookings/bkg_none/decline");
    expect([status, body.error, body.code]).toEqual([410, "gone", "E_NOT_FOUND"]);
    expect(body).toMatchObject({
      message: expect.stringContaining("bkg_none"),
      details: { requestId: expect.any(String) },
    });
  });

  test("an entry for one operation takes precedence over the common one", async () => {
    const bench = await openAs({
      "error.validation_failed.status": 422,
      "webhooks.create/error.validation_failed.status": 418,
    });
    expect((await bench.call("POST", RULES, { body: { ...RULE, name: 1 } })).status).toBe(422);
    expect((await bench.call("POST", "/v1/webhooks", { body: {} })).status).toBe(418);
  });

  test("a replay of a stored error has them too, and so has an error of a fault", async () => {
    const bench = await openAs({ "error.invalid_state.status": 422, "error.invalid_state.code": "wrong_state" });
    const decline = (headers = {}) => bench.call("POST", "/v1/hospitality/bookings/bkg_declined/decline", { headers });
    await decline({ "idempotency-key": "one" });
    const replayed = await decline({ "idempotency-key": "one" });
    expect([replayed.status, replayed.body.code, replayed.headers["idempotent-replayed"]]).toEqual([
      422,
      "wrong_state",
      "true",
    ]);
    const injected = await decline({ "x-sandbox-inject": "status=409" });
    expect([injected.status, injected.body.code]).toEqual([422, "wrong_state"]);
  });
});

describe("an error", () => {
  test.each([...invalidFieldsForms])("has %s", async (value, { place, form }) => {
    const facts = { "error.invalid_fields": value };
    const { call } = await openAs(facts);
    const { status, body } = await call("POST", RULES, { body: { ...RULE, name: 7, adjustmentType: "sometimes" } });
    const listed = valueAt(body, `/${place.replace(".", "/")}`);
    expect([status, formOfInvalidFields(listed)]).toEqual([400, form]);
    expect(JSON.stringify(listed)).toMatch(/name.*adjustmentType/);
    // Elsewhere it is not repeated.
    expect(JSON.stringify(body).split("adjustmentType must")).toHaveLength(2);
  });

  test("that lists no fields keeps its details", async () => {
    const { call } = await openAs({
      "error.invalid_fields": "messages by field in errors",
      "error.details.name": "info",
    });
    const { body } = await call("GET", "/v1/customers/cus_none");
    expect(body.info.requestId).toMatch(/^req_/);
    expect(body).not.toHaveProperty("errors");
  });

  test("has the list under the file's names, in its envelope", async () => {
    const { call } = await openAs({
      "error.invalid_fields": "messages by field in details.errors",
      "error.details.name": "info",
      "error.details.errors.name": "fields",
      "error.envelope": "error",
    });
    const { body } = await call("POST", RULES, { body: { ...RULE, name: 7 } });
    expect(body.error.info).toEqual({
      requestId: expect.any(String),
      fields: { name: [expect.stringContaining("received 7")] },
    });
  });

  test("of a rule about several fields names them as the service does", async () => {
    const { call } = await openAs({ "pricing_rules.create.body.endDate.name": "until" });
    const { status, body } = await call("POST", RULES, {
      body: { ...RULE, startDate: "2026-03-01", until: "2026-02-01" },
    });
    expect([status, body.details.errors[0]]).toMatchObject([400, { pointer: "/until", field: "until" }]);
    expect([body.message, body.details.errors[0].message]).toEqual([
      expect.stringMatching(/^until /),
      expect.stringMatching(/^until /),
    ]);
  });
});

test("the message of a refusal names further invalid fields without a place, which the file may have moved", async () => {
  const { call } = await openAs({
    "error.invalid_fields": "messages by field in errors",
    "error.details.name": "info",
  });
  const refusals = [
    await call("POST", RULES, { body: { ...RULE, name: 7, adjustmentType: "sometimes" } }),
    await call("POST", RULES, {
      body: { ...RULE, startDate: "2026-03-01", endDate: "2026-02-01", minNights: 5, maxNights: 2 },
    }),
  ];
  for (const { status, body } of refusals)
    expect([status, body.message]).toEqual([400, expect.stringMatching(/ Also invalid: \w+\./)]);
});

test("a form that the sandbox cannot write is refused", async () => {
  await expect(openAs({ "error.invalid_fields": "a table" })).rejects.toThrow(
    /error\.invalid_fields takes .*received "a table"/s,
  );
});
