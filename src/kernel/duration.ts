// Parses durations as people write them, such as 600ms, 30s, 5m, 24h and 7d, and the waits in Retry-After.

import { readHttpDate } from "./clock.ts";
import { usageError } from "./errors.ts";

const UNITS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The form of a duration, as the pattern of a schema. */
export const DURATION_PATTERN = "^[0-9]+(\\.[0-9]+)?(ms|s|m|h|d)$";
const FORM = new RegExp(DURATION_PATTERN);

/** A hundred years. A longer duration is a mistake, and a much longer one would lead beyond the year 9999. */
const MAX_DURATION = 36_525 * 86_400_000;

/** The milliseconds of a duration such as `30s`; undefined if the text is invalid or longer than a hundred years. */
export function tryParseDuration(text: string): number | undefined {
  const match = FORM.exec(text.trim());
  const duration = match ? Math.round(Number.parseFloat(match[0]) * (UNITS[match[2] as string] as number)) : Infinity;
  return duration <= MAX_DURATION ? duration : undefined;
}

/** Why `tryParseDuration` rejects a text, as the rest of a sentence. */
export const durationProblem = (text: string) =>
  FORM.test(text.trim()) ? "must be at most 36525d" : "must be a duration such as 500ms, 30s or 30d";

/** Like `tryParseDuration`, for an option or a file: throws a usage error if the duration is invalid. */
export function parseDuration(text: string, where: string): number {
  return (
    tryParseDuration(text) ?? usageError(`${where}: "${text}" is not a duration. Write it as 600ms, 30s, 5m or 24h.`)
  );
}

/**
 * The wait that a `Retry-After` header asks for, and its form; undefined if it is neither a number of seconds nor a
 * date.
 */
export function readRetryAfter(
  text: string,
  now: number,
): { milliseconds: number; form: "seconds" | "date" } | undefined {
  if (/^\d+$/.test(text)) return { milliseconds: Number(text) * 1_000, form: "seconds" };
  const date = readHttpDate(text);
  return date === undefined ? undefined : { milliseconds: Math.max(0, date - now), form: "date" };
}
