// The colours of statuses and verdicts. Colour is never the only signal: each is also a symbol or a word.

import type { Verdict } from "../../src/contracts/verdict.ts";
import { symbols, type TextStyle, type Theme } from "../terminal/style.ts";
import { count } from "./format.ts";

/** `status` is 0 when no response was sent. */
export function statusStyles(status: number): TextStyle[] {
  if (status >= 500 || status === 0) return ["red"];
  if (status >= 400) return ["yellow"];
  return ["green"];
}

/** `✗2` for two failures, in a tab; empty for none. */
export const failureMark = (theme: Theme, failures: number) => (failures === 0 ? "" : `${symbols(theme).bad}${count(failures)}`);

export function verdictLabel(theme: Theme, verdict: Verdict): [label: string, style: TextStyle] {
  const { good, bad, unsure } = symbols(theme);
  if (verdict === "pass") return [`${good} pass`, "green"];
  return verdict === "fail" ? [`${bad} fail`, "red"] : [`${unsure} inconclusive`, "yellow"];
}
