// The colours of statuses and verdicts. Colour is never the only signal: each is also a symbol or a word.

import type { Verdict } from "../../src/contracts/verdict.ts";
import { symbols, type TextStyle, type Theme } from "../terminal/style.ts";
import { count } from "./format.ts";

/** `status` is 0 when no response was sent. */
export function statusStyles(status: number): TextStyle[] {
  return status === 0 || status >= 400 ? ["failure"] : ["green"];
}

/** ` 200`, ` 404`, `✗503`, or `✗cut` when no response was sent. */
export function statusLabel(theme: Theme, status: number): string {
  const mark = status === 0 || status >= 500 ? symbols(theme).bad : " ";
  return `${mark}${status === 0 ? "cut" : status}`;
}

const METHOD_STYLES: Readonly<Record<string, TextStyle[]>> = {
  GET: ["cyan"],
  POST: ["green"],
  PUT: ["yellow"],
  PATCH: ["yellow"],
  DELETE: ["magenta"],
};

export const methodStyles = (method: string): TextStyle[] => METHOD_STYLES[method] ?? [];

/** `✗2` for two failures, in a tab; empty for none. */
export const failureMark = (theme: Theme, failures: number) => (failures === 0 ? "" : `${symbols(theme).bad}${count(failures)}`);

export function verdictLabel(theme: Theme, verdict: Verdict): [label: string, style: TextStyle] {
  const { good, bad, unsure } = symbols(theme);
  if (verdict === "pass") return [`${good} pass`, "green"];
  return verdict === "fail" ? [`${bad} fail`, "failure"] : [`${unsure} inconclusive`, "yellow"];
}
