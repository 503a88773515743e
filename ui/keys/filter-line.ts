// The line in which a filter is written: the filter applies at each key, as long as the rows have its fields.

import { filterProblem } from "../../src/contracts/row-filter.ts";
import { editText } from "../overlays/field.ts";
import { paneNamed } from "../panes/index.ts";
import { withFilter } from "../state/list.ts";
import { type FilterLine, listOf, type StateUpdate, type UiState } from "../state/state.ts";
import { update, withList } from "../state/updates.ts";

const MAX_HISTORY = 50;

export const openFilterLine = (state: UiState): StateUpdate => update({ ...state, filterLine: lineOf(listOf(state).filter) });

const lineOf = (text: string, stepsBack = 0): FilterLine => ({ text, caretFromEnd: 0, stepsBack });

/** Writes a whole filter at once, as into an input of a browser. */
export const writeFilter = (state: UiState, text: string): StateUpdate => apply(state, text, lineOf(text));

/** Why the text in the line is no filter of the focused pane. */
export function lineProblem(state: UiState): string | undefined {
  const { pane, filterLine } = state;
  const vocabulary = paneNamed(pane).vocabulary(state);
  return filterLine && vocabulary && filterProblem(filterLine.text, vocabulary);
}

export function editFilterLine(state: UiState, line: FilterLine, key: string): StateUpdate {
  if (key === "escape") return apply(state, "", undefined);
  if (key === "enter") return lineProblem(state) === undefined ? update(closed(state, line)) : update(state);
  if (key === "up" || key === "down") return recall(state, line, key === "up" ? 1 : -1);
  const edited = editText({ value: line.text, caretFromEnd: line.caretFromEnd, isSelected: false }, key);
  if (!edited) return update(state);
  return apply(state, edited.value, { text: edited.value, caretFromEnd: edited.caretFromEnd, stepsBack: 0 });
}

function closed(state: UiState, { text }: FilterLine): UiState {
  const earlier = state.filterHistory.filter((one) => one !== text);
  return { ...state, filterLine: undefined, filterHistory: text.trim() === "" ? earlier : [...earlier, text].slice(-MAX_HISTORY) };
}

/** Shows an earlier filter, or the next later one. */
function recall(state: UiState, { stepsBack }: FilterLine, by: number): StateUpdate {
  const steps = Math.max(0, Math.min(state.filterHistory.length, stepsBack + by));
  const text = state.filterHistory.at(-steps || Infinity) ?? "";
  return apply(state, text, lineOf(text, steps));
}

/** Filters the rows, unless the text is no filter: then the one before it still applies. */
function apply(state: UiState, filter: string, filterLine: FilterLine | undefined): StateUpdate {
  const next = { ...state, filterLine };
  if (lineProblem(next) !== undefined || filter === listOf(state).filter) return update(next);
  return update(withList(next, state.pane, withFilter(listOf(state), filter)), { kind: "subscribe" });
}
