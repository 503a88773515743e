// The form that arms a fault: what there is, and what may be said of it, all from the sandbox's own schema of a rule.

import type { Field, Option, Values } from "../overlays/field.ts";
import type { Context, Form, Outcome } from "../overlays/form.ts";
import type { State } from "../state/state.ts";
import type { Answer, Call } from "../wire/control-calls.ts";
import type { Shape } from "../wire/json-schema.ts";
import { merchantsOrAll, options } from "./form-defaults.ts";
import { SCENARIO, scenarioCall, scenarioDone, scenarioFields } from "./scenario-fields.ts";
import { fieldOf, valueFrom } from "./schema-field.ts";

/** The common ones first, under the words that people look for; what comes behind them is in the schema's order. */
const COMMON: Readonly<Record<string, string>> = {
  rate_limit: "429 rate_limit",
  status: "503 status",
  outage: "outage",
  latency: "slow (latency)",
  lost_response: "lost_response",
};

/** What a rule cannot do without, or is seldom wanted without. */
const FIRST: Readonly<Record<string, Values>> = {
  status: { "action.status": "503" },
  outage: { "trigger.for": "30s" },
  latency: { "action.ms": "2000" },
  stale_read: { "action.lag": "5s" },
  clock_skew: { "action.by": "5m" },
  delay: { "action.by": "5s" },
};

/** The fields of a rule that are asked for most, behind those of its action. */
const USUAL = ["match.operation", "match.event", "match.merchant", "trigger.times", "trigger.for"];

const WHAT = "what";

export const faultForm = (target: "api" | "delivery"): Form => ({
  title: "Arm a fault",
  asks: { scenarios: { method: "GET", path: "/scenarios" } },
  fields(values, context) {
    const what = whatField(context.state, target);
    const type = values[WHAT] ?? what.options?.[0]?.value ?? "";
    if (type === SCENARIO) return [what, ...scenarioFields(values, context)];
    const rule = ruleOf(context.state, type);
    return rule ? [what, ...placesOf(rule).map((place) => placeField(place, type, context.state))] : [what];
  },
  call: (held, context) => (held[WHAT] === SCENARIO ? scenarioCall(held) : faultCall(held, context)),
  done: (answer, held, context) => (held[WHAT] === SCENARIO ? scenarioDone(answer, held) : armed(answer, held, context)),
});

const ruleOf = ({ known }: State, type: string) => known.rules?.find(({ title }) => title === type);

const targetOf = (rule: Shape) => rule.properties?.target?.enum?.[0];

function whatField(state: State, target: string): Field {
  const rules = state.known.rules ?? [];
  const isCommon = ({ title = "" }: Shape) => title in COMMON;
  const ordered = [
    ...rules.filter(isCommon).sort((one, other) => rankOf(one) - rankOf(other)),
    ...rules.filter((rule) => !isCommon(rule)),
  ].sort((one, other) => Number(targetOf(other) === target) - Number(targetOf(one) === target));
  const told = ordered.map(
    ({ title = "", description = "" }): Option => ({ value: title, label: COMMON[title] ?? title, words: description }),
  );
  const actions = told.length > 0 ? told : Object.entries(COMMON).map(([value, label]): Option => ({ value, label }));
  return {
    name: WHAT,
    label: "what",
    words: "What goes wrong: type to find it, Enter arms it for the next call",
    options: [...actions, { value: SCENARIO, label: "scenario", words: "Several faults under one name, with a score" }],
    problem: (type) => (type === SCENARIO || ruleOf(state, type) ? undefined : "is not known yet: the sandbox is being asked"),
  };
}

const rankOf = ({ title = "" }: Shape) => Object.keys(COMMON).indexOf(title);

/** A value somewhere in a rule, such as `trigger.times`. */
interface RulePlace {
  path: string;
  shape: Shape;
  required: boolean;
}

/** Every place of a rule: what its action is seldom wanted without, what is asked for most, everything else. */
function placesOf(rule: Shape): RulePlace[] {
  const { action = {}, match = {}, trigger = {}, ...own } = rule.properties ?? {};
  const { type: _, ...fields } = action.properties ?? {};
  const first = FIRST[rule.title ?? ""] ?? {};
  const ofAction = placesIn("action.", fields, action.required);
  const isMain = ({ path, shape, required }: RulePlace) => required || path in first || shape.enum !== undefined;
  const others = [
    ...ofAction.filter((place) => !isMain(place)),
    ...placesIn("match.", match.properties ?? {}),
    ...placesIn("trigger.", trigger.properties ?? {}),
    ...placesIn("", own),
  ];
  const usual = USUAL.flatMap((path) => others.filter((place) => place.path === path));
  return [...ofAction.filter(isMain), ...usual, ...others.filter(({ path }) => !USUAL.includes(path))];
}

const placesIn = (prefix: string, shapes: Readonly<Record<string, Shape>>, required: readonly string[] = []): RulePlace[] =>
  Object.entries(shapes).map(([name, shape]) => ({ path: prefix + name, shape, required: required.includes(name) }));

const placeField = ({ path, shape, required }: RulePlace, type: string, state: State): Field =>
  fieldOf(path, shape, { required, first: FIRST[type]?.[path], options: offered(path, state) });

/** What the schema leaves open and the sandbox knows. */
function offered(path: string, state: State): Option[] | undefined {
  const { known, sandbox } = state;
  const every = (label: string, values: readonly string[] = []) => [{ value: "", label }, ...options(values)];
  if (path === "match.operation") return every("every operation", known.operations);
  if (path === "match.event") return every("every event", known.eventTypes);
  if (path === "match.merchant") return merchantsOrAll(state, "every merchant");
  if (path === "match.key")
    return every(
      "every key",
      sandbox?.merchants.flatMap(({ apiKeys }) => apiKeys),
    );
  return undefined;
}

function faultCall(held: Values, { state }: Context): Call {
  const type = held[WHAT] ?? "";
  const rule = ruleOf(state, type);
  const given = rule ? placesOf(rule).filter(({ path }) => (held[path] ?? "") !== "") : [];
  const body: Record<string, unknown> = {};
  for (const { path, shape } of given) {
    const [name = "", inner] = path.split(".");
    const value = valueFrom(shape, held[path] ?? "");
    body[name] = inner === undefined ? value : { ...(body[name] as object | undefined), [inner]: value };
  }
  return { method: "POST", path: "/faults", body: { ...body, action: { type, ...(body.action as object | undefined) } } };
}

function armed({ body }: Answer, held: Values, { state }: Context): Outcome {
  const { id } = body as { id: string };
  const what = COMMON[held[WHAT] ?? ""] ?? held[WHAT];
  const where =
    held["match.operation"] ||
    held["match.event"] ||
    (targetOf(ruleOf(state, held[WHAT] ?? "") ?? {}) === "api" ? "every call" : "every event");
  const whose = held["match.merchant"] ? ` of ${held["match.merchant"]}` : "";
  return { words: `${what} on ${where}${whose} is armed as ${id}`, undo: { method: "DELETE", path: `/faults/${encodeURIComponent(id)}` } };
}
