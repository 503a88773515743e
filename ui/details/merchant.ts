// The detail of a merchant: its API keys, its rate limit and traffic, and its newest requests.

import type { ListedMerchant } from "../../generated/control-api.ts";
import type { RequestMessage } from "../../src/contracts/live-messages.ts";
import { sharedWindow } from "../controls/form-defaults.ts";
import type { Detail } from "../overlays/detail.ts";
import { type UiState, valuesOf } from "../state/state.ts";
import { count, counted } from "../view/format.ts";
import { labelled, linkTo, paragraph, section } from "./detail-lines.ts";
import { rateWindowId } from "./rate-window.ts";
import { requestLinks } from "./row-lines.ts";

const MAX_REQUESTS = 10;

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

const requestsOf = (state: UiState, id: string): RequestMessage[] =>
  valuesOf<RequestMessage>(state, "requests")
    .filter(({ merchant }) => merchant === id)
    .slice(-MAX_REQUESTS);
