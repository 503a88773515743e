// Seeding some days after a fixture's `asOf`: the changes that have become due since then are made as by an advance of
// the clock, but without events.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { isoTime, parseTime } from "../../src/kernel/clock.ts";
import { type Bench, open } from "../support/sandbox.ts";

const KEY = "sk_test_inn";

const KINDS = ["booking", "payout", "payout_method", "payroll", "remittance", "membership_renewal", "sync_log"];
const DAY = 86_400_000;
const AS_OF = "2025-03-05";

const created = (day: string) => (parseTime(`${day}T10:00:00Z`) as number) / 1_000;
const INN = {
  asOf: AS_OF,
  merchant: {
    id: "mer_inn",
    name: "Inn",
    email: "inn@inn.example",
    apiKey: KEY,
    country: "PT",
    currency: "EUR",
    created: created("2025-01-02"),
  },
  records: {
    statutory_settings: [
      {
        id: "sts_settings",
        remittanceDueDay: 20,
        schemes: [
          {
            scheme: "pension",
            enabled: true,
            registrationNumber: null,
            employeeRateBps: 1_000,
            employerRateBps: 2_000,
          },
        ],
        created: created("2025-01-03"),
      },
    ],
    booking: [
      {
        id: "bkg_in_and_out",
        status: "confirmed",
        checkIn: "2025-03-06",
        checkOut: "2025-03-08",
        created: created("2025-02-01"),
      },
      {
        id: "bkg_never_confirmed",
        status: "pending",
        checkIn: "2025-03-07",
        checkOut: "2025-03-09",
        created: created("2025-02-02"),
      },
      {
        id: "bkg_later",
        status: "confirmed",
        checkIn: "2025-03-14",
        checkOut: "2025-03-16",
        created: created("2025-02-03"),
      },
      {
        id: "bkg_forgotten",
        status: "confirmed",
        checkIn: "2025-03-01",
        checkOut: "2025-03-02",
        created: created("2025-02-04"),
      },
    ],
    payout: [
      {
        id: "po_sent",
        status: "in_transit",
        amount: 100,
        currency: "EUR",
        arrivalDate: "2025-03-07",
        created: created("2025-03-04"),
      },
    ],
    membership_renewal: [
      { id: "ren_auto", autoRenew: true, dueDate: "2025-03-06", created: created("2025-02-05") },
      { id: "ren_by_hand", autoRenew: false, dueDate: "2025-03-10", created: created("2025-02-06") },
    ],
    payout_method: [{ id: "pom_new", last4: "4321", created: created("2025-02-07") }],
    sync_log: [{ id: "syl_running", startedAt: created("2025-03-04"), created: created("2025-03-04") }],
  },
};

const folder = mkdtempSync(join(tmpdir(), "late-"));
writeFileSync(join(folder, "inn.json"), JSON.stringify(INN));
afterAll(() => rmSync(folder, { recursive: true }));

const openAt = (time: number) => open({ fixtures: folder, clock: isoTime(time) });

async function recordsOf(bench: Bench): Promise<Record<string, unknown>> {
  const lists = KINDS.map(async (kind) => [
    kind,
    (await bench.control("GET", `/records/${kind}?merchant=mer_inn&limit=100`)).data,
  ]);
  return Object.fromEntries(await Promise.all(lists));
}

const statesOf = (records: Record<string, unknown>) =>
  Object.fromEntries(
    (Object.values(records) as { id: string; status: string }[][]).flat().map(({ id, status }) => [id, status]),
  );

test("changes due since `asOf` are made, changes overdue before it are not, and no event is emitted", async () => {
  const bench = await openAt((parseTime(AS_OF) as number) + 6.5 * DAY);
  expect(statesOf(await recordsOf(bench))).toEqual({
    bkg_in_and_out: "checked_out",
    bkg_never_confirmed: "cancelled",
    bkg_later: "confirmed",
    bkg_forgotten: "confirmed",
    po_sent: "paid",
    ren_auto: "renewed",
    ren_by_hand: "grace",
    // States that last only minutes have ended.
    pom_new: "verified",
    syl_running: "succeeded",
  });
  expect((await bench.control("GET", "/events")).data).toEqual([]);
});

test.each([0, 1, 2.4, 3, 5.9, 6.999])(
  "seeding %d days after `asOf` gives the same records as advancing the clock by that time",
  async (days) => {
    const start = parseTime(AS_OF) as number;
    const advanced = await openAt(start);
    await advanced.clock.advance({ by: `${Math.round(days * 86_400)}s` });
    const seeded = await openAt(start + Math.round(days * 86_400) * 1_000);
    expect(await recordsOf(seeded)).toEqual(await recordsOf(advanced));
  },
);

test("a reset of a merchant in the same week makes the changes due since the start", async () => {
  const time = (parseTime(AS_OF) as number) + 6.5 * DAY;
  const bench = await openAt(parseTime(AS_OF) as number);
  await bench.reset({ merchant: "mer_inn" });
  await bench.clock.set({ mode: "frozen", now: isoTime(time) });
  await bench.reset({ merchant: "mer_inn" });
  expect(await recordsOf(bench)).toEqual(await recordsOf(await openAt(time)));
});

test("a new or reset merchant is seeded at the clock's time; a full reset seeds at the start's time", async () => {
  const bench = await openAt(parseTime(AS_OF) as number);
  await bench.clock.advance({ by: "400d" });
  const late = await recordsOf(await openAt((parseTime(AS_OF) as number) + 400 * DAY));
  const { id: merchant } = await bench.control("POST", "/merchants", { fixture: "inn" });
  const minted = (await bench.control("GET", `/records/booking?merchant=${merchant}&limit=100`)).data as object[];
  expect(minted.map((record) => ({ ...record, merchantId: "mer_inn" }))).toEqual(late.booking);
  await bench.reset({ merchant: "mer_inn" });
  expect(await recordsOf(bench)).toEqual(late);
  await bench.reset();
  expect(await recordsOf(bench)).toEqual(await recordsOf(await openAt(parseTime(AS_OF) as number)));
});
