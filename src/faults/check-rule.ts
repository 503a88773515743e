// Checks of a rule beyond its schema: names must exist, and conditions must be known in the phase in which the rule is evaluated.

import type { ApiPhase, FaultTarget } from "../contracts/fault.ts";
import { unknownRuleMessage } from "../contracts/verdict.ts";
import { didYouMean } from "../kernel/did-you-mean.ts";
import { type FieldError, fail } from "../kernel/errors.ts";
import { mask } from "../kernel/mask.ts";
import { escapePointer } from "../schema/json-pointer.ts";
import { unknownMerchant } from "../store/records/tenants.ts";
import type { Action } from "./action.ts";
import { milliseconds } from "./fields.ts";
import { isReached, matchesName } from "./matching.ts";
import type { ActionInput, RuleInput } from "./rule-schema.ts";
import { type BudgetScope, SCOPES_OF, type Trigger } from "./trigger.ts";

/** A valid rule with its defaults. */
export interface FaultRule {
  id: string | undefined;
  name: string | null;
  action: Action;
  fields: ActionInput;
  match: NonNullable<RuleInput["match"]>;
  trigger: Trigger;
  expect: string[];
  ttl: string | null;
  priority: number;
  label: boolean;
  enabled: boolean;
  /** The only merchant that it can affect; undefined if it can affect any. */
  owner: string | undefined;
}

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

export const TARGET_NOUN: Record<FaultTarget, string> = { api: "calls", delivery: "deliveries" };

export function checkMeaning(rule: FaultRule, known: KnownNames): void {
  const { action, trigger, match } = rule;
  const problem = action.check(rule.fields, trigger);
  if (problem !== undefined) rejectField("/action", "wrong_shape", problem);
  for (const span of [rule.ttl, trigger.after, trigger.for]) if (span !== null) milliseconds(span);
  action.prepare(rule.fields);
  checkExists("operation", match.operation, known.operations, "operation");
  checkExists("event", match.event, [...known.eventTypes], "event type", " docs/events.md lists them.");
  checkOwner(match, known);
  checkExpected(rule.expect, known.judgeRules);
  for (const pointer of Object.keys(match.body ?? {}))
    if (!pointer.startsWith("/"))
      rejectField(
        `/match/body/${escapePointer(pointer)}`,
        "wrong_format",
        `match.body takes JSON Pointers such as /amount; received ${quote(pointer)}.`,
      );
  checkBudgetScope(action.target, trigger.per);
  if (action.target === "api") checkPhase(action.phase as ApiPhase, action.type, rule);
}

function checkExists(
  field: string,
  given: string | readonly string[] | undefined,
  names: readonly string[],
  noun: string,
  list = ` There are ${names.join(", ")}.`,
): void {
  for (const name of given === undefined ? [] : ([given].flat() as string[])) {
    if (names.some((existing) => matchesName([name], existing))) continue;
    rejectField(`/match/${field}`, "not_allowed", `There is no ${noun} ${quote(name)}.${didYouMean(name, names) || list}`);
  }
}

function checkExpected(expect: readonly string[], judgeRules: readonly string[]): void {
  for (const [index, pattern] of expect.entries()) {
    const problem = unknownRuleMessage(pattern, judgeRules);
    if (problem !== undefined) rejectField(`/expect/${index}`, "not_allowed", problem);
  }
}

function checkOwner({ merchant, key }: FaultRule["match"], known: KnownNames): void {
  const merchants = merchant === undefined ? [] : known.merchants();
  if (merchant !== undefined && !merchants.includes(merchant))
    rejectField("/match/merchant", "not_allowed", unknownMerchant(merchant, merchants));
  if (key === undefined) return;
  const owner = known.ownerOf(key);
  if (owner === undefined) rejectField("/match/key", "not_allowed", "match.key is not a key of this sandbox; GET /_sandbox lists them.");
  if (merchant !== undefined && merchant !== owner)
    rejectField("/match/key", "not_allowed", `match.key is a key of ${owner}, not of ${merchant}: no call is made with both.`);
}

function checkBudgetScope(target: FaultTarget, per: BudgetScope): void {
  if (!SCOPES_OF[target].includes(per))
    rejectField(
      "/trigger/per",
      "not_allowed",
      `trigger.per must be one of ${SCOPES_OF[target].join(", ")} for ${TARGET_NOUN[target]}; received ${quote(per)}.`,
    );
}

/** Rejects a condition on what is not known yet in the action's phase: the rule would silently never fire. */
function checkPhase(phase: ApiPhase, type: string, { match, trigger }: FaultRule): void {
  const instead = " Use the action status, which comes later.";
  if (!isReached("auth", phase) && (match.operation !== undefined || trigger.per === "operation"))
    rejectField("/match/operation", "not_allowed", `${type} acts before the operation is known, so it affects all of them.${instead}`);
  if (!isReached("recall", phase) && match.body !== undefined)
    rejectField("/match/body", "not_allowed", `${type} acts before the body is read, so it cannot match on it.${instead}`);
}

export function rejectField(pointer: string, code: string, message: string): never {
  const error: FieldError = { pointer, field: pointer.slice(1).replaceAll("/", "."), code, message };
  fail("validation_failed", message, { errors: [error] });
}

export const quote = (value: unknown) => mask(JSON.stringify(value) ?? "nothing", 100);
