// What a control begins with: the row that somebody chose, and the merchants there are.

import type { AttemptMessage, RequestMessage } from "../../src/contracts/live-messages.ts";
import type { Option } from "../overlays/field.ts";
import type { Window } from "../panes/limits.ts";
import { chosenRow } from "../state/list.ts";
import { listOf, type State } from "../state/state.ts";

/** The row that a person chose; while the list follows, the newest one was chosen by nobody. */
function rowChosen(state: State, pane: string): unknown {
  const list = listOf(state, pane);
  return state.pane !== pane || list.follows ? undefined : chosenRow(list)?.value;
}

export const requestChosen = (state: State) => rowChosen(state, "requests") as RequestMessage | undefined;
export const attemptChosen = (state: State) => rowChosen(state, "deliveries") as AttemptMessage | undefined;
export const windowChosen = (state: State) => rowChosen(state, "limits") as Window | undefined;

/** Whose row it is; the first merchant where it is nobody's. */
export function merchantHere(state: State): string {
  const owner = (requestChosen(state) ?? attemptChosen(state) ?? windowChosen(state))?.merchant;
  return owner ?? state.sandbox?.merchants[0]?.id ?? "";
}

export const merchantOptions = ({ sandbox }: State): Option[] =>
  (sandbox?.merchants ?? []).map(({ id, name }) => ({ value: id, words: name ?? "" }));

/** The same, and all of them at once. */
export const merchantsOrAll = (state: State, all: string): Option[] => [{ value: "", label: all }, ...merchantOptions(state)];

export const options = (values: readonly string[]): Option[] => values.map((value) => ({ value }));
