// Applies keys and stream messages to a running dashboard, runs their effects, and loads rows that its lists lack.

import { controlCalls } from "../../src/client/control-call.ts";
import type { HttpTarget } from "../../src/client/http-transport.ts";
import { realNow } from "../../src/kernel/clock.ts";
import { type Perform, RefusedCall } from "../connection/calls.ts";
import type { LiveHandlers, LiveStream } from "../connection/live-stream.ts";
import { layoutOf, PREVIEW, placementOf, TRENDS_PANE, visibleRowCount } from "../state/layout.ts";
import { pollLearner } from "../state/learning.ts";
import { addPage, failPage, type List, selectedRow, visibleRows } from "../state/list.ts";
import { unsearchedGap } from "../state/log-search.ts";
import { mayHide, type Row, refOf, TOP_GAP } from "../state/rows.ts";
import { type Effect, listOf, type NewFile, type StateUpdate, type UiState } from "../state/state.ts";
import { callEffect, pollEffect, update, withList, withNotice } from "../state/updates.ts";
import { reachAddress } from "./address.ts";
import {
  applyConnection,
  applyMessage,
  applyPolledRows,
  applySandboxIndex,
  applyTime,
  isReset,
} from "./apply-message.ts";
import { fetchLookups } from "./controls/form-fields.ts";
import { pollEndpoints } from "./deliveries.ts";
import { paneNamed, visiblePanes } from "./index.ts";
import { isDetail, pollDetail } from "./overlays/detail.ts";
import type { Pane } from "./pane.ts";
import { pollTrends } from "./trends.ts";

/** The functions that differ between a terminal and a browser. */
export interface Platform {
  perform: Perform;
  /** Copies a text to the clipboard; returns a notice if the text cannot be copied. */
  copy(text: string): string | undefined;
  /** Opens the page at an address, or copies the address if there is no desktop. Returns a notice that says which. */
  open(url: string): string;
  /** Writes a file; resolves with what happened and where, such as `Wrote /home/me/lodge.json`. */
  save(file: NewFile): Promise<string>;
  /** `bell`, `repaint` and `suspend` need a terminal. */
  bell?(): void;
  repaint?(): void;
  suspend?(): void;
  /** Restarts the user's app, if this process runs one. */
  restart?: (() => void) | undefined;
}

/** A running dashboard; `state` is the only mutable state in the dashboard. */
export interface RunningDashboard {
  target: HttpTarget;
  platform: Platform;
  scheduler: { paintNow(): void; paintSoon(): void };
  stream: LiveStream;
  state: UiState;
  /** Updates the preview of the selected row, which a reply may have changed. */
  updatePreview(): void;
  leave(reason: LeaveReason): void;
}

/** `leave` keeps the sandbox running, `plain` continues with plain lines, and `hangup` is a closed terminal. */
export type LeaveReason = "quit" | "leave" | "interrupt" | "plain" | "hangup";

export function applyUpdate(dashboard: RunningDashboard, { state, effects }: StateUpdate): void {
  const loading = loadRows(state);
  const reached = reachAddress(loading.state);
  dashboard.state = reached.state;
  for (const effect of [...effects, ...loading.effects, ...reached.effects]) runEffect(dashboard, effect);
}

function runEffect(dashboard: RunningDashboard, effect: Effect): void {
  const { platform, stream, state } = dashboard;
  if (effect.kind === "call") performCall(dashboard, effect);
  else if (effect.kind === "copy") {
    const problem = platform.copy(effect.text);
    if (problem !== undefined) dashboard.state = withNotice(dashboard.state, problem, "yellow");
  } else if (effect.kind === "open") dashboard.state = withNotice(dashboard.state, platform.open(effect.url));
  else if (effect.kind === "save") saveFile(dashboard, effect);
  else if (effect.kind === "subscribe")
    stream.subscribe({ requests: listOf(state, "requests").filter, deliveries: listOf(state, "deliveries").filter });
  else if (effect.kind === "refresh") refresh(dashboard);
  else if (effect.kind === "restart") platform.restart?.();
  else if (effect.kind === "bell" || effect.kind === "repaint" || effect.kind === "suspend") platform[effect.kind]?.();
  else dashboard.leave(effect.kind);
}

function saveFile(dashboard: RunningDashboard, { file, onSaved, onError }: Effect & { kind: "save" }): void {
  const apply = (next: StateUpdate) => {
    applyUpdate(dashboard, next);
    dashboard.scheduler.paintNow();
  };
  dashboard.platform.save(file).then(
    (place) => apply(onSaved(dashboard.state, place)),
    ({ message }: Error) => apply(onError(dashboard.state, message)),
  );
}

function performCall(dashboard: RunningDashboard, { call, onReply, onError, isPoll }: Effect & { kind: "call" }): void {
  const apply = (next: StateUpdate) => {
    applyUpdate(dashboard, next);
    dashboard.updatePreview();
    if (isPoll) dashboard.scheduler.paintSoon();
    else dashboard.scheduler.paintNow();
  };
  dashboard.platform
    .perform(dashboard.target, call)
    .then(
      (reply) => apply(onReply({ ...dashboard.state, now: realNow() }, reply)),
      (error: Error) => {
        const fields = error instanceof RefusedCall ? error.fields : [];
        apply(
          onError?.(dashboard.state, error.message, fields) ??
            update(withNotice(dashboard.state, error.message, "failure")),
        );
      },
    )
    // The reply has unexpected fields: it is from another version of the sandbox, or from another program.
    .catch(({ message }: Error) =>
      apply(update(withNotice(dashboard.state, `A reply of this sandbox could not be read: ${message}`, "failure"))),
    );
}

/** Polls the sandbox. Called after every call that a key makes, and regularly while connected. */
export function refresh(dashboard: RunningDashboard): void {
  if (dashboard.state.connection.phase === "live")
    for (const effect of polls(dashboard.state)) runEffect(dashboard, effect);
}

function polls(state: UiState): Effect[] {
  const isVisible = (pane: string) => placementOf(state, pane).width > 0;
  const rows = visiblePanes(state).flatMap(({ name, poll, alarm }) =>
    poll && (alarm || isVisible(name))
      ? [pollEffect(poll.call, (later, { body }) => update(applyPolledRows(later, name, poll.read(body))))]
      : [],
  );
  const overview = pollEffect(controlCalls.overview(), (later, { body }) => update(applySandboxIndex(later, body)));
  return [
    ...fetchLookups(state),
    ...pollLearner(state),
    ...(isVisible(TRENDS_PANE) ? pollTrends() : []),
    ...(isVisible("deliveries") ? pollEndpoints() : []),
    ...pollDetail(state),
    overview,
    ...rows,
  ];
}

export const streamHandlers = (current: () => RunningDashboard, change: (next: UiState) => void): LiveHandlers => ({
  message(message) {
    change(applyMessage(applyTime(current().state, realNow()), message));
    // The counts of pending and failed deliveries are from before the reset.
    if (message.type === "digest" && message.items.some(isReset)) refresh(current());
  },
  unknown: (count) =>
    change(withNotice(current().state, `Messages of another version were not shown: ${count}`, "yellow")),
  connection(connection) {
    change(applyConnection(applyTime(current().state, realNow()), connection));
    // Fills polled panes at once instead of at the next second.
    if (connection.phase === "live") refresh(current());
  },
});

/** Loads rows that the screen needs and the lists lack, at most one page of each list at a time. */
export function loadRows(state: UiState): StateUpdate {
  if (state.connection.phase !== "live") return update(state);
  const { left, right } = layoutOf(state);
  const shown = new Set([...left, ...right].map(({ pane }) => pane));
  return visiblePanes(state).reduce<StateUpdate>((before, pane) => {
    const list = listOf(before.state, pane.name);
    const gap = pane.log && !list.loading && !list.frozen && missingRow(state, pane, list, shown.has(pane.name));
    if (!gap) return before;
    const { state: next, effects } = loadGap(before.state, pane.name, gap);
    return { state: next, effects: [...before.effects, ...effects] };
  }, update(state));
}

/**
 * The gap to load: the newest gap on the screen or, with a filter, the newest gap that may hide a match. While an
 * unfiltered list follows new rows, only the gap at its top is loaded, because the others scroll away.
 */
function missingRow(state: UiState, pane: Pane, list: List, isShown: boolean): Row | undefined {
  const height = visibleRowCount(state, pane.name);
  const isFiltered = list.filter.trim() !== "";
  if (isShown && isFiltered) return unsearchedGap(list, height, pane.log?.takesFilter === false);
  const isOpen = ({ id, gap }: Row) =>
    gap !== undefined && gap.isDropped !== true && gap.error === undefined && (!list.follows || id === TOP_GAP);
  const seen = isShown ? visibleRows(list, height).rows.findLast(isOpen) : undefined;
  const needed = pane.log?.needs;
  if (seen || needed === undefined) return seen;
  return list.rows.findLast(({ gap }) => gap && gap.error === undefined && !gap.isDropped && mayHide(gap, needed));
}

/** Loads the rows before the row that follows the gap; with a filter, only matching rows. */
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
      // The list was cleared while the page was loading, for example by a reset.
      if (current.loading !== loading) return update(later);
      const after = addPage(current, { ...page.read(body), before, filter });
      return update(
        withList(
          later,
          pane,
          hasProgress(current, after, id) ? after : failPage(current, "the log returned no further rows"),
        ),
      );
    },
    (later, message) => {
      const current = listOf(later, pane);
      return update(current.loading === loading ? withList(later, pane, failPage(current, message)) : later);
    },
  );
  return update(withList(state, pane, { ...list, loading }), effect);
}

/** Whether a page changed the gap. If it did not, loading the gap again would never end. */
function hasProgress(before: List, after: List, id: string): boolean {
  const gapIn = (list: List) => list.rows.find((row) => row.id === id);
  return gapIn(before) !== gapIn(after) || before.rows.length !== after.rows.length;
}

/** While the list follows, the preview changes to another row at most this often: each row costs two calls. */
const FOLLOW_INTERVAL_MS = 2_000;

export const hasPreview = (state: UiState): boolean => layoutOf(state).right.some(({ pane }) => pane === PREVIEW);

/**
 * Shows the selected row. A key changes the preview at once, but a new row only after an interval, because each change
 * fetches a detail.
 */
export function updatePreview(state: UiState, isKey: boolean): StateUpdate {
  if (state.overlays.length > 0) return update(state);
  if (!hasPreview(state)) return update(state.preview ? { ...state, preview: undefined } : state);
  const row = selectedRow(listOf(state));
  const { preview } = state;
  const about = preview && isDetail(preview.overlay) ? preview.overlay.about : undefined;
  if (!row || row.gap) return update(preview ? { ...state, preview: undefined } : state);
  if (about?.pane === state.pane && about.id === refOf(row)) return update(state);
  if (!isKey && preview && state.now - preview.at < FOLLOW_INTERVAL_MS) return update(state);
  const opened = paneNamed(state.pane).detailOf(row);
  // A row that arrived by itself is not urgent: its detail is painted with the next rows, unless the preview is empty.
  const effects = (opened?.effects ?? []).map((effect) =>
    effect.kind === "call" && !isKey && preview ? { ...effect, isPoll: true as const } : effect,
  );
  return update({ ...state, preview: opened && { overlay: opened.overlay, at: state.now } }, ...effects);
}
