// Time-driven changes of records: under every kind of clock, across restarts, with errors, and switched off.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { realDelay } from "../../src/kernel/clock.ts";
import { folder } from "../support/program.ts";
import { type Answer, type Bench, NOON, NOON_SECONDS, open } from "../support/sandbox.ts";
import { type Arrival, advance, openRegistered } from "../support/webhooks.ts";

const make = (bench: Bench, kind: string, fields: object) =>
  bench.control("POST", `/records/${kind}`, { merchant: "mer_blank", ...fields });
const statusOf = async (bench: Bench, kind: string, id: string): Promise<string> =>
  (await bench.control("GET", `/records/${kind}/${id}?merchant=mer_blank`)).status;
const setClock = (bench: Bench, mode: string, now: string) => bench.control("PUT", "/clock", { mode, now });
const ownChanges = ({ happened }: Answer["body"]) =>
  happened.filter(({ merchant }: Answer["body"]) => merchant === "mer_blank");
/** Type, id and time of every event of the merchant, oldest first. */
async function events(bench: Bench): Promise<string[]> {
  const { data } = await bench.control("GET", "/events?limit=100&merchant=mer_blank");
  return data.reverse().map(({ type, created, body }: Answer["body"]) => `${created} ${type} ${body.data.id}`);
}

const file = () => join(folder(), "sandbox.db");

/** Waits until a condition holds. Without an advance, the sandbox makes changes in the background. */
async function until(holds: () => Promise<boolean>) {
  for (let left = 200; left > 0 && !(await holds()); left--) await realDelay(50);
  expect(await holds()).toBe(true);
}

test("under a frozen clock, records change only when it is advanced", async () => {
  const bench = await open();
  await make(bench, "sync_log", { id: "syl_1" });
  await advance(bench, "119s");
  expect(await statusOf(bench, "sync_log", "syl_1")).toBe("running");
  const reply = await advance(bench, "1s");
  expect(ownChanges(reply)).toEqual([
    {
      at: "2026-01-05T12:02:00.000Z",
      merchant: "mer_blank",
      kind: "sync_log",
      id: "syl_1",
      from: "running",
      to: "succeeded",
      event: "integration_sync.succeeded",
      amount: null,
      currency: null,
    },
  ]);
  expect(reply.omitted).toBe(0);
  expect(await statusOf(bench, "sync_log", "syl_1")).toBe("succeeded");
});

test("a change sends its webhook with the time at which the change was due", async () => {
  const { bench, receiver } = await openRegistered({}, ["*"], "sk_test_blank");
  await make(bench, "sync_log", { id: "syl_1" });
  await advance(bench, "1h");
  const { event } = receiver.arrivals.at(-1) as Arrival;
  expect(event).toMatchObject({
    type: "integration_sync.succeeded",
    created: NOON_SECONDS + 120,
    data: { id: "syl_1", status: "succeeded" },
  });
});

test("setting the clock forward carries out the due changes, each at its due time and in order", async () => {
  const bench = await open();
  await make(bench, "booking", { id: "bkg_1", status: "confirmed", checkIn: "2026-01-08", checkOut: "2026-01-09" });
  await make(bench, "sync_log", { id: "syl_1" });
  await setClock(bench, "frozen", "2026-02-01T00:00:00Z");
  await until(async () => (await statusOf(bench, "booking", "bkg_1")) === "checked_out");
  const order = (await events(bench)).filter((event) => /sync.succeeded|booking.checked/.test(event));
  expect(order[0]).toBe("2026-01-05T12:02:00.000Z integration_sync.succeeded syl_1");
});

test.each(["real", "offset"] as const)("records change by themselves while the clock runs in mode %s", async (mode) => {
  const bench = await open(mode === "real" ? { clock: undefined } : {});
  if (mode === "offset") await setClock(bench, mode, "2030-05-01T09:00:00Z");
  const { unix } = await bench.control("GET", "/clock");
  await make(bench, "sync_log", { id: "syl_1", startedAt: unix - 119 });
  await until(async () => (await statusOf(bench, "sync_log", "syl_1")) === "succeeded");
});

test.each(["sync_log", "payout_method"])("a %s whose change is due at its creation changes at once", async (kind) => {
  const bench = await open();
  const created = NOON_SECONDS - 3 * 86_400;
  const { id } = await make(bench, kind, kind === "sync_log" ? { created, startedAt: created } : { created });
  await advance(bench, "0s");
  expect(await statusOf(bench, kind, id)).toBe(kind === "sync_log" ? "succeeded" : "verified");
});

test("a sandbox whose file is opened a week later makes the due changes, each with its own time", async () => {
  const db = file();
  const before = await open({ db, memory: false });
  await make(before, "booking", { id: "bkg_1", status: "confirmed", checkIn: "2026-01-07", checkOut: "2026-01-08" });
  await make(before, "payout", { id: "po_1", status: "pending", amount: 100, arrivalDate: "2026-01-07" });
  await advance(before, "23h");
  expect(await statusOf(before, "payout", "po_1")).toBe("in_transit");
  await before.close();

  const after = await open({ db, memory: false, clock: "2026-01-12T12:00:00Z" });
  await until(async () => (await statusOf(after, "booking", "bkg_1")) === "checked_out");
  expect(await statusOf(after, "payout", "po_1")).toBe("paid");
  expect((await events(after)).filter((event) => event.includes("payout.paid"))).toEqual([
    "2026-01-07T08:00:00.000Z payout.paid po_1",
  ]);
  // No change is left.
  expect(ownChanges(await advance(after, "1h"))).toEqual([]);
});

test("two concurrent advances add up, and each reports the changes of its own time span", async () => {
  const bench = await open();
  await make(bench, "payout", { id: "po_1", status: "pending", amount: 100, arrivalDate: "2026-01-07" });
  const [first, second] = await Promise.all([advance(bench, "1d"), advance(bench, "1d")]);
  expect([first.now, second.now]).toEqual(["2026-01-06T12:00:00.000Z", "2026-01-07T12:00:00.000Z"]);
  expect([first, second].map((reply) => ownChanges(reply).map(({ to }: Answer["body"]) => to))).toEqual([
    ["in_transit"],
    ["paid"],
  ]);
});

test("with --life off, nothing changes until the file is opened with life on", async () => {
  const db = file();
  const off = await open({ db, memory: false, life: "off" });
  expect((await off.control("GET", "")).life).toBe("off");
  await make(off, "sync_log", { id: "syl_1" });
  expect((await advance(off, "30d")).happened).toEqual([]);
  expect(await statusOf(off, "sync_log", "syl_1")).toBe("running");
  await off.close();
  const on = await open({ db, memory: false, clock: "2026-02-05T00:00:00Z" });
  expect((await on.control("GET", "")).life).toBe("on");
  await until(async () => (await statusOf(on, "sync_log", "syl_1")) === "succeeded");
});

test("a fixture can switch off time-driven changes of all its records, or of one kind", async () => {
  const fixtures = folder();
  const stay = { id: "bkg_1", status: "confirmed", checkIn: "2026-01-07", checkOut: "2026-01-08" };
  const write = (name: string, life: object) => {
    const merchant = { id: `mer_${name}`, name, email: `${name}@shop.example`, apiKey: `sk_test_${name}` };
    writeFileSync(join(fixtures, `${name}.json`), JSON.stringify({ merchant, records: { booking: [stay] }, ...life }));
  };
  write("still", { life: "off" });
  write("partly", { life: { booking: "off" } });
  write("lively", {});
  const bench = await open({ fixtures });
  for (const merchant of ["mer_still", "mer_partly", "mer_lively"]) {
    await bench.control("POST", "/records/sync_log", { merchant, id: "syl_1" });
    await bench.control("POST", "/records/booking", { ...stay, merchant, id: "bkg_2" });
  }
  const changed = async () =>
    (await advance(bench, "7d")).happened
      .filter(({ kind }: Answer["body"]) => kind !== "payment")
      .map(({ merchant, id, to }: Answer["body"]) => `${merchant} ${id} ${to}`)
      .toSorted();
  const all = [
    "mer_lively bkg_1 checked_in",
    "mer_lively bkg_1 checked_out",
    "mer_lively bkg_2 checked_in",
    "mer_lively bkg_2 checked_out",
  ];
  expect(await changed()).toEqual([...all, "mer_lively syl_1 succeeded", "mer_partly syl_1 succeeded"]);
  await setClock(bench, "frozen", NOON);
  await bench.control("POST", "/reset", { merchant: "mer_still" });
  expect(await changed()).toEqual([]);
  write("partly", { life: { bookings: "off" } });
  await expect(open({ fixtures })).rejects.toThrow("Unknown field life.bookings. Did you mean booking?");
});

test("a change uses the settings of the day on which it is due, not of the record's creation", async () => {
  const bench = await open();
  await make(bench, "statutory_settings", { id: "sts_1", autoRemit: false });
  await make(bench, "remittance", { id: "rem_1", amount: 100, dueDate: "2026-01-08" });
  const setAutomatic = (autoRemit: boolean) =>
    bench.control("PATCH", "/records/statutory_settings/sts_1", { merchant: "mer_blank", autoRemit });
  await setAutomatic(true);
  await make(bench, "remittance", { id: "rem_2", amount: 100, dueDate: "2026-01-20" });
  expect(ownChanges(await advance(bench, "7d"))).toMatchObject([
    { id: "rem_1", to: "paid" },
    { id: "rem_1", to: "confirmed" },
  ]);
  await setAutomatic(false);
  expect(ownChanges(await advance(bench, "14d"))).toMatchObject([
    { id: "rem_2", at: "2026-01-20T23:00:00.000Z", to: "overdue" },
  ]);
});

test("a record that cannot be changed is reported, and the other records change", async () => {
  const db = file();
  const bench = await open({ db, memory: false });
  for (const id of ["syl_1", "syl_2", "syl_3"]) await make(bench, "sync_log", { id });
  const sql = new Sqlite(db);
  sql.exec(
    "pragma ignore_check_constraints = on; update documents set body = '{' where id = 'syl_2' and merchant = " +
      "'mer_blank'",
  );
  sql.close();
  const reply = await advance(bench, "1h");
  expect(ownChanges(reply).map(({ id }: Answer["body"]) => id)).toEqual(["syl_1", "syl_3"]);
  expect(bench.defects.splice(0).map(({ where, error }) => [where, (error as Error).name])).toEqual([
    ["life", "SyntaxError"],
  ]);
  expect(ownChanges(await advance(bench, "1h"))).toEqual([]);
});

test("a check-in date before the booking's creation changes nothing, but a check-in today does", async () => {
  const bench = await open();
  const stay = (id: string, checkIn: string) =>
    make(bench, "booking", { id, status: "confirmed", checkIn, checkOut: "2026-03-01" });
  await stay("bkg_past", "2026-01-03");
  await stay("bkg_today", "2026-01-05");
  await bench.control("PATCH", "/records/booking/bkg_past", { merchant: "mer_blank", guests: 2 });
  await advance(bench, "1d");
  expect([await statusOf(bench, "booking", "bkg_past"), await statusOf(bench, "booking", "bkg_today")]).toEqual([
    "confirmed",
    "checked_in",
  ]);
});

test("another date moves a scheduled change; no date, another state or the merchant's removal cancels it", async () => {
  const bench = await open();
  const stay = (id: string) =>
    make(bench, "booking", { id, status: "confirmed", checkIn: "2026-01-07", checkOut: "2026-03-01" });
  const change = (id: string, fields: object) =>
    bench.control("PATCH", `/records/booking/${id}`, { merchant: "mer_blank", ...fields });
  for (const id of ["bkg_moved", "bkg_cleared", "bkg_cancelled"]) await stay(id);
  await change("bkg_moved", { checkIn: "2026-01-09" });
  await change("bkg_cleared", { checkIn: null });
  await change("bkg_cancelled", { status: "cancelled" });
  expect(ownChanges(await advance(bench, "3d"))).toEqual([]);
  expect(ownChanges(await advance(bench, "2d"))).toMatchObject([
    { id: "bkg_moved", at: "2026-01-09T14:00:00.000Z", to: "checked_in" },
  ]);
  await stay("bkg_gone");
  await bench.control("DELETE", "/merchants/mer_blank");
  expect(ownChanges(await advance(bench, "30d"))).toEqual([]);
});

test("a reset drops scheduled changes, and a snapshot restores them", async () => {
  const bench = await open();
  await make(bench, "sync_log", { id: "syl_1" });
  await bench.control("PUT", "/snapshots/running");
  await bench.control("POST", "/reset", {});
  expect(ownChanges(await advance(bench, "1h"))).toEqual([]);
  await setClock(bench, "frozen", NOON);
  await bench.control("POST", "/snapshots/running/restore");
  expect(ownChanges(await advance(bench, "1h"))).toMatchObject([{ id: "syl_1", to: "succeeded" }]);
});
