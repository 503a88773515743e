// The changes of 30 days to the default data and added records, compared with the calendar model.

import { expect, test } from "vitest";
import { expectedChanges, type ModelledMerchant } from "../support/calendar-model.ts";
import { type Answer, type Bench, NOON, open } from "../support/sandbox.ts";

const KINDS = [
  "payout",
  "payout_method",
  "payroll",
  "remittance",
  "membership_renewal",
  "booking",
  "marketplace_order",
  "sync_log",
  "statutory_settings",
];
/** Hours east of UTC in winter, in Portugal, Kenya, Japan and Switzerland. */
const OFFSETS = { mer_lodge: 0, mer_market: 3, mer_stage: 9, mer_blank: 1 };
const DAY = 86_400_000;

async function recordsOf(bench: Bench, merchant: string): Promise<ModelledMerchant["records"]> {
  const lists = KINDS.map(async (kind) => {
    const { data, has_more } = await bench.control("GET", `/records/${kind}?merchant=${merchant}&limit=100`);
    expect(has_more, `${kind} of ${merchant}`).toBe(false);
    return [kind, data.reverse()] as const;
  });
  return Object.fromEntries(await Promise.all(lists));
}

/** Adds records in states that the fixtures lack. Their dates include a weekend and the end of a month. */
async function addRecords(bench: Bench) {
  const make = (merchant: string, kind: string, fields: object) =>
    bench.control("POST", `/records/${kind}`, { merchant, ...fields });
  await make("mer_blank", "statutory_settings", { autoRemit: true });
  await make("mer_blank", "payout_method", { id: "pom_new", status: "pending_verification" });
  for (const merchant of Object.keys(OFFSETS)) {
    await make(merchant, "payout", { id: "po_soon", status: "pending", amount: 100, arrivalDate: "2026-01-09" });
    await make(merchant, "payout", { id: "po_late", status: "pending", amount: 100, arrivalDate: "2026-01-05" });
    await make(merchant, "sync_log", { id: "syl_soon", status: "running" });
    await make(merchant, "marketplace_order", { id: "ord_soon", status: "shipped" });
    await make(merchant, "booking", {
      id: "bkg_night",
      status: "confirmed",
      checkIn: "2026-01-31",
      checkOut: "2026-02-01",
    });
    await make(merchant, "booking", {
      id: "bkg_never",
      status: "pending",
      checkIn: "2026-01-31",
      checkOut: "2026-02-01",
    });
    await make(merchant, "membership_renewal", { id: "ren_auto", autoRenew: true, dueDate: "2026-02-01" });
    await make(merchant, "remittance", { id: "rem_soon", amount: 100, scheme: "housing_fund", dueDate: "2026-01-31" });
    await make(merchant, "membership_renewal", { id: "ren_manual", autoRenew: false, dueDate: "2026-02-01" });
  }
}

const byName = (one: object, other: object) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1);

test("30 days change exactly the records that the calendar model predicts, in order and with events", async () => {
  const bench = await open();
  await addRecords(bench);
  const merchants = await Promise.all(
    Object.entries(OFFSETS).map(async ([id, offset]) => ({ id, offset, records: await recordsOf(bench, id) })),
  );
  const start = Date.parse(NOON);
  const expected = expectedChanges(merchants, start, start + 30 * DAY);
  const { happened, omitted } = await bench.control("POST", "/clock/advance", { by: "30d" });
  expect(omitted).toBe(0);

  const existing = new Set(
    merchants.flatMap(({ id, records }) =>
      Object.values(records).flatMap((list) => list.map((record) => `${id} ${record.id}`)),
    ),
  );
  const changes = happened.filter(
    ({ merchant, id, from }: Answer["body"]) => from !== null && existing.has(`${merchant} ${id}`),
  );
  const shown = changes.map(({ at, merchant, kind, id, from, to }: Answer["body"]) => ({
    at,
    merchant,
    kind,
    id,
    from,
    to,
  }));
  expect(shown.toSorted(byName)).toEqual(expected.toSorted(byName));
  expect(new Set(expected.map(({ kind }) => kind))).toEqual(
    new Set(KINDS.filter((kind) => kind !== "statutory_settings")),
  );
  const times = happened.map(({ at }: Answer["body"]) => at);
  expect(times).toEqual(times.toSorted());

  const last = new Map(shown.map((change: Answer["body"]) => [`${change.merchant} ${change.id}`, change.to]));
  for (const { id: merchant, records } of merchants) {
    const after = await recordsOf(bench, merchant);
    for (const [kind, list] of Object.entries(records))
      for (const { id, status } of list)
        expect([merchant, id, after[kind]?.find((record) => record.id === id).status]).toEqual([
          merchant,
          id,
          last.get(`${merchant} ${id}`) ?? status,
        ]);
    const { data: events } = await bench.control("GET", `/events?limit=100&merchant=${merchant}`);
    for (const { event, at, id } of happened.filter(
      (change: Answer["body"]) => change.merchant === merchant && change.event !== null,
    ))
      expect(events).toContainEqual(
        expect.objectContaining({
          type: event,
          created: at,
          body: expect.objectContaining({ data: expect.objectContaining({ id }) }),
        }),
      );
  }
});
