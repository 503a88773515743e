// Loads rows of the log that a list lacks: those of a gap on the screen, and those that a pane needs even off the screen.

import { paneNamed, visiblePanes } from "./panes/index.ts";
import type { Pane } from "./panes/pane.ts";
import { mayHide, TOP_GAP } from "./state/gaps.ts";
import { addPage, failPage, visibleRows } from "./state/list.ts";
import type { List, Row } from "./state/rows.ts";
import { type Effect, listOf, type StateUpdate, type UiState } from "./state/state.ts";
import { callEffect, update, withList } from "./state/updates.ts";
import { layoutOf, placementOf, visibleRowCount } from "./view/layout.ts";

/** How many rows of a pane are shown outside the layout. */
export const LATEST_ROWS = 5;

/** Starts to load what the screen lacks, at most one page of each list at a time. */
export function loadRows(state: UiState): StateUpdate {
  if (state.connection.phase !== "live") return update(state);
  const { left, right, below } = layoutOf(state);
  const shown = new Set([...left, ...right, below].map((placement) => placement?.pane));
  for (const pane of state.alsoShown) shown.add(pane);
  return visiblePanes(state).reduce<StateUpdate>((before, pane) => {
    const list = listOf(before.state, pane.name);
    const gap = pane.log && !list.loading && !list.frozen && missingRow(state, pane, list, shown.has(pane.name));
    if (!gap) return before;
    const { state: next, effects } = loadGap(before.state, pane.name, gap);
    return { state: next, effects: [...before.effects, ...effects] };
  }, update(state));
}

/** The gap to load: the newest on the screen, but only the first row of a list that follows, where others come and go. */
function missingRow(state: UiState, pane: Pane, list: List, isShown: boolean): Row | undefined {
  const isOpen = ({ id, gap }: Row) =>
    gap !== undefined && gap.isDropped !== true && gap.error === undefined && (!list.follows || id === TOP_GAP);
  const height = placementOf(state, pane.name).height > 0 ? visibleRowCount(state, pane.name) : LATEST_ROWS;
  const seen = isShown ? visibleRows(list, height).rows.findLast(isOpen) : undefined;
  const needed = pane.log?.needs;
  if (seen || needed === undefined) return seen;
  return list.rows.findLast(({ gap }) => gap && gap.error === undefined && !gap.isDropped && mayHide(gap, needed));
}

/** Loads the rows before the row that follows the gap; under a filter, only those that match it. */
export function loadGap(state: UiState, pane: string, { id }: Row): StateUpdate {
  const { log } = paneNamed(pane);
  const list = listOf(state, pane);
  const before = list.rows.slice(list.rows.findIndex((row) => row.id === id) + 1).find(({ gap }) => !gap);
  if (!log) return update(state);
  const filter = list.filter.trim() === "" || log.takesFilter === false ? "" : list.filter;
  const loading = { gap: id };
  const page = log.page({ before: before?.id, filter });
  const effect: Effect = callEffect(
    page.call,
    (later, { body }) => {
      const current = listOf(later, pane);
      // A reset has emptied the list since.
      if (current.loading !== loading) return update(later);
      const after = addPage(current, { ...page.read(body), before, filter });
      return update(withList(later, pane, hasProgress(current, after, id) ? after : failPage(current, "")));
    },
    (later, message) => {
      const current = listOf(later, pane);
      return update(current.loading === loading ? withList(later, pane, failPage(current, message)) : later);
    },
  );
  return update(withList(state, pane, { ...list, loading }), effect);
}

/** A page that changes nothing would be loaded for ever. */
function hasProgress(before: List, after: List, id: string): boolean {
  const gapIn = (list: List) => list.rows.find((row) => row.id === id)?.gap;
  const [old, next] = [gapIn(before), gapIn(after)];
  return (
    !next ||
    next.missing !== old?.missing ||
    next.clean !== old.clean ||
    next.isDropped === true ||
    before.rows.length !== after.rows.length
  );
}
