// The commands make, move and show for records, the commands snapshot and openapi, and the help of subcommands.

import { describe, expect, test } from "vitest";
import { everyCommand } from "../../src/cli/commands/index.ts";
import { linesOf, runCommand } from "../support/program.ts";
import { type Bench, open } from "../support/sandbox.ts";

const json = async (bench: Bench, ...words: string[]) =>
  JSON.parse((await linesOf(bench, ...words, "--json"))[0] ?? "");

describe("make", () => {
  test("creates a record in a given state, and prints it with its events", async () => {
    const bench = await open();
    await bench.call("POST", "/v1/webhooks", {
      body: { url: "http://localhost:3000/", events: ["payment.succeeded"] },
    });
    const words = ["make", "payment", "--status", "succeeded", "--amount", "12.50"];
    const [record = "", pending, succeeded, ...more] = await linesOf(bench, ...words);
    expect(record).toMatch(/^pay_\w+ succeeded 12\.50 EUR /);
    expect(pending).toMatch(/^ {2}payment\.pending evt_\w+: no endpoint is subscribed to it$/);
    expect(succeeded).toMatch(/^ {2}payment\.succeeded evt_\w+: 1 delivery$/);
    expect(more).toEqual([]);
    const { data } = (await bench.call("GET", "/v1/payments?limit=1")).body;
    expect(data).toMatchObject([{ id: record.split(" ")[0], amount: 1_250, currency: "EUR", status: "succeeded" }]);
  });

  test("reads amounts in the main unit of the currency, or in its smallest unit", async () => {
    const bench = await open();
    expect((await json(bench, "make", "payment", "--amount", "12.5")).amount).toBe(1_250);
    expect((await json(bench, "make", "payment", "--amount-minor", "125")).amount).toBe(125);
    expect((await json(bench, "make", "payment", "--amount", "800", "--merchant", "stage")).amount).toBe(800);
    expect((await json(bench, "make", "payment", "--amount", "0.5", "--currency", "USD")).amount).toBe(50);
  });

  test("accepts fields in camelCase too, as request bodies have them", async () => {
    const bench = await open();
    const words = ["--customerId", "cus_ines", "--paidAt", "2026-01-04T12:00:00Z", "--status", "succeeded"];
    const payment = await json(bench, "make", "payment", ...words);
    expect(payment).toMatchObject({ customerId: "cus_ines", paidAt: 1_767_528_000 });
  });

  test("reports a rejected amount in the unit in which it was typed", async () => {
    const bench = await open();
    expect((await runCommand(bench.url, "make", "payment", "--amount", "-3")).error).toMatch(
      /--amount must be at least 0\.\d\d EUR; received "-3"\./,
    );
    expect((await runCommand(bench.url, "make", "payment", "--amount-minor", "-3")).error).toContain("received -3");
  });

  test("reads times, null, objects, lists, numbers, strings and booleans", async () => {
    const bench = await open();
    const words = ["--created", "2025-12-01T00:00:00Z", "--phone", "null", "--metadata", '{"vip": true}'];
    const customer = await json(bench, "make", "customer", ...words);
    expect(customer).toMatchObject({ created: 1_764_547_200, metadata: { vip: true } });
    const rule = await json(
      bench,
      "make",
      "pricing-rule",
      "--days-of-week",
      '["monday"]',
      "--priority",
      "3",
      "--name",
      "Mondays",
    );
    expect(rule).toMatchObject({ daysOfWeek: ["monday"], priority: 3, name: "Mondays" });
    const renewal = await json(bench, "make", "renewal", "--auto-renew", "true", "--customer", "cus_ines");
    expect(renewal).toMatchObject({ autoRenew: true, customerId: "cus_ines" });
  });

  test.each(["order", "orders", "marketplace-order", "marketplace_orders"])(
    "accepts %s as a name of the kind marketplace_order",
    async (word) => {
      expect((await json(await open(), "make", word)).object).toBe("marketplace_order");
    },
  );

  test("creates an unlikely record, and warns of it on standard error", async () => {
    const bench = await open();
    const words = ["make", "remittance", "--scheme", "income_tax", "--period", "2025-12"];
    const { code, out, error } = await runCommand(bench.url, ...words);
    expect([code, out[0]]).toEqual([0, expect.stringMatching(/^rem_\w+ pending /)]);
    expect(error).toMatch(/^warning: rem_\w+ remits income_tax of 2025-12 too\.\n$/);
    const asJson = (await runCommand(bench.url, ...words, "--json")).out[0] ?? "";
    expect(JSON.parse(asJson).warnings).toEqual([expect.stringContaining("remits income_tax")]);
  });

  test("--help lists the fields of the kind", async () => {
    const out = (await linesOf(await open(), "make", "booking", "--help")).join("\n");
    expect(out).toContain("--check-in <YYYY-MM-DD>");
    expect(out).toMatch(/--amount <amount> +Total price of the stay, such as 12\.50/);
    expect(out).not.toContain("--amount-minor <");
  });
});

describe("move", () => {
  test("changes the state of a record, and prints the event", async () => {
    const bench = await open();
    const [record, event] = await linesOf(bench, "move", "payment", "pay_pending", "succeeded");
    expect(record).toMatch(/^pay_pending succeeded 760\.00 EUR /);
    expect(event).toMatch(/^ {2}payment\.succeeded evt_\w+: no endpoint is subscribed to it$/);
  });

  test("changes fields with or without a new state", async () => {
    const bench = await open();
    expect(await json(bench, "move", "payment", "pay_pending", "--description", "Breakfast")).toMatchObject({
      status: "pending",
      description: "Breakfast",
    });
    const moved = await json(bench, "move", "payments", "pay_pending", "failed", "--failure-code", "expired_card");
    expect(moved).toMatchObject({ status: "failed", failureCode: "expired_card", description: "Breakfast" });
  });

  test("changes the state of the merchant itself", async () => {
    expect(await json(await open(), "move", "merchant", "mer_lodge", "suspended")).toMatchObject({
      id: "mer_lodge",
      status: "suspended",
    });
  });
});

describe("show", () => {
  test("lists the newest records of a kind with a status, page by page", async () => {
    const bench = await open();
    const { data } = (await bench.call("GET", "/v1/payments?limit=100")).body;
    const failed = data
      .filter(({ status }: { status: string }) => status === "failed")
      .map(({ id }: { id: string }) => id);
    const out = await linesOf(bench, "show", "payments", "--status", "failed", "--limit", "2");
    expect(out.map((line) => line.split(" ").slice(0, 2))).toEqual([
      [failed[0], "failed"],
      [failed[1], "failed"],
      ["Older", "ones:"],
    ]);
    expect(out[2]).toBe(`Older ones: add --starting-after ${failed[1]}.`);
    expect((await json(bench, "show", "payment", "--status", "failed", "--starting-after", failed[1])).id).toBe(
      failed[2],
    );
  });

  test("lists the steps of a record's timeline, newest first, and says when older steps were left out", async () => {
    const bench = await open();
    await linesOf(bench, "move", "booking", "bkg_pending", "confirmed");
    await linesOf(bench, "clock", "advance", "1s");
    await bench.call("GET", "/v1/hospitality/bookings/bkg_pending");
    const show = (...more: string[]) => linesOf(bench, "show", "booking", "bkg_pending", "--timeline", ...more);
    expect(await show()).toEqual([
      expect.stringMatching(/ request req_\w+ GET \/v1\/hospitality\/bookings\/bkg_pending 404 /),
      expect.stringMatching(/ event evt_\w+ payment\.succeeded of pay_\w+ no endpoint$/),
      expect.stringMatching(/ event evt_\w+ payment\.pending of pay_\w+ no endpoint$/),
      expect.stringMatching(/ event evt_\w+ booking\.confirmed no endpoint$/),
    ]);
    const { out, error } = await runCommand(bench.url, "show", "booking", "bkg_pending", "--timeline", "--limit", "1");
    expect([out.length, error]).toEqual([1, expect.stringContaining("Older steps were left out: add --limit 100")]);
  });

  test("shows one record, with amounts in the main unit and times in ISO 8601", async () => {
    const out = await linesOf(await open({ clock: "2026-01-05T12:00:00Z" }), "show", "payment", "pay_pending");
    expect(out).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^amount +760\.00 EUR$/),
        expect.stringMatching(/^created +\d{4}-\d\d-\d\dT/),
      ]),
    );
  });

  test("says how to make a record if there is none", async () => {
    const out = await linesOf(await open(), "show", "bookings", "--merchant", "blank");
    expect(out).toEqual(["mer_blank has no such records. Try npx merchant-sandbox make booking."]);
  });
});

test.each([
  [["make"], "<kind> is missing. Example: npx merchant-sandbox make payment"],
  [["make", "paymnt", "--status", "x"], "Did you mean payment?"],
  [["make", "payment", "--status", "sucseeded"], "A payment has no status sucseeded. Did you mean succeeded?"],
  [["make", "payment", "--amuont", "5"], "Did you mean --amount?"],
  [["make", "payment", "--amount", "5.123"], '--amount takes an amount such as 12.50 EUR; received "5.123".'],
  [["make", "payment", "--amount", "1.5", "--merchant", "stage"], "--amount takes an amount such as 1250 JPY"],
  [["make", "payment", "--currency", "eur"], "--currency must be"],
  [["make", "payment", "--paid-at", "5"], "\n--paid-at must be null: the payment never became succeeded"],
  [["make", "pricing-rule", "--days-of-week", "monday"], '--days-of-week takes json; received "monday".'],
  [["make", "customer", "--created", "soon"], "--created takes a time such as"],
  [["make", "merchant"], "POST /v1/merchants"],
  [["make", "customer", "--status", "new"], "There is no option --status."],
  [["move", "payment"], "<id> is missing. Example: npx merchant-sandbox move payment"],
  [["move", "payment", "pay_pending"], "needs a status or a field"],
  [["move", "payment", "pay_pending", "lost"], "A payment has no status lost."],
  [["move", "customer", "cus_ines", "lost"], "A customer has no status."],
  [["move", "payment", "pay_pending", "--id", "pay_2"], "There is no option --id."],
  [["show", "paymentz"], "Did you mean payment"],
  [["show", "payments", "--status", "succeded"], "Did you mean succeeded?"],
  [["show", "payments", "--merchant", "lodgee"], "no merchant lodgee"],
])("%j exits with code 2, and the message names flags and arguments of the command", async (words, message) => {
  const bench = await open();
  const { code, out, error } = await runCommand(bench.url, ...words);
  expect([code, out, error]).toEqual([2, [], expect.stringContaining(message)]);
  expect((await bench.control("GET", "/events")).data).toEqual([]);
});

test("the help of a group lists its subcommands, and each flag once", async () => {
  const bench = await open();
  for (const [name, { subcommands }] of Object.entries(await everyCommand())) {
    const { out } = await runCommand(bench.url, name, "--help");
    expect(out.join("\n")).not.toContain("<<");
    for (const { usage } of Object.values(subcommands ?? {})) expect(out.join("\n")).toContain(usage);
    const flags = out.flatMap((line) => /^ {2}(--[a-z-]+)/.exec(line)?.[1] ?? []);
    if (name !== "scenario") expect(flags).toEqual([...new Set(flags)]);
  }
});

test("snapshot saves, lists, restores and deletes", async () => {
  const bench = await open();
  const said = async (...words: string[]) => (await runCommand(bench.url, "snapshot", ...words)).out.join("\n");
  expect(await said()).toBe("No snapshots. Try npx merchant-sandbox snapshot save before.");
  expect(await said("save", "before")).toMatch(/^Saved the snapshot before in .*before\S*$/);
  expect(await said("save", "before")).toMatch(/before\S* The earlier one of this name is replaced\.$/);
  const rules = async () => (await bench.control("GET", "/records/pricing_rule")).data.length as number;
  const before = await rules();
  await runCommand(bench.url, "make", "pricing-rule");
  expect(await rules()).toBe(before + 1);
  await runCommand(bench.url, "fault", "add", "503", "payments.list");
  expect(await said("restore", "before")).toBe(
    "Restored the snapshot before. Fault rules, scenarios and verdicts are removed; " +
      "the clock and the request log continue.",
  );
  expect((await bench.control("GET", "/faults")).data).toEqual([]);
  expect([await rules(), await said("ls")]).toEqual([before, expect.stringMatching(/^before \d+ KiB /)]);
  expect(await said("rm", "before")).toBe("Deleted the snapshot before.");
});

test("openapi prints the service's document, and with --control the control API's", async () => {
  const { url } = await open();
  const printed = async (...words: string[]) => JSON.parse((await runCommand(url, "openapi", ...words)).out.join("\n"));
  expect((await printed()).servers[0].url).toBe(`${url}/v1`);
  expect((await printed("--control")).info.title).toContain("ontrol");
});
