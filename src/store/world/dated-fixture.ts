// A fixture with its dates moved to the present of the sandbox clock.

import type { DateUnit, Resource } from "../../contracts/resource.ts";
import { parseTime } from "../../kernel/clock.ts";
import { type DateShift, shiftDay, shiftJson, shiftTo } from "./date-shift.ts";
import type { Fixture, FixtureMerchant, FixtureRecord } from "./fixtures.ts";

/** The last of each fixture: merchants for tests are created from the same one again and again. */
const cache = new WeakMap<Fixture, { shift: DateShift; dated: Fixture }>();

/** `now` is in sandbox milliseconds. A fixture that does not say the day it was written for stays as it is. */
export function fixtureAt(fixture: Fixture, kinds: ReadonlyMap<string, Resource>, now: number): Fixture {
  if (fixture.asOf === undefined) return fixture;
  const shift = shiftTo(fixture.asOf, now);
  const known = cache.get(fixture);
  if (known?.shift.weeks === shift.weeks && known.shift.months === shift.months) return known.dated;
  const dated = shifted(fixture, kinds, shift);
  cache.set(fixture, { shift, dated });
  return dated;
}

/** When the day of a fixture begins, moved as the dates of a kind of record are, in sandbox milliseconds; undefined if it says no day. */
export function startOfFixture({ asOf }: Fixture, unit: DateUnit, now: number): number | undefined {
  return asOf === undefined ? undefined : parseTime(shiftDay(asOf, shiftTo(asOf, now), unit));
}

function shifted(fixture: Fixture, kinds: ReadonlyMap<string, Resource>, shift: DateShift): Fixture {
  if (shift.weeks === 0 && shift.months === 0) return fixture;
  const move = (record: FixtureRecord, unit: DateUnit) => JSON.parse(shiftJson(JSON.stringify(record), shift, unit)) as FixtureRecord;
  const { apiKey, password, ...profile } = fixture.merchant;
  const lists = Object.entries(fixture.records).map(([kind, records]) => {
    const unit = kinds.get(kind)?.datesMoveBy ?? "weeks";
    return [kind, records.map((record) => move(record, unit))] as const;
  });
  const merchant = { ...move(profile, "weeks"), apiKey, password } as FixtureMerchant;
  return { ...fixture, merchant, records: Object.fromEntries(lists) };
}
