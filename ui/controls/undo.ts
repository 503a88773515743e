// Takes back what was armed or changed last, by the call that was kept for it.

import { type Action, calls, just, type State, type Step, say } from "../state/state.ts";

function back(state: State): Step {
  const last = state.undo.at(-1);
  if (!last) return just(say(state, "Nothing that was done here can be taken back", "yellow"));
  // It is tried once: what is gone already, after a reset for instance, is gone.
  return calls({ ...state, undo: state.undo.slice(0, -1) }, last.call, () => `Taken back: ${last.what}`);
}

export const undoKeys: readonly Action[] = [{ keys: ["u"], label: "undo", words: "take back what was armed or changed last", run: back }];
