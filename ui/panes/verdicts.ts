// The pane of verdicts: what the judge found in how clients and receivers behave.

import type { VerdictMessage } from "../../src/kernel/messages.ts";
import { fact } from "../details/text.ts";
import { openDetail } from "../overlays/detail.ts";
import { shortMerchant } from "../state/state.ts";
import { signs, type Tone } from "../terminal/style.ts";
import { pane } from "./pane.ts";

export const verdicts = pane<VerdictMessage>({
  name: "verdicts",
  title: "Verdicts",
  id: ({ id, rule, requests }) => id ?? `open ${rule} ${requests[0] ?? ""}`,
  facts: ({ rule, verdict, merchant, operation, says }) => ({
    text: `${rule} ${verdict} ${merchant ?? ""} ${says}`,
    fields: { rule, verdict, merchant, operation },
  }),
  hears: { kind: "verdict", value: (item) => (item.kind === "verdict" ? item.verdict : undefined) },
  cells({ rule, verdict, merchant, says }, { look }) {
    const { good, bad, unsure } = signs(look);
    const [sign, tone] = { pass: [good, "green"], fail: [bad, "red"], inconclusive: [unsure, "yellow"] }[verdict] as [string, Tone];
    return [
      { text: `${sign} ${verdict}`, width: 14, tones: [tone] },
      { text: rule, width: 28 },
      { text: says },
      { text: shortMerchant(merchant), width: 8, from: 90 },
    ];
  },
  empty: () => ["No verdicts yet: nothing went wrong, so nobody had to cope.", "x arms a fault; the next call that meets it is judged."],
  detail: (_, verdict) =>
    openDetail({
      title: `${verdict.rule}: ${verdict.verdict}`,
      asks: {},
      lines: (_known, { look }, width) => [
        ...fact(look, width, "says", verdict.says),
        ...fact(look, width, "hint", verdict.hint),
        ...fact(look, width, "requests", verdict.requests.join(", ")),
      ],
    }),
});
