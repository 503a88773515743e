// The pane of rate-limit windows: how much of each is left, and when it begins anew.

import { fact } from "../details/text.ts";
import { openDetail } from "../overlays/detail.ts";
import { shortMerchant } from "../state/state.ts";
import { type Look, signs } from "../terminal/style.ts";
import { momentOf, remainingOf } from "../time.ts";
import { pane } from "./pane.ts";

export interface Window {
  merchant: string;
  operation: string | null;
  limit: number;
  remaining: number;
  /** Milliseconds. */
  window: number;
  /** Sandbox time. */
  reset: string;
}

const BAR = 16;

export const limits = pane<Window>({
  name: "limits",
  title: "Rate limits",
  id: ({ merchant, operation }) => `${merchant} ${operation ?? ""}`,
  facts: ({ merchant, operation, limit, remaining }) => ({
    text: `${merchant} ${operation ?? ""}`,
    fields: { merchant, operation, limit, remaining },
  }),
  asks: { call: { method: "GET", path: "/rate-limits" }, values: (answer) => (answer as { data: Window[] }).data },
  cells(window, state) {
    const { merchant, operation, limit, remaining } = window;
    const wait = remainingOf(state, momentOf(window.reset));
    const spent = remaining === 0;
    return [
      { text: operation ? `${shortMerchant(merchant)} ${operation}` : shortMerchant(merchant) },
      {
        text: bar(state.look, remaining / limit),
        width: BAR,
        tones: [spent ? "red" : remaining < limit / 5 ? "yellow" : "green"],
        from: 60,
      },
      { text: `${remaining}/${limit}`, width: 11, align: "right" },
      { text: spent ? `429 for ${wait} s` : `resets ${wait} s`, width: 13, tones: spent ? ["red"] : ["dim"] },
    ];
  },
  empty: () => ["No merchant, so no window."],
  detail: (_, window) =>
    openDetail({
      title: `The window of ${window.merchant}`,
      asks: {},
      lines: (_known, { look }, width) => [
        ...fact(look, width, "merchant", window.merchant),
        ...fact(look, width, "remaining", `${window.remaining} of ${window.limit}`),
        ...fact(look, width, "length", `${window.window / 1_000} s`),
        ...fact(look, width, "ends", window.reset),
      ],
    }),
});

function bar(look: Look, share: number): string {
  const { full, empty } = signs(look);
  const filled = Math.round(share * BAR);
  return full.repeat(filled) + empty.repeat(BAR - filled);
}
