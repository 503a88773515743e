// The pane of verdicts: the judge's findings about clients and webhook receivers.

import { controlCalls } from "../../src/client/control-call.ts";
import type { VerdictMessage } from "../../src/contracts/verdict.ts";
import { copyApiKey } from "../controls/sandbox-forms.ts";
import { verdictDetail, verdictId } from "../details/verdict.ts";
import { shortMerchant } from "../state/state.ts";
import { count, failureMark, milliseconds, verdictLabel } from "../view/format.ts";
import { listPane, readAs } from "./pane.ts";

/** In a narrower list a finding would be cut to nothing. */
const FINDING_FROM = 56;

export const verdicts = listPane<VerdictMessage>({
  name: "verdicts",
  title: "Verdicts",
  rowId: verdictId,
  filterBy: ({ rule, verdict, merchant, operation, says, fault }) => ({
    text: `${rule} ${verdict} ${merchant ?? ""} ${says}`,
    fields: { rule, verdict, merchant, operation, fault, is: verdict === "fail" ? ["failed"] : [] },
  }),
  vocabulary: { fields: ["rule", "verdict", "merchant", "operation", "fault"], marks: ["failed"] },
  stream: "verdict",
  log: {
    // An open verdict may still change.
    page: () =>
      readAs(controlCalls.verdicts.list(), ({ verdicts: found }) => ({
        rows: found.filter(({ id }) => id !== null).map((verdict) => ({ ...verdict, at: milliseconds(verdict.at) })),
        hasMore: false,
      })),
    order: ({ id }) => Number(id?.slice("vdt_".length)),
    takesFilter: false,
    needs: "is:failed",
  },
  titleNote: ({ made: { verdicts: made } }) => (made.fail === 0 ? "" : `${count(made.fail)} failed`),
  alarm: ({ theme, made }) => failureMark(theme, made.verdicts.fail),
  columns({ rule, verdict, merchant, says }, { theme }, width) {
    const [label, style] = verdictLabel(theme, verdict);
    return [
      { heading: "verdict", text: label, width: 14, styles: [style] },
      { heading: "rule", text: rule, width: width < FINDING_FROM ? undefined : width < 70 ? 20 : 28, truncate: "middle" },
      { heading: "finding", text: says, hideBelow: FINDING_FROM },
      { heading: "merchant", text: shortMerchant(merchant), width: 8, truncate: "middle", hideBelow: 90 },
    ];
  },
  emptyText: () => [
    "No verdicts yet. The judge checks how clients handle failures.",
    "Press x to arm a fault; the next matching call is judged.",
  ],
  detail: verdictDetail,
  keys: [copyApiKey(({ merchant }) => merchant)],
});
