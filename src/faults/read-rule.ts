// Reads a rule that somebody wrote: every name known, every shape right, nothing asked that cannot be known when it is asked.

import { API_PHASES, type ApiPhase, type FaultTarget } from "../contracts/fault.ts";
import { unknownRuleMessage } from "../contracts/verdict.ts";
import { didYouMean } from "../kernel/did-you-mean.ts";
import { type FieldError, fail } from "../kernel/errors.ts";
import { Condition } from "../schema/conditions.ts";
import { escapePointer, fieldErrors } from "../schema/validator.ts";
import type { Action } from "./action.ts";
import { milliseconds } from "./fields.ts";
import { isNamed } from "./matching.ts";
import { actions, type GivenRule, matchSchemas, RULE_FIELDS, ruleSchema } from "./rule-schema.ts";
import { type BudgetOf, completeTrigger, type GivenTrigger, type Trigger, triggerSchema } from "./trigger.ts";

/** What is there to be named. */
export interface Known {
  operations: readonly string[];
  eventTypes: Iterable<string>;
  merchants(): string[];
  /** Whose key this is. */
  ownerOf(key: string): string | undefined;
  /** Ids of the judge's rules. */
  judged: readonly string[];
}

/** A rule with everything said. */
export interface Rule {
  id: string | undefined;
  name: string | null;
  action: Action;
  fields: GivenRule["action"];
  match: NonNullable<GivenRule["match"]>;
  trigger: Trigger;
  expect: readonly string[];
  ttl: string | null;
  priority: number;
  label: boolean;
  enabled: boolean;
  /** The one merchant that it can touch; undefined where it can touch any. */
  owner: string | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

export function readRule(given: unknown, known: Known): Rule {
  const rule = withWords(objectAt(given, "", "A rule"));
  checkNames(rule, [...Object.keys(RULE_FIELDS), "target", "match", "trigger", "action"], "", "a rule");
  const action = actionOf(rule.action);
  checkTarget(action, rule.target);
  checkNamesWithin(rule, action);
  const [first, ...others] = fieldErrors(ruleSchema(action), rule);
  if (first) fail("validation_failed", first.message, { errors: [first, ...others] });
  const read = complete(rule as unknown as GivenRule, action, known);
  checkMeaning(read, known);
  return read;
}

/** A choice such as `503` may be written as a number: whoever writes JSON by hand will. */
function withWords(rule: Fields): Fields {
  const { action } = rule;
  if (typeof action !== "object" || action === null || Array.isArray(action)) return rule;
  const { as } = action as Fields;
  return typeof as === "number" ? { ...rule, action: { ...action, as: String(as) } } : rule;
}

function complete(given: GivenRule, action: Action, known: Known): Rule {
  const { id, name, match = {}, trigger = {}, expect = [], ttl, priority = 0, label = true, enabled = true } = given;
  return {
    id,
    name: name ?? null,
    action,
    fields: given.action,
    match,
    trigger: completeTrigger(trigger as GivenTrigger, action.usualTimes(given.action)),
    expect,
    ttl: ttl ?? null,
    priority,
    label,
    enabled,
    owner: match.merchant ?? (match.key === undefined ? undefined : known.ownerOf(match.key)),
  };
}

export function actionNamed(type: unknown): Action {
  const types = actions.map((action) => action.type);
  const found = actions.find((action) => action.type === type);
  if (found) return found;
  const hint = typeof type === "string" ? didYouMean(type, types) : "";
  return refuse("/action/type", "not_allowed", `There is no action ${quote(type)}.${hint || ` There are ${types.join(", ")}.`}`);
}

/** Holds an action that stands alone against its shape, as one in a rule that fires once. */
export function checkAction(action: Action, fields: { type: string }): void {
  const rule = { action: fields };
  const [first, ...others] = fieldErrors(ruleSchema(action), rule);
  if (first) fail("validation_failed", first.message, { errors: [first, ...others] });
  const problem = action.check(fields, completeTrigger({}, 1));
  if (problem !== undefined) refuse("/action", "wrong_shape", problem);
}

function actionOf(given: unknown): Action {
  if (given === undefined) refuse("/action", "required", `action is required, as in {"type": "status", "status": 503}.`);
  const { type } = objectAt(given, "/action", "action");
  if (type === undefined)
    refuse("/action/type", "required", `action.type is required. There are ${actions.map((action) => action.type).join(", ")}.`);
  return actionNamed(type);
}

function checkTarget(action: Action, target: unknown): void {
  if (target === undefined || target === action.target) return;
  refuse(
    "/target",
    "not_allowed",
    `target must be ${action.target}, which ${action.type} acts on; received ${quote(target)}. It may be left out.`,
  );
}

/** Unknown names, each with the one that could have been meant; what is no object is left to the schema. */
function checkNamesWithin({ match, trigger, action: fields }: Fields, action: Action): void {
  checkNames(fields, Object.keys(action.schema.properties), "/action", action.type);
  checkNames(trigger, Object.keys(triggerSchema.properties), "/trigger", "a trigger");
  const here = Object.keys(matchSchemas[action.target].properties);
  const elsewhere = Object.keys(matchSchemas[other(action.target)].properties).filter((name) => !here.includes(name));
  const foreign = Object.keys(isObject(match) ? match : {}).find((name) => elsewhere.includes(name));
  if (foreign !== undefined)
    refuse(
      `/match/${foreign}`,
      "unknown_field",
      `match.${foreign} is for ${WHAT[other(action.target)]}, and ${action.type} acts on ${WHAT[action.target]}.`,
    );
  checkNames(match, here, "/match", "match");
  const { header, body, attempt } = (isObject(match) ? match : {}) as Fields;
  for (const [name, map] of [
    ["header", header],
    ["body", body],
    ["", { attempt }],
  ] as const)
    for (const [key, wanted] of Object.entries(isObject(map) ? map : {}))
      checkNames(wanted, OPERATORS, `/match${name && `/${name}`}/${escapePointer(key)}`, "a condition");
}

const OPERATORS = Condition.anyOf.flatMap((form) => ("properties" in form ? Object.keys(form.properties) : []));

const other = (target: FaultTarget): FaultTarget => (target === "api" ? "delivery" : "api");
const WHAT: Record<FaultTarget, string> = { api: "calls", delivery: "deliveries" };

function checkNames(value: unknown, known: readonly string[], pointer: string, what: string): void {
  if (!isObject(value)) return;
  for (const name of Object.keys(value))
    if (!known.includes(name))
      refuse(
        `${pointer}/${escapePointer(name)}`,
        "unknown_field",
        `${name} is no field of ${what}.${didYouMean(name, known) || ` Its fields are ${known.join(", ")}.`}`,
      );
}

/** What no schema can know. */
function checkMeaning(rule: Rule, known: Known): void {
  const { action, trigger, match } = rule;
  const problem = action.check(rule.fields, trigger);
  if (problem !== undefined) refuse("/action", "wrong_shape", problem);
  for (const span of [rule.ttl, trigger.after, trigger.for]) if (span !== null) milliseconds(span);
  action.prepare(rule.fields);
  checkNamed("operation", match.operation, known.operations, "operation");
  checkNamed("event", match.event, [...known.eventTypes], "type of event", true);
  checkOwner(match, known);
  checkExpected(rule.expect, known.judged);
  for (const pointer of Object.keys(match.body ?? {}))
    if (!pointer.startsWith("/"))
      refuse(
        `/match/body/${escapePointer(pointer)}`,
        "wrong_format",
        `match.body takes JSON Pointers such as /amount; received ${quote(pointer)}.`,
      );
  checkBudget(action.target, trigger.per);
  if (action.target === "api") checkPhase(action.phase as ApiPhase, action.type, rule);
}

/** `free` names may be any that look like one: test events have types of their own. */
function checkNamed(
  field: string,
  wanted: string | readonly string[] | undefined,
  names: readonly string[],
  what: string,
  free = false,
): void {
  for (const name of wanted === undefined ? [] : ([wanted].flat() as string[])) {
    if (names.some((there) => isNamed([name], there))) continue;
    const guess = didYouMean(name, names);
    if (free && guess === "" && !name.endsWith(".*")) continue;
    refuse(`/match/${field}`, "not_allowed", `There is no ${what} ${quote(name)}.${guess || ` There are ${names.join(", ")}.`}`);
  }
}

function checkExpected(expect: readonly string[], judged: readonly string[]): void {
  for (const [index, pattern] of expect.entries()) {
    const problem = unknownRuleMessage(pattern, judged);
    if (problem !== undefined) refuse(`/expect/${index}`, "not_allowed", problem);
  }
}

function checkOwner({ merchant, key }: Rule["match"], known: Known): void {
  const merchants = known.merchants();
  if (merchant !== undefined && !merchants.includes(merchant))
    refuse(
      "/match/merchant",
      "not_allowed",
      `There is no merchant ${quote(merchant)}.${didYouMean(merchant, merchants) || ` There are ${merchants.join(", ")}.`}`,
    );
  if (key === undefined) return;
  const owner = known.ownerOf(key);
  if (owner === undefined) refuse("/match/key", "not_allowed", "match.key is no key of this sandbox; GET /_sandbox lists them.");
  if (merchant !== undefined && merchant !== owner)
    refuse("/match/key", "not_allowed", `match.key is a key of ${owner} and not of ${merchant}: no call is made with both.`);
}

const PER: Record<FaultTarget, readonly BudgetOf[]> = {
  api: ["rule", "key", "operation", "idempotency_key"],
  delivery: ["rule", "event", "endpoint"],
};

function checkBudget(target: FaultTarget, per: BudgetOf): void {
  if (!PER[target].includes(per))
    refuse(
      "/trigger/per",
      "not_allowed",
      `trigger.per must be one of ${PER[target].join(", ")} for ${WHAT[target]}; received ${quote(per)}.`,
    );
}

/** Asks for nothing that is known only later on a call's way: such a rule would never fire, and nobody would know why. */
function checkPhase(phase: ApiPhase, type: string, { match, trigger }: Rule): void {
  const reached = (needed: ApiPhase) => API_PHASES.indexOf(phase) >= API_PHASES.indexOf(needed);
  const instead = " Use the action status, which comes later.";
  if (!reached("auth") && (match.operation !== undefined || trigger.per === "operation"))
    refuse("/match/operation", "not_allowed", `${type} takes every operation down, before anybody looks which one is called.${instead}`);
  if (!reached("recall") && match.body !== undefined)
    refuse("/match/body", "not_allowed", `${type} acts before a body is read, so it cannot look into one.${instead}`);
}

function objectAt(value: unknown, pointer: string, what: string): Fields {
  if (isObject(value)) return value;
  return refuse(pointer, "wrong_type", `${what} must be an object; received ${quote(value)}.`);
}

const isObject = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);

function refuse(pointer: string, code: string, message: string): never {
  const error: FieldError = { pointer, field: pointer.slice(1).replaceAll("/", "."), code, message };
  fail("validation_failed", message, { errors: [error] });
}

const quote = (value: unknown) => (JSON.stringify(value) ?? "nothing").slice(0, 100);
