// The default values of forms: from the selected row and its merchant, with options for the known merchants.

import type { RateWindow } from "../../src/client/control-plane.generated.ts";
import type { AttemptMessage, RequestMessage } from "../../src/contracts/live-messages.ts";
import type { FieldOption } from "../overlays/field.ts";
import { selectedRow } from "../state/list.ts";
import { listOf, type UiState } from "../state/state.ts";

/** The value of the row that the user selected. A list that follows has no such row: its newest row is only highlighted. */
function selectedValue(state: UiState, pane: string): unknown {
  const list = listOf(state, pane);
  return state.pane !== pane || list.follows ? undefined : selectedRow(list)?.value;
}

export const selectedRequest = (state: UiState) => selectedValue(state, "requests") as RequestMessage | undefined;
export const selectedAttempt = (state: UiState) => selectedValue(state, "deliveries") as AttemptMessage | undefined;
const selectedWindow = (state: UiState) => selectedValue(state, "limits") as RateWindow | undefined;

/** The merchant of the selected row, or else the first merchant. */
export function defaultMerchant(state: UiState): string {
  const row = selectedRequest(state) ?? selectedAttempt(state) ?? selectedWindow(state);
  return row?.merchant ?? state.sandbox?.merchants[0]?.id ?? "";
}

export const merchantOptions = ({ sandbox }: UiState): FieldOption[] =>
  (sandbox?.merchants ?? []).map(({ id, name }) => ({ value: id, help: name ?? "" }));

/** The merchants after an option for all of them, whose value is empty. */
export const allOrOneMerchant = (state: UiState, allLabel: string): FieldOption[] => [
  { value: "", label: allLabel },
  ...merchantOptions(state),
];

export const toOptions = (values: readonly string[]): FieldOption[] => values.map((value) => ({ value }));
