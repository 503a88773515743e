// The pane of verdicts: what the judge found in how clients and receivers behave.

import type { VerdictMessage } from "../../src/contracts/live-messages.ts";
import { verdictDetail } from "../details/verdict.ts";
import { count } from "../format-numbers.ts";
import { listOf, shortMerchant } from "../state/state.ts";
import { verdictWords } from "../status-colours.ts";
import { copyKey } from "./copy-key.ts";
import { pane } from "./pane.ts";

export const verdicts = pane<VerdictMessage>({
  name: "verdicts",
  title: "Verdicts",
  id: ({ id, rule, requests }) => id ?? `open ${rule} ${requests[0] ?? ""}`,
  facts: ({ rule, verdict, merchant, operation, says, fault }) => ({
    text: `${rule} ${verdict} ${merchant ?? ""} ${says}`,
    fields: { rule, verdict, merchant, operation, fault },
  }),
  hears: { kind: "verdict", value: (item) => (item.kind === "verdict" ? item.verdict : undefined) },
  mark(state) {
    const failed = listOf(state, "verdicts").rows.filter(({ value }) => (value as VerdictMessage).verdict === "fail").length;
    return failed === 0 ? "" : `${count(failed)} fail`;
  },
  cells({ rule, verdict, merchant, says }, { look }, width) {
    const [words, tone] = verdictWords(look, verdict);
    return [
      { text: words, width: 14, tones: [tone] },
      { text: rule, width: width < 70 ? 20 : 28, ends: true },
      { text: says },
      { text: shortMerchant(merchant), width: 8, ends: true, from: 90 },
    ];
  },
  empty: () => ["No verdicts yet: nothing went wrong, so nobody had to cope.", "x arms a fault; the next call that meets it is judged."],
  detail: verdictDetail,
  actions: (chosen) => [copyKey((state) => chosen(state)?.merchant)],
});
