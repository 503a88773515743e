// The pane of rate-limit windows, and the detail of one: how many requests remain in it, and when it resets.

import type { RateWindow } from "../../generated/control-api.ts";
import { controlCalls } from "../../src/client/control-call.ts";
import type { RequestMessage } from "../../src/contracts/live-messages.ts";
import { apiKeysOf, listOf, secondsUntil, shortMerchant, type UiState, valuesOf } from "../state/state.ts";
import { makeCall } from "../state/updates.ts";
import { count, countdown, dateTimeToSecond, failureMark, limitText, milliseconds, plural } from "../text/format.ts";
import { symbols, type TextStyle, type Theme } from "../text/style.ts";
import { copyApiKey, undoOfWindow } from "./controls/sandbox-forms.ts";
import { requestLinks, requestsOf } from "./details/row-lines.ts";
import { listPane } from "./pane.ts";

export const rateWindowId = ({ merchant, operation }: Pick<RateWindow, "merchant" | "operation">) =>
  `${merchant} ${operation ?? ""}`;

export const refusedRequests = (state: UiState, merchant: string): RequestMessage[] =>
  requestsOf(state, merchant).filter(({ status }) => status === 429);

export const rateLimits = listPane<RateWindow>({
  name: "limits",
  title: "Rate limits",
  rowId: rateWindowId,
  filterBy: ({ merchant, operation, limit, remaining }) => ({
    text: `${merchant} ${operation ?? ""}`,
    fields: { merchant, operation, limit, remaining },
  }),
  poll: controlCalls.rateLimits.list(),
  // The windows with the smallest remaining share come first.
  compare: (one, other) => one.remaining / one.limit - other.remaining / other.limit,
  titleNote(state) {
    const { length } = listOf(state, "limits").rows;
    const exhausted = exhaustedCount(state);
    return `${plural(length, "window")}${exhausted > 0 ? `, ${count(exhausted)} exhausted` : ""}`;
  },
  alarm: (state) => failureMark(state.theme, exhaustedCount(state)),
  columns(window, state, width) {
    const { merchant, operation, limit, remaining } = window;
    const wait = countdown(secondsUntil(state, milliseconds(window.reset)));
    const isExhausted = remaining === 0;
    const resetText = isExhausted ? `429 for ${wait}` : `resets ${wait}`;
    const fewLeft: TextStyle[] = remaining < limit / 5 ? ["yellow"] : [];
    const barStyles: TextStyle[] = isExhausted ? ["red"] : fewLeft;
    const barWidth = width < 60 ? 5 : Math.max(16, Math.floor(width / 3));
    return [
      {
        heading: "merchant",
        text: operation ? `${shortMerchant(merchant)} ${operation}` : shortMerchant(merchant),
        width: 6,
        grows: true,
      },
      { heading: "left", text: bar(state.theme, remaining / limit, barWidth), rank: 1, styles: barStyles },
      { heading: "of limit", text: windowText(window, "/"), align: "right" },
      { heading: "reset", text: resetText, width: 12, styles: isExhausted ? ["failure"] : ["dim"] },
    ];
  },
  emptyText: () => ["No merchants. Press M to create one."],
  detail: (opened) => ({
    title: `Rate limit of ${opened.merchant}${opened.operation === null ? "" : ` for ${opened.operation}`}`,
    lines(_data, write, state) {
      const { field } = write;
      const newest = valuesOf<RateWindow>(state, "limits").find(
        (window) => rateWindowId(window) === rateWindowId(opened),
      );
      const { merchant, operation, limit, remaining, window, reset } = newest ?? opened;
      const resetAt = milliseconds(reset);
      const isExhausted = remaining === 0;
      const scope =
        operation === null
          ? "Shared by all operations without a limit of their own."
          : "Applies to this operation only.";
      return [
        ...field("merchant", merchant),
        ...field("API keys", apiKeysOf(state, merchant).join(", ") || "none"),
        ...field("operation", operation),
        ...field("remaining", windowText({ limit, remaining }), ...(isExhausted ? (["failure"] as const) : [])),
        ...field("window", `${count(window / 1_000)} s`),
        ...field("resets", `${dateTimeToSecond(resetAt)}, in ${countdown(secondsUntil(state, resetAt))}`),
        ...write.text(isExhausted ? `${scope} Requests get 429 until it resets.` : scope, "dim"),
        ...requestLinks(write, "429 responses", refusedRequests(state, merchant)),
      ];
    },
  }),
  keys: [
    {
      keys: ["e"],
      label: "exhaust",
      help: "exhaust the window: requests get 429 until it resets",
      isEnabled: (_, { operation }) => operation === null,
      run(state, { merchant }) {
        const result = { message: `Exhausted the rate limit of ${merchant}`, ...undoOfWindow(state, merchant) };
        return makeCall(state, controlCalls.rateLimits.set({ merchant, remaining: 0 }), () => result);
      },
    },
    copyApiKey(({ merchant }) => merchant),
  ],
});

const exhaustedCount = (state: UiState) =>
  valuesOf<RateWindow>(state, "limits").filter(({ remaining }) => remaining === 0).length;

/** Draws the remaining share, rounded up to whole blocks, so that only an exhausted window has an empty bar. */
function bar(theme: Theme, share: number, width: number): string {
  const { full, empty } = symbols(theme);
  const filled = Math.ceil(Math.max(0, Math.min(1, share)) * width);
  return full.repeat(filled) + empty.repeat(width - filled);
}

/** `4,812 of 6,000`; `none` without a limit. */
export function windowText({ limit, remaining }: Pick<RateWindow, "limit" | "remaining">, between = " of "): string {
  const text = limitText(limit);
  return text === "none" && remaining > 0 ? text : `${count(remaining)}${between}${text}`;
}
