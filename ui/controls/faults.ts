// The fault keys: arm a fault, start or end an outage, remove all faults.

import { controlCalls } from "../../src/client/control-call.ts";
import type { FaultRule } from "../../src/client/control-plane.generated.ts";
import { confirm } from "../overlays/confirm.ts";
import type { FormValues } from "../overlays/field.ts";
import { openForm } from "../overlays/form.ts";
import { type KeyBinding, makeCall, openOverlay, type StateUpdate, type UiState, update, valuesOf } from "../state/state.ts";
import { counted } from "../view/format.ts";
import { fetchLookups } from "./cached-lookups.ts";
import { faultForm } from "./fault-form.ts";
import { selectedAttempt, selectedRequest } from "./form-defaults.ts";

/** On a selected row, the form is prefilled with a fault that matches calls or deliveries like it. */
function armFault(state: UiState): StateUpdate {
  const isDelivery = state.pane === "deliveries";
  const values = isDelivery ? valuesFromAttempt(state) : valuesFromRequest(state);
  return openForm(state, faultForm(isDelivery ? "delivery" : "api"), values, fetchLookups(state));
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
  if (outage) return makeCall(state, removeRule(outage.id), () => "Outage ended");
  return makeCall(
    state,
    OUTAGE,
    () => "Outage of /v1 for 30 s of sandbox time. Press o to end it",
    (later, { id }) => ({ ...later, undo: [...later.undo, { label: "outage", call: removeRule(id) }] }),
  );
}

const removeRule = (id: string) => controlCalls.faults.remove({ id });

function removeAllFaults(state: UiState): StateUpdate {
  const call = controlCalls.faults.clear();
  const remove = (later: UiState) => makeCall(later, call, ({ body }) => `Removed ${counted(body.removed, "fault")}`, withoutFaultUndo);
  return update(openOverlay(state, confirm("Remove all fault rules, including those of scenarios?", call, remove)));
}

/** Removed rules can no longer be undone. */
const withoutFaultUndo = (state: UiState): UiState => ({
  ...state,
  undo: state.undo.filter(({ call }) => !call.path.startsWith("/faults/")),
});

export const faultKeys: readonly KeyBinding[] = [
  { keys: ["x"], label: "fault", help: "arm a fault or a scenario, prefilled from the selected row", run: armFault },
  { keys: ["o"], label: "outage", help: "start an outage of 30 s, or end it", run: toggleOutage },
  { keys: ["D"], help: "remove all faults", run: removeAllFaults },
];
