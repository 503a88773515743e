// `--bodies open`: any object is accepted as a body, all of its fields are kept, and later operations still work.

import { describe, expect, test } from "vitest";
import { catalogue } from "../../src/areas/index.ts";
import { ASSUMED } from "../../src/schema/assumed.ts";
import { fieldErrors } from "../../src/schema/validator.ts";
import { type Answer, type Bench, open, RULES } from "../support/sandbox.ts";

const PAYROLL = "/v1/employees/payroll";
const SETTINGS = "/v1/statutory/settings";

type Operation = (typeof catalogue)[number];

const openOperations = catalogue.filter(({ body }) => body && ASSUMED in body);

/** Fields that no operation knows. */
const UNKNOWN = { completely: "other", fields: [1, 2, 3], deep: { a: [null, "日本"] } };

const oddBodies = [
  {},
  UNKNOWN,
  {
    name: 5,
    email: 5,
    type: 5,
    netAmount: "x",
    sku: [],
    price: {},
    items: "none",
    reason: 1,
    remittanceDueDay: 99,
    metadata: "none",
  },
  { items: [{ employeeId: 1 }, null, "x"], options: [], schemes: [{}], daysOfWeek: ["someday"], accountNumber: 12 },
  { amount: 2 ** 60, currency: "eur", periodStart: "yesterday", ledgerAccount: "", events: [], password: null },
];

describe("a body of any shape", () => {
  test("is accepted if the documentation shows no body; the record and its event keep unknown fields", async () => {
    const bench = await open({ bodies: "open", rateLimit: "none" });
    let kept = 0;
    for (const operation of openOperations) {
      const named: string[] = [];
      for (const body of oddBodies) {
        const answer = await bench.call(operation.method, `/v1${await pathOf(bench, operation)}`, { body });
        const label = `${operation.id} ${JSON.stringify(body)}: ${answer.text}`;
        expect(answer.body.code, label).not.toBe("validation_failed");
        expect(answer.status, label).toBeLessThan(500);
        named.push(...String(answer.headers["x-sandbox-unknown-fields"] ?? "").split(", "));
        const errors = answer.status < 300 ? fieldErrors(operation.reply, answer.body) : [];
        for (const { pointer } of errors) expect(named, `${pointer} of ${label}`).toContain(pointer.split("/")[1]);
        if (body !== UNKNOWN || operation.id === "merchants.login" || answer.status >= 300) continue;
        kept++;
        expect(answer.body, label).toMatchObject(UNKNOWN);
        const event = await eventData(bench, answer);
        if (event !== undefined) expect(event, label).toMatchObject(UNKNOWN);
      }
    }
    expect(kept).toBeGreaterThan(openOperations.length - 3);
  });

  test("is rejected if the documentation shows another shape; the error does not suggest --bodies open", async () => {
    const bench = await open({ bodies: "open" });
    const bodies = {
      "/v1/webhooks": { url: "http://localhost:3000", events: "*" },
      "/v1/webhook-events/test": { type: "a.b", data: 5 },
    };
    for (const [path, body] of Object.entries(bodies)) {
      const answer = await bench.call("POST", path, { body });
      expect(answer).toMatchObject({ status: 400, body: { code: "validation_failed" } });
      expect(answer.text).not.toContain("--bodies open");
    }
  });

  test("is returned with its values, and a header names the fields that the sandbox cannot use", async () => {
    const bench = await open({ bodies: "open" });
    const answer = await bench.call("POST", RULES, {
      body: { name: "Half", adjustmentType: "sideways", minNights: 2 },
    });
    expect(answer).toMatchObject({ status: 200, body: { name: "Half", adjustmentType: "sideways", minNights: 2 } });
    expect(answer.headers["x-sandbox-unknown-fields"]).toBe("adjustmentType");
    expect(await eventData(bench, answer)).toEqual(answer.body);
  });

  test("is stored as sent: a payroll lists items of another shape, but none of them can be overridden", async () => {
    const bench = await open({ bodies: "open" });
    const items = [{ worker: "Ana", pay: "2,600.00" }];
    const { body } = await bench.call("POST", PAYROLL, { body: { items, currency: "euro" } });
    expect(body).toMatchObject({ items, currency: "euro", status: "draft", totals: { employees: 0 } });
    const override = await bench.call("PATCH", `${PAYROLL}/${body.id}/items/pyi_1/override`, {
      body: { netAmount: 1 },
    });
    expect(override).toMatchObject({ status: 404, body: { code: "resource_not_found" } });
  });

  test("is stored field by field: each value stays until a later call changes the field", async () => {
    const bench = await open({ bodies: "open" });
    const patch = async (body: object) => (await bench.call("PATCH", SETTINGS, { body })).body;
    expect(await patch({ country: 351, schemes: "all of them" })).toMatchObject({
      country: 351,
      schemes: "all of them",
    });
    expect(await patch({ remittanceDueDay: "20th" })).toMatchObject({
      country: 351,
      schemes: "all of them",
      remittanceDueDay: "20th",
    });
    expect(await patch({ schemes: null, country: "PT" })).toMatchObject({
      country: "PT",
      schemes: [],
      remittanceDueDay: "20th",
    });
    expect((await bench.call("GET", SETTINGS)).body).toMatchObject({
      country: "PT",
      schemes: [],
      remittanceDueDay: "20th",
    });
  });

  test("is restored from a snapshot, but a sandbox that checks bodies rejects the snapshot", async () => {
    const bench = await open({ bodies: "open" });
    await bench.call("POST", "/v1/merchants/payout-method", {
      body: { type: "bank_account", accountNumber: "12345678", accountName: 7 },
    });
    const { file } = await bench.control("PUT", "/snapshots/sent");
    await bench.control("POST", "/snapshots/sent/restore");
    expect((await bench.control("GET", "/records/payout_method?merchant=mer_lodge")).data[0]).toMatchObject({
      accountName: 7,
    });
    await expect(open({ snapshot: file })).rejects.toThrow(/accountName/);
  });

  test("does not break later operations: an item overridden in another shape can be overridden again", async () => {
    const bench = await open({ bodies: "open" });
    const override = async (body: object) =>
      bench.call("PATCH", `${PAYROLL}/pyr_draft/items/pyi_draft_marta/override`, { body });
    expect((await override({ netAmount: "1,850.00", reason: 7 })).body).toMatchObject({
      netAmount: "1,850.00",
      reason: 7,
    });
    expect(await override({ netAmount: 185_000, reason: "Typed." })).toMatchObject({
      status: 200,
      body: { netAmount: 185_000, reason: 7 },
    });
  });
});

/** The data of the first event of a call. Any further events report consequences for other records. */
async function eventData(bench: Bench, answer: Answer): Promise<unknown> {
  const { data } = await bench.control("GET", "/events?limit=10");
  return data.findLast(({ request }: { request: string }) => request === answer.headers["x-sandbox-request-id"])?.body
    .data;
}

/** The path of the operation with the id of a record whose state allows the operation. */
async function pathOf(bench: Bench, { id, path, exampleParams }: Operation): Promise<string> {
  const create = async (kind: string, fields: object): Promise<string> =>
    (await bench.control("POST", `/records/${kind}`, { merchant: "mer_lodge", ...fields })).id;
  if (id === "bookings.decline") return `/hospitality/bookings/${await create("booking", {})}/decline`;
  if (id === "remittances.confirm") return `/statutory/remittances/${await create("remittance", {})}/confirm`;
  if (id === "gov_payments.post")
    return `/gov-payments/${await create("gov_payment", { status: "paid" })}/post-to-books`;
  return path.replace(/\{(\w+)\}/g, (_, name: string) => exampleParams[name] ?? name);
}
