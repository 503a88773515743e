// The keys that change the sandbox, in the order of the key bar, and the key that undoes a change.

import type { KeyBinding } from "../../state/state.ts";
import { makeCall, update, withNotice } from "../../state/updates.ts";
import type { KeyGroup } from "../overlays/key-lists.ts";
import { scenarioKey } from "../scenarios.ts";
import { faultKeys } from "./faults.ts";
import { sandboxKeys } from "./sandbox-forms.ts";

const undoKey: KeyBinding = {
  keys: ["u"],
  /** `undo fault`, or `arm again` after a fault was removed; undefined if the last change cannot be undone. */
  label({ undo }) {
    const last = undo.at(-1);
    if (last?.rearms) return "arm again";
    const path = last?.call?.path;
    return path && `undo ${path.split("/")[1]?.replace(/s$/, "")}`;
  },
  help: "undo the last change, such as a fault; after a fault was removed, arm it again",
  run(state) {
    const last = state.undo.at(-1);
    if (!last) return update(withNotice(state, "Nothing to undo", "yellow"));
    // Dropped even if the call fails: after a reset, for example, there is nothing left to undo.
    const rest = { ...state, undo: state.undo.slice(0, -1) };
    if (last.call)
      return makeCall(rest, last.call, () => ({
        message: `${last.rearms ? "Armed again" : "Undone"}: ${last.label.replace(/[.:] Press .*$/, "")}`,
        undo: null,
      }));
    const more = rest.undo.length > 0 ? ". Press u again to undo the change before it" : "";
    return update(withNotice(rest, `Cannot undo: ${last.label}${more}`, "yellow"));
  },
};

/** Keys that break something, and keys that change the sandbox. */
export const controlGroups: readonly KeyGroup[] = [
  { title: "Break", bindings: [...faultKeys, undoKey, scenarioKey] },
  { title: "Sandbox", bindings: sandboxKeys },
];
