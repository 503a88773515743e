// The pane of merchants: their API keys, how many records and requests each has, its rate limit and its traffic.

import type { ListedMerchant } from "../../generated/control-api.ts";
import { controlCalls } from "../../src/client/control-call.ts";
import { sharedWindow } from "../controls/form-fields.ts";
import { copyApiKey } from "../controls/merchants.ts";
import { merchantDetail } from "../details/merchant.ts";
import { confirm } from "../overlays/confirm.ts";
import { type KeyBinding, listOf, makeCall, openOverlay, shortMerchant, type UiState, update } from "../state/state.ts";
import { count, counted } from "../view/format.ts";
import { listPane, type Selected } from "./pane.ts";

const MERCHANTS_PANE = "merchants";

/** In a narrower list a name would be cut to nothing. */
const NAMES_FROM = 80;

export const merchants = listPane<ListedMerchant>({
  name: MERCHANTS_PANE,
  title: "Merchants",
  rowId: ({ id }) => id,
  filterBy: ({ id, name, status, apiKeys }) => ({
    text: `${id} ${name ?? ""} ${apiKeys.join(" ")}`,
    fields: { merchant: id, status },
  }),
  poll: controlCalls.merchants.list(),
  titleNote: (state) => counted(listOf(state, MERCHANTS_PANE).rows.length, "merchant"),
  columns(merchant, state, width) {
    const { id, name, status, apiKeys, records, requests } = merchant;
    const window = sharedWindow(state, id);
    const traffic = state.sandbox?.traffic.find((one) => one.merchant === id);
    return [
      { heading: "merchant", text: shortMerchant(id), width: width < NAMES_FROM ? undefined : 14, truncate: "middle" },
      { heading: "name", text: name ?? "", hideBelow: NAMES_FROM },
      { heading: "API key", text: keyText(state, apiKeys), width: 22, truncate: "middle", styles: ["dim"], hideBelow: 64 },
      { heading: "status", text: status, width: 9, styles: status === "active" ? ["dim"] : ["yellow", "bold"] },
      { heading: "records", text: count(records), width: 8, align: "right" },
      { heading: "requests", text: count(requests), width: 8, align: "right" },
      {
        heading: "requests left",
        text: window ? `${count(window.remaining)}/${count(window.limit)}` : "",
        width: 13,
        align: "right",
        styles: window?.remaining === 0 ? ["failure"] : ["dim"],
        hideBelow: 96,
      },
      { heading: "traffic", text: traffic?.rate ?? "", width: 7, align: "right", styles: ["dim"], hideBelow: 104 },
    ];
  },
  emptyText: ({ sandbox }) => (sandbox?.merchants.length === 0 ? ["No merchants. Press m to create one."] : ["Loading merchants …"]),
  detail: merchantDetail,
  keys: (selected) => [copyApiKey((state) => selected(state)?.id), suspendKey(selected), removeKey(selected)],
});

/** The first key; a workshop's screen may be projected, so it shows none. */
function keyText({ learning }: UiState, [first, ...others]: readonly string[]): string {
  if (first === undefined) return "none";
  if (learning?.kind === "workshop") return "hidden";
  return others.length === 0 ? first : `${first} +${others.length}`;
}

const withStatus = (id: string, status: string) => controlCalls.records.change({ kind: "merchant", id, status });

function suspendKey(selected: Selected<ListedMerchant>): KeyBinding {
  return {
    keys: ["z"],
    label: "suspend",
    help: "suspend the merchant, or reactivate it: requests of a suspended one get 403",
    isEnabled: (state) => selected(state) !== undefined,
    run(state) {
      const merchant = selected(state);
      if (!merchant) return update(state);
      const { id, status } = merchant;
      const isActive = status === "active";
      return makeCall(
        state,
        withStatus(id, isActive ? "suspended" : "active"),
        () => (isActive ? `Suspended ${id}: its requests get 403. Press z to reactivate it` : `Reactivated ${id}`),
        (later) => ({ ...later, undo: [...later.undo, { label: `the status of ${id}`, call: withStatus(id, status) }] }),
      );
    },
  };
}

function removeKey(selected: Selected<ListedMerchant>): KeyBinding {
  return {
    keys: ["d"],
    label: "remove",
    help: "remove the merchant with all its data",
    isEnabled: (state) => selected(state) !== undefined,
    run(state) {
      const merchant = selected(state);
      if (!merchant) return update(state);
      const call = controlCalls.merchants.remove({ id: merchant.id });
      const remove = (later: UiState) => makeCall(later, call, ({ body }) => `Removed ${body.removed}`);
      return update(openOverlay(state, confirm(`Remove ${merchant.id} with its ${counted(merchant.records, "record")}?`, call, remove)));
    },
  };
}
