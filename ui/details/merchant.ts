// The details of a merchant and of a rate-limit window.

import type { ListedMerchant, RateWindow } from "../../generated/control-api.ts";
import type { RequestMessage } from "../../src/contracts/live-messages.ts";
import { sharedWindow } from "../controls/form-fields.ts";
import type { Detail } from "../overlays/detail.ts";
import { apiKeysOf, secondsUntil, type UiState, valuesOf } from "../state/state.ts";
import { count, countdown, counted, dateTimeToSecond, milliseconds } from "../view/format.ts";
import { labelled, linkTo, paragraph, section } from "./detail-lines.ts";
import { requestLinks, requestsOf } from "./row-lines.ts";

export const merchantDetail = (_: UiState, opened: ListedMerchant): Detail => ({
  title: `Merchant ${opened.id}`,
  lines(_data, state, width) {
    const { theme, learning, sandbox } = state;
    const newest = valuesOf<ListedMerchant>(state, "merchants").find(({ id }) => id === opened.id);
    const { id, name, email, apiKeys, status, records, requests } = newest ?? opened;
    const window = sharedWindow(state, id);
    const traffic = sandbox?.traffic.find(({ merchant }) => merchant === id);
    const keys = learning?.kind === "workshop" ? "hidden: the screen of a workshop may be projected" : apiKeys.join("\n") || "none";
    return [
      ...labelled(theme, width, "id", id),
      ...labelled(theme, width, "name", name ?? "-"),
      ...labelled(theme, width, "email", email ?? "-"),
      ...labelled(theme, width, "API keys", keys),
      ...(status === "active"
        ? labelled(theme, width, "status", status)
        : labelled(theme, width, "status", `${status}: its requests get 403`, "yellow")),
      ...labelled(theme, width, "records", count(records)),
      ...labelled(theme, width, "requests", `${count(requests)} in the log`),
      ...(window
        ? linkTo(
            "limits",
            rateWindowId(window),
            labelled(theme, width, "rate limit", `${count(window.remaining)} of ${count(window.limit)} left`),
          )
        : []),
      ...labelled(theme, width, "traffic", traffic ? `${traffic.rate}, ${counted(traffic.happened, "record")} so far` : "none"),
      ...section(theme, "Newest requests, oldest first", requestLinks(requestsOf(state, id), width)),
      ...(newest ? [] : section(theme, "Removed", paragraph(theme, width, "This merchant no longer exists."))),
    ];
  },
});

export const rateWindowId = ({ merchant, operation }: Pick<RateWindow, "merchant" | "operation">) => `${merchant} ${operation ?? ""}`;

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
  requestsOf(state, merchant).filter(({ status }) => status === 429);
