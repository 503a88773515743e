// Routes a key: to the filter being edited, the top overlay, the focused pane, or the global keys.

import { withFilter } from "../state/list.ts";
import { type KeyBinding, listOf, type StateUpdate, topOverlay, type UiState, update, withList, withNotice } from "../state/state.ts";
import { isPaste, textOf } from "../terminal/read-keys.ts";
import { globalKeys, movementKeys, overlayKeys, paneKeys } from "./key-bindings.ts";

/** The bindings enabled now; the first one with a key wins. */
export function enabledBindings(state: UiState): readonly KeyBinding[] {
  const overlay = topOverlay(state);
  const local = overlay ? [...overlay.keys, ...overlayKeys, ...movementKeys] : paneKeys(state);
  return [...local, ...globalKeys].filter(({ isEnabled }) => isEnabled?.(state) ?? true);
}

export function handleKey(before: UiState, key: string): StateUpdate {
  if (key === "ctrl-c") return update(before, { kind: "interrupt" });
  const state = { ...before, notice: undefined };
  if (state.isEditingFilter) return editFilter(state, key);
  const handled = topOverlay(state)?.onKey?.(state, key);
  if (handled) return handled;
  if (isPaste(key)) return update(withNotice(state, "Nothing was pasted: text goes into a filter (/) or a form field", "yellow"));
  const binding = enabledBindings(state).find(({ keys }) => keys.includes(key));
  return binding?.run(state) ?? update(state);
}

/** The filter applies while it is being edited. */
function editFilter(state: UiState, key: string): StateUpdate {
  const list = listOf(state);
  const setFilter = (filter: string, isEditingFilter = true) =>
    update({ ...withList(state, state.pane, withFilter(list, filter)), isEditingFilter }, { kind: "subscribe" });
  if (key === "enter") return update({ ...state, isEditingFilter: false });
  if (key === "escape") return setFilter("", false);
  if (key === "backspace") return setFilter([...list.filter].slice(0, -1).join(""));
  if (key === "ctrl-u") return setFilter("");
  const text = textOf(key);
  return text === undefined ? update(state) : setFilter(list.filter + text);
}
