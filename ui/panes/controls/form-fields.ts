// Shared by forms: options and defaults from the state and the selected row, and the lookups that they need.

import type { ListedMerchant, RateWindow } from "../../../generated/control-api.ts";
import { controlCalls } from "../../../src/client/control-call.ts";
import type { Call } from "../../../src/client/curl.ts";
import type { AttemptMessage, RequestMessage } from "../../../src/contracts/live-messages.ts";
import type { JsonSchema } from "../../connection/json-schema.ts";
import { selectedRow } from "../../state/list.ts";
import { type CachedLookups, type Effect, listOf, type UiState, valuesOf } from "../../state/state.ts";
import { callEffect, topOverlay, update, withNotice } from "../../state/updates.ts";
import type { FieldOption, FormValues } from "../overlays/field.ts";

/** The value of the selected row. In a list that follows, this is the newest row, which is highlighted. */
const selectedValue =
  <Value>(pane: string) =>
  (state: UiState) =>
    state.pane === pane ? (selectedRow(listOf(state, pane))?.value as Value | undefined) : undefined;

export const selectedRequest = selectedValue<RequestMessage>("requests");
export const selectedAttempt = selectedValue<AttemptMessage>("deliveries");
export const selectedMerchant = selectedValue<ListedMerchant>("merchants");

/** The merchant of the selected row, or else the first merchant. */
export function withMerchant(state: UiState) {
  const row = selectedRequest(state) ?? selectedAttempt(state) ?? selectedValue<RateWindow>("limits")(state);
  return { merchant: selectedMerchant(state)?.id ?? row?.merchant ?? state.sandbox?.merchants[0]?.id ?? "" };
}

export const merchantOptions = ({ sandbox }: UiState): FieldOption[] =>
  (sandbox?.merchants ?? []).map(({ id, name }) => ({ value: id, help: name ?? "" }));

export const allApiKeys = ({ sandbox }: UiState): string[] =>
  (sandbox?.merchants ?? []).flatMap(({ apiKeys }) => apiKeys);

/** The merchants after an option for all of them, whose value is empty. */
export const allOrOneMerchant = (state: UiState, allLabel: string): FieldOption[] => [
  { value: "", label: allLabel },
  ...merchantOptions(state),
];

/** The rate-limit window that a merchant's operations share, except those with their own limit. */
export const sharedWindow = (state: UiState, merchant: string) =>
  valuesOf<RateWindow>(state, "limits").find((window) => window.merchant === merchant && window.operation === null);

export const toOptions = (values: readonly string[]): FieldOption[] => values.map((value) => ({ value }));

export const filledIn = <Values extends FormValues>(values: Values): Partial<Values> =>
  Object.fromEntries(Object.entries(values).filter(([, text]) => text !== "")) as Partial<Values>;

/** After a reset or a restored snapshot, no earlier change can be undone. */
export const withoutUndo = (state: UiState): UiState => ({ ...state, undo: [] });

const lookup = <Reply>(call: Call<Reply>, read: (reply: Reply) => CachedLookups): Effect =>
  callEffect(
    call,
    (state, { body }) => update({ ...state, lookups: { ...state.lookups, ...read(body) } }),
    // The next poll tries again. An open form waits for the lookup, so it shows the error.
    (state, message) => update(topOverlay(state) ? withNotice(state, message, "failure") : state),
  );

const operationsLookup = lookup(controlCalls.operations(), ({ data, events }) => ({
  operations: data.map(({ id }) => id),
  eventTypes: events.map(({ type }) => type),
}));
const rulesLookup = lookup(controlCalls.faults.schema() as Call<{ oneOf: JsonSchema[] }>, ({ oneOf }) => ({
  rules: oneOf,
}));

export const fetchLookups = ({ lookups: { operations, rules } }: UiState): Effect[] => [
  ...(operations ? [] : [operationsLookup]),
  ...(rules ? [] : [rulesLookup]),
];
