// The undo key: undoes the last fault or change by the call that was kept for it.

import { type KeyBinding, makeCall, update, withNotice } from "../state/state.ts";

export const undoKey: KeyBinding = {
  keys: ["u"],
  label: "undo",
  help: "undo the last fault or change",
  run(state) {
    const last = state.undo.at(-1);
    if (!last) return update(withNotice(state, "Nothing to undo", "yellow"));
    // Dropped even if the call fails: after a reset, for example, there is nothing left to undo.
    return makeCall({ ...state, undo: state.undo.slice(0, -1) }, last.call, () => `Undone: ${last.label}`);
  },
};
