// Applies messages from the sandbox to the state: stream messages, poll replies, connection changes and clock ticks.

import type { SandboxOverviewReply } from "../../src/client/control-plane.generated.ts";
import type { MadeCounts } from "../../src/contracts/counts.ts";
import type { CompleteFor, LiveItem } from "../../src/contracts/live-messages.ts";
import type { Pane } from "../panes/pane.ts";
import type { StreamConnection, StreamMessage } from "../wire/live.ts";
import { withTopGap } from "./gaps.ts";
import { applyLessonItems, withoutLearner } from "./learning.ts";
import { append, emptyList, replace } from "./list.ts";
import type { List, Row } from "./rows.ts";
import { listOf, type UiState, withList, withNotice } from "./state.ts";

export function applyConnection(state: UiState, connection: StreamConnection): UiState {
  const retryAt = connection.phase === "reconnecting" ? state.now + connection.retryInMs : state.retryAt;
  return { ...state, connection, retryAt };
}

export function applyMessage(state: UiState, message: StreamMessage, panes: readonly Pane[]): UiState {
  if (message.type === "snapshot") return applySandboxIndex(applySnapshot(state, message, panes), message.sandbox);
  if (message.type !== "digest") return state;
  const { seq, made, completeFor } = message;
  const items = message.items.filter((item) => item.seq > state.lastSeq);
  const wasReset = items.some(isReset);
  const counted = sampleRate({ ...state, made, lastSeq: seq, ...(wasReset && { samples: [] }) });
  const reset = items.filter(isReset).reduce((before, item) => applyReset(before, item, panes), counted);
  return appendItems(reset, items, completeFor, panes);
}

/** Another run id means that the sandbox restarted: its log may have other rows. */
function applySnapshot(state: UiState, { run, made }: StreamMessage & { type: "snapshot" }, panes: readonly Pane[]): UiState {
  if (run === state.run) return { ...state, made };
  const started = clearLists({ ...state, run, made, samples: [{ at: state.now, requests: made.requests }], lastSeq: 0 }, panes);
  return state.run === undefined ? started : withNotice(started, "The sandbox restarted. The lists show what it has logged", "yellow");
}

function appendItems(state: UiState, items: readonly LiveItem[], completeFor: CompleteFor, panes: readonly Pane[]): UiState {
  const afterReset = items.slice(items.findLastIndex(isReset) + 1);
  const learned = applyLessonItems(applyClock(state, items), afterReset);
  return panes.reduce((before, { name, stream }) => {
    if (!stream) return before;
    const { kind } = stream;
    const rows = afterReset.flatMap((item) => (item.kind === kind ? [{ row: stream.row(item), nth: item.nth }] : []));
    const clean = completeFor[kind as keyof CompleteFor];
    return withList(before, name, append(listOf(before, name), rows, madeOf(state.made, kind), clean));
  }, learned);
}

/** The number of rows of a kind since the last reset. */
function madeOf({ requests, attempts, verdicts }: MadeCounts, kind: LiveItem["kind"]): number {
  if (kind === "request") return requests;
  if (kind === "attempt") return attempts;
  return kind === "verdict" ? verdicts.pass + verdicts.fail + verdicts.inconclusive : 0;
}

export const isReset = (item: LiveItem): item is LiveItem & { kind: "reset" } => item.kind === "reset";

/** The reply to a reset made here says so already. */
function applyReset(state: UiState, { merchant }: LiveItem & { kind: "reset" }, panes: readonly Pane[]): UiState {
  const cleared = clearLists(state, panes);
  if (state.lastCall?.path === "/reset" && state.notice !== undefined) return cleared;
  return withNotice(cleared, `${merchant ?? "The sandbox"} was reset`, "yellow");
}

/** Clears every list but its filter, so that the log fills it; lists that follow by default follow again. */
function clearLists(before: UiState, panes: readonly Pane[]): UiState {
  const state = withoutLearner(before);
  const lists = panes.map(({ name, follows, stream }): [string, List] => {
    const { filter, rows } = listOf(state, name);
    const empty = { ...emptyList(follows), filter };
    // The next poll replaces the rows of a pane without a stream.
    return [name, stream ? withTopGap({ ...empty, total: madeOf(state.made, stream.kind) }) : { ...empty, rows, total: rows.length }];
  });
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

export const applyTime = (state: UiState, now: number): UiState => ({ ...state, now });

/** The request rate is an average over this long. */
const RATE_WINDOW_MS = 2_000;
/** Under load a digest comes every 400 ms; without one for longer, no request came. */
const QUIET_MS = 600;
const MIN_SPAN_MS = 1_000;

/** Keeps the counts of the window and the last one before it. A digest is as new as its counts, so only digests are samples. */
function sampleRate(state: UiState): UiState {
  const { now, made, samples } = state;
  const start = Math.max(
    0,
    samples.findLastIndex(({ at }) => at <= now - RATE_WINDOW_MS),
  );
  return { ...state, samples: [...samples.slice(start), { at: now, requests: made.requests }] };
}

/** Requests per second: between two digests while they come, and up to now after the last one. */
export function requestRate({ samples, now }: UiState): number {
  const last = samples.at(-1);
  if (!last) return 0;
  const end = now - last.at > QUIET_MS ? now : last.at;
  const index = Math.max(
    0,
    samples.findLastIndex(({ at }) => at <= end - RATE_WINDOW_MS),
  );
  const [first = last, second = last] = samples.slice(index);
  // The count stays the same until shortly before the next digest.
  const start = Math.max(first.at, second.at - QUIET_MS);
  return Math.max(0, Math.round(((last.requests - first.requests) * 1_000) / Math.max(MIN_SPAN_MS, end - start)));
}
