// Numbers, durations, times, statuses and verdicts as text. Colour is never the only signal: each is also a symbol or a
// word.

import type { Verdict } from "../../src/contracts/verdict.ts";
import { tryParseJson } from "../../src/kernel/attempt.ts";
import { isoTime, parseTime } from "../../src/kernel/clock.ts";
import { count, plural } from "../../src/kernel/text.ts";
import { symbols, type TextStyle, type Theme } from "./style.ts";

export { count, plural };

/** `13,259`, or `newest 400 of 13,259` where only a part of all is shown. */
export const newestOf = (shown: number, all: number): string =>
  shown < all ? `newest ${count(shown)} of ${count(all)}` : count(all);

/** `3 armed`; empty for none. */
export const countNote = (number: number, what: string): string => (number === 0 ? "" : `${count(number)} ${what}`);

export const joinNotes = (...notes: string[]): string => notes.filter((note) => note !== "").join("  ");

/** `none` for the limit of `--rate-limit none`, which the sandbox counts as this many requests. */
export const limitText = (limit: number): string => (limit >= 1_000_000_000 ? "none" : count(limit));

/** A measured time: `1.2 ms`, `940 ms`, `12.5 s`. */
export function duration(ms: number): string {
  if (ms < 100) return `${ms.toFixed(1)} ms`;
  if (ms < 10_000) return `${count(Math.round(ms))} ms`;
  return `${count(Math.round(ms / 100) / 10)} s`;
}

/** A remaining time: `4 s`, `9:41`, `23 h`, `6 d`. */
export function countdown(seconds: number): string {
  const left = Math.max(0, Math.ceil(seconds));
  if (left < 60) return `${left} s`;
  if (left < 3_600) return `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
  if (left < 48 * 3_600) return `${Math.round(left / 3_600)} h`;
  return `${count(Math.round(left / 86_400))} d`;
}

/** White space, a bracket with or without its partner, a separator, or a string, which may be cut. */
const JSON_PIECE = /[[{]\s*[\]}]|[[\]{},:]|"[^"\\]*(?:\\[\s\S][^"\\]*)*"?|\s+/g;
/** Deeper levels have the same indent: a body may be thousands of brackets. */
const DEEPEST_INDENT = 40;

/**
 * Indents JSON, even if its end was cut off; returns any other text unchanged. Numbers stay as they are, because
 * parsing would round long ones.
 */
export function indentJson(text: string, isCut = false): string {
  if (isCut ? !/^\s*[[{]/.test(text) : tryParseJson(text) === undefined) return text;
  let depth = 0;
  const newLine = () => `\n${"  ".repeat(Math.min(depth, DEEPEST_INDENT))}`;
  return text.replace(JSON_PIECE, (piece) => {
    if (piece.startsWith('"')) return JSON.stringify(tryParseJson(piece)) ?? piece;
    if (piece === ",") return `,${newLine()}`;
    if (piece === ":") return ": ";
    if (piece === "[" || piece === "{") depth++;
    else if (piece === "]" || piece === "}") depth = Math.max(0, depth - 1);
    else return piece.replace(/\s+/, "");
    return /[[{]/.test(piece) ? piece + newLine() : newLine() + piece;
  });
}

export const milliseconds = (iso: string) => parseTime(iso) ?? 0;

/** `09:12:44.130`. */
export const timeOfDay = (time: number) => isoTime(time).slice(11, 23);

/** `2026-01-05 09:12:44.130`. */
export const dateTime = (time: number) => isoTime(time).slice(0, 23).replace("T", " ");

/** `2026-01-05 09:12:44`. */
export const dateTimeToSecond = (time: number) => dateTime(time).slice(0, 19);

/** Red for a 5xx and for no response (`status` 0), amber for a 4xx. All are bold too, in case no colour is readable. */
export function statusStyles(status: number): TextStyle[] {
  if (status === 0 || status >= 500) return ["failure"];
  return status >= 400 ? ["yellow", "bold"] : [];
}

/** ` 200`, ` 404`, `✗503`, or `✗cut` when no response was sent. */
export function statusLabel(theme: Theme, status: number): string {
  const mark = status === 0 || status >= 500 ? symbols(theme).bad : " ";
  return `${mark}${status === 0 ? "cut" : status}`;
}

/** `✗2` for two failures, in a tab; empty for none. */
export const failureMark = (theme: Theme, failures: number) =>
  failures === 0 ? "" : `${symbols(theme).bad}${count(failures)}`;

export function verdictLabel(theme: Theme, verdict: Verdict): [label: string, style: TextStyle] {
  const { good, bad, unsure } = symbols(theme);
  if (verdict === "pass") return [`${good} pass`, "dim"];
  return verdict === "fail" ? [`${bad} fail`, "failure"] : [`${unsure} inconclusive`, "bold"];
}
