// Applies messages from the sandbox to the state: stream messages, poll replies, connection changes and clock ticks.

import type { SandboxOverviewReply } from "../../src/client/control-plane.generated.ts";
import type { LiveItem, Totals } from "../../src/contracts/live-messages.ts";
import type { Pane } from "../panes/pane.ts";
import type { StreamConnection, StreamMessage } from "../wire/live.ts";
import { applyLessonItems, withoutLearner } from "./learning.ts";
import { append, emptyList, type Row, replace } from "./list.ts";
import { listOf, type UiState, withList, withNotice, ZERO_TOTALS } from "./state.ts";

/** The request rate is an average over this long. */
const RATE_WINDOW_MS = 2_000;

export function applyConnection(state: UiState, connection: StreamConnection): UiState {
  const retryAt = connection.phase === "reconnecting" ? state.now + connection.retryInMs : state.retryAt;
  return { ...state, connection, retryAt };
}

export function applyMessage(state: UiState, message: StreamMessage, panes: readonly Pane[]): UiState {
  if (message.type === "snapshot") return applySandboxIndex(applySnapshot(state, message, panes), message.sandbox);
  if (message.type !== "digest") return state;
  const items = message.items.filter(({ seq }) => seq > state.lastSeq);
  const unsent = countUnsent(state.totals, message.totals, items);
  const counted = sampleRate({ ...state, totals: message.totals, lastSeq: message.seq });
  const reset = items.filter(isReset).reduce((before, item) => applyReset(before, item, panes), counted);
  return appendItems(reset, items, unsent, panes);
}

/** A snapshot with another run id means that the sandbox restarted: the rows of the earlier run are cleared. */
function applySnapshot(state: UiState, { run, totals }: StreamMessage & { type: "snapshot" }, panes: readonly Pane[]): UiState {
  if (run === state.run) return state;
  const samples = [{ at: state.now, requests: totals.request }];
  const started = { ...state, run, samples, totals: ZERO_TOTALS, lastSeq: 0 };
  if (state.run === undefined) return started;
  return withNotice(clearLists(started, panes), "The sandbox restarted; earlier rows were cleared", "yellow");
}

function appendItems(state: UiState, items: readonly LiveItem[], unsent: Totals, panes: readonly Pane[]): UiState {
  const afterReset = items.slice(items.findLastIndex(isReset) + 1);
  const learned = applyLessonItems(applyClock(state, items), afterReset);
  return panes.reduce((before, { name, stream }) => {
    if (!stream) return before;
    const rows = afterReset.flatMap((item) => (item.kind === stream.kind ? [stream.row(item)] : []));
    return withList(before, name, append(listOf(before, name), rows, unsent[stream.kind]));
  }, learned);
}

/** How many items of each kind happened without being sent. */
function countUnsent(before: Totals, after: Totals, items: readonly LiveItem[]): Totals {
  const unsent = Object.entries(after).map(([kind, total]) => {
    const sent = items.filter((item) => item.kind === kind).length;
    return [kind, Math.max(0, total - before[kind as keyof Totals] - sent)];
  });
  return Object.fromEntries(unsent) as Totals;
}

const isReset = (item: LiveItem): item is LiveItem & { kind: "reset" } => item.kind === "reset";

function applyReset(state: UiState, { merchant }: LiveItem & { kind: "reset" }, panes: readonly Pane[]): UiState {
  if (merchant !== null) return withNotice(state, `${merchant} was reset`, "yellow");
  return withNotice(clearLists(state, panes), "The sandbox was reset", "yellow");
}

/** Clears every list but its filter; lists that follow by default follow again. */
function clearLists(before: UiState, panes: readonly Pane[]): UiState {
  const state = withoutLearner(before);
  const lists = panes.map(({ name, follows }) => [name, { ...emptyList(follows), filter: listOf(state, name).filter }]);
  return { ...state, lists: Object.fromEntries(lists) };
}

function applyClock(state: UiState, items: readonly LiveItem[]): UiState {
  const item = items.findLast(({ kind }) => kind === "clock");
  if (item?.kind !== "clock" || !state.sandbox) return state;
  return { ...state, clockReadAt: state.now, sandbox: { ...state.sandbox, clock: item.clock } };
}

export const applySandboxIndex = (state: UiState, sandbox: SandboxOverviewReply): UiState => ({
  ...state,
  sandbox,
  clockReadAt: state.now,
});

export const applyPolledRows = (state: UiState, pane: string, rows: readonly Row[]): UiState =>
  withList(state, pane, replace(listOf(state, pane), rows, state.pane === pane));

export const applyTime = (state: UiState, now: number): UiState => sampleRate({ ...state, now });

function sampleRate(state: UiState): UiState {
  const { now, totals, samples } = state;
  const recent = samples.filter(({ at }) => now - at <= RATE_WINDOW_MS);
  return recent.at(-1)?.at === now ? state : { ...state, samples: [...recent, { at: now, requests: totals.request }] };
}

/** Requests per second. */
export function requestRate({ samples, totals, now }: UiState): number {
  const first = samples[0];
  if (!first || now <= first.at) return 0;
  return Math.max(0, Math.round(((totals.request - first.requests) * 1_000) / Math.max(1_000, now - first.at)));
}
