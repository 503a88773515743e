// Spans of time as people write them: 600ms, 30s, 5m, 24h, 7d.

import { SandboxError } from "./errors.ts";

const UNITS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A hundred years: what is longer is a slip, and leads to times that no calendar can show. */
const LONGEST = 36_525 * 86_400_000;

/** Milliseconds of a span such as `30s`; undefined when it is not one, or longer than a hundred years. */
export function tryParseDuration(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text.trim());
  const span = match ? Math.round(Number(match[1]) * (UNITS[match[2] as string] as number)) : Infinity;
  return span <= LONGEST ? span : undefined;
}

/** The same for an option or a file, where a wrong span is the user's mistake. */
export function parseDuration(text: string, where: string): number {
  const span = tryParseDuration(text);
  if (span === undefined) throw new SandboxError(`${where}: "${text}" is not a span of time. Write it as 600ms, 30s, 5m or 24h.`, "usage");
  return span;
}
