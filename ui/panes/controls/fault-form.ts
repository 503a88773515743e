// The form that arms a fault. Its actions and fields come from the JSON Schema of a fault rule.

import type { FaultAction, FaultRule, FaultsAddInput } from "../../../generated/control-api.ts";
import { controlCalls } from "../../../src/client/control-call.ts";
import { describeRule } from "../../../src/client/rule-text.ts";
import { oncePerKey } from "../../../src/kernel/once.ts";
import { choicesOf, type JsonSchema, valueOfText } from "../../connection/json-schema.ts";
import type { UiState } from "../../state/state.ts";
import type { FieldOption, FormField, FormValues } from "../overlays/field.ts";
import { type Form, submission } from "../overlays/form-view.ts";
import { allApiKeys, allOrOneMerchant, toOptions } from "./form-fields.ts";

/** The most used actions, listed first, with the words that users search for. */
const COMMON_ACTIONS: Readonly<Record<string, string>> = {
  rate_limit: "429 rate_limit",
  status: "status, such as 503",
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

/**
 * The optional fields that are used most often, listed after the main fields of the action. All further fields are
 * folded.
 */
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
  verb: () => "Arm",
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

/** The rule that a definition arms: the fields that `describeRule` reads, with their defaults. */
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
 * Lists the actions on the wanted target first, and among them the common actions first. Until the schema is loaded,
 * only the common actions are listed.
 */
function actionOptions({ lookups: { rules } }: UiState, target: string): FieldOption[] {
  if (!rules) return Object.entries(COMMON_ACTIONS).map(([value, label]) => ({ value, label }));
  const common = Object.keys(COMMON_ACTIONS);
  const rankOf = ({ title = "" }: JsonSchema) => (common.includes(title) ? common.indexOf(title) : common.length);
  const isOther = ({ properties }: JsonSchema) => properties?.target?.enum?.[0] !== target;
  return rules
    .toSorted((one, other) => Number(isOther(one)) - Number(isOther(other)) || rankOf(one) - rankOf(other))
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

/** Every field of a rule, in the order of the form. Cached, because every key reads them. */
const ruleFields = oncePerKey((rule: JsonSchema): RuleField[] => {
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
  /** The groups of fields from the top of the form. Fields that are in no group are folded. */
  const groups: readonly ((field: RuleField) => boolean)[] = [
    ({ path, required }) => path in initial || required,
    // For a 429, choosing the operation is more common than changing Retry-After.
    (field) => field === ofAction[0] && field.path !== "action.retryAfter",
    (field) => field.schema.enum !== undefined && ofAction.includes(field),
    ...FREQUENT_FIELDS.map((path) => (field: RuleField) => field.path === path),
  ];
  const groupOf = (field: RuleField) => {
    const group = groups.findIndex((isIn) => isIn(field));
    return group === -1 ? groups.length : group;
  };
  return all
    .toSorted((one, other) => groupOf(one) - groupOf(other))
    .map((field) => ({ ...field, isRare: groupOf(field) === groups.length }));
});

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

export const removeRule = (id: string) => controlCalls.faults.remove({ id });
