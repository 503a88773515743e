// The key that limits every pane to one merchant: a term of the filters, which the user can see and edit.

import { selectedRow, withFilter } from "../../state/list.ts";
import { listOf, type StateUpdate, type UiState } from "../../state/state.ts";
import { update, withNotice } from "../../state/updates.ts";
import { paneNamed } from "../index.ts";

const followed = /(?:^| )merchant:(\S+)/;

/** The merchant to whose rows every pane is limited. */
export const followedMerchant = (state: UiState): string | undefined =>
  followed.exec(listOf(state, "requests").filter)?.[1];

/** Limits every pane with merchants to the merchant of the selected row, beside its filter; or shows all again. */
export function followMerchant(state: UiState): StateUpdate {
  const present = followedMerchant(state);
  const { id, merchant = id } = (selectedRow(listOf(state))?.value ?? {}) as { id?: string; merchant?: string | null };
  if (present === undefined && !merchant?.startsWith("mer_"))
    return update(withNotice(state, "m follows the merchant of the selected row; this row has none", "yellow"));
  const lists = Object.entries(state.lists).map(([name, list]) => {
    const hasMerchants = name !== "scenarios" && paneNamed(name).vocabulary(state)?.fields.includes("merchant");
    const rest = list.filter.replace(followed, "").trim();
    const filter = present === undefined && hasMerchants ? `${rest} merchant:${merchant}`.trim() : rest;
    return [name, filter === list.filter ? list : withFilter(list, filter)];
  });
  const text = present === undefined ? `Only ${merchant} is shown. Press m to show all` : "All merchants are shown";
  return update(withNotice({ ...state, lists: Object.fromEntries(lists) }, text), { kind: "subscribe" });
}
