// Moving the dates of a fixture: whole weeks keep the day of the week, whole months the day of the month, and no time
// overtakes another.

import fc from "fast-check";
import { expect, test } from "vitest";
import { isoTime, parseTime } from "../../src/kernel/clock.ts";
import { shiftDay, shiftJson, shiftSeconds, shiftTo } from "../../src/store/world/date-shift.ts";

const WEEK = 7 * 86_400_000;
const AS_OF = "2025-12-17";
const at = (time: string) => parseTime(time) as number;
const secondsAt = (time: string) => at(time) / 1_000;
const anyTime = fc
  .date({ min: new Date("1990-01-01"), max: new Date("2199-12-31"), noInvalidDate: true })
  .map((date) => date.getTime());
const anyPast = fc
  .date({ min: new Date("2020-01-01"), max: new Date(AS_OF), noInvalidDate: true })
  .map((date) => Math.floor(date.getTime() / 1_000));

test.each([
  ["2025-12-17", { weeks: 0, months: 0 }],
  ["2025-12-23T23:59:59.999Z", { weeks: 0, months: 0 }],
  ["2025-12-24", { weeks: 1, months: 0 }],
  ["2025-12-16T23:59:59Z", { weeks: -1, months: -1 }],
  ["2026-01-16T23:59:59Z", { weeks: 4, months: 0 }],
  ["2026-01-17", { weeks: 4, months: 1 }],
  ["2027-12-17", { weeks: 104, months: 24 }],
])("at %s, the dates of a fixture as of 2025-12-17 move by %j", (now, shift) => {
  expect(shiftTo(AS_OF, at(now))).toMatchObject(shift);
});

test.each([
  ["the 31st to the end of a shorter month", "2026-01-31", 1, "2026-02-28"],
  ["the last day of a month to the last day of another", "2025-11-30", 1, "2025-12-31"],
  ["28 February, the last day of its month, to 29 February", "2026-02-28", 24, "2028-02-29"],
  ["a day back by more than a year", "2026-01-15", -13, "2024-12-15"],
  ["a day to the same day of another month", "2025-02-27", 1, "2025-03-27"],
  ["a month to another month", "2025-10", 3, "2026-01"],
])("a shift by months moves %s", (_, day, months, moved) => {
  expect(shiftDay(day, { days: 99, weeks: 99, months }, "months")).toBe(moved);
});

test("a time on a day that the new month lacks moves to the end of that month, before all later times", () => {
  const moved = (time: string) =>
    isoTime(shiftSeconds(secondsAt(time), { days: 0, weeks: 0, months: 1 }, "months") * 1_000);
  expect(moved("2026-01-28T20:00:00Z")).toBe("2026-02-28T20:00:00.000Z");
  expect(moved("2026-01-30T12:00:00Z")).toBe("2026-02-28T23:59:59.000Z");
  expect(moved("2026-01-31T09:00:00Z")).toBe("2026-02-28T23:59:59.000Z");
  expect(moved("2026-02-01T00:00:00Z")).toBe("2026-03-01T00:00:00.000Z");
});

test("past times of a fixture stay past and in order; its `asOf` moves to less than a week or a month ago", () => {
  const property = fc.property(anyTime, anyPast, anyPast, (now, one, other) => {
    const shift = shiftTo(AS_OF, now);
    for (const unit of ["weeks", "months"] as const) {
      const moved = (seconds: number) => shiftSeconds(seconds, shift, unit);
      expect(Math.max(moved(one), moved(other))).toBeLessThanOrEqual(now / 1_000);
      expect(Math.sign(moved(one) - moved(other)) * Math.sign(one - other)).toBeGreaterThanOrEqual(0);
      expect(now / 1_000 - moved(secondsAt(AS_OF))).toBeLessThan(unit === "weeks" ? WEEK / 1_000 : 31 * 86_400);
    }
  });
  fc.assert(property, { numRuns: 1_000 });
});

test("times in every field and text move; ids, amounts and other numbers do not change", () => {
  const record = {
    id: "2025-10-31",
    customerId: "2025-10",
    created: 1_765_929_600,
    paidAt: 1_765_929_601,
    failedAt: null,
    amount: 1_765_929_600,
    reference: "QR-2025-0122 and INV-2025-10-04",
    items: [{ override: { at: 1_765_929_602 } }],
    metadata: { from: "2025-12-08", note: 'Paid on 2025-12-10, "late" for 2025-10', sent: "2025-12-10T08:00:00Z" },
  };
  expect(JSON.parse(shiftJson(JSON.stringify(record), { days: 7, weeks: 1, months: 2 }, "weeks"))).toEqual({
    ...record,
    created: 1_766_534_400,
    paidAt: 1_766_534_401,
    items: [{ override: { at: 1_766_534_402 } }],
    metadata: { from: "2025-12-15", note: 'Paid on 2025-12-17, "late" for 2025-12', sent: "2025-12-17T08:00:00Z" },
  });
});

test("a date that would leave the range of times moves only to the end of the range", () => {
  expect(shiftDay("2025-12-17", { days: 0, weeks: -9_999, months: 0 }, "weeks")).toBe("1970-01-01");
  expect(shiftSeconds(100, { days: 0, weeks: -1, months: 0 }, "weeks")).toBe(0);
  expect(shiftDay("2025-12", { days: 0, weeks: 0, months: 999_999 }, "months")).toBe("9999-12");
});
