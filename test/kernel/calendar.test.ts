// The calendar of a country: times of day, also in summer time, days and business days.

import { expect, test } from "vitest";
import { addDays, dayAt, nextBusinessDay, previousBusinessDay, timeOfDay } from "../../src/kernel/calendar.ts";
import { isoTime } from "../../src/kernel/clock.ts";

test.each([
  ["PT", "2026-01-05", 9, "2026-01-05T09:00:00.000Z"],
  ["PT", "2026-07-05", 9, "2026-07-05T08:00:00.000Z"],
  ["KE", "2026-01-05", 9, "2026-01-05T06:00:00.000Z"],
  ["JP", "2026-01-05", 0, "2026-01-04T15:00:00.000Z"],
  ["IN", "2026-01-05", 11, "2026-01-05T05:30:00.000Z"],
  ["US", "2026-01-05", 20, "2026-01-06T01:00:00.000Z"],
  ["ZZ", "2026-01-05", 9, "2026-01-05T09:00:00.000Z"],
  [null, "2026-01-05", 9, "2026-01-05T09:00:00.000Z"],
  // Summer time starts at 2026-03-29T01:00Z in Switzerland and ends at 2026-10-25T01:00Z.
  ["CH", "2026-03-29", 0, "2026-03-28T23:00:00.000Z"],
  ["CH", "2026-03-29", 9, "2026-03-29T07:00:00.000Z"],
  ["CH", "2026-10-25", 0, "2026-10-24T22:00:00.000Z"],
  ["CH", "2026-10-25", 9, "2026-10-25T08:00:00.000Z"],
])("for the country %s, %s at %d:00 is %s", (country, day, hour, expected) => {
  const time = timeOfDay(country, day, hour) ?? 0;
  expect(isoTime(time)).toBe(expected);
  expect(dayAt(country, time)).toBe(day);
});

test("a text that is not a calendar day has no time of day", () => {
  expect([timeOfDay("PT", "2026-02-30", 9), timeOfDay("PT", "soon", 9)]).toEqual([undefined, undefined]);
});

test("times on the first and the last day stay within the range of the clock", () => {
  expect(isoTime(timeOfDay("JP", "1970-01-01", 0) ?? 0)).toBe("1970-01-01T00:00:00.000Z");
  expect(isoTime(timeOfDay("US", "9999-12-31", 23) ?? 0)).toBe("9999-12-31T23:59:59.999Z");
  expect(addDays("9999-12-31", 1)).toBe("9999-12-31");
});

test("days are counted across months and leap years, and business days skip the weekend", () => {
  expect([addDays("2028-02-28", 1), addDays("2026-02-28", 1), addDays("2026-01-01", -1)]).toEqual([
    "2028-02-29",
    "2026-03-01",
    "2025-12-31",
  ]);
  // 2 January 2026 is a Friday.
  const days = ["2026-01-01", "2026-01-02", "2026-01-03", "2026-01-04", "2026-01-05"];
  expect(days.map(nextBusinessDay)).toEqual(["2026-01-02", "2026-01-05", "2026-01-05", "2026-01-05", "2026-01-06"]);
  expect(days.map(previousBusinessDay)).toEqual(["2025-12-31", "2026-01-01", "2026-01-02", "2026-01-02", "2026-01-02"]);
});
