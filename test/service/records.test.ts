// Records, lists, errors, events and bodies in the shape of the real service.

import { describe, expect, test } from "vitest";
import { exampleCalls } from "../../scripts/docs/pages.ts";
import { assumptions } from "../../src/sandbox/documents.ts";
import { createFileCheck } from "../../src/service/file-check.ts";
import { openAs } from "../support/sandbox.ts";
import { receive } from "../support/webhooks.ts";

const PAYMENT = { key: "sk_test_lodge" };
const rules = "/v1/hospitality/pricing-rules";
const RULE = { name: "Weekend", adjustmentType: "fixed", adjustmentValue: 500 };

const paymentsUnder = async (facts: object) => {
  const { call } = await openAs(facts);
  return (await call("GET", "/v1/payments?limit=100", PAYMENT)).body;
};

describe("fields of records", () => {
  test("are left out, renamed and added", async () => {
    const { data } = await paymentsUnder({
      "payment.fee": "absent",
      "payment.customerId.name": "customer",
      "payment.riskScore": "always",
      "payment.riskScore.type": ["integer"],
      "payment.riskScore.example": 12,
      "payment.channel": "always",
      "payment.channel.values": ["web", "desk"],
      "payment.settledAt": "always",
      "payment.settledAt.format": "ISO 8601 time",
    });
    for (const payment of data) {
      expect(payment).not.toHaveProperty("fee");
      expect(payment).not.toHaveProperty("customerId");
      expect(payment).toMatchObject({ riskScore: 12, channel: expect.stringMatching(/^(web|desk)$/) });
      expect(Date.parse(payment.settledAt) / 1_000).toBe(payment.created);
    }
    expect(data.some(({ customer }: { customer: string | null }) => customer?.startsWith("cus_"))).toBe(true);
  });

  test("a field that is there sometimes is there in some records, and in the same ones each time", async () => {
    const { call } = await openAs({ "payment.riskScore": "sometimes", "payment.riskScore.type": ["integer"] });
    const list = async () => (await call("GET", "/v1/payments?limit=100", PAYMENT)).body.data as object[];
    const has = (await list()).map((payment) => "riskScore" in payment);
    expect(new Set(has)).toEqual(new Set([true, false]));
    expect((await list()).map((payment) => "riskScore" in payment)).toEqual(has);
  });

  test("values of enumerations, prefixes of ids, and forms of times, amounts and currencies are converted", async () => {
    const { call } = await openAs({
      "payment.status.values.refunded": "reversed",
      "payment.id.prefix": "pmt_",
      "payment.amount.format": "decimal text",
      "payment.created.format": "ISO 8601 time",
      "payment.paidAt.format": "Unix milliseconds",
      "payment.currency.format": "three small letters",
    });
    const { data } = (await call("GET", "/v1/payments?limit=100", PAYMENT)).body;
    const statuses = new Set(data.map(({ status }: { status: string }) => status));
    expect([statuses.has("reversed"), statuses.has("refunded")]).toEqual([true, false]);
    for (const payment of data) {
      expect(payment.id).toMatch(/^pmt_/);
      expect(payment.amount).toMatch(/^\d+\.\d\d$/);
      expect(payment.created).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      expect(payment.currency).toMatch(/^[a-z]{3}$/);
      if (payment.paidAt !== null) expect(payment.paidAt).toBeGreaterThan(1e12);
    }
  });
});

test("ids with the prefix of the service are taken in paths and cursors, and shown in references and errors", async () => {
  const { call } = await openAs({ "payment.id.prefix": "pmt_", "customer.id.prefix": "client_" });
  const { data } = (await call("GET", "/v1/payments?limit=2", PAYMENT)).body;
  const next = (await call("GET", `/v1/payments?limit=1&starting_after=${data[0].id}`, PAYMENT)).body;
  expect(next.data[0].id).toBe(data[1].id);
  const { customerId } = (await call("GET", "/v1/payments?limit=100", PAYMENT)).body.data.find(
    (payment: { customerId: string | null }) => payment.customerId !== null,
  );
  expect(customerId).toMatch(/^client_/);
  expect((await call("GET", `/v1/customers/${customerId}`, PAYMENT)).body.id).toBe(customerId);
  const unknown = await call("GET", "/v1/customers/client_nope", PAYMENT);
  expect([unknown.status, JSON.stringify(unknown.body)]).toEqual([404, expect.stringContaining("client_nope")]);
  expect(JSON.stringify(unknown.body)).not.toContain("cus_");
});

test("ids with the sandbox's own prefix are unknown where the service has another, and are shown as they were sent", async () => {
  const { call } = await openAs({ "payment.id.prefix": "pmt_", "booking.id.prefix": "not_" });
  const decline = (id: string) => call("POST", `/v1/hospitality/bookings/${id}/decline`, PAYMENT);
  expect(await decline("bkg_pending")).toMatchObject({
    status: 404,
    body: { code: "resource_not_found", error: "not_found", message: expect.stringContaining("bkg_pending") },
  });
  expect((await decline("not_pending")).body).toMatchObject({ id: "not_pending", status: "declined" });
  const { data } = (await call("GET", "/v1/payments?limit=1", PAYMENT)).body;
  const cursor = String(data[0].id).replace("pmt_", "pay_");
  expect((await call("GET", `/v1/payments?starting_after=${cursor}`, PAYMENT)).body).toMatchObject({
    code: "invalid_cursor",
    message: expect.stringContaining(cursor),
  });
});

test("facts about the parts of what the service does not have are no assumptions", async () => {
  const { control } = await openAs({
    "payment.fee": "absent",
    "header.Retry-After": "absent",
    "payments.list.query.limit": "absent",
  });
  const { facts } = (await control("GET", "/assumptions")) as { facts: { id: string; origin: string }[] };
  const ids = facts.map(({ id }) => id);
  expect(facts.find(({ id }) => id === "payment.fee")).toMatchObject({ value: "absent", origin: "recorded" });
  expect(ids).toContain("payments.list.query.limit.default");
  for (const gone of [
    "payment.fee.type",
    "payment.fee.format",
    "header.Retry-After.format",
    "payments.list.query.limit.maximum",
  ])
    expect(ids).not.toContain(gone);
});

describe("envelopes", () => {
  test("of lists have another name, or none", async () => {
    const { call } = await openAs({
      "payments.list.reply.envelope": "items",
      "payouts.list.reply.envelope": "the response itself",
    });
    expect((await call("GET", "/v1/payments?limit=1", PAYMENT)).body).toMatchObject({
      items: [{ object: "payment" }],
      has_more: true,
    });
    expect((await call("GET", "/v1/payouts?limit=1", PAYMENT)).body).toMatchObject([{ object: "payout" }]);
  });

  test("wrap a reply and an error", async () => {
    const { call } = await openAs({
      "bookings.decline.reply.envelope": "booking",
      "error.envelope": "errors[]",
      "error.details.requestId": "absent",
      "error.message.name": "title",
    });
    const decline = () => call("POST", "/v1/hospitality/bookings/bkg_pending/decline", PAYMENT);
    expect((await decline()).body).toMatchObject({ booking: { id: "bkg_pending", status: "declined" } });
    const { status, body } = await decline();
    expect([status, body]).toEqual([
      409,
      {
        errors: [
          {
            error: "conflict",
            code: "invalid_state",
            title: expect.any(String),
            details: expect.not.objectContaining({ requestId: 1 }),
          },
        ],
      },
    ]);
    expect(body.errors[0].details).not.toHaveProperty("requestId");
  });
});

test("an event has the envelope and the record of the service", async () => {
  const receiver = await receive();
  const { call } = await openAs(
    {
      "event.merchantId": "absent",
      "event.apiVersion": "always",
      "event.apiVersion.values": ["v1"],
      "booking.guestName.name": "guest",
      "booking.id.prefix": "res_",
    },
    { endpoints: [{ url: receiver.url }] },
  );
  await call("POST", "/v1/hospitality/bookings/res_pending/decline", PAYMENT);
  const [arrival] = await receiver.arrived(1);
  const event = arrival?.event as Record<string, Record<string, unknown>>;
  expect(event).toMatchObject({ apiVersion: "v1", data: { id: "res_pending", guest: expect.any(String) } });
  expect(event).not.toHaveProperty("merchantId");
  expect(event.data).not.toHaveProperty("guestName");
});

describe("bodies", () => {
  test("have required and optional fields as the service has, in its names and forms", async () => {
    const { call } = await openAs({
      "pricing_rules.create.body.priority.required": true,
      "pricing_rules.create.body.adjustmentValue.required": false,
      "pricing_rules.create.body.name.name": "title",
      "pricing_rules.create.body.adjustmentType.values.percentage": "percent",
      "pricing_rules.create.body.taxId": "known",
      "pricing_rules.create.body.taxId.required": true,
      "pricing_rules.create.body.taxId.type": ["string"],
    });
    const create = (body: object) => call("POST", rules, { ...PAYMENT, body });
    const refused = await create({ ...RULE, title: "Weekend" });
    expect(refused.body.details.errors.map(({ field }: { field: string }) => field).toSorted()).toEqual([
      "priority",
      "taxId",
    ]);
    const wrong = await create({ title: "Weekend", adjustmentType: "percentage", priority: 1, taxId: "T1" });
    expect(wrong.body.details.errors).toMatchObject([{ field: "adjustmentType", code: "not_allowed" }]);
    const created = await create({ title: "Weekend", adjustmentType: "percent", priority: 1, taxId: "T1" });
    expect([created.status, created.body]).toEqual([
      200,
      expect.objectContaining({ name: "Weekend", adjustmentType: "percentage" }),
    ]);
  });

  test("are refused in the forms of the sandbox where the service has others, all at once and in the service's names", async () => {
    const { call } = await openAs({
      "pricing_rules.create.body.adjustmentType.name": "kind",
      "pricing_rules.create.body.adjustmentType.values.percentage": "percent",
      "pricing_rules.create.body.startDate.format": "ISO 8601 time",
      "pricing_rules.create.body.endDate.name": "until",
    });
    const create = (body: object) => call("POST", rules, { ...PAYMENT, body: { adjustmentValue: 5, ...body } });
    const wrong = await create({ name: 7, kind: "percentage", startDate: "2026-03-01", until: "soon" });
    expect([wrong.status, wrong.body.message]).toEqual([
      400,
      'kind must be one of percent, fixed; received "percentage". Also invalid: startDate, name, until. Assumed shape; --bodies open accepts others.',
    ]);
    expect(wrong.body.details.errors).toMatchObject([
      { pointer: "/kind", field: "kind", code: "not_allowed" },
      {
        pointer: "/startDate",
        code: "wrong_format",
        message: expect.stringContaining('must have the form "ISO 8601 time"; received'),
      },
      { pointer: "/name", code: "wrong_type" },
      { pointer: "/until" },
    ]);
    const right = await create({ name: "Weekend", kind: "percent", startDate: "2026-03-01T00:00:00Z" });
    expect([right.status, right.body]).toEqual([
      200,
      expect.objectContaining({ adjustmentType: "percentage", startDate: "2026-03-01" }),
    ]);
  });

  test("with a name that only the sandbox has are taken without it, or refused where the service refuses what it does not know", async () => {
    const renamed = { "pricing_rules.create.body.name.name": "title" };
    const body = { ...RULE, title: "Weekend", name: "Own" };
    const taken = await (await openAs(renamed)).call("POST", rules, { ...PAYMENT, body });
    expect([taken.body.name, taken.headers["x-sandbox-unknown-fields"]]).toEqual(["Weekend", "name"]);
    const strict = await openAs({ ...renamed, "pricing_rules.create.body.other_fields": "refused" });
    const refused = await strict.call("POST", rules, { ...PAYMENT, body });
    expect([refused.status, refused.body.message]).toEqual([
      400,
      expect.stringMatching(/^Unknown field name\. Did you mean title\?$/),
    ]);
    expect(refused.body.details.errors).toMatchObject([{ field: "name", code: "unknown_field" }]);
  });

  test("with unknown fields are refused where the service refuses them", async () => {
    const { call } = await openAs({ "pricing_rules.create.body.other_fields": "refused" });
    const { status, body } = await call("POST", rules, { ...PAYMENT, body: { ...RULE, colour: "blue" } });
    expect([status, body.details.errors]).toEqual([400, [expect.objectContaining({ field: "colour" })]]);
    expect((await call("POST", rules, { ...PAYMENT, body: RULE })).status).toBe(200);
  });
});

test("a field that need not be sent leaves no operation without its reply", async () => {
  const facts = assumptions().facts;
  const check = createFileCheck({ facts, operations: [...new Set(exampleCalls().map(({ id }) => id))] });
  const optional = facts.filter(
    ({ kind, value, id }) => kind === "required" && value === true && check({ [id]: false }) === undefined,
  );
  const { call } = await openAs(Object.fromEntries(optional.map(({ id }) => [id, false])));
  const statuses = exampleCalls().flatMap(({ id, method, path, body }) => {
    const sent = JSON.parse(String(body ?? "{}")) as Record<string, unknown>;
    const fields = Object.keys(sent).filter((field) =>
      optional.some((fact) => fact.id === `${id}.body.${field}.required`),
    );
    return fields.map(
      async (field) => (await call(method, `/v1${path}`, { ...PAYMENT, body: { ...sent, [field]: undefined } })).status,
    );
  });
  expect(statuses.length).toBeGreaterThan(10);
  expect((await Promise.all(statuses)).filter((status) => status >= 500)).toEqual([]);
});

test.each([
  [{ "payment.amount.type": ["string"] }, /payment\.amount\.type takes the types of the sandbox/],
  [
    { "payment.created.format": "phase of the moon" },
    /payment\.created\.format takes "Unix seconds" or .*ISO 8601 time/,
  ],
  [{ "payment.id.prefix": "pay me" }, /payment\.id\.prefix takes a prefix such as "pmt_"/],
  [{ "payment.amount.type": ["integer"] }, /payment\.amount\.type takes the types of the sandbox, or these and "null"/],
  [{ "payment.id.prefix": "po_" }, /payment\.id\.prefix cannot be "po_": other ids of the sandbox have this prefix/],
  [
    { "payment.id.prefix": "rec_", "booking.id.prefix": "rec_" },
    /payment\.id\.prefix cannot be "rec_": booking\.id\.prefix is "rec_", too/,
  ],
  [
    { "event.type.values.payment.failed": "x.y", "event.type.values.payout.paid": "x.y" },
    /event\.type\.values\.payment\.failed cannot be "x\.y": event\.type\.values\.payout\.paid is "x\.y", too/,
  ],
  [
    { "customer.email.name": "contact", "customer.phone.name": "contact" },
    /customer\.email\.name cannot be "contact": customer\.phone\.name is "contact", too/,
  ],
  [{ "event.id.prefix": "event_" }, /the delivery log and the headers of webhooks have the id, too/],
  [
    { "webhooks.create.body.url.required": false },
    /webhooks\.create\.body\.url\.required cannot be adopted: the sandbox needs the field/,
  ],
  [{ "payment.riskScore.type": ["integer"] }, /add "payment\.riskScore" to the file/],
  [{ "payment.riskScore": "often" }, /payment\.riskScore takes "always" or "sometimes"/],
  [{ "payment.other_fields": "riskScore" }, /name each field, such as payment\.riskScore/],
  [{ "payment.status.values": ["done"] }, /payment\.status\.values takes a list with all of pending/],
  [{ "pricing_rules.create.body.accepted": "red rules" }, /pricing_rules\.create\.body\.accepted cannot be adopted/],
  [{ "webhooks.create.reply.secret.prefix": "sec_" }, /a part of the key that signs webhooks/],
])("a file with %j is refused in a sentence", async (facts, message) => {
  await expect(openAs(facts)).rejects.toThrow(message);
});
