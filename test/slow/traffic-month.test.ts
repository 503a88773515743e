// A month of traffic for each merchant of the fixtures: a consistent business at the end of each day, whatever time and
// traffic did.

import { describe, expect, test } from "vitest";
import { resources } from "../../src/areas/index.ts";
import type { AnyRecord } from "../../src/contracts/resource.ts";
import { type Bench, open } from "../support/sandbox.ts";
import { advance } from "../support/webhooks.ts";
import { questions, violations } from "../support/world-file.ts";

const DAYS = 30;
/** `npm run world` goes on for so many days. The log of events does not reach back that far. */
const MORE_DAYS = process.env.WORLD_STEPS === undefined ? DAYS : 75;
/** The whole world is checked at the end of each of so many days. */
const BETWEEN = 5;

/** All pages of a list, the oldest first. */
async function all<T extends { id: string }>(bench: Bench, path: string): Promise<T[]> {
  const found: T[] = [];
  for (let after = ""; ; ) {
    const { data, has_more } = await bench.control("GET", `${path}&limit=100${after}`);
    found.push(...data);
    if (!has_more) return found.reverse();
    after = `&starting_after=${data.at(-1).id}`;
  }
}

const records = (bench: Bench, merchant: string, kind: string) =>
  all<AnyRecord>(bench, `/records/${kind}?merchant=${merchant}`);

const netOf = ({ status, amount, fee, refundedAmount }: AnyRecord) =>
  ["succeeded", "refunded"].includes(status ?? "") ? Number(amount) - Number(fee ?? 0) - Number(refundedAmount) : 0;
const paidOutOf = ({ status, amount }: AnyRecord) =>
  ["failed", "canceled"].includes(status ?? "") ? 0 : Number(amount);

/** Income from payments minus payouts, after each event. */
function followTakings(seeded: readonly AnyRecord[]) {
  const worth = new Map<string, number>();
  let balance = 0;
  const take = (record: AnyRecord) => {
    const value = record.object === "payment" ? netOf(record) : -paidOutOf(record);
    balance += value - (worth.get(record.id) ?? 0);
    worth.set(record.id, value);
    return balance;
  };
  for (const record of seeded) take(record);
  return { start: balance, take };
}

describe.each([
  [
    "mer_lodge",
    "on",
    ["payment.failed", "payout.paid", "booking.confirmed", "booking.declined", "payroll.created", "payroll.paid"],
  ],
  ["mer_market", "on", ["payment.succeeded", "marketplace_order.accepted", "customer.created"]],
  ["mer_stage", "on", []],
  ...(process.env.WORLD_STEPS === undefined
    ? []
    : ([
        ["mer_lodge", "off", []],
        ["mer_market", "off", []],
      ] as const)),
] as const)("a month of traffic of %s with --life %s", (merchant, life, types) => {
  test("keeps to its own business, within its takings, with one payroll a period", async () => {
    const bench = await open({ life: life as "on" | "off", seed: Number(process.env.WORLD_SEED ?? 20_260_106) });
    const kinds = resources.filter(({ hidden }) => hidden.length === 0).map(({ kind }) => kind);
    const before = new Map<string, AnyRecord[]>();
    for (const kind of kinds) before.set(kind, await records(bench, merchant, kind));
    const seeded = (kind: string) => before.get(kind) ?? [];
    const seededViolations = await violations(bench);
    const { start, take } = followTakings([...seeded("payment"), ...seeded("payout")]);
    await bench.control("POST", "/traffic", { merchant, rate: "4/h" });
    for (let day = 0; day < DAYS; day += BETWEEN) {
      const { now } = await advance(bench, `${BETWEEN}d`);
      const found = await violations(bench);
      expect([now, found.filter((one) => !seededViolations.includes(one))]).toEqual([now, []]);
      expect([now, life === "off" ? [] : await questions(bench, merchant)]).toEqual([now, []]);
    }
    for (const kind of life === "off" ? [] : ["payment", "remittance", "gov_payment", "payroll"]) {
      const unsettled = seeded(kind).filter((one) =>
        ["draft", "pending", "processing", "overdue"].includes(one.status ?? ""),
      );
      const left = new Map((await records(bench, merchant, kind)).map((one) => [one.id, one.status]));
      for (const { id, status } of unsettled) expect([id, left.get(id) !== status]).toEqual([id, true]);
    }
    const [{ status, happened, byKind }] = (await bench.control("GET", "/traffic")).data;
    // The house is closed at night.
    expect([status, happened > DAYS * 13 * 4 && happened < DAYS * 17 * 4]).toEqual(["running", true]);
    for (const kind of Object.keys(byKind)) expect([kind, seeded(kind).length > 0]).toEqual([kind, true]);

    const events = await all<{ id: string; type: string; body: { data: AnyRecord } }>(
      bench,
      `/events?merchant=${merchant}`,
    );
    expect(types.filter((wanted) => !events.some(({ type }) => type === wanted))).toEqual([]);
    const lows = events
      .filter(({ body }) => ["payment", "payout"].includes(body.data.object))
      .map(({ type, body }) => [type, body.data.id, take(body.data)] as const)
      .filter(([type, , left]) => left < (type === "payout.created" ? 0 : Math.min(0, start)));
    expect(lows).toEqual([]);
    // The last event of a payment shows its current state, but for the payout that took it up.
    const last = new Map(events.map(({ body }) => [body.data.id, body.data]));
    for (const payment of (await records(bench, merchant, "payment")).filter(({ id }) => last.has(id))) {
      const { payoutId, paidOutAmount } = payment;
      expect(payment).toEqual({ ...last.get(payment.id), payoutId, paidOutAmount });
    }
    for (const { body } of events)
      expect([body.data.object, (before.get(body.data.object) ?? []).length > 0]).toEqual([body.data.object, true]);
    for (let day = DAYS; day < MORE_DAYS; day += 15) {
      const { now } = await advance(bench, "15d");
      expect([now, life === "off" ? [] : await questions(bench, merchant)]).toEqual([now, []]);
    }
  });
});
