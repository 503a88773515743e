// The form that arms a fault. Actions and fields come from the sandbox's JSON Schema of a fault rule.

import { controlCalls } from "../../src/client/control-call.ts";
import type { FaultAction } from "../../src/client/control-plane.generated.ts";
import type { RuleState } from "../../src/contracts/fault.ts";
import type { FieldOption, FormField, FormValues } from "../overlays/field.ts";
import type { Form, FormContext, FormResult } from "../overlays/form.ts";
import type { UiState } from "../state/state.ts";
import type { Answer, Call } from "../wire/control-calls.ts";
import type { JsonSchema } from "../wire/json-schema.ts";
import { allOrOneMerchant, toOptions } from "./form-defaults.ts";
import { SCENARIO, scenarioCall, scenarioFields, scenarioResult } from "./scenario-fields.ts";
import { fieldFromSchema, valueFromText } from "./schema-field.ts";

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
  latency: { "action.ms": "2000" },
  stale_read: { "action.lag": "5s" },
  clock_skew: { "action.by": "5m" },
  delay: { "action.by": "5s" },
};

/** The fields used most often, listed right after those of the action. */
const FREQUENT_FIELDS = ["match.operation", "match.event", "match.merchant", "trigger.times", "trigger.for"];

const ACTION = "action";

export const faultForm = (target: "api" | "delivery"): Form => ({
  title: "Arm a fault",
  fetch: { scenarios: controlCalls.scenarios.list() },
  fields(values, context) {
    const actionField = createActionField(context.state, target);
    const type = values[ACTION] ?? actionField.options?.[0]?.value ?? "";
    if (type === SCENARIO) return [actionField, ...scenarioFields(values, context)];
    const schema = schemaOf(context.state, type);
    return schema ? [actionField, ...ruleFields(schema).map((field) => createRuleField(field, type, context.state))] : [actionField];
  },
  call: (values, context) => (values[ACTION] === SCENARIO ? scenarioCall(values) : faultCall(values, context)),
  onReply: (reply, values, context) => (values[ACTION] === SCENARIO ? scenarioResult(reply, values) : faultResult(reply, values, context)),
});

const schemaOf = ({ lookups }: UiState, type: string) => lookups.rules?.find(({ title }) => title === type);

const targetOf = (schema: JsonSchema) => schema.properties?.target?.enum?.[0];

/** Actions on the wanted target come first, common ones before the others; before the schema is loaded, only the common ones. */
function createActionField(state: UiState, target: string): FormField {
  const schemas = state.lookups.rules ?? [];
  const isCommon = ({ title = "" }: JsonSchema) => title in COMMON_ACTIONS;
  const rankOf = ({ title = "" }: JsonSchema) => Object.keys(COMMON_ACTIONS).indexOf(title);
  const ordered = [
    ...schemas.filter(isCommon).sort((one, other) => rankOf(one) - rankOf(other)),
    ...schemas.filter((schema) => !isCommon(schema)),
  ].sort((one, other) => Number(targetOf(other) === target) - Number(targetOf(one) === target));
  const loaded = ordered.map(
    ({ title = "", description = "" }): FieldOption => ({ value: title, label: COMMON_ACTIONS[title] ?? title, help: description }),
  );
  const options = loaded.length > 0 ? loaded : Object.entries(COMMON_ACTIONS).map(([value, label]): FieldOption => ({ value, label }));
  return {
    name: ACTION,
    label: "fault",
    help: "Type to search. Enter arms it for the next matching call",
    options: [...options, { value: SCENARIO, label: "scenario", help: "A named set of faults with a score" }],
    validate: (type) => (type === SCENARIO || schemaOf(state, type) ? undefined : "is still loading"),
  };
}

/** A value in a rule; `path` is such as `trigger.times`. */
interface RuleField {
  path: string;
  schema: JsonSchema;
  required: boolean;
}

/** Every field of a rule: the main fields of its action, then the frequent ones, then the rest. */
function ruleFields(rule: JsonSchema): RuleField[] {
  const { action = {}, match = {}, trigger = {}, ...own } = rule.properties ?? {};
  const { type: _, ...actionProperties } = action.properties ?? {};
  const initial = INITIAL_VALUES[rule.title ?? ""] ?? {};
  const actionFields = fieldsIn("action.", actionProperties, action.required);
  const isMain = ({ path, schema, required }: RuleField) => required || path in initial || schema.enum !== undefined;
  const others = [
    ...actionFields.filter((field) => !isMain(field)),
    ...fieldsIn("match.", match.properties ?? {}),
    ...fieldsIn("trigger.", trigger.properties ?? {}),
    ...fieldsIn("", own),
  ];
  const frequent = FREQUENT_FIELDS.flatMap((path) => others.filter((field) => field.path === path));
  return [...actionFields.filter(isMain), ...frequent, ...others.filter(({ path }) => !FREQUENT_FIELDS.includes(path))];
}

const fieldsIn = (prefix: string, schemas: Readonly<Record<string, JsonSchema>>, required: readonly string[] = []): RuleField[] =>
  Object.entries(schemas).map(([name, schema]) => ({ path: prefix + name, schema, required: required.includes(name) }));

const createRuleField = ({ path, schema, required }: RuleField, type: string, state: UiState): FormField =>
  fieldFromSchema(path, schema, { required, initial: INITIAL_VALUES[type]?.[path], options: knownOptions(path, state) });

/** Options for fields that the schema leaves open and the sandbox has values for. */
function knownOptions(path: string, state: UiState): FieldOption[] | undefined {
  const { lookups, sandbox } = state;
  const anyOr = (label: string, values: readonly string[] = []) => [{ value: "", label }, ...toOptions(values)];
  const apiKeys = sandbox?.merchants.flatMap((merchant) => merchant.apiKeys);
  if (path === "match.operation") return anyOr("all operations", lookups.operations);
  if (path === "match.event") return anyOr("all events", lookups.eventTypes);
  if (path === "match.merchant") return allOrOneMerchant(state, "all merchants");
  if (path === "match.key") return anyOr("all API keys", apiKeys);
  return undefined;
}

function faultCall(values: FormValues, { state }: FormContext): Call {
  const type = values[ACTION] ?? "";
  const rule = schemaOf(state, type);
  const filled = rule ? ruleFields(rule).filter(({ path }) => (values[path] ?? "") !== "") : [];
  const body: Record<string, unknown> = {};
  for (const { path, schema } of filled) {
    const [name = "", inner] = path.split(".");
    const value = valueFromText(schema, values[path] ?? "");
    body[name] = inner === undefined ? value : { ...(body[name] as object | undefined), [inner]: value };
  }
  return controlCalls.faults.add({ ...body, action: { type, ...(body.action as object | undefined) } as FaultAction });
}

function faultResult({ body }: Answer, values: FormValues, { state }: FormContext): FormResult {
  const { id } = body as RuleState;
  const type = values[ACTION] ?? "";
  const all = targetOf(schemaOf(state, type) ?? {}) === "api" ? "all operations" : "all events";
  const where = values["match.operation"] || values["match.event"] || all;
  const merchant = values["match.merchant"] ? ` of ${values["match.merchant"]}` : "";
  return {
    message: `Armed ${COMMON_ACTIONS[type] ?? type} on ${where}${merchant} as ${id}`,
    undo: controlCalls.faults.remove({ id }),
  };
}
