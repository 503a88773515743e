// Routes a key: to the filter being edited, the top overlay, the focused pane, or the global keys.

import { topDetail } from "../overlays/detail.ts";
import { type KeyBinding, type StateUpdate, topOverlay, type UiState, update, withNotice } from "../state/state.ts";
import { detailKeys, jumpKey } from "./detail-keys.ts";
import { editFilterLine } from "./filter-line.ts";
import { globalKeys, isAllowed, movementKeys, overlayKeys, paneKeys } from "./key-bindings.ts";
import { isPaste } from "./typed-text.ts";

/** The bindings enabled now; the first one with a key wins. */
export function enabledBindings(state: UiState): readonly KeyBinding[] {
  const overlay = topOverlay(state);
  const local = overlay
    ? [...(topDetail(state) ? [...detailKeys, jumpKey] : []), ...overlay.keys, ...overlayKeys, ...movementKeys]
    : paneKeys(state);
  return [...local, ...globalKeys].filter(isAllowed(state)).filter(({ isEnabled }) => isEnabled?.(state) ?? true);
}

export function handleKey(before: UiState, key: string): StateUpdate {
  if (key === "ctrl-c") return update(before, { kind: "interrupt" });
  const state = { ...before, notice: undefined };
  if (state.filterLine) return editFilterLine(state, state.filterLine, key);
  const handled = topOverlay(state)?.onKey?.(state, key);
  if (handled) return handled;
  if (isPaste(key)) return update(withNotice(state, "Nothing was pasted. Open a filter (/) or a form first", "yellow"));
  const binding = enabledBindings(state).find(({ keys }) => keys.includes(key));
  return binding?.run(state) ?? update(state);
}
