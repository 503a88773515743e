// The form that arms a fault or a scenario. Actions and fields come from the sandbox's JSON Schema of a fault rule.

import type { FaultAction, ScenariosListReply } from "../../generated/control-api.ts";
import { controlCalls } from "../../src/client/control-call.ts";
import type { JsonSchema } from "../connection/json-schema.ts";
import { describeRule } from "../details/fault.ts";
import type { FieldOption, FormField, FormValues } from "../overlays/field.ts";
import { type Form, type Submission, submission } from "../overlays/form.ts";
import type { UiState } from "../state/state.ts";
import { allOrOneMerchant, fieldFromSchema, toOptions, valueFromText } from "./form-fields.ts";

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

export const faultForm = (target: "api" | "delivery"): Form<{ scenarios: ScenariosListReply }> => ({
  title: "Arm a fault",
  fetch: { scenarios: controlCalls.scenarios.list() },
  fields(values, context) {
    const { scenarios } = context.data;
    const actionField = createActionField(context.state, target, scenarios);
    const type = values[ACTION] ?? actionField.options?.[0]?.value ?? "";
    if (isScenario(type)) return [actionField, ...scenarioFields(type, context.state, scenarios)];
    const schema = schemaOf(context.state, type);
    return schema
      ? [actionField, ...fieldsTaken(schema, values).map((field) => createRuleField(field, type, context.state))]
      : [actionField];
  },
  submission: (values, { state }) => {
    const { [ACTION]: type = "" } = values;
    return isScenario(type) ? scenarioSubmission(type, values) : faultSubmission(values, state);
  },
});

const schemaOf = ({ lookups }: UiState, type: string) => lookups.rules?.find(({ title }) => title === type);

const targetOf = (schema: JsonSchema) => schema.properties?.target?.enum?.[0];

/** Actions on the wanted target come first, common ones before the others; before the schema is loaded, only the common ones. */
function createActionField(state: UiState, target: string, scenarios: ScenariosListReply | undefined): FormField {
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
    options: [...options, ...scenarioOptions(scenarios)],
    validate: (type) => (schemaOf(state, type) || (isScenario(type) && scenarios) ? undefined : "is still loading"),
  };
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

function faultSubmission(values: FormValues, state: UiState): Submission {
  const type = values[ACTION] ?? "";
  const schema = schemaOf(state, type) ?? {};
  const filled = fieldsTaken(schema, values).filter(({ path }) => (values[path] ?? "") !== "");
  const body: Record<string, unknown> = {};
  for (const field of filled) {
    const [name = "", inner] = field.path.split(".");
    const value = valueFromText(field.schema, values[field.path] ?? "");
    body[name] = inner === undefined ? value : { ...(body[name] as object | undefined), [inner]: value };
  }
  const call = controlCalls.faults.add({ ...body, action: { type, ...(body.action as object | undefined) } as FaultAction });
  return submission(call, (rule) => ({
    message: `Armed ${describeRule(rule)}, as ${rule.id}`,
    undo: controlCalls.faults.remove({ id: rule.id }),
  }));
}

const PREFIX = "scenario";

/** Whether an option of the fault form is a scenario. */
const isScenario = (option: string) => option.startsWith(PREFIX);

const nameIn = (option: string) => option.slice(PREFIX.length + 1);

/** An option for each scenario; one to wait with until they are fetched. */
const scenarioOptions = (listed: ScenariosListReply | undefined): FieldOption[] =>
  listed
    ? listed.data.map(({ name, title, armed, score, points }) => ({
        value: `${PREFIX} ${name}`,
        help: armed ? `ARMED ${score}/${points}: ${title}` : title,
      }))
    : [{ value: PREFIX, help: "A named set of faults with a score" }];

/** The fields of the scenario that an option stands for. */
function scenarioFields(option: string, state: UiState, listed: ScenariosListReply | undefined): FormField[] {
  const selected = listed?.data.find(({ name }) => name === nameIn(option));
  if (!selected) return [];
  return [
    {
      name: "do",
      label: "action",
      help: selected.armed ? selected.says : "Arm it, or disarm it and show its score",
      options: toOptions(["arm", "disarm"]),
      initial: selected.armed ? "disarm" : "arm",
    },
    {
      name: "merchant",
      label: "merchant",
      help: "The merchant it affects",
      options: allOrOneMerchant(state, "all merchants"),
      initial: (selected.armed && selected.merchant) || "",
    },
  ];
}

function scenarioSubmission(option: string, { do: action, merchant = "" }: FormValues): Submission {
  const name = nameIn(option);
  const input = { name, ...(merchant !== "" && { merchant }) };
  const stop = controlCalls.scenarios.stop(input);
  if (action === "disarm")
    return submission(stop, ({ score, points, says }) => ({ message: `Disarmed ${name}: ${score} of ${points} points. ${says}` }));
  return submission(controlCalls.scenarios.start(input), ({ title }) => ({ message: `Armed ${name}: ${title}`, undo: stop }));
}
