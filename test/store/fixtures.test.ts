// The content of the built-in fixtures, the errors of invalid ones, seeded merchants, and the SQL views.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { resource } from "../../src/areas/declare/resource.ts";
import { resources } from "../../src/areas/index.ts";
import type { Resource } from "../../src/contracts/resource.ts";
import { exitCodes, SandboxError } from "../../src/kernel/errors.ts";
import { packageFile } from "../../src/sandbox/package-files.ts";
import { count, text } from "../../src/schema/shapes.ts";
import { createViews } from "../../src/store/records/views.ts";
import { openDatabase } from "../../src/store/sqlite/database.ts";
import { type Fixture, readCheckedFixtures } from "../../src/store/world/fixtures.ts";
import { folder } from "../support/program.ts";
import { NOON_SECONDS, open } from "../support/sandbox.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests look into records of every kind.
type Some = any;

const BUILT_IN = packageFile("fixtures/merchants");
const fixtures = await readCheckedFixtures(BUILT_IN, resources);
const named = (name: string) => fixtures.find((fixture) => fixture.name === name) as Fixture;
const recordsOf = (fixture: Fixture, kind: string) => (fixture.records[kind] ?? []) as Some[];
const sum = (amounts: number[]) => amounts.reduce((total, amount) => total + amount, 0);

/** A merchant has only one record of each of these kinds, so no single merchant can show all their states. */
const SINGLE = ["merchant", "payout_method", "event_organizer", "statutory_settings"];

/** A new folder with these files. */
function folderOf(files: Record<string, string>): string {
  const made = folder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(made, name), text);
  return made;
}

const lastingStates = ({ states }: Pick<Resource, "states">) =>
  Object.keys(states)
    .filter((status) => !states[status]?.isBrief)
    .sort();

// readCheckedFixtures() has checked the rules of each kind, the references and the sums.
describe("the built-in fixtures", () => {
  test("are valid, and are ordered by the creation of their merchants", () => {
    expect(fixtures.map(({ name }) => name)).toEqual(["lodge", "market", "stage", "blank"]);
    expect(fixtures.map(({ merchant }) => merchant.apiKey)).toEqual([
      "sk_test_lodge",
      "sk_test_market",
      "sk_test_stage",
      "sk_test_blank",
    ]);
    expect(named("blank").records).toEqual({});
  });

  const withStates = resources.filter(
    ({ kind, transitions, hidden }) =>
      !SINGLE.includes(kind) && hidden.length === 0 && Object.keys(transitions).length > 0,
  );
  test.each(withStates.map((resource) => [resource.kind, resource] as const))(
    "lodge has records of %s in every state that lasts longer than minutes",
    (kind, resource) => {
      const states = new Set(recordsOf(named("lodge"), kind).map(({ status }) => status ?? resource.defaults.status));
      expect([...states].sort()).toEqual(lastingStates(resource));
    },
  );

  test.each(["payout_method", "event_organizer"])(
    "together have records of %s in every state that lasts longer than minutes",
    (kind) => {
      const resource = resources.find((one) => one.kind === kind) as Some;
      const states = fixtures
        .flatMap((fixture) => recordsOf(fixture, kind))
        .map(({ status }) => status ?? resource.defaults.status);
      expect([...new Set(states)].sort()).toEqual(lastingStates(resource));
    },
  );

  test("no merchant has two records of a kind that allows only one", () => {
    const current = (fixture: Fixture, kind: string) =>
      recordsOf(fixture, kind).filter(({ status }) => status !== "replaced");
    for (const fixture of fixtures)
      for (const kind of SINGLE) expect(current(fixture, kind).length).toBeLessThanOrEqual(1);
  });

  test("lodge has enough payments for several pages, with payments in every month of the year", () => {
    const payments = recordsOf(named("lodge"), "payment");
    expect(payments.length).toBeGreaterThanOrEqual(130);
    expect(new Set(payments.map(({ created }) => new Date(created * 1_000).getUTCMonth())).size).toBe(12);
  });

  describe.each(fixtures.map((fixture) => [fixture.name, fixture] as const))("%s", (_, fixture) => {
    const all = Object.entries(fixture.records).flatMap(([kind, records]) =>
      records.map((record) => ({ kind, record: record as Some })),
    );

    test("has records created in 2025, each kind in the order of creation", () => {
      const from = Date.UTC(2025, 0, 1) / 1_000;
      const to = Date.UTC(2026, 0, 1) / 1_000;
      for (const records of Object.values(fixture.records)) {
        const times = records.map(({ created }) => created as number);
        expect(times).toEqual([...times].sort((one, other) => one - other));
        for (const time of times) expect(time).toBeGreaterThanOrEqual(Math.max(from, fixture.merchant.created ?? 0));
        for (const time of times) expect(time).toBeLessThan(to);
      }
    });

    test("uses only e-mail addresses, URLs and telephone numbers that are reserved for examples", () => {
      const everything = JSON.stringify(fixture);
      for (const [address] of everything.matchAll(/[^\s"]+@[^\s"]+/g)) expect(address).toMatch(/\.example$/);
      for (const [address] of everything.matchAll(/https?:\/\/[^\s"/]+/g)) expect(address).toMatch(/\.example$/);
      for (const { record } of [...all, { record: fixture.merchant as Some }])
        if (record.phone !== undefined) expect(record.phone).toMatch(/^\+44 7700 900\d{3}$/);
    });

    test("names the covered days in the metadata of its weekly payouts", () => {
      for (const { metadata, payments } of recordsOf(fixture, "payout").filter(
        ({ metadata }) => metadata.schedule !== "daily",
      )) {
        const days = payments
          .filter((share: Some) => share.amount > 0)
          .map(({ paymentId }: Some) => dayOf(recordsOf(fixture, "payment").find(({ id }) => id === paymentId).paidAt));
        expect([metadata, days.filter((day: string) => day < metadata.from || day > metadata.to)]).toEqual([
          metadata,
          [],
        ]);
        expect(payments).toHaveLength(metadata.payments);
      }
    });
  });

  test("lodge remits the employer's share and the amounts withheld from employees", () => {
    const payrolls = recordsOf(named("lodge"), "payroll");
    for (const { scheme, period, amount, employeeAmount, employerAmount } of recordsOf(named("lodge"), "remittance")) {
      expect(amount).toBe(employeeAmount + employerAmount);
      const run = payrolls.find(({ periodStart, status }) => periodStart.startsWith(period) && status !== "failed");
      const kept = run.items.flatMap((item: Some) => item.deductions).filter(({ code }: Some) => code === scheme);
      expect(employeeAmount).toBe(sum(kept.map((deduction: Some) => deduction.amount)));
    }
  });
});

const dayOf = (seconds: number) => new Date(seconds * 1_000).toISOString().slice(0, 10);

const SHOP = `{
  "merchant": {
    "id": "mer_shop",
    "name": "Shop",
    "email": "hello@shop.example",
    "apiKey": "sk_test_shop"
  },
  "records": {
    "booking": [
      { "id": "bkg_1", "status": "pending" },
      { "id": "bkg_2", "guests": 2 }
    ],
    "product": [{ "id": "prod_1" }],
    "product_variant": [
      { "productId": "prod_1", "sku": "A-1", "options": { "size": "S" } },
      { "productId": "prod_1", "sku": "A-2", "options": { "size": "M" } }
    ]
  }
}
`;

describe("a custom fixture", () => {
  test("needs no records, only a merchant", async () => {
    const folder = folderOf({
      "shop.json": SHOP,
      "tiny.json": SHOP.replaceAll("shop", "tiny").replace(/,\s+"records"[\s\S]*/, "}"),
    });
    const bench = await open({ fixtures: folder });
    expect((await bench.call("GET", "/v1/merchants/me", { key: "sk_test_tiny" })).body).toMatchObject({
      id: "mer_tiny",
      merchantId: "mer_tiny",
      status: "active",
      phone: null,
      created: NOON_SECONDS,
    });
    const declined = await bench.call("POST", "/v1/hospitality/bookings/bkg_2/decline", {
      key: "sk_test_shop",
      body: {},
    });
    expect(declined.status).toBe(200);
    expect(declined.body).toMatchObject({ id: "bkg_2", status: "declined", guests: 2, created: NOON_SECONDS });
    expect(await bench.events(declined)).toEqual(["booking.declined"]);
  });

  const wrong: [what: string, from: string, to: string, message: string][] = [
    [
      "a trailing comma",
      '"apiKey": "sk_test_shop"\n',
      '"apiKey": "sk_test_shop",\n',
      ":7: is not JSON: property name expected.",
    ],
    ["a list instead of an object", SHOP, "[]", ":1: a fixture is a JSON object with a merchant and its records."],
    ["a misspelt merchant", '"merchant"', '"merchnt"', ":2 /merchnt: Unknown field merchnt. Did you mean merchant?"],
    [
      "a missing e-mail address",
      '    "email": "hello@shop.example",\n',
      "",
      ":2 /merchant/email: merchant.email is required.",
    ],
    [
      "a key without sk_test_",
      "sk_test_shop",
      "key_shop",
      ":6 /merchant/apiKey: merchant.apiKey must be sk_test_ and a name of your own",
    ],
    [
      "the key of a session",
      "sk_test_shop",
      "sk_test_session_shop",
      ":6 /merchant/apiKey: merchant.apiKey must be sk_test_",
    ],
    ["a live key", "sk_test_shop", "sk_live_abcdef", ":6: holds a live key. Take it out, and rotate it."],
    [
      "an unknown kind",
      '"booking"',
      '"bookng"',
      ":9 /records/bookng: Unknown field records.bookng. Did you mean booking?",
    ],
    ["a second merchant", '"product"', '"merchant"', ":13 /records/merchant: Unknown field records.merchant."],
    [
      "an unknown state",
      '"pending"',
      '"pendng"',
      ":10 /records/booking/0/status: records.booking.0.status must be one of pending, confirmed, checked_in, " +
        'checked_out, no_show, cancelled, declined; received "pendng".',
    ],
    [
      "a repeated id",
      "bkg_2",
      "bkg_1",
      ":11 /records/booking/1/id: no two records of the kind booking may have the same id; " +
        "/records/booking/0 has it too.",
    ],
    [
      "two variants of a product without options",
      ', "options": { "size": "S" } },\n      { "productId": "prod_1", "sku": "A-2", "options": { "size": "M" } }',
      ', "options": {} },\n      { "productId": "prod_1", "sku": "A-2" }',
      ":16 /records/product_variant/1/productId: no two records of the kind product_variant may have the same " +
        "productId and options;",
    ],
    [
      "a refund above the amount",
      '[{ "id": "prod_1" }]',
      '[{ "id": "prod_1" }], ' +
        '"payment": [{ "id": "pay_1", "status": "succeeded", "amount": 500, "refundedAmount": 900 }]',
      ":13 /records/payment/0/refundedAmount: payment pay_1: refundedAmount must not exceed the amount, 500; " +
        "received 900.",
    ],
    [
      "a reference to a record that does not exist",
      '"guests": 2',
      '"customerId": "cus_nobody"',
      ":11 /records/booking/1/customerId: booking bkg_2: customerId is cus_nobody, which is no customer",
    ],
    [
      "an unknown currency of the merchant",
      '"name": "Shop",',
      '"name": "Shop", "currency": "EUX",',
      ":4 /merchant/currency: merchant mer_shop: currency must be a code of ISO 4217",
    ],
  ];
  test.each(wrong)("with %s is rejected, and the error names the file and the line", async (_, from, to, message) => {
    const folder = folderOf({ "shop.json": SHOP.replace(from, () => to) });
    const refusal = await readCheckedFixtures(folder, resources).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(SandboxError);
    expect((refusal as SandboxError).exitCode).toBe(exitCodes.badFixture);
    expect((refusal as SandboxError).message).toContain(
      message.startsWith(":") ? `${join(folder, "shop.json")}${message}` : message,
    );
    expect((refusal as SandboxError).message).not.toContain("abcdef");
  });

  test("is rejected with one error and the number of further errors", async () => {
    const folder = folderOf({ "shop.json": SHOP.replace('"pending"', '"pendng"').replace('"guests"', '"gests"') });
    await expect(readCheckedFixtures(folder, resources)).rejects.toThrow(
      /:11 \/records\/booking\/1\/gests: .* 1 more error\.$/,
    );
  });

  test.each([
    ["id", "mer_shop", ":3 /merchant/id"],
    ["email", "hello@shop.example", ":5 /merchant/email"],
    ["email", "Hello@Shop.example", ":5 /merchant/email"],
    ["apiKey", "sk_test_shop", ":6 /merchant/apiKey"],
  ])("is rejected if its merchant has the %s of another fixture's merchant", async (field, value, where) => {
    const other = SHOP.replaceAll(/shop/g, "twin").replace(value.toLowerCase().replace("shop", "twin"), value);
    const folder = folderOf({ "a.json": SHOP, "b.json": other });
    const [first, second] = [join(folder, "a.json"), join(folder, "b.json")];
    const message = `${second}${where}: merchant.${field} must differ from that in ${first}`;
    await expect(readCheckedFixtures(folder, resources)).rejects.toThrow(message);
  });

  test("must be a .json file, or in a folder that contains one", async () => {
    const empty = folderOf({ "notes.txt": "" });
    await expect(readCheckedFixtures(empty, resources)).rejects.toThrow(`The folder ${empty} holds no .json file.`);
    await expect(readCheckedFixtures(join(empty, "none"), resources)).rejects.toThrow(
      /^Cannot read the folder .*none: there is no such folder\. A fixture is/,
    );
    await expect(readCheckedFixtures(join(empty, "mine.json"), resources)).rejects.toThrow(
      /^Cannot read \S+mine\.json: there is no such file\.$/,
    );
    await expect(readCheckedFixtures(join(empty, "notes.txt"), resources)).rejects.toThrow(
      /^Cannot read the folder \S+notes\.txt: it is not a folder\. A fixture is/,
    );
  });

  test("that is invalid fails the start of a sandbox, and a corrected one then fills the same database", async () => {
    const folder = folderOf({ "shop.json": SHOP.replace("bkg_2", "bkg_1") });
    const file = join(folder, "world.db");
    await expect(open({ fixtures: folder, memory: false, db: file })).rejects.toThrow(":11 /records/booking/1/id");
    writeFileSync(join(folder, "shop.json"), SHOP);
    const bench = await open({ fixtures: folder, memory: false, db: file });
    expect((await bench.merchants.list()).data.map(({ id }) => id)).toEqual(["mer_shop"]);
  });
});

describe("a seeded merchant", () => {
  test("has every payment of its fixture with the same id, newest first", async () => {
    const bench = await open({ clock: named("lodge").asOf });
    const { body } = await bench.call("GET", "/v1/payments?limit=100");
    const newest = recordsOf(named("lodge"), "payment").at(-1);
    expect(body.data[0]).toMatchObject(newest);
    const rest = await bench.call("GET", `/v1/payments?limit=100&starting_after=${body.data.at(-1).id}`);
    const ids = [...body.data, ...rest.body.data].map(({ id }: Some) => id);
    expect(ids).toEqual(
      recordsOf(named("lodge"), "payment")
        .map(({ id }) => id)
        .reverse(),
    );
    expect(rest.body.has_more).toBe(false);
  });

  test("can be created twice: the copy has its own identity and its own records", async () => {
    const bench = await open();
    const { id: merchant, apiKey } = await bench.control("POST", "/merchants", { fixture: "lodge" });
    const own = (await bench.call("GET", "/v1/merchants/me", { key: apiKey })).body;
    expect(own).toMatchObject({ id: merchant, merchantId: merchant, name: "Quinta da Ribeira" });
    expect(own.email).not.toBe("ola@lodge.example");
    const mine = (await bench.call("GET", "/v1/payments", { key: apiKey })).body.data as Some[];
    const theirs = (await bench.call("GET", "/v1/payments")).body.data as Some[];
    expect(mine).toEqual(theirs.map((payment) => ({ ...payment, merchantId: merchant })));
    const decline = "/v1/hospitality/bookings/bkg_pending/decline";
    expect((await bench.call("POST", decline, { key: apiKey })).status).toBe(200);
    expect((await bench.call("POST", decline, { key: apiKey })).status).toBe(409);
    expect((await bench.call("POST", decline)).status).toBe(200);
  });
});

describe("the views", () => {
  test("show every kind of record, even after a second start", async () => {
    const file = join(folderOf({}), "world.db");
    await (await open({ memory: false, db: file })).close();
    await (await open({ memory: false, db: file })).close();
    const sql = new Sqlite(file, { readonly: true });
    for (const { kind, view } of resources) {
      const seeded =
        kind === "merchant" ? fixtures.length : sum(fixtures.map((fixture) => recordsOf(fixture, kind).length));
      expect(sql.prepare(`select * from ${view}`).all(), view).toHaveLength(seeded);
    }
    expect(
      sql.prepare("select * from payments where merchant = 'mer_lodge' and id = 'pay_refunded'").get(),
    ).toMatchObject({
      merchant: "mer_lodge",
      status: "refunded",
      currency: "EUR",
      failureCode: null,
      livemode: 0,
    });
    expect(
      sql
        .prepare(
          "select sum(json_extract(value, '$.netAmount')) = totals ->> 'netAmount' as adds " +
            "from payrolls, json_each(items) group by payrolls.id",
        )
        .pluck()
        .all(),
    ).toEqual(recordsOf(named("lodge"), "payroll").map(() => 1));
    expect(sql.prepare("select count(*) from events").pluck().get(), "seeding is silent").toBe(0);
    sql.close();
  });

  test("leave out hidden fields", () => {
    const secretive = resource({
      kind: "vault",
      prefix: "vlt",
      view: "vaults",
      fields: { secret: text("Hidden"), size: count("Shown") },
      hidden: ["secret"],
    });
    const database = openDatabase(undefined);
    createViews(database, [secretive]);
    const columns = database.sql.prepare("select name from pragma_table_info('vaults')").pluck().all();
    expect(columns).toEqual(["id", "merchant", "created", "status", "object", "size", "metadata", "livemode"]);
    database.close();
  });
});
