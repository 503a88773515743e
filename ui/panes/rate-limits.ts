// The pane of rate-limit windows: how many requests remain in each, and when it resets.

import type { RateWindow } from "../../generated/control-api.ts";
import { controlCalls } from "../../src/client/control-call.ts";
import { copyApiKey } from "../controls/sandbox-forms.ts";
import { rateWindowDetail, rateWindowId } from "../details/merchant.ts";
import { listOf, secondsUntil, shortMerchant, type UiState, valuesOf } from "../state/state.ts";
import { makeCall } from "../state/updates.ts";
import { count, countdown, counted, failureMark, milliseconds } from "../view/format.ts";
import { symbols, type Theme } from "../view/style.ts";
import { listPane } from "./pane.ts";

export const rateLimits = listPane<RateWindow>({
  name: "limits",
  title: "Rate limits",
  rowId: rateWindowId,
  filterBy: ({ merchant, operation, limit, remaining }) => ({
    text: `${merchant} ${operation ?? ""}`,
    fields: { merchant, operation, limit, remaining },
  }),
  poll: controlCalls.rateLimits.list(),
  // The least share left first.
  compare: (one, other) => one.remaining / one.limit - other.remaining / other.limit,
  titleNote(state) {
    const { length } = listOf(state, "limits").rows;
    const exhausted = exhaustedCount(state);
    return `${counted(length, "window")}${exhausted > 0 ? `, ${count(exhausted)} exhausted` : ""}`;
  },
  alarm: (state) => failureMark(state.theme, exhaustedCount(state)),
  columns(window, state, width) {
    const { merchant, operation, limit, remaining } = window;
    const wait = countdown(secondsUntil(state, milliseconds(window.reset)));
    const isExhausted = remaining === 0;
    const barWidth = width < 60 ? 5 : Math.max(16, Math.floor(width / 3));
    return [
      { heading: "merchant", text: operation ? `${shortMerchant(merchant)} ${operation}` : shortMerchant(merchant), truncate: "middle" },
      {
        heading: "left",
        text: bar(state.theme, remaining / limit, barWidth),
        width: barWidth,
        styles: [isExhausted ? "red" : remaining < limit / 5 ? "yellow" : "green"],
      },
      { heading: "of limit", text: `${count(remaining)}/${count(limit)}`, width: 11, align: "right" },
      {
        heading: "reset",
        text: isExhausted ? `429 for ${wait}` : `resets ${wait}`,
        width: 12,
        styles: isExhausted ? ["failure"] : ["dim"],
      },
    ];
  },
  emptyText: ({ sandbox }) => (sandbox?.merchants.length === 0 ? ["No merchants. Press m to create one."] : ["Loading rate limits …"]),
  detail: rateWindowDetail,
  keys: [
    {
      keys: ["e"],
      label: "exhaust",
      help: "exhaust the window: requests get 429 until it resets",
      isEnabled: (_, { operation }) => operation === null,
      run: (state, { merchant }) =>
        makeCall(state, controlCalls.rateLimits.set({ merchant, remaining: 0 }), () => ({
          message: `Exhausted the rate limit of ${merchant}`,
        })),
    },
    copyApiKey(({ merchant }) => merchant),
  ],
});

const exhaustedCount = (state: UiState) => valuesOf<RateWindow>(state, "limits").filter(({ remaining }) => remaining === 0).length;

/** A bar is empty or full only when the window is. */
function bar(theme: Theme, share: number, width: number): string {
  const { full, empty } = symbols(theme);
  const filled = share <= 0 ? 0 : share >= 1 ? width : Math.min(width - 1, Math.max(1, Math.round(share * width)));
  return full.repeat(filled) + empty.repeat(width - filled);
}
