// The address of what the dashboard shows: the fragment of the page's URL, such as
// `#verdicts?filter=is:failed&open=requests:req_2`. It has no token.

import { visibleRowCount } from "../state/layout.ts";
import { filteredRows, select, withFilter } from "../state/list.ts";
import { type Row, refOf } from "../state/rows.ts";
import type { Reference } from "../state/state.ts";
import { listOf, type StateUpdate, type UiState } from "../state/state.ts";
import { closeTopOverlay, pollEffect, update, withList } from "../state/updates.ts";
import { explorer, paneNamed, visiblePanes } from "./index.ts";
import { isDetail } from "./overlays/detail.ts";

/** The view, its filter, the selected row, and the open detail; in the explorer, the operation. */
export function addressOf(state: UiState): string {
  const { pane, operation } = state;
  const { filter, chosen } = listOf(state);
  const open = state.overlays.findLast(isDetail)?.about;
  const parts = {
    filter,
    row: chosen && !chosen.gap && refOf(chosen) !== open?.id ? refOf(chosen) : "",
    open: open ? `${open.pane}:${open.id}` : "",
    operation: pane === explorer.name ? (operation ?? "") : "",
  };
  const query = Object.entries(parts).flatMap(([name, value]) =>
    value === "" ? [] : [`${name}=${encodeURIComponent(value)}`],
  );
  return `#${pane}${query.length === 0 ? "" : `?${query.join("&")}`}`;
}

export const pageUrl = (state: UiState): string => `${state.target.url}/${addressOf(state)}`;

/** Goes to an address. If the view is unknown, stays in the current view. */
export function goToAddress(state: UiState, address: string): StateUpdate {
  const [name = "", query] = address.replace(/^#/, "").split("?");
  const parts = new URLSearchParams(query);
  const pane = visiblePanes(state).find((one) => one.name === name)?.name ?? state.pane;
  const [openPane = "", ...id] = (parts.get("open") ?? "").split(":");
  const open = openPane === "" ? undefined : { pane: openPane, id: id.join(":") };
  const row = parts.get("row") ?? (open?.pane === pane ? open.id : undefined);
  const wanted = { ...(row !== undefined && { row: { pane, id: row } }), ...(open && { open }) };
  const next: UiState = {
    ...state,
    pane,
    wanted,
    operation: parts.get("operation") ?? state.operation,
    overlays: state.overlays.slice(0, 1),
    filterLine: undefined,
  };
  const closed = closeTopOverlay(next);
  return update(
    withList(closed, pane, withFilter(listOf(closed), parts.get("filter") ?? "")),
    { kind: "subscribe" },
    { kind: "refresh" },
  );
}

/** Selects the row and opens the detail that the address names, as soon as their lists are loaded. */
export function reachAddress(state: UiState): StateUpdate {
  const { wanted, connection } = state;
  const isLoaded = ({ pane }: Reference) => {
    const { rows, loading } = listOf(state, pane);
    return paneNamed(pane).fetchRow !== undefined || (rows.length > 0 && loading === undefined);
  };
  if (!wanted || connection.phase !== "live" || !Object.values(wanted).every(isLoaded)) return update(state);
  const reached = { ...state, wanted: undefined };
  const selected = wanted.row ? selectById(reached, wanted.row) : update(reached);
  const opened = wanted.open
    ? paneNamed(wanted.open.pane).openById(selected.state, wanted.open.id)
    : update(selected.state);
  return update(opened.state, ...selected.effects, ...opened.effects);
}

/**
 * Selects a row, and fetches it first if the list has not loaded it. Selects the row that the list will show for it,
 * which may be folded. A row that the filter hides is not selected.
 */
function selectById(state: UiState, { pane, id }: Reference): StateUpdate {
  const selectRow = (later: UiState, row: Row) =>
    withList(later, pane, select(listOf(later, pane), row, visibleRowCount(later, pane)));
  const row = filteredRows(listOf(state, pane)).findLast((one) => refOf(one) === id);
  const fetch = paneNamed(pane).fetchRow?.(id);
  if (row) return update(selectRow(state, row));
  if (!fetch) return update(state);
  return update(
    state,
    pollEffect(fetch.call, (later, { body }) => {
      const [shown] = filteredRows({ ...listOf(later, pane), frozen: undefined, rows: [fetch.read(body)] });
      return update(shown ? selectRow(later, shown) : later);
    }),
  );
}
