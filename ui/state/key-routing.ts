// Who a key is for: the text that is being written, what lies on top, the pane, everywhere.

import { everywhere, moves, overlaid, paneActions } from "../actions.ts";
import { textOf } from "../terminal/keys.ts";
import { filtered } from "./list.ts";
import { type Action, also, just, listOf, overlayOf, type State, type Step, withList } from "./state.ts";

/** What is possible now, most particular first. */
export function possible(state: State): readonly Action[] {
  const overlay = overlayOf(state);
  const here = overlay ? [...overlay.actions, ...overlaid, ...moves] : paneActions(state);
  return [...here, ...everywhere].filter(({ can }) => can?.(state) ?? true);
}

export function pressed(before: State, key: string): Step {
  if (key === "ctrl-c") return also(before, { kind: "interrupt" });
  const state = { ...before, notice: undefined };
  if (state.typing) return written(state, key);
  const typed = overlayOf(state)?.type?.(state, key);
  if (typed) return typed;
  return (
    possible(state)
      .find(({ keys }) => keys.includes(key))
      ?.run(state) ?? just(state)
  );
}

/** The filter of a pane holds while it is being written. */
function written(state: State, key: string): Step {
  const list = listOf(state);
  const rewrite = (filter: string, typing = true) =>
    also({ ...withList(state, state.pane, filtered(list, filter)), typing }, { kind: "wish" });
  if (key === "enter") return just({ ...state, typing: false });
  if (key === "escape") return rewrite("", false);
  if (key === "backspace") return rewrite([...list.filter].slice(0, -1).join(""));
  if (key === "ctrl-u") return rewrite("");
  const text = textOf(key);
  return text === undefined ? just(state) : rewrite(list.filter + text);
}
