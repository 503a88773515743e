// Applies messages from the sandbox to the state: stream messages, poll replies, connection changes and clock ticks.

import type { SandboxOverviewReply } from "../../generated/control-api.ts";
import type { AttemptMessage, CompleteFor, LiveItem, MadeCounts } from "../../src/contracts/live-messages.ts";
import type { StreamConnection, StreamMessage } from "../connection/live-stream.ts";
import { applyLessonItems, withoutLearner } from "../state/learning.ts";
import { append, emptyList, type List, removeRows, replace, withTopGap } from "../state/list.ts";
import { type Row, TOP_GAP } from "../state/rows.ts";
import { listOf, type UiState, valuesOf } from "../state/state.ts";
import { withList, withNotice } from "../state/updates.ts";
import { laterAttempts, reasonOf, resultOf } from "./details/row-lines.ts";
import { panes } from "./index.ts";

export function applyConnection(state: UiState, connection: StreamConnection): UiState {
  const retryAt = connection.phase === "reconnecting" ? state.now + connection.retryInMs : state.retryAt;
  return { ...state, connection, retryAt };
}

export function applyMessage(state: UiState, message: StreamMessage): UiState {
  if (message.type === "snapshot") return applySandboxIndex(applySnapshot(state, message), message.sandbox);
  if (message.type !== "digest") return state;
  const { seq, made, completeFor } = message;
  const items = message.items.filter((item) => item.seq > state.lastSeq);
  const at = items.findLastIndex(isReset);
  const counted = sampleRate({ ...state, made, lastSeq: seq, ...(at !== -1 && { samples: [] }) });
  const after = items.slice(at + 1);
  const reset = at === -1 ? counted : applyResets(counted, items.slice(0, at + 1), after);
  const appended = appendItems(
    applyClock(applyRemovals(reset, items), items),
    after,
    (_, kind) => madeOf(made, kind),
    completeFor,
  );
  const next = tellReplay(cancelNextAttempts(appended, items), after);
  return at === -1 ? next : withoutUnknownGaps(next);
}

const REPLAY = /^\/deliveries\/[^/]+\/replay$/;

/**
 * Shows how the receiver responded to a replay from this dashboard. The replay's own call ends before the receiver
 * responds.
 */
function tellReplay(state: UiState, items: readonly LiveItem[]): UiState {
  const attempts = items.flatMap((item) => (item.kind === "attempt" ? [item.attempt] : []));
  const [replay, ...others] = attempts.filter(({ trigger }) => trigger === "replay");
  if (!replay || others.length > 0 || !REPLAY.test(state.lastCall?.path ?? "")) return state;
  const failed = replay.status !== "succeeded";
  const result = failed ? reasonOf(replay) : resultOf(replay);
  const text = `The replay of ${replay.eventType} ${failed ? "failed" : "succeeded"}: ${result}`;
  return withNotice(state, text, failed ? "failure" : "green");
}

/** A new run id means that the sandbox restarted, so its log may have other rows. */
function applySnapshot(state: UiState, { run, made }: StreamMessage & { type: "snapshot" }): UiState {
  if (run === state.run) return { ...state, made };
  const started = clearLists({
    ...state,
    run,
    made,
    samples: [{ at: state.now, requests: made.requests }],
    lastSeq: 0,
  });
  return state.run === undefined
    ? started
    : withNotice(started, "The sandbox restarted. The lists show its log", "yellow");
}

/** `totalOf` returns the number of rows of a kind after the items were added, including rows that are not listed. */
function appendItems(
  state: UiState,
  items: readonly LiveItem[],
  totalOf: (list: List, kind: LiveItem["kind"]) => number,
  completeFor: CompleteFor,
): UiState {
  return panes.reduce(
    (before, { name, stream }) => {
      if (!stream) return before;
      const { kind } = stream;
      const list = listOf(before, name);
      const rows = items.flatMap((item) => (item.kind === kind ? [{ row: stream.row(item), nth: item.nth }] : []));
      return withList(before, name, append(list, rows, totalOf(list, kind), completeFor[kind as keyof CompleteFor]));
    },
    applyLessonItems(state, items),
  );
}

/**
 * Counts the items of a kind after the newest row of a list, up to the last of these items. Includes items that the
 * stream left out.
 */
function madeSince({ newest }: List, items: readonly LiveItem[], kind: LiveItem["kind"]): number {
  const numbers = items.flatMap((item) => (item.kind === kind ? [item.nth] : []));
  const [first] = numbers;
  return first === undefined ? 0 : (numbers.at(-1) ?? first) - (newest ?? first - 1);
}

export function madeOf({ requests, attempts, verdicts }: MadeCounts, kind: LiveItem["kind"]): number {
  if (kind === "request") return requests;
  if (kind === "attempt") return attempts;
  return kind === "verdict" ? verdicts.pass + verdicts.fail + verdicts.inconclusive : 0;
}

export const isReset = (item: LiveItem): item is LiveItem & { kind: "reset" } => item.kind === "reset";

/** The calls of the control API that the stream reports as a reset. */
const RESETS = /^\/(?:reset|snapshots\/.+\/restore)$/;

/** Applies `items`, which end with a reset. After several resets, the lists are loaded from the log. */
function applyResets(state: UiState, items: readonly LiveItem[], after: readonly LiveItem[]): UiState {
  const [first, ...more] = items.filter(isReset);
  const everything = [first, ...more].some((reset) => reset?.merchant === null);
  const merchant = first?.merchant ?? "";
  const cleared =
    everything || more.length > 0
      ? clearLists(everything ? withoutCounts(state) : state)
      : clearMerchant(
          appendItems(state, items, (list, kind) => list.total + madeSince(list, items, kind), {}),
          merchant,
          after,
        );
  // The reply to a reset or a restore from this dashboard says what it did.
  if (RESETS.test(state.lastCall?.path ?? "") && state.notice !== undefined) return cleared;
  const verb = more.length > 0 && !everything ? " and others were" : " was";
  const text = `${everything ? "The sandbox" : merchant}${verb} reset${everything ? " or restored" : ""}`;
  return { ...cleared, notice: { text, style: "yellow", at: state.now, isNews: true } };
}

/** Clears the counts of the last poll after a reset of everything, until the next poll. */
function withoutCounts(state: UiState): UiState {
  const { sandbox, made } = state;
  if (!sandbox) return state;
  const kept = { requests: made.requests, attempts: made.attempts, verdicts: madeOf(made, "verdict") };
  return { ...state, sandbox: { ...sandbox, made, kept, pendingDeliveries: 0, failedDeliveries: 0 } };
}

/** Removes the rows of one merchant from the lists of the stream. `after` are the items that followed its reset. */
function clearMerchant(before: UiState, merchant: string, after: readonly LiveItem[]): UiState {
  const state = before.learning?.id === merchant ? withoutLearner(before) : before;
  const isRemoved = ({ filterBy }: Row) => filterBy.fields.merchant === merchant;
  return panes.reduce((next, { name, stream }) => {
    if (!stream) return next;
    const list = listOf(next, name);
    return withList(
      next,
      name,
      removeRows(list, isRemoved, madeOf(state.made, stream.kind) - madeSince(list, after, stream.kind)),
    );
  }, state);
}

/**
 * Ends the lesson of a removed merchant. Its rows stay in the lists, and the next poll replaces the list of merchants.
 */
function applyRemovals(state: UiState, items: readonly LiveItem[]): UiState {
  const removed = new Set(items.flatMap((item) => (item.kind === "removal" ? [item.merchant] : [])));
  return removed.has(state.learning?.id ?? "") ? withoutLearner(state) : state;
}

/**
 * Marks pending deliveries as cancelled if their endpoint was deleted or disabled, or if their merchant was removed.
 */
function cancelNextAttempts(state: UiState, items: readonly LiveItem[]): UiState {
  const ends = items.filter((item) => item.kind === "cancellation" || item.kind === "removal");
  if (ends.length === 0) return state;
  const later = laterAttempts(valuesOf<AttemptMessage>(state, "deliveries"));
  // An endpoint that was enabled again may have attempts after its cancellation.
  const seqs = new Map(items.flatMap((item) => (item.kind === "attempt" ? [[item.attempt.id, item.seq]] : [])));
  const isEnd = (end: (typeof ends)[number], { id, merchant, endpointId }: AttemptMessage) =>
    end.merchant === merchant &&
    (end.kind === "removal" || end.endpoint === endpointId) &&
    end.seq > (seqs.get(id) ?? 0);
  const change = (row: Row): Row => {
    const attempt = row.value as AttemptMessage;
    const isPending = !row.gap && attempt.nextAttemptAt !== null && later(attempt) !== "attempt";
    const isCancelled = isPending && ends.some((end) => isEnd(end, attempt));
    return isCancelled ? { ...row, value: { ...attempt, nextAttemptAt: null, deliveryState: "cancelled" } } : row;
  };
  const list = listOf(state, "deliveries");
  return withList(state, "deliveries", {
    ...list,
    rows: list.rows.map(change),
    cursor: list.cursor && change(list.cursor),
  });
}

/**
 * After a reset of one merchant, the number of rows in a gap is unknown, so a list with gaps is loaded from the log.
 */
function withoutUnknownGaps(state: UiState): UiState {
  return panes.reduce((next, { name, stream }) => {
    const { rows, follows, fold, filter, total } = listOf(next, name);
    if (!stream || !rows.some(({ id, gap }) => gap && id !== TOP_GAP)) return next;
    return withList(next, name, withTopGap({ ...emptyList(follows, fold), filter, total }));
  }, state);
}

/**
 * Clears every list except its filter, so that it is loaded from the log. Lists that follow by default follow again.
 */
function clearLists(before: UiState): UiState {
  const state = withoutLearner(before);
  const lists = panes.map((pane): [string, List] => {
    const { name, stream } = pane;
    const { filter, rows } = listOf(state, name);
    const empty = { ...emptyList(pane.follows, pane.fold), filter };
    // The next poll replaces the rows of a pane without a stream.
    return [
      name,
      stream
        ? withTopGap({ ...empty, total: madeOf(state.made, stream.kind) })
        : { ...empty, rows, total: rows.length },
    ];
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

/** How long a notice is shown. A notice reports something that has ended; what is still going on is shown elsewhere. */
const NOTICE_MS = 5_000;

export function applyTime(state: UiState, now: number): UiState {
  const isOld = state.notice !== undefined && now - state.notice.at >= NOTICE_MS;
  return { ...state, now, ...(isOld && { notice: undefined }) };
}

/** The request rate is an average over this long. */
const RATE_WINDOW_MS = 2_000;
/** Under load a digest comes every 400 ms. Without a digest for this long, no request was made. */
const QUIET_MS = 600;
const MIN_SPAN_MS = 1_000;

/** Only digests are samples, because their counts are always current. */
function sampleRate(state: UiState): UiState {
  const { now, made, samples } = state;
  return { ...state, samples: [...windowBefore(now, samples), { at: now, requests: made.requests }] };
}

/** The samples of the window that ends at `end`, and the last sample before that window. */
function windowBefore(end: number, samples: UiState["samples"]) {
  const before = samples.findLastIndex(({ at }) => at <= end - RATE_WINDOW_MS);
  return samples.slice(Math.max(0, before));
}

/** Requests per second. The window ends at the last digest, or now if digests have stopped. */
export function requestRate({ samples, now }: UiState): number {
  const last = samples.at(-1);
  if (!last) return 0;
  const end = now - last.at > QUIET_MS ? now : last.at;
  const [first = last, second = last] = windowBefore(end, samples);
  // No request was made during a pause between two digests, so the window starts shortly before the second digest.
  const start = Math.max(first.at, second.at - QUIET_MS);
  return Math.max(0, Math.round(((last.requests - first.requests) * 1_000) / Math.max(MIN_SPAN_MS, end - start)));
}
