// The keys that change the sandbox, in the order of the key bar, and the key that undoes a change.

import type { KeyBinding } from "../state/state.ts";
import { makeCall, update, withNotice } from "../state/updates.ts";
import { faultKeys } from "./faults.ts";
import { sandboxKeys } from "./sandbox-forms.ts";

const undoKey: KeyBinding = {
  keys: ["u"],
  label: "undo",
  help: "undo the last fault or change",
  run(state) {
    const last = state.undo.at(-1);
    if (!last) return update(withNotice(state, "Nothing to undo", "yellow"));
    // Dropped even if the call fails: after a reset, for example, there is nothing left to undo.
    return makeCall({ ...state, undo: state.undo.slice(0, -1) }, last.call, () => ({ message: `Undone: ${last.label}` }));
  },
};

export const controls: readonly KeyBinding[] = [...faultKeys, undoKey, ...sandboxKeys];
