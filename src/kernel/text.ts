// Helpers for text: UTF-8 length, names as command-line options, and control characters.

import { attempt } from "./attempt.ts";

const encoder = new TextEncoder();

export const byteLength = (text: string): number => encoder.encode(text).length;

/** `retryAfter` and `retry_after` as `retry-after`. */
export const kebab = (name: string) =>
  name.replaceAll("_", "-").replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** `rate_limits` and `payroll.create` as `RateLimits` and `PayrollCreate`. */
export const pascal = (name: string) => name.replaceAll(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase());

/**
 * Writes 13259 as `13,259`. The first call of `toLocaleString` loads the locales, which took a tenth of the time of a
 * start.
 */
export const count = (value: number) => String(value).replace(/(?<!\.\d*)\B(?=(\d{3})+(?!\d))/g, ",");

/** `1 call`, `2,000 calls`, `3 deliveries`. */
export const plural = (value: number, noun: string) =>
  `${count(value)} ${value === 1 ? noun : `${noun.replace(/(?<![aeo])y$/, "ie")}s`}`;

/** Undoes percent-encoding; text that is not encoded stays as it is. */
export const percentDecoded = (text: string) => attempt(() => decodeURIComponent(text)) ?? text;

/** Orders texts by their UTF-16 code units, whatever the locale. */
export function compareTexts(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** JSON in one line with spaces after commas and colons, and `padding` inside braces. */
export function spacedJson(value: unknown, padding = ""): string {
  if (Array.isArray(value)) return `[${value.map((item) => spacedJson(item, padding)).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).map(([name, child]) => `${JSON.stringify(name)}: ${spacedJson(child, padding)}`);
  return `{${padding}${fields.join(", ")}${padding}}`;
}

const PRINTABLE_ASCII = /^[\x20-\x7e]*$/;
/** C0, DEL and C1, invisible format characters (such as right-to-left marks), and line separators. */
const CONTROL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Escapes control characters as JSON does, so a JSON text keeps its value. */
export const escapeControlCharacters = (text: string) =>
  PRINTABLE_ASCII.test(text) ? text : text.replace(CONTROL, escaped);

const escaped = (character: string) => {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
};
