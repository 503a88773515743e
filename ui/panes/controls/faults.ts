// The fault keys: arm a fault, start or end an outage, remove all faults.

import type { FaultRule } from "../../../generated/control-api.ts";
import { controlCalls } from "../../../src/client/control-call.ts";
import { describeRule } from "../../../src/client/rule-text.ts";
import { plural } from "../../../src/kernel/text.ts";
import { textOfValue } from "../../connection/json-schema.ts";
import { selectedRow } from "../../state/list.ts";
import { refOf } from "../../state/rows.ts";
import { type KeyBinding, listOf, type StateUpdate, type UiState, valuesOf } from "../../state/state.ts";
import { makeCall } from "../../state/updates.ts";
import { armedRules, definitionOf } from "../details/fault.ts";
import type { FormValues } from "../overlays/field.ts";
import { openForm } from "../overlays/form.ts";
import { confirmCall } from "../overlays/text-view.ts";
import { faultForm, removeRule } from "./fault-form.ts";
import { fetchLookups, selectedAttempt, selectedRequest } from "./form-fields.ts";

/**
 * Prefills the form with the fault that affected the selected row, or else with a fault that matches calls or
 * deliveries like it.
 */
function armFault(state: UiState): StateUpdate {
  const rule = ruleOfRow(state);
  const isDelivery = rule ? rule.target === "delivery" : state.pane === "deliveries";
  const fromRow = isDelivery ? valuesFromAttempt : valuesFromRequest;
  const values = rule ? valuesFromRule(rule) : fromRow(state);
  const row = selectedRow(listOf(state));
  const from = Object.keys(values).length === 0 ? undefined : row && refOf(row);
  return openForm(state, faultForm(isDelivery ? "delivery" : "api", from), values, fetchLookups(state));
}

/** The selected rule, or the first listed rule that affected the selected request, attempt or verdict. */
function ruleOfRow(state: UiState): FaultRule | undefined {
  const row = selectedRow(listOf(state))?.value;
  if (state.pane === "faults") return row as FaultRule | undefined;
  const { fault } = (row ?? {}) as { fault?: string | null };
  return valuesOf<FaultRule>(state, "faults").find(({ id }) => fault?.split(",").includes(id));
}

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
    Object.entries(object).flatMap(([name, value]) =>
      value == null ? [] : [[`${group}.${name}`, textOfValue(value)]],
    ),
  );
  return { action: String(type), ...Object.fromEntries(values) };
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

const outageOf = (state: UiState) => armedRules(state).find(({ action }) => action.type === "outage");

function toggleOutage(state: UiState): StateUpdate {
  const outage = outageOf(state);
  if (outage)
    return endRule(
      state,
      outage,
      // The id comes last, because a line that does not fit is cut at its end.
      ({ id, name, fired }) => `Ended the outage; it fired ${plural(fired, "time")} (${name ?? id})`,
    );
  return openFaultForm(state, { action: "outage" });
}

const openFaultForm = (state: UiState, values: FormValues): StateUpdate =>
  openForm(state, faultForm("api"), values, fetchLookups(state));

/** Removes a rule. Until the next change, `u` arms it again. The undo of its arming is dropped. */
export const endRule = (state: UiState, { id }: FaultRule, describe: (removed: FaultRule) => string): StateUpdate =>
  makeCall(state, removeRule(id), (removed) => ({
    message: `${describe(removed)}. Press u to arm it again`,
    undo: controlCalls.faults.add(definitionOf(removed)),
    undoLabel: describeRule(removed),
    undoRearms: true,
    updateState: (later) => ({ ...later, undo: later.undo.filter(({ call }) => call?.path !== removeRule(id).path) }),
  }));

const removeAllFaults = (state: UiState): StateUpdate =>
  confirmCall(
    state,
    {
      question: "Remove all fault rules, also from scenarios?",
      action: "Remove all faults",
      refusal: "Keep them",
    },
    controlCalls.faults.clear(),
    ({ removed }) => ({
      message: `Removed ${plural(removed, "fault")}`,
      // No rules are left, so the undo entries that would remove or change a rule are dropped.
      updateState: (later) => ({ ...later, undo: later.undo.filter(({ call }) => !call?.path.startsWith("/faults/")) }),
    }),
  );

/** Opens the form of a rule that loses the response of the next call of the selected request's operation. */
function loseResponse(state: UiState): StateUpdate {
  const { operation, merchant } = selectedRequest(state) ?? {};
  return openFaultForm(state, {
    action: "lost_response",
    ...(operation && { "match.operation": operation }),
    ...(merchant && { "match.merchant": merchant }),
  });
}

export const faultKeys: readonly KeyBinding[] = [
  { keys: ["x"], label: "fault", help: "arm a fault, prefilled from the selected row", run: armFault },
  {
    keys: ["o"],
    label: (state) => (outageOf(state) ? "end outage" : "outage"),
    help: "choose an outage of 30 s, or end the present one",
    run: toggleOutage,
  },
  {
    keys: ["C"],
    label: "cut",
    help: "choose to lose the response of the next call of the selected operation",
    run: loseResponse,
  },
  { keys: ["D"], help: "remove all faults", run: removeAllFaults },
];
