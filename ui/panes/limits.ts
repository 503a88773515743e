// The pane of rate-limit windows: how much of each is left, and when it begins anew.

import { type Window, windowDetail, windowId } from "../details/window.ts";
import { count, countdown } from "../format-numbers.ts";
import { type Action, calls, just, type State, shortMerchant } from "../state/state.ts";
import { type Look, signs } from "../terminal/style.ts";
import { momentOf, remainingOf } from "../time.ts";
import { inPath } from "../wire/control-calls.ts";
import { copyKey } from "./copy-key.ts";
import { pane } from "./pane.ts";

export type { Window };

export const limits = pane<Window>({
  name: "limits",
  title: "Rate limits",
  id: windowId,
  facts: ({ merchant, operation, limit, remaining }) => ({
    text: `${merchant} ${operation ?? ""}`,
    fields: { merchant, operation, limit, remaining },
  }),
  asks: { call: { method: "GET", path: "/rate-limits" }, values: (answer) => (answer as { data: Window[] }).data },
  cells(window, state, width) {
    const { merchant, operation, limit, remaining } = window;
    const wait = countdown(remainingOf(state, momentOf(window.reset)));
    const spent = remaining === 0;
    const cells = width < 60 ? 6 : 16;
    return [
      { text: operation ? `${shortMerchant(merchant)} ${operation}` : shortMerchant(merchant), ends: true },
      {
        text: bar(state.look, remaining / limit, cells),
        width: cells,
        tones: [spent ? "red" : remaining < limit / 5 ? "yellow" : "green"],
      },
      { text: `${count(remaining)}/${count(limit)}`, width: 11, align: "right" },
      { text: spent ? `429 for ${wait}` : `resets ${wait}`, width: 12, tones: spent ? ["red"] : ["dim"] },
    ];
  },
  empty: ({ sandbox }) => (sandbox?.merchants.length === 0 ? ["No merchant, so no window.", "m makes one."] : ["Asking for the windows …"]),
  detail: windowDetail,
  actions: (chosen) => [exhaust(chosen), copyKey((state) => chosen(state)?.merchant)],
});

function exhaust(chosen: (state: State) => Window | undefined): Action {
  return {
    keys: ["e"],
    label: "exhaust",
    words: "leave nothing of the window: every call until it ends is answered 429",
    can: (state) => chosen(state)?.operation === null,
    run(state) {
      const window = chosen(state);
      if (!window) return just(state);
      const call = { method: "PUT", path: `/rate-limits/${inPath(window.merchant)}`, body: { remaining: 0 } } as const;
      return calls(state, call, () => `Nothing is left of the window of ${window.merchant}`);
    },
  };
}

function bar(look: Look, share: number, cells: number): string {
  const { full, empty } = signs(look);
  // Whatever is left at all shows, and so does whatever was used.
  const filled = share <= 0 ? 0 : share >= 1 ? cells : Math.min(cells - 1, Math.max(1, Math.round(share * cells)));
  return full.repeat(filled) + empty.repeat(cells - filled);
}
