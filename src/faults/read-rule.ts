// Validates a fault rule: rejects unknown names with a suggestion, then checks the schema, then everything that no schema can check.

import type { FaultTarget } from "../contracts/fault.ts";
import { didYouMean } from "../kernel/did-you-mean.ts";
import { fail } from "../kernel/errors.ts";
import { Condition } from "../schema/conditions.ts";
import { escapePointer } from "../schema/json-pointer.ts";
import type { JsonObject } from "../schema/schema.ts";
import { fieldErrors } from "../schema/validator.ts";
import type { Action } from "./action.ts";
import { checkMeaning, type FaultRule, type KnownNames, quote, rejectField, TARGET_NOUN } from "./check-rule.ts";
import { actions, matchSchemas, RULE_FIELDS, type RuleInput, ruleSchema } from "./rule-schema.ts";
import { completeTrigger, triggerSchema } from "./trigger.ts";

export function readRule(given: unknown, known: KnownNames): FaultRule {
  const rule = withTextForm(objectAt(given, "", "A rule"));
  checkNames(rule, [...Object.keys(RULE_FIELDS), "target", "match", "trigger", "action"], "", "a rule");
  const action = actionOf(rule.action);
  checkTarget(action, rule.target);
  checkNestedNames(rule, action);
  checkShape(action, rule);
  const read = withDefaults(rule as unknown as RuleInput, action, known);
  checkMeaning(read, known);
  return read;
}

/** Accepts `as` as a number, such as 503: people write it that way in JSON. */
function withTextForm(rule: JsonObject): JsonObject {
  const { action } = rule;
  if (!isObject(action) || typeof action.as !== "number") return rule;
  return { ...rule, action: { ...action, as: String(action.as) } };
}

function checkShape(action: Action, rule: object): void {
  const [first, ...others] = fieldErrors(ruleSchema(action), rule);
  if (first) fail("validation_failed", first.message, { errors: [first, ...others] });
}

function withDefaults(given: RuleInput, action: Action, known: KnownNames): FaultRule {
  const { id, name, match = {}, trigger = {}, expect = [], ttl, priority = 0, label = true, enabled = true } = given;
  return {
    id,
    name: name ?? null,
    action,
    fields: given.action,
    match,
    trigger: completeTrigger(trigger, action.defaultTimes(given.action)),
    expect,
    ttl: ttl ?? null,
    priority,
    label,
    enabled,
    owner: match.merchant ?? (match.key === undefined ? undefined : known.ownerOf(match.key)),
  };
}

/** The action of this type; fails with a suggestion if there is none. */
export function findAction(type: unknown): Action {
  const types = actions.map((action) => action.type);
  const found = actions.find((action) => action.type === type);
  if (found) return found;
  const hint = typeof type === "string" ? didYouMean(type, types) : "";
  return rejectField("/action/type", "not_allowed", `There is no action ${quote(type)}.${hint || ` There are ${types.join(", ")}.`}`);
}

/** Validates an action on its own, as in a rule that fires once. */
export function checkAction(action: Action, fields: { type: string }): void {
  checkShape(action, { action: fields });
  const problem = action.check(fields, completeTrigger({}, 1));
  if (problem !== undefined) rejectField("/action", "wrong_shape", problem);
}

function actionOf(given: unknown): Action {
  if (given === undefined) rejectField("/action", "required", `action is required, as in {"type": "status", "status": 503}.`);
  const { type } = objectAt(given, "/action", "action");
  if (type === undefined)
    rejectField("/action/type", "required", `action.type is required. There are ${actions.map((action) => action.type).join(", ")}.`);
  return findAction(type);
}

function checkTarget(action: Action, target: unknown): void {
  if (target === undefined || target === action.target) return;
  rejectField(
    "/target",
    "not_allowed",
    `target must be ${action.target}, which ${action.type} acts on; received ${quote(target)}. It may be left out.`,
  );
}

/** Rejects unknown names in match, trigger and action. A value that is not an object is left to the schema. */
function checkNestedNames({ match, trigger, action: fields }: JsonObject, action: Action): void {
  checkNames(fields, Object.keys(action.schema.properties), "/action", action.type);
  checkNames(trigger, Object.keys(triggerSchema.properties), "/trigger", "a trigger");
  const here = Object.keys(matchSchemas[action.target].properties);
  const elsewhere = Object.keys(matchSchemas[otherThan(action.target)].properties).filter((name) => !here.includes(name));
  const foreign = Object.keys(isObject(match) ? match : {}).find((name) => elsewhere.includes(name));
  if (foreign !== undefined)
    rejectField(
      `/match/${foreign}`,
      "unknown_field",
      `match.${foreign} is for ${TARGET_NOUN[otherThan(action.target)]}, and ${action.type} acts on ${TARGET_NOUN[action.target]}.`,
    );
  checkNames(match, here, "/match", "match");
  const { header, body, attempt } = (isObject(match) ? match : {}) as JsonObject;
  for (const [name, map] of [
    ["header", header],
    ["body", body],
    ["", { attempt }],
  ] as const)
    for (const [key, condition] of Object.entries(isObject(map) ? map : {}))
      checkNames(condition, OPERATORS, `/match${name && `/${name}`}/${escapePointer(key)}`, "a condition");
}

const OPERATORS = Condition.anyOf.flatMap((form) => ("properties" in form ? Object.keys(form.properties) : []));

const otherThan = (target: FaultTarget): FaultTarget => (target === "api" ? "delivery" : "api");

function checkNames(value: unknown, known: readonly string[], pointer: string, what: string): void {
  if (!isObject(value)) return;
  for (const name of Object.keys(value))
    if (!known.includes(name))
      rejectField(
        `${pointer}/${escapePointer(name)}`,
        "unknown_field",
        `${name} is not a field of ${what}.${didYouMean(name, known) || ` Its fields are ${known.join(", ")}.`}`,
      );
}

function objectAt(value: unknown, pointer: string, what: string): JsonObject {
  if (isObject(value)) return value;
  return rejectField(pointer, "wrong_type", `${what} must be an object; received ${quote(value)}.`);
}

const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value);
