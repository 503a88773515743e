// Verdicts as they stand in the details of what they speak of.

import type { VerdictMessage } from "../../src/contracts/live-messages.ts";
import { listOf, type State } from "../state/state.ts";
import { verdictWords } from "../status-colours.ts";
import { fact } from "./detail-lines.ts";

/** Those that were heard of and speak of it, oldest first. */
export function verdictLines(state: State, speaksOf: (verdict: VerdictMessage) => boolean, width: number): string[] {
  const found = listOf(state, "verdicts")
    .rows.map(({ value }) => value as VerdictMessage)
    .filter(speaksOf);
  return found.flatMap(({ rule, verdict, says }) => {
    const [words, tone] = verdictWords(state.look, verdict);
    return fact(state.look, width, words, `${rule}: ${says}`, tone);
  });
}
