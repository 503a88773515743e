// The form that arms a fault. Actions and fields come from the sandbox's JSON Schema of a fault rule.

import type { FaultAction } from "../../generated/control-api.ts";
import { controlCalls } from "../../src/client/control-call.ts";
import { choicesOf, type JsonSchema, valueOfText } from "../connection/json-schema.ts";
import { describeRule } from "../details/fault.ts";
import type { FieldOption, FormField, FormValues } from "../overlays/field.ts";
import { type Form, type Submission, submission } from "../overlays/form.ts";
import type { UiState } from "../state/state.ts";
import { allOrOneMerchant, toOptions } from "./form-fields.ts";

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
  fields(values, { state }) {
    const actions = actionOptions(state, target);
    const action = { name: ACTION, label: "fault", help: "Type to search. Enter arms it for the next matching call", options: actions };
    const type = values[ACTION] ?? actions[0]?.value ?? "";
    return [action, ...fieldsTaken(schemaOf(state, type), values).map((field) => formField(field, type, state))];
  },
  submission: faultSubmission,
});

const schemaOf = ({ lookups }: UiState, type: string): JsonSchema => lookups.rules?.find(({ title }) => title === type) ?? {};

/** Actions on the wanted target come first, common ones before the others; before the schema is loaded, only the common ones. */
function actionOptions({ lookups: { rules } }: UiState, target: string): FieldOption[] {
  if (!rules) return Object.entries(COMMON_ACTIONS).map(([value, label]) => ({ value, label }));
  const common = Object.keys(COMMON_ACTIONS);
  const rankOf = ({ title = "", properties }: JsonSchema) => {
    const isOther = properties?.target?.enum?.[0] !== target;
    return (isOther ? 100 : 0) + (common.includes(title) ? common.indexOf(title) : common.length);
  };
  return rules
    .toSorted((one, other) => rankOf(one) - rankOf(other))
    .map(({ title = "", description = "" }) => ({ value: title, label: COMMON_ACTIONS[title] ?? title, help: description }));
}

/** A value in a rule; `path` is such as `trigger.times`. */
interface RuleField {
  path: string;
  schema: JsonSchema;
  required: boolean;
}

/** Every field of a rule: the prefilled and required ones, the main field and the choices of its action, then the frequent ones, then the rest. */
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
    // A 429 on one operation is wanted more often than one with another Retry-After.
    if (field === ofAction[0] && field.path !== "action.retryAfter") return 1;
    if (field.schema.enum && ofAction.includes(field)) return 2;
    const frequent = FREQUENT_FIELDS.indexOf(field.path);
    return 3 + (frequent === -1 ? FREQUENT_FIELDS.length : frequent);
  };
  return all.toSorted((one, other) => rankOf(one) - rankOf(other));
}

/** The fields that the action takes with these values: `min` belongs to one distribution of latency. */
function fieldsTaken(rule: JsonSchema, values: FormValues): RuleField[] {
  const fields = ruleFields(rule);
  return fields.filter(({ schema }) => {
    const [name = "", wanted] = schema["x-only-with"] ?? [];
    if (wanted === undefined) return true;
    const other = fields.find(({ path }) => path === `action.${name}`);
    return (values[`action.${name}`] || String(other?.schema.enum?.[0])) === wanted;
  });
}

const fieldsIn = (prefix: string, schemas: Readonly<Record<string, JsonSchema>>, required: readonly string[] = []): RuleField[] =>
  Object.entries(schemas).map(([name, schema]) => ({ path: prefix + name, schema, required: required.includes(name) }));

const UNSET: FieldOption = { value: "", label: "-", help: "default" };

function formField({ path, schema, required }: RuleField, type: string, state: UiState): FormField {
  const known = knownOptions(path, state);
  const choices = choicesOf(schema);
  const initial = INITIAL_VALUES[type]?.[path];
  return {
    name: path,
    label: path.split(".").at(-1) ?? path,
    help: schema.description ?? "",
    ...(choices && { options: [...(required ? [] : [UNSET]), ...toOptions(choices)] }),
    ...(known && { options: known, allowOther: true }),
    ...(initial !== undefined && { initial }),
  };
}

/** Options for fields that the schema leaves open and the sandbox has values for. */
function knownOptions(path: string, state: UiState): FieldOption[] | undefined {
  const { lookups, sandbox } = state;
  const anyOr = (label: string, values: readonly string[] = []) => [{ value: "", label }, ...toOptions(values)];
  if (path === "match.operation") return anyOr("all operations", lookups.operations);
  if (path === "match.event") return anyOr("all events", lookups.eventTypes);
  if (path === "match.merchant") return allOrOneMerchant(state, "all merchants");
  if (path === "match.key")
    return anyOr(
      "all API keys",
      sandbox?.merchants.flatMap(({ apiKeys }) => apiKeys),
    );
  return undefined;
}

function faultSubmission(values: FormValues, { state }: { state: UiState }): Submission {
  const type = values[ACTION] ?? "";
  const body: Record<string, unknown> = {};
  for (const { path, schema } of fieldsTaken(schemaOf(state, type), values)) {
    const text = values[path] ?? "";
    if (text === "") continue;
    const [name = "", inner] = path.split(".");
    const value = valueOfText(schema, text);
    body[name] = inner === undefined ? value : { ...(body[name] as object | undefined), [inner]: value };
  }
  const call = controlCalls.faults.add({ ...body, action: { type, ...(body.action as object | undefined) } as FaultAction });
  return submission(call, (rule) => ({
    message: `Armed ${describeRule(rule)}, as ${rule.id}`,
    undo: controlCalls.faults.remove({ id: rule.id }),
  }));
}
