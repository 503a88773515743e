// Fields of forms: options and defaults from the state and the selected row, fields from JSON Schemas, and the lookups they need.

import type { FaultRule, ListedMerchant, RateWindow } from "../../generated/control-api.ts";
import { controlCalls } from "../../src/client/control-call.ts";
import type { AttemptMessage, RequestMessage } from "../../src/contracts/live-messages.ts";
import type { VerdictMessage } from "../../src/contracts/verdict.ts";
import type { Call } from "../connection/calls.ts";
import { choicesOf, type JsonSchema, parseText } from "../connection/json-schema.ts";
import type { FieldOption, FormField } from "../overlays/field.ts";
import { selectedRow } from "../state/list.ts";
import {
  type CachedLookups,
  callEffect,
  type Effect,
  listOf,
  topOverlay,
  type UiState,
  update,
  valuesOf,
  withNotice,
} from "../state/state.ts";

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

interface SchemaFieldOptions {
  required: boolean;
  initial: string | undefined;
  /** Suggestions for a field that the schema leaves open; other text is accepted too. */
  options: readonly FieldOption[] | undefined;
}

const UNSET: FieldOption = { value: "", label: "-", help: "default" };

export function fieldFromSchema(name: string, schema: JsonSchema, { required, initial, options }: SchemaFieldOptions): FormField {
  const choices = choicesOf(schema)?.map((value): FieldOption => ({ value }));
  const offered = options ?? (choices && (required ? choices : [UNSET, ...choices]));
  return {
    name,
    label: name.split(".").at(-1) ?? name,
    help: schema.description ?? "",
    ...(offered && { options: offered }),
    ...(options && { allowOther: true }),
    ...(initial !== undefined && { initial }),
    validate: (text) => problemOf(schema, text, required),
  };
}

function problemOf(schema: JsonSchema, text: string, required: boolean): string | undefined {
  if (text === "") return required ? "is required" : undefined;
  const parsed = parseText(schema, text);
  return "problem" in parsed ? parsed.problem : undefined;
}

/** The value for the call. Invalid text is used as it is, so that the curl line shows it. */
export function valueFromText(schema: JsonSchema, text: string): unknown {
  const parsed = parseText(schema, text);
  return "value" in parsed ? parsed.value : text;
}

const faultSchema = controlCalls.faults.schema() as Call<{ oneOf: JsonSchema[] }>;

/** The calls for lookups that are not cached yet. */
export const fetchLookups = ({ lookups: { operations, rules } }: UiState): Effect[] => [
  ...(operations
    ? []
    : [
        lookup(controlCalls.operations(), ({ data, events }) => ({
          operations: data.map(({ id }) => id),
          eventTypes: events.map(({ type }) => type),
        })),
      ]),
  ...(rules ? [] : [lookup(faultSchema, ({ oneOf }) => ({ rules: oneOf }))]),
];

const lookup = <Reply>(call: Call<Reply>, read: (reply: Reply) => CachedLookups): Effect =>
  callEffect(
    call,
    (state, { body }) => update({ ...state, lookups: { ...state.lookups, ...read(body) } }),
    // Retried every second; an open form waits for it, so the reason is shown there.
    (state, message) => update(topOverlay(state) ? withNotice(state, message, "failure") : state),
  );
