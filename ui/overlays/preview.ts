// The preview: the detail of the selected row beside the lists, while no detail is open.

import { paneNamed } from "../panes/index.ts";
import { selectedRow } from "../state/list.ts";
import { listOf, type StateUpdate, type UiState, update } from "../state/state.ts";
import { layoutOf, PREVIEW } from "../view/layout.ts";
import { isDetail } from "./detail.ts";

/** While the list follows, the preview changes at most this often. */
const FOLLOW_INTERVAL_MS = 1_000;

/** Shows the selected row. A key of the user changes the preview at once, a new row only after a while: each change fetches a detail. */
export function updatePreview(state: UiState, isKey: boolean): StateUpdate {
  if (!layoutOf(state).right.some(({ pane }) => pane === PREVIEW)) return update(state.preview ? { ...state, preview: undefined } : state);
  const row = selectedRow(listOf(state));
  const { preview } = state;
  const about = preview && isDetail(preview.overlay) ? preview.overlay.about : undefined;
  if (!row || row.gap) return update(preview ? { ...state, preview: undefined } : state);
  if (about?.pane === state.pane && about.id === row.id) return update(state);
  if (!isKey && preview && state.now - preview.at < FOLLOW_INTERVAL_MS) return update(state);
  const opened = paneNamed(state.pane).detailOf(state, row);
  return update({ ...state, preview: opened && { overlay: opened.overlay, at: state.now } }, ...(opened?.effects ?? []));
}
