// The key that limits every pane to one merchant, by a term in the filters that the user can see and edit.

import { selectedRow, withFilter } from "../../state/list.ts";
import { listOf, type StateUpdate, type UiState } from "../../state/state.ts";
import { update, withList, withNotice } from "../../state/updates.ts";
import { paneNamed } from "../index.ts";

const followed = /(?:^| )merchant:(\S+)/;

/** The merchant to whose rows every pane is limited. */
export const followedMerchant = (state: UiState): string | undefined =>
  followed.exec(listOf(state, "requests").filter)?.[1];

/** Removes the `merchant:` term from a filter. */
const withoutMerchant = (filter: string) => filter.replace(followed, "").trim();

/** The term that `m` has added to the filters; "" if the focused pane is not limited to that merchant. */
function sharedTerm(state: UiState): string {
  const term = `merchant:${followedMerchant(state)}`;
  const limited = Object.entries(state.lists).filter(([, { filter }]) => filter.split(" ").includes(term));
  return limited.length > 1 && limited.some(([name]) => name === state.pane) ? term : "";
}

/** A filter for the focused pane that stays limited to the merchant that every pane follows. */
export const withinMerchant = (state: UiState, filter: string): string =>
  followed.test(filter) ? filter : `${filter} ${sharedTerm(state)}`.trim();

/**
 * Clears the filter of the focused pane. A filter that only limits the pane to the followed merchant is cleared in all
 * panes: otherwise the other panes would still hide rows, and no bar would say so.
 */
export function clearFilter(state: UiState): StateUpdate {
  const { filter } = listOf(state);
  const kept = withinMerchant(state, "");
  if (kept === filter.trim()) return followMerchant(state);
  return update(withList(state, state.pane, withFilter(listOf(state), kept)), { kind: "subscribe" });
}

/** Adds the selected row's merchant to the filters of all panes with merchants, or removes the followed merchant. */
export function followMerchant(state: UiState): StateUpdate {
  const present = followedMerchant(state);
  const { id, merchant = id } = (selectedRow(listOf(state))?.value ?? {}) as { id?: string; merchant?: string | null };
  if (present === undefined && !merchant?.startsWith("mer_"))
    return update(withNotice(state, "m follows the merchant of the selected row; this row has none", "yellow"));
  const lists = Object.entries(state.lists).map(([name, list]) => {
    const hasMerchants = name !== "scenarios" && paneNamed(name).vocabulary(state)?.fields.includes("merchant");
    const rest = withoutMerchant(list.filter);
    const filter = present === undefined && hasMerchants ? `${rest} merchant:${merchant}`.trim() : rest;
    return [name, filter === list.filter ? list : withFilter(list, filter)];
  });
  const text = present === undefined ? `Only ${merchant} is shown. Press m to show all` : "All merchants are shown";
  return update(withNotice({ ...state, lists: Object.fromEntries(lists) }, text), { kind: "subscribe" });
}
