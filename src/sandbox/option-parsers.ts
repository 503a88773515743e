// Reads the text of an option: each parser returns the value, or throws an error that says what the flag takes.

import type { RateLimit } from "../http/rate-limit.ts";
import { parseTime } from "../kernel/clock.ts";
import { parseDuration, tryParseDuration } from "../kernel/duration.ts";
import { SandboxError } from "../kernel/errors.ts";

export type RetryScheduleOption = "fast" | "realistic" | number[];

const UNLIMITED: RateLimit = { limit: 1_000_000_000, window: 60_000 };

export function nonEmpty(text: string, flag: string): string {
  if (text === "") throw new SandboxError(`${flag} needs a value.`, "usage");
  return text;
}

export function onOrOff(text: string, flag: string): boolean {
  if (["", "1", "true", "yes", "on"].includes(text)) return true;
  if (["0", "false", "no", "off"].includes(text)) return false;
  throw new SandboxError(`${flag} is a switch: it takes yes or no; received "${text}".`, "usage");
}

export function wholeNumber(least: number, most: number) {
  return (text: string, flag: string): number => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least || value > most)
      throw new SandboxError(`${flag} takes a whole number from ${least} to ${most}; received "${text}".`, "usage");
    return value;
  };
}

export function oneOf<const V extends string>(...values: V[]) {
  return (text: string, flag: string): V => {
    if (!values.includes(text as V)) throw new SandboxError(`${flag} takes ${values.join(" or ")}; received "${text}".`, "usage");
    return text as V;
  };
}

export function clockTime(text: string, flag: string): number | undefined {
  if (text === "real") return undefined;
  const time = parseTime(text);
  if (time === undefined) throw new SandboxError(`${flag} takes real or a time such as 2026-01-05T09:00:00Z; received "${text}".`, "usage");
  return time;
}

export function rateRule(text: string, flag: string): Record<string, RateLimit> {
  const [operation, rule] = text.includes("=") ? (text.split("=", 2) as [string, string]) : ["all", text];
  if (rule === "none") return { [operation]: UNLIMITED };
  const [, limit = "", duration = ""] = /^(\d+)\/(.+)$/.exec(rule) ?? [];
  const window = tryParseDuration(duration);
  if (!window || Number(limit) < 1 || Number(limit) > UNLIMITED.limit)
    throw new SandboxError(
      `${flag} takes requests per duration, from 1 to ${UNLIMITED.limit}, such as 10/10s, or none; received "${text}".`,
      "usage",
    );
  return { [operation]: { limit: Number(limit), window } };
}

export function retrySchedule(text: string, flag: string): RetryScheduleOption {
  if (text === "fast" || text === "realistic") return text;
  return [0, ...text.split(",").map((gap) => parseDuration(gap, flag))];
}
