// The pane of merchants, and the detail of one: its API keys, how many records and requests it has, and its rate limit.

import type { ListedMerchant } from "../../generated/control-api.ts";
import { controlCalls } from "../../src/client/control-call.ts";
import { count, plural } from "../../src/kernel/text.ts";
import { listed, listOf, type StateUpdate, shortMerchant, type UiState } from "../state/state.ts";
import { makeCall } from "../state/updates.ts";
import { saveFixture } from "./controls/fixture-form.ts";
import { sharedWindow } from "./controls/form-fields.ts";
import { copyApiKey } from "./controls/sandbox-forms.ts";
import { linkTo } from "./details/detail-lines.ts";
import { requestLinks, requestsOf } from "./details/row-lines.ts";
import { confirmCall } from "./overlays/text-view.ts";
import { listPane } from "./pane.ts";
import { rateWindowId, windowText } from "./rate-limits.ts";

const MERCHANTS_PANE = "merchants";

export const merchants = listPane<ListedMerchant>({
  name: MERCHANTS_PANE,
  title: "Merchants",
  rowId: ({ id }) => id,
  filterBy: ({ id, name, status, apiKeys }) => ({
    text: `${id} ${name ?? ""} ${apiKeys.join(" ")}`,
    fields: { merchant: id, status },
  }),
  poll: controlCalls.merchants.list(),
  titleNote: (state) => plural(listOf(state, MERCHANTS_PANE).rows.length, "merchant"),
  columns(merchant) {
    const { id, name, status, apiKeys, records, requests } = merchant;
    return [
      { heading: "merchant", text: shortMerchant(id), truncate: "middle" },
      { heading: "name", text: name ?? "", rank: 2, grows: true },
      { heading: "API key", text: keyText(apiKeys), claim: 22, rank: 1, truncate: "middle", styles: ["dim"] },
      { heading: "status", text: status, styles: status === "active" ? ["dim"] : ["yellow", "bold"] },
      { heading: "records", text: count(records), align: "right" },
      { heading: "requests", text: count(requests), align: "right" },
    ];
  },
  emptyText: ({ sandbox }) =>
    sandbox?.merchants.length === 0 ? ["No merchants. Press M to create one."] : ["Loading merchants …"],
  detail: (opened) => ({
    title: `Merchant ${opened.id}`,
    lines(_data, write, state) {
      const { field } = write;
      const newest = listed(state, MERCHANTS_PANE, opened);
      const { id, name, email, apiKeys, status, records, requests } = newest ?? opened;
      const window = sharedWindow(state, id);
      return [
        ...field("id", id),
        ...field("name", name ?? "-"),
        ...field("email", email ?? "-"),
        ...field("API keys", apiKeys.join("\n") || "none"),
        ...(status === "active"
          ? field("status", status)
          : field("status", `${status}: its requests get 403`, "yellow")),
        ...field("records", count(records)),
        ...field("requests", `${count(requests)} in the log`),
        ...(window ? linkTo("limits", rateWindowId(window), field("rate limit", windowText(window))) : []),
        ...requestLinks(write, "Requests in the log", requestsOf(state, id), requests),
        ...(newest ? [] : write.section("Removed", write.text("This merchant no longer exists."))),
      ];
    },
  }),
  keys: [
    copyApiKey(({ id }) => id),
    {
      keys: ["F"],
      label: "fixture",
      help: "save the merchant and its records as a fixture, for start --fixtures",
      run: (state, { id }) => saveFixture(state, id),
    },
    {
      keys: ["z"],
      label: "suspend, reactivate",
      help: "suspend the merchant, or reactivate it: requests of a suspended one get 403",
      run: toggleSuspension,
    },
    {
      keys: ["d"],
      label: "remove",
      help: "remove the merchant with all its data",
      run(state, { id, records }) {
        const confirmation = {
          question: `Remove ${id} with its ${plural(records, "record")}?`,
          action: `Remove ${id}`,
        };
        return confirmCall(state, confirmation, controlCalls.merchants.remove({ id }), ({ removed }) => ({
          message: `Removed ${removed}`,
        }));
      },
    },
  ],
});

function keyText([first, ...others]: readonly string[]): string {
  if (first === undefined) return "none";
  return others.length === 0 ? first : `${first} +${others.length}`;
}

const withStatus = (id: string, status: string) => controlCalls.records.move({ kind: "merchant", id, status });

function toggleSuspension(state: UiState, opened: ListedMerchant): StateUpdate {
  const { id, status } = listed(state, MERCHANTS_PANE, opened) ?? opened;
  const isActive = status === "active";
  return makeCall(state, withStatus(id, isActive ? "suspended" : "active"), () => ({
    message: isActive ? `Suspended ${id}: its requests get 403. Press z to reactivate it` : `Reactivated ${id}`,
    undo: withStatus(id, status),
    undoLabel: `${id} is ${status} again`,
  }));
}
