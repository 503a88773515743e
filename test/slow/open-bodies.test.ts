// `--bodies open`: any object is a body, nothing of it is lost, and later operations cope with what was stored.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { catalogue } from "../../src/areas/index.ts";
import type { ObjectSchema } from "../../src/contracts/endpoint.ts";
import { maskValue } from "../../src/kernel/mask.ts";
import { isSecretName } from "../../src/kernel/secrets.ts";
import { ASSUMED } from "../../src/schema/assumed.ts";
import { fieldErrors, matchesSchema } from "../../src/schema/validator.ts";
import { anyText } from "../support/any-text.ts";
import { inputs } from "../support/fuzzing.ts";
import { type Answer, type Bench, open } from "../support/sandbox.ts";

const RULES = "/v1/hospitality/pricing-rules";
const PAYROLL = "/v1/employees/payroll";
const SETTINGS = "/v1/statutory/settings";

type Operation = (typeof catalogue)[number];
type Fields = Record<string, unknown>;

const openOperations = catalogue.filter(({ body }) => body && ASSUMED in body);

const oddBodies = [
  {},
  { completely: "other", fields: [1, 2, 3] },
  { name: 5, email: 5, type: 5, netAmount: "x", sku: [], price: {}, items: "none", reason: 1, remittanceDueDay: 99, metadata: "none" },
  { items: [{ employeeId: 1 }, null, "x"], options: [], schemes: [{}], daysOfWeek: ["someday"], accountNumber: 12 },
  { amount: 2 ** 60, currency: "eur", periodStart: "yesterday", ledgerAccount: "", events: [], password: null },
];

describe("a body of any shape", () => {
  test("is accepted by every operation whose body the API's document does not show", async () => {
    const bench = await open({ bodies: "open" });
    for (const operation of openOperations) {
      const named: string[] = [];
      for (const body of oddBodies) {
        const answer = await callOperation(bench, operation, body);
        const label = `${operation.id} ${JSON.stringify(body)}: ${answer.text}`;
        expect(answer.body.code, label).not.toBe("validation_failed");
        expect(answer.status, label).toBeLessThan(500);
        named.push(...String(answer.headers["x-sandbox-unknown-fields"] ?? "").split(", "));
        const errors = answer.status < 300 ? fieldErrors(operation.reply, answer.body) : [];
        for (const { pointer } of errors) expect(named, `${pointer} of ${label}`).toContain(pointer.split("/")[1]);
      }
    }
  });

  test("is still rejected where the document shows the body, without the advice to open it", async () => {
    const bench = await open({ bodies: "open" });
    const bodies = { "/v1/webhooks": { url: "http://localhost:3000", events: "*" }, "/v1/webhook-events/test": { type: "a.b", data: 5 } };
    for (const [path, body] of Object.entries(bodies)) {
      const answer = await bench.call("POST", path, { body });
      expect(answer).toMatchObject({ status: 400, body: { code: "validation_failed" } });
      expect(answer.text).not.toContain("--bodies open");
    }
  });

  test("comes back with its values, and the header names those that the sandbox cannot use", async () => {
    const bench = await open({ bodies: "open" });
    const answer = await bench.call("POST", RULES, { body: { name: "Half", adjustmentType: "sideways", minNights: 2 } });
    expect(answer).toMatchObject({ status: 200, body: { name: "Half", adjustmentType: "sideways", minNights: 2 } });
    expect(answer.headers["x-sandbox-unknown-fields"]).toBe("adjustmentType");
    expect(await eventData(bench, answer)).toEqual(answer.body);
  });

  test("is kept as sent: a payroll with other items lists them, and has none to override", async () => {
    const bench = await open({ bodies: "open" });
    const items = [{ worker: "Ana", pay: "2,600.00" }];
    const { body } = await bench.call("POST", PAYROLL, { body: { items, currency: "euro" } });
    expect(body).toMatchObject({ items, currency: "euro", status: "draft", totals: { employees: 0 } });
    const override = await bench.call("PATCH", `${PAYROLL}/${body.id}/items/pyi_1/override`, { body: { netAmount: 1 } });
    expect(override).toMatchObject({ status: 404, body: { code: "resource_not_found" } });
  });

  test("is shown until a later call changes the field", async () => {
    const bench = await open({ bodies: "open" });
    const patch = async (body: object) => (await bench.call("PATCH", SETTINGS, { body })).body;
    expect(await patch({ country: 351, schemes: "all of them" })).toMatchObject({ country: 351, schemes: "all of them" });
    expect(await patch({ remittanceDueDay: "20th" })).toMatchObject({ country: 351, schemes: "all of them", remittanceDueDay: "20th" });
    expect(await patch({ schemes: null, country: "PT" })).toMatchObject({ country: "PT", schemes: [], remittanceDueDay: "20th" });
    expect((await bench.call("GET", SETTINGS)).body).toMatchObject({ country: "PT", schemes: [], remittanceDueDay: "20th" });
  });

  test("survives a snapshot, which a sandbox that checks bodies refuses", async () => {
    const bench = await open({ bodies: "open" });
    await bench.call("POST", "/v1/merchants/payout-method", { body: { type: "bank_account", accountNumber: "12345678", accountName: 7 } });
    const { file } = await bench.control("PUT", "/snapshots/sent");
    await bench.control("POST", "/snapshots/sent/restore");
    expect((await bench.control("GET", "/records/payout_method?merchant=mer_lodge")).data[0]).toMatchObject({ accountName: 7 });
    await expect(open({ snapshot: file })).rejects.toThrow(/accountName/);
  });

  test("does not break later operations: an item whose override has another shape can be overridden again", async () => {
    const bench = await open({ bodies: "open" });
    const override = async (body: object) => bench.call("PATCH", `${PAYROLL}/pyr_draft/items/pyi_draft_marta/override`, { body });
    expect((await override({ netAmount: "1,850.00", reason: 7 })).body).toMatchObject({ netAmount: "1,850.00", reason: 7 });
    expect(await override({ netAmount: 185_000, reason: "Typed." })).toMatchObject({
      status: 200,
      body: { netAmount: 185_000, reason: 7 },
    });
  });
});

describe("every object that is sent", () => {
  const values = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    anyText(),
    fc.constantFrom<unknown>(2 ** 53, 0.1, "", null, [], {}, "2026-02-30", "eur", "\u0000", "\ud800", "__proto__", true, "PT", ["monday"]),
  );
  const sent = fc.constantFrom(...openOperations.filter(({ id }) => id !== "merchants.login")).chain((operation) => {
    const known = Object.keys(operation.body?.properties ?? {});
    const name = fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...known) },
      { weight: 1, arbitrary: fc.constantFrom("id", "status", "toJSON", "x") },
      { weight: 1, arbitrary: anyText({ maxLength: 12 }) },
    );
    const changes = fc.array(fc.tuple(name, values), { maxLength: 5 });
    return changes.map((fields) => ({ operation, body: Object.fromEntries([...Object.entries(operation.example ?? {}), ...fields]) }));
  });

  test("comes back with all its fields and values, in the response and in the event", async () => {
    const bench = await open({ bodies: "open", rateLimit: "none" });
    let accepted = 0;
    const numRuns = inputs(80);
    const property = fc.asyncProperty(sent, async ({ operation, body }) => {
      const answer = await callOperation(bench, operation, body, await pathOf(bench, operation));
      const label = `${operation.id} ${JSON.stringify(body)}: ${answer.status} ${answer.text}`;
      if (answer.status === 400 || answer.status === 409) return;
      accepted++;
      expect(answer.status, label).toBe(200);
      for (const [name, value] of Object.entries(body)) expectReturned(operation, answer, name, value, label);
      const { apiKey: _, ...record } = answer.body;
      const event = await eventData(bench, answer);
      if (event !== undefined) expect(event, label).toEqual(record);
    });
    await fc.assert(property, { numRuns });
    expect(accepted).toBeGreaterThan(numRuns / 2);
  });
});

/** Names of fields in the response for known fields of the body that it calls otherwise. */
const ELSEWHERE: Record<string, (answer: Fields) => unknown> = {
  "bookings.decline reason": (booking) => booking.declineReason,
  "payroll.override_item reason": (item) => (item.override as Fields).reason,
  "gov_payments.post ledgerAccount": (payment) => (payment.bookkeeping as Fields).debitAccount,
  "gov_payments.post memo": (payment) => (payment.bookkeeping as Fields).memo,
};

/** Names that the sandbox keeps from no client: they would change the object's prototype. */
const REFUSED = ["__proto__", "constructor", "prototype"];

function expectReturned({ id, body, reply }: Operation, answer: Answer, name: string, sent: unknown, label: string): void {
  const known = body?.properties[name];
  const isUsed = known !== undefined && matchesSchema(known, sent);
  const isNamed = String(answer.headers["x-sandbox-unknown-fields"] ?? "").length > 0;
  if (!isUsed) expect(isNamed, label).toBe(true);
  const isOwned = known === undefined && name in ((reply as Partial<ObjectSchema>).properties ?? {});
  if (isOwned || REFUSED.includes(name)) return;
  // Null is the absence of a known field; in a change it removes an unknown one.
  if (sent === null && (isUsed || id === "statutory_settings.update")) return;
  if (isUsed && isSecretName(name)) return;
  const [masked] = Object.values(maskValue({ [name]: sent }) as Fields);
  const value = JSON.parse(JSON.stringify(isUsed ? sent : masked));
  const shown = isUsed && ELSEWHERE[`${id} ${name}`] ? ELSEWHERE[`${id} ${name}`]?.(answer.body) : answer.body[name];
  if (isUsed && name === "items") expect(shown, label).toMatchObject(value);
  else expect(shown, `${name} of ${label}`).toEqual(value);
}

/** The data of the first event of a call: further ones are consequences for other records. */
async function eventData(bench: Bench, answer: Answer): Promise<unknown> {
  const { data } = await bench.control("GET", "/events?limit=10");
  return data.findLast(({ request }: { request: string }) => request === answer.headers["x-sandbox-request-id"])?.body.data;
}

/** A path of the operation whose record is in a state that allows it. */
async function pathOf(bench: Bench, operation: Operation): Promise<string | undefined> {
  const create = async (kind: string, fields: object): Promise<string> =>
    (await bench.control("POST", `/records/${kind}`, { merchant: "mer_lodge", ...fields })).id;
  if (operation.id === "bookings.decline") return `/hospitality/bookings/${await create("booking", {})}/decline`;
  if (operation.id === "remittances.confirm") return `/statutory/remittances/${await create("remittance", {})}/confirm`;
  if (operation.id === "gov_payments.post") return `/gov-payments/${await create("gov_payment", { status: "paid" })}/post-to-books`;
  return undefined;
}

function callOperation(bench: Bench, operation: Operation, body: unknown, target?: string): Promise<Answer> {
  const path = target ?? operation.path.replace(/\{(\w+)\}/g, (_, name: string) => operation.exampleParams[name] ?? name);
  return bench.call(operation.method, `/v1${path}`, { body });
}
