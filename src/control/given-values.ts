// Parses times and durations in requests, and builds replies with unpaged lists.

import { parseTime } from "../kernel/clock.ts";
import { durationProblem, parseDuration, tryParseDuration } from "../kernel/duration.ts";
import { fail } from "../kernel/errors.ts";
import { oneOf, type TSchema, Type } from "../schema/shapes.ts";
import type { Stores } from "../store/stores.ts";

/** The time in milliseconds; undefined if the field is left out. */
export function timeOf(field: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  return (
    parseTime(given) ??
    fail(
      "validation_failed",
      `${field} must be a time from 1970 to 9999, such as 2026-01-05T09:00:00Z; received ${JSON.stringify(given)}.`,
    )
  );
}

/** The duration in milliseconds, at least `from` and at most `to`; undefined if the field is left out. */
export function spanOf(
  field: string,
  given: string | undefined,
  { from = "0ms", to }: { from?: string; to?: string } = {},
) {
  if (given === undefined) return undefined;
  const span = tryParseDuration(given);
  if (
    span !== undefined &&
    span >= parseDuration(from, field) &&
    (to === undefined || span <= parseDuration(to, field))
  )
    return span;
  const must = to === undefined ? durationProblem(given) : `must be a duration such as 30s, from ${from} to ${to}`;
  return fail("validation_failed", `${field} ${must}; received ${JSON.stringify(given)}.`);
}

/** The most merchants that an unpaged list covers. Reading more at once would block the event loop. */
export const MOST_LISTED = 500;
export const LISTED_MERCHANTS = `Covers the first ${MOST_LISTED} merchants; for another one, use \`merchant\`.`;

/** The ids of the merchants that an unpaged list covers: only `merchant`, if it is given. */
export const listedMerchants = ({ tenants }: Pick<Stores, "tenants">, merchant: string | undefined): string[] =>
  merchant === undefined ? tenants.list(MOST_LISTED).map(({ id }) => id) : [tenants.require(merchant)];

/** The schema of an unpaged list. */
export const wholeListOf = <S extends TSchema>(item: S, description?: string) =>
  Type.Object({
    object: oneOf(["list"], "Always `list`"),
    data: Type.Array(item, { ...(description && { description }) }),
  });

export const wholeList = <T>(data: T[]) => ({ object: "list" as const, data });
