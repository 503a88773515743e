// Parses the values of options that are text: flags and environment variables.

import type { RateLimit } from "../http/rate-limit-window.ts";
import { tryParseJson } from "../kernel/attempt.ts";
import { parseTime } from "../kernel/clock.ts";
import { tryParseDuration } from "../kernel/duration.ts";
import { usageError } from "../kernel/errors.ts";

export type RetryScheduleOption = "fast" | "realistic" | number[];

const UNLIMITED: RateLimit = { limit: 1_000_000_000, window: 60_000 };

export function nonEmpty(text: string, flag: string): string {
  return text === "" ? usageError(`${flag} needs a value.`) : text;
}

/** Rejects SQLite's name for a database in memory, because a file of that name would be created. */
export function databaseFile(text: string, flag: string): string {
  if (text === ":memory:")
    usageError(`${flag} takes a file; received ":memory:". Use --memory to keep all data in memory.`);
  return nonEmpty(text, flag);
}

export function onOrOff(text: string, flag: string): boolean {
  if (["", "1", "true", "yes", "on"].includes(text)) return true;
  if (["0", "false", "no", "off"].includes(text)) return false;
  return usageError(`${flag} is a switch: it takes yes or no; received "${text}".`);
}

export function wholeNumber(least: number, most: number) {
  return (text: string, flag: string): number => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least || value > most)
      usageError(`${flag} takes a whole number from ${least} to ${most}; received "${text}".`);
    return value;
  };
}

export function clockTime(text: string, flag: string): number | undefined {
  if (text === "real") return undefined;
  return (
    parseTime(text) ??
    usageError(`${flag} takes real or a time from 1970 to 9999, such as 2026-01-05T09:00:00Z; received "${text}".`)
  );
}

/** Parses `id=value`, where the value is JSON or a text without quotes. */
export function assumption(text: string, flag: string): Record<string, unknown> {
  const cut = text.indexOf("=");
  if (cut < 1)
    usageError(
      `${flag} takes the id of an assumption and its value, such as rate_limit.limit=100; received "${text}".`,
    );
  const value = text.slice(cut + 1);
  return { [text.slice(0, cut)]: tryParseJson(value) ?? value };
}

export function rateRule(text: string, flag: string): Record<string, RateLimit> {
  const [operation, rule] = text.includes("=") ? (text.split("=", 2) as [string, string]) : ["all", text];
  if (rule === "none") return { [operation]: UNLIMITED };
  const [, limit = "", duration = ""] = /^(\d+)\/(.+)$/.exec(rule) ?? [];
  const window = tryParseDuration(duration);
  if (!window || Number(limit) < 1 || Number(limit) > UNLIMITED.limit)
    usageError(
      `${flag} takes requests per duration, from 1 to ${UNLIMITED.limit}, such as 10/10s, or none; received "${text}".`,
    );
  return { [operation]: { limit: Number(limit), window } };
}

export function retrySchedule(text: string, flag: string): RetryScheduleOption {
  if (text === "fast" || text === "realistic") return text;
  const gaps = text.split(",").map(tryParseDuration);
  if (gaps.every((gap) => gap !== undefined)) return [0, ...gaps];
  return usageError(`${flag} takes fast, realistic, or gaps such as 1s,10s,1m; received "${text}".`);
}

export const textLike = (form: RegExp, what: string) => (text: string, flag: string) =>
  form.test(text) ? text : usageError(`${flag} takes ${what}; received "${text}".`);
export const hostName = textLike(/^[\w.-]+$|^\[?[\da-f:.]+\]?$/i, "a host name such as host.docker.internal");
const webOriginForm = textLike(/^[a-z][a-z0-9+.-]*:\/\/[^/?#@]+$/i, "an origin such as http://localhost:3000");
export const webOrigin = (text: string, flag: string) =>
  text.toLowerCase() === "null"
    ? usageError(
        `${flag} takes an origin such as http://localhost:3000; ` +
          `received "${text}", the origin of every sandboxed frame and every local file. ` +
          "Serve the page from a local server, and allow its origin.",
      )
    : webOriginForm(text, flag);
