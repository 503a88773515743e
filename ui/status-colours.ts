// Which colour stands for what, the same in rows and in details; every one of them is said in words or signs too.

import type { Verdict } from "../src/contracts/expectations.ts";
import { type Look, signs, type Tone } from "./terminal/style.ts";

export function statusTones(status: number): Tone[] {
  if (status >= 500 || status === 0) return ["red"];
  if (status >= 400) return ["yellow"];
  return ["green"];
}

/** A verdict as a sign and its word. */
export function verdictWords(look: Look, verdict: Verdict): [words: string, tone: Tone] {
  const { good, bad, unsure } = signs(look);
  if (verdict === "pass") return [`${good} pass`, "green"];
  return verdict === "fail" ? [`${bad} fail`, "red"] : [`${unsure} inconclusive`, "yellow"];
}
