// The detail of a rate-limit window: requests remaining, reset time, and recent 429 responses of its merchant.

import type { RateWindow } from "../../generated/control-api.ts";
import type { RequestMessage } from "../../src/contracts/live-messages.ts";
import type { Detail } from "../overlays/detail.ts";
import { apiKeysOf, secondsUntil, type UiState, valuesOf } from "../state/state.ts";
import { count, countdown, dateTimeToSecond, milliseconds } from "../view/format.ts";
import { labelled, paragraph, section } from "./detail-lines.ts";
import { requestLinks } from "./row-lines.ts";

export const rateWindowId = ({ merchant, operation }: Pick<RateWindow, "merchant" | "operation">) => `${merchant} ${operation ?? ""}`;

const MAX_REFUSED = 10;

export const rateWindowDetail = (_: UiState, opened: RateWindow): Detail => ({
  title: `Rate limit of ${opened.merchant}${opened.operation === null ? "" : ` for ${opened.operation}`}`,
  lines(_data, state, width) {
    const { theme } = state;
    const newest = valuesOf<RateWindow>(state, "limits").find((window) => rateWindowId(window) === rateWindowId(opened));
    const { merchant, operation, limit, remaining, window, reset } = newest ?? opened;
    const resetAt = milliseconds(reset);
    const isExhausted = remaining === 0;
    const scope = operation === null ? "Shared by all operations without a limit of their own." : "Applies to this operation only.";
    return [
      ...labelled(theme, width, "merchant", merchant),
      ...labelled(theme, width, "API keys", apiKeysOf(state, merchant).join(", ") || "none"),
      ...(operation === null ? [] : labelled(theme, width, "operation", operation)),
      ...labelled(theme, width, "remaining", `${count(remaining)} of ${count(limit)}`, isExhausted ? "failure" : "green"),
      ...labelled(theme, width, "window", `${count(window / 1_000)} s`),
      ...labelled(theme, width, "resets", `${dateTimeToSecond(resetAt)}, in ${countdown(secondsUntil(state, resetAt))}`),
      ...paragraph(theme, width, isExhausted ? `${scope} Requests get 429 until it resets.` : scope, "dim"),
      ...section(theme, "Recent 429 responses", requestLinks(refusedRequests(state, merchant), width)),
    ];
  },
});

export const refusedRequests = (state: UiState, merchant: string): RequestMessage[] =>
  valuesOf<RequestMessage>(state, "requests")
    .filter((request) => request.status === 429 && request.merchant === merchant)
    .slice(-MAX_REFUSED);
