// Pure functions that build updates of the state: lists, notices, overlays and calls.

import type { Call } from "../../src/client/curl.ts";
import type { TextStyle } from "../text/style.ts";
import { follow, type List } from "./list.ts";
import type { CallEffect, Effect, NewFile, Overlay, StateUpdate, UiState } from "./state.ts";

export const update = (state: UiState, ...effects: Effect[]): StateUpdate => ({ state, effects });

/** Makes a call and applies its reply, whose type follows from the call. */
export const callEffect = <Reply>(
  call: Call<Reply>,
  onReply: CallEffect<Reply>["onReply"],
  onError?: CallEffect["onError"],
): Effect & CallEffect<Reply> => ({ kind: "call", call, onReply, ...(onError && { onError }) });

/** Fetches the log entry of a row, and passes the entry to `then`. Rows themselves have no headers and bodies. */
export function loadThen<Reply>(
  state: UiState,
  id: string,
  call: Call<Reply>,
  then: (later: UiState, reply: Reply) => StateUpdate,
) {
  const effect = callEffect(call, (later, { body }) => then(later, body));
  return update(withNotice(state, `Loading ${id} …`, "dim"), effect);
}

/**
 * A call that is repeated regularly. Errors are ignored, because the next poll comes soon, and the connection state
 * shows an outage.
 */
export const pollEffect = <Reply>(
  call: Call<Reply>,
  onReply: CallEffect<Reply>["onReply"],
): Effect & CallEffect<Reply> => ({
  ...callEffect(call, onReply, (state) => update(state)),
  isPoll: true,
});

export const withList = (state: UiState, pane: string, list: List): UiState => ({
  ...state,
  lists: { ...state.lists, [pane]: list },
});

export const withNotice = (state: UiState, text: string, style: TextStyle = "green"): UiState => ({
  ...state,
  notice: { text, style, at: state.now },
});

export const topOverlay = (state: UiState): Overlay | undefined => state.overlays.at(-1);
export const openOverlay = (state: UiState, overlay: Overlay): UiState => ({
  ...state,
  overlays: [...state.overlays, overlay],
});
export const replaceTopOverlay = (state: UiState, overlay: Overlay): UiState => ({
  ...state,
  overlays: [...state.overlays.slice(0, -1), overlay],
});

/** After the last overlay is closed, a list that followed before a detail was opened follows again. */
export function closeTopOverlay(state: UiState): UiState {
  const overlays = state.overlays.slice(0, -1);
  if (overlays.length > 0) return { ...state, overlays };
  const lists = Object.entries(state.lists).map(([name, list]) => [name, list.followsLater ? follow(list) : list]);
  return { ...state, overlays, lists: Object.fromEntries(lists) };
}

/**
 * Copies a text. A terminal does not report success, but `!` shows the text. `what` names it, for example "the API
 * key".
 */
export const copyText = (state: UiState, text: string, what: string): StateUpdate =>
  update({ ...withNotice(state, `Copied ${what}. Press ! to show it`), lastCopy: text }, { kind: "copy", text });

export interface CallResult {
  message: string;
  /**
   * The call that `u` makes to undo this call; null if this call is itself an undo or changes nothing. Default: `u`
   * says that the call cannot be undone.
   */
  undo?: Call | null;
  /** The text after `Undone: `. Default: the message. */
  undoLabel?: string;
  /** The undo arms a removed fault again. The next change drops it, because an old fault would be a surprise. */
  undoRearms?: true;
  copy?: string;
  /** A file to write first. The message then begins with its path. */
  file?: NewFile;
  updateState?(state: UiState): UiState;
}

/** Makes the call of a key, keeps it for `!`, and applies the result that `resultOf` builds from its reply. */
export function makeCall<Reply>(
  state: UiState,
  call: Call<Reply>,
  resultOf: (reply: Reply, status: number) => CallResult,
): StateUpdate {
  const effect = callEffect(call, (later, { body, status }) => finishCall(later, call, resultOf(body, status)));
  return update(startCall(state, call), effect);
}

interface Finish {
  /** Changes the state before the result is applied. Default: nothing. */
  close?(state: UiState): UiState;
  /** Handles a file that could not be written. Default: show the message as a notice. */
  reject?(state: UiState, message: string): StateUpdate;
}

/** Writes the file of a result, if it has one, and applies the result. */
export function finishCall(
  state: UiState,
  call: Call,
  result: CallResult,
  { close = (same) => same, reject = (later, message) => update(withNotice(later, message, "failure")) }: Finish = {},
): StateUpdate {
  const { file, message } = result;
  if (!file) return applyResult(close(state), call, result);
  const onSaved = (later: UiState, place: string) =>
    applyResult(close(later), call, { ...result, message: `${place}: ${message}` });
  return update(state, { kind: "save", file, onSaved, onError: reject });
}

/** Keeps a call for `!`, and shows that it is being made. */
export const startCall = (state: UiState, call: Call): UiState => ({
  ...withNotice(state, `${call.method} ${call.path} …`, "dim"),
  lastCall: call,
  lastCopy: undefined,
});

function applyResult(state: UiState, call: Call, result: CallResult): StateUpdate {
  const { message, undo, undoLabel = message, undoRearms: rearms, copy, updateState = (same) => same } = result;
  const before = state.undo.filter((one) => !one.rearms);
  // Of several changes in a row that cannot be undone, only the last is kept.
  const earlier = undo ? before : before.slice(0, before.findLastIndex((one) => one.call) + 1);
  const changes = undo === null ? state.undo : [...earlier, { label: undoLabel, call: undo, rearms }];
  const next = updateState({ ...state, lastCall: call, lastCopy: copy, undo: changes });
  return update(
    withNotice(next, message),
    { kind: "refresh" },
    ...(copy === undefined ? [] : [{ kind: "copy", text: copy } as const]),
  );
}
