// The default values of forms: from the selected row and its merchant, with options for the known merchants.

import type { FaultRule, ListedMerchant, RateWindow } from "../../generated/control-api.ts";
import type { AttemptMessage, RequestMessage } from "../../src/contracts/live-messages.ts";
import type { VerdictMessage } from "../../src/contracts/verdict.ts";
import type { FieldOption } from "../overlays/field.ts";
import { selectedRow } from "../state/list.ts";
import { listOf, type UiState, valuesOf } from "../state/state.ts";

/** The value of the selected row: in a list that follows, the newest one, which is highlighted. */
const selectedValue = (state: UiState, pane: string): unknown =>
  state.pane === pane ? selectedRow(listOf(state, pane))?.value : undefined;

export const selectedRequest = (state: UiState) => selectedValue(state, "requests") as RequestMessage | undefined;
export const selectedAttempt = (state: UiState) => selectedValue(state, "deliveries") as AttemptMessage | undefined;
export const selectedFault = (state: UiState) => selectedValue(state, "faults") as FaultRule | undefined;
export const selectedVerdict = (state: UiState) => selectedValue(state, "verdicts") as VerdictMessage | undefined;
const selectedWindow = (state: UiState) => selectedValue(state, "limits") as RateWindow | undefined;

export const selectedMerchant = (state: UiState) => selectedValue(state, "merchants") as ListedMerchant | undefined;

/** The merchant of the selected row, or else the first merchant. */
export function defaultMerchant(state: UiState): string {
  const row = selectedRequest(state) ?? selectedAttempt(state) ?? selectedWindow(state);
  return selectedMerchant(state)?.id ?? row?.merchant ?? state.sandbox?.merchants[0]?.id ?? "";
}

export const merchantOptions = ({ sandbox }: UiState): FieldOption[] =>
  (sandbox?.merchants ?? []).map(({ id, name }) => ({ value: id, help: name ?? "" }));

/** The merchants after an option for all of them, whose value is empty. */
export const allOrOneMerchant = (state: UiState, allLabel: string): FieldOption[] => [
  { value: "", label: allLabel },
  ...merchantOptions(state),
];

/** The window of all operations without a limit of their own. */
export const sharedWindow = (state: UiState, merchant: string) =>
  valuesOf<RateWindow>(state, "limits").find((window) => window.merchant === merchant && window.operation === null);

export const toOptions = (values: readonly string[]): FieldOption[] => values.map((value) => ({ value }));
