// The fault keys: arm a fault, start or end an outage, remove all faults. The form's actions and fields come from the
// JSON Schema of a fault rule.

import type { FaultAction, FaultRule, FaultsAddInput } from "../../../generated/control-api.ts";
import { controlCalls } from "../../../src/client/control-call.ts";
import { describeRule } from "../../../src/client/rule-text.ts";
import { plural } from "../../../src/kernel/text.ts";
import { choicesOf, type JsonSchema, textOfValue, valueOfText } from "../../connection/json-schema.ts";
import { selectedRow } from "../../state/list.ts";
import { type KeyBinding, listOf, type StateUpdate, type UiState, valuesOf } from "../../state/state.ts";
import { makeCall } from "../../state/updates.ts";
import { armedRules, definitionOf } from "../details/fault.ts";
import type { FieldOption, FormField, FormValues } from "../overlays/field.ts";
import { openForm } from "../overlays/form.ts";
import { type Form, submission } from "../overlays/form-view.ts";
import { confirmCall } from "../overlays/text-view.ts";
import {
  allApiKeys,
  allOrOneMerchant,
  fetchLookups,
  selectedAttempt,
  selectedRequest,
  toOptions,
} from "./form-fields.ts";

/** The most used actions, listed first, with the words that users search for. */
const COMMON_ACTIONS: Readonly<Record<string, string>> = {
  rate_limit: "429 rate_limit",
  status: "503 status",
  outage: "outage",
  latency: "slow (latency)",
  lost_response: "lost_response",
};

/** Prefilled values of fields that an action requires or is rarely used without. */
const INITIAL_VALUES: Readonly<Record<string, FormValues>> = {
  status: { "action.status": "503" },
  outage: { "trigger.for": "30s" },
  latency: { "action.ms": "500" },
  stale_read: { "action.lag": "5s" },
  delay: { "action.by": "5s" },
};

/** The fields used most often, listed right after the action's fields. The fields after these are folded. */
const FREQUENT_FIELDS = [
  "match.operation",
  "match.event",
  "match.merchant",
  "trigger.times",
  "trigger.for",
  "action.retryAfter",
];

const ACTION = "action";

/** `from` names the row that has prefilled the form. */
export const faultForm = (target: "api" | "delivery", from?: string): Form => ({
  title: from === undefined ? "Arm a fault" : `Arm a fault, prefilled from ${from}`,
  fields(values, { state }) {
    const actions = actionOptions(state, target);
    const action = { name: ACTION, label: "fault", help: "Type to search. Enter arms the fault", options: actions };
    const type = values[ACTION] ?? actions[0]?.value ?? "";
    return [action, ...fieldsTaken(schemaOf(state, type), values).map((field) => formField(field, type, state))];
  },
  sentence: ({ body }, { state }) => `Arms ${describeRule(withDefaults(body as FaultsAddInput, state))}.`,
  submission(values, { state }) {
    const type = values[ACTION] ?? "";
    const body: Record<string, unknown> = {};
    for (const { path, schema } of fieldsTaken(schemaOf(state, type), values)) {
      const text = values[path] ?? "";
      if (text === "") continue;
      const [name = "", inner] = path.split(".");
      const value = valueOfText(schema, text);
      body[name] = inner === undefined ? value : { ...(body[name] as object | undefined), [inner]: value };
    }
    const call = controlCalls.faults.add({
      ...body,
      action: { type, ...(body.action as object | undefined) } as FaultAction,
    });
    return submission(call, armedResult);
  },
});

const armedResult = (rule: FaultRule) => ({
  message: `Armed ${describeRule(rule)}, as ${rule.id}. Press u to undo it`,
  undo: removeRule(rule.id),
});

/** The rule that a definition arms, as far as `describeRule` reads it. */
function withDefaults(
  { action, match = {}, trigger = {} }: FaultsAddInput,
  state: UiState,
): Parameters<typeof describeRule>[0] {
  const isRepeated = ["every", "probability", "for"].some((name) => name in trigger);
  const isDelivery = schemaOf(state, String(action.type)).properties?.target?.enum?.[0] === "delivery";
  // A reorder fires once for each event of a batch.
  const { type, batch = type === "reorder" ? 2 : 1 } = action as { type: string; batch?: number };
  const fires = { times: isRepeated ? null : batch, ...trigger } as FaultRule["trigger"];
  return {
    target: isDelivery ? "delivery" : "api",
    action: action as FaultRule["action"],
    match: match as FaultRule["match"],
    trigger: fires,
  };
}

const schemaOf = ({ lookups }: UiState, type: string): JsonSchema =>
  lookups.rules?.find(({ title }) => title === type) ?? {};

/**
 * Actions on the wanted target come first, common ones before the others; before the schema is loaded, only the common
 * ones.
 */
function actionOptions({ lookups: { rules } }: UiState, target: string): FieldOption[] {
  if (!rules) return Object.entries(COMMON_ACTIONS).map(([value, label]) => ({ value, label }));
  const common = Object.keys(COMMON_ACTIONS);
  const rankOf = ({ title = "", properties }: JsonSchema) => {
    const isOther = properties?.target?.enum?.[0] !== target;
    return (isOther ? 100 : 0) + (common.includes(title) ? common.indexOf(title) : common.length);
  };
  return rules
    .toSorted((one, other) => rankOf(one) - rankOf(other))
    .map(({ title = "", description = "" }) => ({
      value: title,
      label: COMMON_ACTIONS[title] ?? title,
      help: description,
    }));
}

interface RuleField {
  path: string;
  schema: JsonSchema;
  required: boolean;
  isRare?: boolean;
}

/**
 * Every field of a rule: first prefilled and required fields, then the main field and the choices of its action,
 * frequent fields, and the rest.
 */
function ruleFields(rule: JsonSchema): RuleField[] {
  const { action = {}, match = {}, trigger = {}, ...own } = rule.properties ?? {};
  const { type: _, ...actionProperties } = action.properties ?? {};
  const initial = INITIAL_VALUES[rule.title ?? ""] ?? {};
  const ofAction = fieldsIn("action.", actionProperties, action.required);
  const all = [
    ...ofAction,
    ...fieldsIn("match.", match.properties ?? {}),
    ...fieldsIn("trigger.", trigger.properties ?? {}),
    ...fieldsIn("", own),
  ];
  const rankOf = (field: RuleField) => {
    if (field.path in initial || field.required) return 0;
    // For a 429, choosing the operation is more common than changing Retry-After.
    if (field === ofAction[0] && field.path !== "action.retryAfter") return 1;
    if (field.schema.enum && ofAction.includes(field)) return 2;
    const frequent = FREQUENT_FIELDS.indexOf(field.path);
    return 3 + (frequent === -1 ? FREQUENT_FIELDS.length : frequent);
  };
  const rareFrom = 3 + FREQUENT_FIELDS.length;
  return all
    .toSorted((one, other) => rankOf(one) - rankOf(other))
    .map((field) => ({ ...field, isRare: rankOf(field) === rareFrom }));
}

/** The fields that the action takes with these values. For example, `min` belongs to one distribution of latency. */
function fieldsTaken(rule: JsonSchema, values: FormValues): RuleField[] {
  const fields = ruleFields(rule);
  return fields.filter(({ schema }) => {
    const [name = "", wanted] = schema["x-only-with"] ?? [];
    if (wanted === undefined) return true;
    const other = fields.find(({ path }) => path === `action.${name}`);
    return (values[`action.${name}`] || String(other?.schema.enum?.[0])) === wanted;
  });
}

const fieldsIn = (
  prefix: string,
  schemas: Readonly<Record<string, JsonSchema>>,
  required: readonly string[] = [],
): RuleField[] =>
  Object.entries(schemas).map(([name, schema]) => ({ path: prefix + name, schema, required: required.includes(name) }));

function formField({ path, schema, required, isRare = false }: RuleField, type: string, state: UiState): FormField {
  const known = knownOptions(path, state);
  const choices = choicesOf(schema);
  const initial = INITIAL_VALUES[type]?.[path];
  return {
    name: path,
    label: path.split(".").at(-1) ?? path,
    help: schema.description ?? "",
    fallback: schema["x-sandbox-default"],
    isRare,
    ...(choices && {
      options: [...(required ? [] : [{ value: "", label: "-", help: "default" }]), ...toOptions(choices)],
    }),
    ...(known && { options: known, allowOther: true }),
    ...(initial !== undefined && { initial }),
  };
}

/** Options for fields whose values the schema does not list but the sandbox knows. */
function knownOptions(path: string, state: UiState): FieldOption[] | undefined {
  const { lookups } = state;
  const anyOr = (label: string, values: readonly string[] = []) => [{ value: "", label }, ...toOptions(values)];
  if (path === "match.operation") return anyOr("all operations", lookups.operations);
  if (path === "match.event") return anyOr("all events", lookups.eventTypes);
  if (path === "match.merchant") return allOrOneMerchant(state, "all merchants");
  return path === "match.key" ? anyOr("all API keys", allApiKeys(state)) : undefined;
}

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
  const from = Object.keys(values).length === 0 ? undefined : row?.id;
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

const OUTAGE = controlCalls.faults.add({ action: { type: "outage" }, trigger: { for: "30s" } });

function toggleOutage(state: UiState): StateUpdate {
  const outage = armedRules(state).find(({ action }) => action.type === "outage");
  if (outage)
    return endRule(
      state,
      outage,
      ({ id, name, fired }) => `Ended the outage ${name ?? id}; it fired ${plural(fired, "time")}`,
    );
  return makeCall(state, OUTAGE, (rule) => ({
    message: `Armed ${describeRule(rule)}, as ${rule.id}. Press o to end it`,
    undo: removeRule(rule.id),
    undoLabel: `the outage ${rule.id} has ended`,
  }));
}

const removeRule = (id: string) => controlCalls.faults.remove({ id });

/** Removes a rule. `u` then arms it again instead of removing it once more. */
export const endRule = (state: UiState, { id }: FaultRule, describe: (removed: FaultRule) => string): StateUpdate =>
  makeCall(state, removeRule(id), (removed) => ({
    message: describe(removed),
    undo: controlCalls.faults.add(definitionOf(removed)),
    undoLabel: `${removed.name ?? removed.id} is armed again`,
    updateState: (later) => ({ ...later, undo: later.undo.filter(({ call }) => call?.path !== removeRule(id).path) }),
  }));

const removeAllFaults = (state: UiState): StateUpdate =>
  confirmCall(
    state,
    "Remove all fault rules, including those of scenarios?",
    controlCalls.faults.clear(),
    ({ removed }) => ({
      message: `Removed ${plural(removed, "fault")}`,
      // Removed rules can no longer be undone.
      updateState: (later) => ({ ...later, undo: later.undo.filter(({ call }) => !call?.path.startsWith("/faults/")) }),
    }),
  );

/** Arms a rule that loses the response of the next call like the selected one. */
function loseResponse(state: UiState): StateUpdate {
  const { operation, merchant } = selectedRequest(state) ?? {};
  const match = { ...(operation && { operation }), ...(merchant && { merchant }) };
  const call = controlCalls.faults.add({
    match: match as FaultsAddInput["match"] & {},
    action: { type: "lost_response" },
  });
  return makeCall(state, call, armedResult);
}

export const faultKeys: readonly KeyBinding[] = [
  { keys: ["x"], label: "fault", help: "arm a fault, prefilled from the selected row", run: armFault },
  { keys: ["o"], label: "outage", help: "start an outage of 30 s, or end it", run: toggleOutage },
  { keys: ["C"], label: "cut", help: "lose the response of the next call like the selected one", run: loseResponse },
  { keys: ["D"], help: "remove all faults", run: removeAllFaults },
];
