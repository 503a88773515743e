// A service file: how errors list the invalid fields of a body.

import { describe, expect, test } from "vitest";
import { formOfInvalidFields, invalidFieldsForms } from "../../src/contracts/invalid-fields.ts";
import { valueAt } from "../../src/schema/json-pointer.ts";
import { openAs } from "../support/service-file.ts";

const RULE = { name: "Weekend", adjustmentType: "fixed", adjustmentValue: 5 };
const RULES = "/v1/hospitality/pricing-rules";

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
    const { call } = await openAs({ "error.invalid_fields": "messages by field in errors", "error.details.name": "info" });
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
    expect(body.error.info).toEqual({ requestId: expect.any(String), fields: { name: [expect.stringContaining("received 7")] } });
  });

  test("of a rule about several fields names them as the service does", async () => {
    const { call } = await openAs({ "pricing_rules.create.body.endDate.name": "until" });
    const { status, body } = await call("POST", RULES, { body: { ...RULE, startDate: "2026-03-01", until: "2026-02-01" } });
    expect([status, body.details.errors[0]]).toMatchObject([400, { pointer: "/until", field: "until" }]);
    expect([body.message, body.details.errors[0].message]).toEqual([expect.stringMatching(/^until /), expect.stringMatching(/^until /)]);
  });
});

test("the message of a refusal names further invalid fields without a place, which the file may have moved", async () => {
  const { call } = await openAs({ "error.invalid_fields": "messages by field in errors", "error.details.name": "info" });
  const refusals = [
    await call("POST", RULES, { body: { ...RULE, name: 7, adjustmentType: "sometimes" } }),
    await call("POST", RULES, { body: { ...RULE, startDate: "2026-03-01", endDate: "2026-02-01", minNights: 5, maxNights: 2 } }),
  ];
  for (const { status, body } of refusals) expect([status, body.message]).toEqual([400, expect.stringMatching(/ Also invalid: \w+\./)]);
});

test("a form that the sandbox cannot write is refused", async () => {
  await expect(openAs({ "error.invalid_fields": "a table" })).rejects.toThrow(/error\.invalid_fields takes .*received "a table"/s);
});
