// The confirmation before a destructive call, or before leaving: y confirms, any other key cancels.

import { type Call, curlOf } from "../connection/calls.ts";
import { wrapped } from "../details/detail-lines.ts";
import type { Overlay, StateUpdate, UiState } from "../state/state.ts";
import { type CallResult, closeTopOverlay, makeCall, openOverlay, update, withNotice } from "../state/updates.ts";
import { styled } from "../view/style.ts";

/** Makes a call once it is confirmed. */
export const confirmCall = <Reply>(
  state: UiState,
  question: string,
  call: Call<Reply>,
  resultOf: (reply: Reply) => CallResult,
): StateUpdate =>
  update(
    openOverlay(
      state,
      confirm(question, call, (later) => makeCall(later, call, resultOf)),
    ),
  );

export const confirm = (question: string, call: Call | undefined, onConfirm: (state: UiState) => StateUpdate): Overlay => ({
  title: "Confirm",
  scroll: 0,
  lines: ({ target, theme }, width) => [
    "",
    ...wrapped(question, width).map((line) => styled(theme, line, "bold")),
    "",
    "Press y to confirm, any other key to cancel.",
    "",
    ...(call ? wrapped(curlOf(target, call), width) : []).map((line) => styled(theme, line, "dim")),
  ],
  keys: [
    { keys: ["y"], label: "confirm", help: "confirm", run: (state) => onConfirm(closeTopOverlay(state)) },
    { keys: ["n"], label: "cancel", help: "cancel", run: cancel },
  ],
  onKey: (state, key) => (key === "y" ? onConfirm(closeTopOverlay(state)) : cancel(state)),
});

const cancel = (state: UiState): StateUpdate => update(withNotice(closeTopOverlay(state), "Cancelled", "dim"));
