// The verdicts listed in the detail of a request, a delivery or a fault.

import type { VerdictMessage } from "../../src/contracts/verdict.ts";
import { type UiState, valuesOf } from "../state/state.ts";
import { verdictLabel } from "../view/status-colours.ts";
import { type DetailLine, labelled, linkTo } from "./detail-lines.ts";

/** Oldest first. */
export function verdictLines(state: UiState, isAbout: (verdict: VerdictMessage) => boolean, width: number): DetailLine[] {
  return valuesOf<VerdictMessage>(state, "verdicts")
    .filter(isAbout)
    .flatMap((found) => {
      const [label, style] = verdictLabel(state.theme, found.verdict);
      return linkTo("verdicts", verdictId(found), labelled(state.theme, width, label, `${found.rule}: ${found.says}`, style));
    });
}

/** The id of a verdict's row; an open verdict has no id of its own yet. */
export const verdictId = ({ id, rule, requests }: VerdictMessage) => id ?? `open ${rule} ${requests[0] ?? ""}`;
