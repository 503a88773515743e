// The verdicts listed in the detail of a request, a delivery or a fault.

import type { VerdictMessage } from "../../src/contracts/verdict.ts";
import { type UiState, valuesOf } from "../state/state.ts";
import { verdictLabel } from "../view/status-colours.ts";
import { labelled } from "./detail-lines.ts";

/** Oldest first. */
export function verdictLines(state: UiState, isAbout: (verdict: VerdictMessage) => boolean, width: number): string[] {
  return valuesOf<VerdictMessage>(state, "verdicts")
    .filter(isAbout)
    .flatMap(({ rule, verdict, says }) => {
      const [label, style] = verdictLabel(state.theme, verdict);
      return labelled(state.theme, width, label, `${rule}: ${says}`, style);
    });
}
