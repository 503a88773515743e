// The fault keys: arm a fault, start or end an outage, remove all faults.

import type { FaultRule } from "../../generated/control-api.ts";
import { controlCalls } from "../../src/client/control-call.ts";
import { definitionOf, describeRule } from "../details/fault.ts";
import type { FormValues } from "../overlays/field.ts";
import { openForm } from "../overlays/form.ts";
import { confirmCall } from "../overlays/text-view.ts";
import { type KeyBinding, type StateUpdate, type UiState, valuesOf } from "../state/state.ts";
import { makeCall } from "../state/updates.ts";
import { counted } from "../view/format.ts";
import { faultForm } from "./fault-form.ts";
import { fetchLookups, selectedAttempt, selectedFault, selectedRequest, selectedVerdict } from "./form-fields.ts";

/** On a selected row, the form is prefilled with the fault that struck it, or else with one that matches calls or deliveries like it. */
function armFault(state: UiState): StateUpdate {
  const rule = ruleOfRow(state);
  const isDelivery = rule ? rule.target === "delivery" : state.pane === "deliveries";
  const values = rule ? valuesFromRule(rule) : isDelivery ? valuesFromAttempt(state) : valuesFromRequest(state);
  return openForm(state, faultForm(isDelivery ? "delivery" : "api"), values, fetchLookups(state));
}

/** The rule of the selected row: the row itself, or the first listed rule that struck it. */
function ruleOfRow(state: UiState): FaultRule | undefined {
  const selected = selectedFault(state);
  const names = selected?.id ?? selectedRequest(state)?.fault ?? selectedAttempt(state)?.fault ?? selectedVerdict(state)?.fault ?? "";
  const ids = names.split(",");
  return selected ?? valuesOf<FaultRule>(state, "faults").find(({ id }) => ids.includes(id));
}

/** The fields of the form that arm the same rule again, as text. */
function valuesFromRule({ action: { type, ...fields }, match, trigger }: FaultRule): FormValues {
  const { times, skip, probability, per, ...spans } = trigger;
  const repeats = [spans.every, spans.for].some((value) => value != null) || probability !== 1;
  const triggers = {
    ...spans,
    ...(times !== 1 && !(times === null && repeats) && { times: times === null ? "null" : times }),
    ...(skip !== 0 && { skip }),
    ...(probability !== 1 && { probability }),
    ...(per !== "rule" && { per }),
  };
  const values = Object.entries({ action: fields, match, trigger: triggers }).flatMap(([group, object]) =>
    Object.entries(object).flatMap(([name, value]) => (value == null ? [] : [[`${group}.${name}`, textOfValue(value)]])),
  );
  return { action: String(type), ...Object.fromEntries(values) };
}

/** The text that the form reads as this value. */
function textOfValue(value: unknown): string {
  if (Array.isArray(value)) return value.join(",");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function valuesFromRequest(state: UiState): FormValues {
  const request = selectedRequest(state);
  if (!request) return {};
  const { operation, merchant, status } = request;
  return {
    ...(operation && { "match.operation": operation }),
    ...(merchant && { "match.merchant": merchant }),
    ...(status === 429 && { action: "rate_limit" }),
    ...(status >= 400 && status !== 429 && { action: "status", "action.status": String(status) }),
    ...(status === 0 && { action: "connection" }),
  };
}

function valuesFromAttempt(state: UiState): FormValues {
  const attempt = selectedAttempt(state);
  return attempt ? { "match.event": attempt.eventType, "match.merchant": attempt.merchant } : {};
}

const OUTAGE = controlCalls.faults.add({ action: { type: "outage" }, trigger: { for: "30s" } });

function toggleOutage(state: UiState): StateUpdate {
  const outage = valuesOf<FaultRule>(state, "faults").find(
    ({ action, status, enabled }) => action.type === "outage" && status === "armed" && enabled,
  );
  if (outage) return endRule(state, outage, ({ id, name, fired }) => `Ended the outage ${name ?? id}; it fired ${counted(fired, "time")}`);
  return makeCall(state, OUTAGE, (rule) => ({
    message: `Armed ${describeRule(rule)}, as ${rule.id}. Press o to end it`,
    undo: removeRule(rule.id),
    undoLabel: `outage ${rule.id}`,
  }));
}

const removeRule = (id: string) => controlCalls.faults.remove({ id });

/** Removes a rule. `u` then arms it again instead of removing it once more. */
export const endRule = (state: UiState, { id }: FaultRule, describe: (removed: FaultRule) => string): StateUpdate =>
  makeCall(state, removeRule(id), (removed) => ({
    message: describe(removed),
    undo: controlCalls.faults.add(definitionOf(removed)),
    undoLabel: `the removal of ${removed.name ?? removed.id}`,
    updateState: (later) => ({ ...later, undo: later.undo.filter(({ call }) => call.path !== removeRule(id).path) }),
  }));

const removeAllFaults = (state: UiState): StateUpdate =>
  confirmCall(state, "Remove all fault rules, including those of scenarios?", controlCalls.faults.clear(), ({ removed }) => ({
    message: `Removed ${counted(removed, "fault")}`,
    // Removed rules can no longer be undone.
    updateState: (later) => ({ ...later, undo: later.undo.filter(({ call }) => !call.path.startsWith("/faults/")) }),
  }));

export const faultKeys: readonly KeyBinding[] = [
  { keys: ["x"], label: "fault", help: "arm a fault, prefilled from the selected row", run: armFault },
  { keys: ["o"], label: "outage", help: "start an outage of 30 s, or end it", run: toggleOutage },
  { keys: ["D"], help: "remove all faults", run: removeAllFaults },
];
