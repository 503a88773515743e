// Reads a fault rule. Checks its schema, then whether its names exist and whether the action's phase can evaluate its
// conditions.

import { unknownRuleMessage } from "../client/verdict-text.ts";
import type { ApiPhase } from "../contracts/fault.ts";
import { didYouMean, nearestOrAll } from "../kernel/did-you-mean.ts";
import { ApiError, errorSummary, type FieldError, fail } from "../kernel/errors.ts";
import { mask } from "../kernel/mask.ts";
import { escapePointer } from "../schema/json-pointer.ts";
import { Type } from "../schema/shapes.ts";
import { fieldErrors } from "../schema/validator.ts";
import { unknownMerchant } from "../store/records/tenants.ts";
import type { Action } from "./action.ts";
import { milliseconds } from "./fields.ts";
import { isReached, matchesName } from "./matching.ts";
import { type ActionInput, actions, RULE_FIELDS, type RuleInput, ruleSchema } from "./rule-schema.ts";
import { completeTrigger, SCOPES_OF } from "./trigger.ts";

/** A valid rule with its defaults. */
export type FaultRule = ReturnType<typeof withDefaults>;

/** The names that a rule may refer to. */
export interface KnownNames {
  operations: readonly string[];
  eventTypes: Iterable<string>;
  merchants(): string[];
  /** The merchant that an API key belongs to. */
  ownerOf(key: string): string | undefined;
  /** Ids of the judge's rules. */
  judgeRules: readonly string[];
}

/** A rule before its action is known. */
const AnyRule = Type.Object(
  {
    ...RULE_FIELDS,
    target: Type.Optional(Type.Unknown()),
    match: Type.Optional(Type.Unknown()),
    trigger: Type.Optional(Type.Unknown()),
    action: Type.Object({ type: Type.String() }),
  },
  { additionalProperties: false },
);

export function readRule(given: unknown, known: KnownNames): FaultRule {
  const general = fieldErrors(AnyRule, given);
  if (typeof (given as { action?: { type?: unknown } } | null)?.action?.type !== "string") failWithAll(general);
  const rule = withTextForm(given as RuleInput);
  const unknownAction = errorsOf(["/action/type", () => findAction(rule.action.type)]);
  if (unknownAction.length > 0) failWithAll([...unknownAction, ...general]);
  const action = findAction(rule.action.type);
  const misshapen = fieldErrors(ruleSchema(action), rule);
  // Checks the meaning of all parts that have the right shape, so that one response names every mistake.
  const broken = new Set(misshapen.map(({ pointer }) => pointer.split("/")[1]));
  const wellFormed = Object.fromEntries(
    Object.entries(rule).filter(([part]) => part === "action" || !broken.has(part)),
  ) as RuleInput;
  const read = withDefaults(withMerchantId(wellFormed, known), action, known);
  failWithAll([
    ...misshapen,
    ...(broken.has("action") ? [] : errorsOf(["/action", () => checkAction(read)])),
    ...meaningErrors(read, known),
  ]);
  return read;
}

function failWithAll(errors: readonly FieldError[]): void {
  if (errors.length > 0) fail("validation_failed", errorSummary(errors), { errors });
}

/** Converts a numeric `as`, such as 503, to text, because people write numbers in JSON. */
function withTextForm(rule: RuleInput): RuleInput {
  const { action }: { action: { type: string; as?: unknown } } = rule;
  return typeof action.as === "number"
    ? { ...rule, action: { ...action, as: String(action.as) } as ActionInput }
    : rule;
}

/** Completes `match.merchant`, such as lodge, to the id of the merchant, unless the id exists as it is. */
function withMerchantId(rule: RuleInput, known: KnownNames): RuleInput {
  const merchant = rule.match?.merchant;
  if (merchant === undefined) return rule;
  const merchants = known.merchants();
  const id = [merchant, `mer_${merchant}`].find((one) => merchants.includes(one)) ?? merchant;
  return { ...rule, match: { ...rule.match, merchant: id } };
}

/** The action of this type. Fails with a suggestion if the type is unknown. */
export function findAction(type: string): Action {
  const types = actions.map((action) => action.type);
  const found = actions.find((action) => action.type === type);
  if (found) return found;
  return rejectField("/action/type", "not_allowed", `There is no action ${quote(type)}.${nearestOrAll(type, types)}`);
}

function withDefaults(given: RuleInput, action: Action, known: KnownNames) {
  const { id, name, match = {}, trigger = {}, expect = [], ttl, priority = 0, label = true, enabled = true } = given;
  return {
    id,
    name: name ?? null,
    action,
    fields: given.action,
    match,
    trigger: completeTrigger(trigger, action.defaultTimes?.(given.action) ?? 1),
    expect,
    ttl: ttl ?? null,
    priority,
    label,
    enabled,
    /** Names event types that the service never sends. */
    warnings: warningsAbout([match.event ?? []].flat(), known),
    /** The only merchant that the rule can affect; undefined if it can affect all. */
    owner: match.merchant ?? (match.key === undefined ? undefined : known.ownerOf(match.key)),
  };
}

function checkAction(rule: FaultRule): void {
  const problem = misplacedField(rule) ?? rule.action.check?.(rule.fields);
  if (problem !== undefined) rejectField("/action", "wrong_shape", problem);
  rule.action.prepare(rule.fields);
}

function meaningErrors(rule: FaultRule, known: KnownNames): FieldError[] {
  const { action, trigger, match, expect } = rule;
  const checks: Check[] = [
    ["/ttl", () => checkSpan(rule.ttl)],
    ["/trigger/after", () => checkSpan(trigger.after)],
    ["/trigger/for", () => checkSpan(trigger.for)],
    ["/match/rotatedWithin", () => checkSpan(match.rotatedWithin)],
    ["/match/operation", () => checkOperations(match.operation, known)],
    ["/match", () => checkOwner(match, known)],
    ["/expect", () => checkExpected(expect, known.judgeRules)],
    ["/match/body", () => checkBody(match.body)],
    ["/trigger/per", () => checkBudgetScope(rule)],
    ["/match", () => action.target === "api" && checkPhase(action.phase as ApiPhase, rule)],
  ];
  return checks.flatMap(errorsOf);
}

const checkSpan = (span: string | null | undefined) => void (span && milliseconds(span));

function checkExpected(expect: readonly string[], rules: readonly string[]): void {
  for (const [index, pattern] of expect.entries()) {
    const unknown = unknownRuleMessage(pattern, rules);
    if (unknown !== undefined) rejectField(`/expect/${index}`, "not_allowed", unknown);
  }
}

function checkBody(body: FaultRule["match"]["body"] = {}): void {
  const wrong = Object.keys(body).find((pointer) => !pointer.startsWith("/"));
  if (wrong !== undefined) {
    const message = `match.body takes JSON Pointers such as /amount; received ${quote(wrong)}.`;
    rejectField(`/match/body/${escapePointer(wrong)}`, "wrong_format", message);
  }
}

/** A check, and the field that its error is about unless the error itself names one. */
type Check = [pointer: string, check: () => unknown];

/** Catches the errors of one check, so that the client gets the errors of all checks at once. */
function errorsOf([pointer, check]: Check): FieldError[] {
  try {
    check();
    return [];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return (error.details.errors as FieldError[] | undefined) ?? [fieldError(pointer, "wrong_format", error.message)];
  }
}

/** The error for a field that is not allowed with the value of another field. */
function misplacedField({ action: { onlyWith = {}, schema }, fields }: FaultRule): string | undefined {
  const values: Readonly<Record<string, unknown>> = fields;
  for (const [name, [other, value]] of Object.entries(onlyWith)) {
    const [first] = (schema.properties[other] as { enum?: string[] }).enum ?? [];
    if (values[name] !== undefined && (values[other] ?? first) !== value)
      return `action.${name} is allowed only with ${other}: ${value}; leave it out.`;
  }
  return undefined;
}

/** Warns about unknown event types. They are not errors, because a test event may have any type. */
function warningsAbout(types: readonly string[], { eventTypes, operations }: KnownNames): string[] {
  const known = [...eventTypes];
  const unknown = types.filter((type) => !isOneOf(type, known));
  if (unknown.length === 0) return [];
  const names = [...known, ...known.map((type) => `${type.split(".")[0]}.*`)];
  const hintFor = (type: string) =>
    operations.includes(type)
      ? ` It is an operation; these affect calls: ${typesFor("api")}.`
      : didYouMean(type, names);
  const hints = unknown.map((type) => `${type}.${hintFor(type)}`);
  return [
    mask(`The service never sends ${hints.join(" It never sends ")} Only a test event can have this type.`, 1_000),
  ];
}

const isOneOf = (name: string, names: readonly string[]) => names.some((existing) => matchesName([name], existing));

/** The actions that affect calls, or deliveries. */
const typesFor = (target: Action["target"]) =>
  actions
    .filter((action) => action.target === target)
    .map(({ type }) => type)
    .join(", ");

function checkOperations(
  given: string | readonly string[] | undefined,
  { operations, eventTypes }: Pick<KnownNames, "operations" | "eventTypes">,
): void {
  for (const name of [given ?? []].flat() as string[]) {
    if (isOneOf(name, operations)) continue;
    const hint = [...eventTypes].includes(name)
      ? ` It is a type of event; these affect deliveries of events: ${typesFor("delivery")}.`
      : nearestOrAll(name, operations);
    rejectField("/match/operation", "not_allowed", `There is no operation ${quote(name)}.${hint}`);
  }
}

function checkOwner({ merchant, key }: FaultRule["match"], known: KnownNames): void {
  const merchants = merchant === undefined ? [] : known.merchants();
  if (merchant !== undefined && !merchants.includes(merchant))
    rejectField("/match/merchant", "not_allowed", unknownMerchant(merchant, merchants));
  if (key === undefined) return;
  const owner = known.ownerOf(key);
  if (owner === undefined)
    rejectField("/match/key", "not_allowed", "match.key is not a key of this sandbox; GET /_sandbox lists them.");
  if (merchant !== undefined && merchant !== owner)
    rejectField(
      "/match/key",
      "not_allowed",
      `match.key is a key of ${owner}, not of ${merchant}: no call is made with both.`,
    );
}

function checkBudgetScope({ action: { target }, trigger: { per } }: FaultRule): void {
  if (SCOPES_OF[target].includes(per)) return;
  const acted = target === "api" ? "calls" : "deliveries";
  rejectField(
    "/trigger/per",
    "not_allowed",
    `trigger.per must be one of ${SCOPES_OF[target].join(", ")} for ${acted}; received ${quote(per)}.`,
  );
}

/** Rejects conditions on data that is not available in the action's phase, because the rule would never fire. */
function checkPhase(phase: ApiPhase, { action: { type }, match, trigger }: FaultRule): void {
  const instead = " Use the action status, which comes later.";
  if (!isReached("auth", phase) && (match.operation !== undefined || trigger.per === "operation"))
    rejectField(
      "/match/operation",
      "not_allowed",
      `${type} acts before the operation is known, so it affects all of them.${instead}`,
    );
  if (!isReached("recall", phase) && match.body !== undefined)
    rejectField(
      "/match/body",
      "not_allowed",
      `${type} acts before the body is read, so it cannot match on it.${instead}`,
    );
}

function rejectField(pointer: string, code: string, message: string): never {
  fail("validation_failed", message, { errors: [fieldError(pointer, code, message)] });
}

const fieldError = (pointer: string, code: string, message: string): FieldError => ({
  ...{ pointer, field: pointer.slice(1).replaceAll("/", "."), code, message },
});

const quote = (value: unknown) => mask(JSON.stringify(value), 100);
