// Turns expectations into checks. Rejects unknown names, and suggests known ones.

import { unknownRuleMessage } from "../client/verdict-text.ts";
import type {
  Expectation,
  ExpectationKind,
  ExpectationOf,
  Expectations,
  RequestMatch,
} from "../contracts/expectations.ts";
import type { RecordBase, Resource } from "../contracts/resource.ts";
import type { ScenarioState } from "../contracts/scenario.ts";
import { nearestOrAll } from "../kernel/did-you-mean.ts";
import { durationProblem, tryParseDuration } from "../kernel/duration.ts";
import { fail } from "../kernel/errors.ts";
import { matchesWildcard, validateCount } from "../schema/conditions.ts";
import type { Stores } from "../store/stores.ts";
import { checkDeliveries, checkEffects, checkFault, checkRecords, checkScenario } from "./check-effects.ts";
import { checkNever, checkRequests, checkSequence } from "./check-requests.ts";
import type { Check } from "./check-result.ts";
import { type CheckedVerdict, checkVerdicts } from "./check-verdicts.ts";

/** The data against which expectations are checked. */
export interface VerificationSources extends Pick<Stores, "requestLog" | "runSummary" | "tenants"> {
  /** Every record of a kind, of one merchant or of all. */
  records(merchant: string | undefined, resource: Resource): Iterable<RecordBase>;
  /** Ids of the operations of the service. */
  operations: readonly string[];
  resources: readonly Resource[];
  judge: {
    rules: readonly string[];
    verdicts(): readonly CheckedVerdict[];
    /** Whether a verdict on receivers, of one merchant or of all, may change without further traffic. */
    isWatching(merchant?: string): boolean;
  };
  /** Whether a receiver was audited since the last reset. */
  hasAudited(): boolean;
  /** The scenarios that are armed. */
  scenarios(): readonly ScenarioState[];
  /** How often each fault rule fired, by its id. */
  faults(): ReadonlyMap<string, number>;
  /** Whether expectations may name scenarios and fault rules that are not armed yet. */
  allowUnarmed?: boolean;
}

export type PlannedCheck = ReturnType<typeof planChecks>[number];

const MAX_WAIT = 3_600_000;
const EVENT_DRIVEN = new Set<ExpectationKind>(["requests", "sequence", "never", "deliveries", "effects"]);

export function planChecks(sources: VerificationSources, { merchant, all }: Expectations) {
  if (merchant !== undefined) checkMerchant(sources, merchant, "merchant");
  return all.map((expectation, index) => {
    const kind = Object.keys(expectation)[0] as ExpectationKind;
    const where = `all.${index}.${kind}`;
    /** Minimum duration of the check, in real milliseconds. */
    const atLeast = expectation.never?.for === undefined ? 0 : readWait(expectation.never.for, `${where}.for`);
    /** Whether the result of the check changes only with a request or a delivery attempt. */
    const isEventDriven = EVENT_DRIVEN.has(kind);
    return { kind, atLeast, isEventDriven, check: checkOf(sources, expectation, merchant, where, atLeast) };
  });
}

/** A time to wait, in real milliseconds. */
export function readWait(text: string, where: string): number {
  const found =
    tryParseDuration(text) ??
    fail("validation_failed", `${where} ${durationProblem(text)}; received ${JSON.stringify(text)}.`);
  return found <= MAX_WAIT
    ? found
    : fail("validation_failed", `${where} must not be longer than an hour; received ${JSON.stringify(text)}.`);
}

function checkOf(
  sources: VerificationSources,
  expectation: Expectation,
  merchant: string | undefined,
  where: string,
  atLeast: number,
): Check {
  const { requestLog, runSummary, faults } = sources;
  const { requests, sequence, never, deliveries, records, effects, verdicts, scenario, fault } = expectation;
  if (requests) {
    checkMatch(sources, requests.match, `${where}.match`);
    validateCount(requests.count, `${where}.count`);
    return checkRequests(requestLog, requests, merchant);
  }
  if (sequence) {
    for (const [index, match] of sequence.entries()) checkMatch(sources, match, `${where}.${index}`);
    return checkSequence(requestLog, sequence, merchant);
  }
  if (never) {
    checkMatch(sources, never.match, `${where}.match`);
    return checkNever(requestLog, never.match, atLeast, merchant);
  }
  if (deliveries) {
    if (deliveries.match.merchant !== undefined)
      checkMerchant(sources, deliveries.match.merchant, `${where}.match.merchant`);
    validateCount(deliveries.count, `${where}.count`);
    validateCount(deliveries.attempts, `${where}.attempts`);
    return checkDeliveries(runSummary, deliveries, merchant);
  }
  if (records) {
    const { resources } = sources;
    const kinds = resources.map(({ kind }) => kind);
    checkName(records.kind, kinds, `${where}.kind`, "kind of record");
    validateCount(records.count, `${where}.count`);
    const resource =
      resources.find(({ kind }) => kind === records.kind) ??
      fail("validation_failed", `${where}.kind must name one kind of record.`);
    return checkRecords(() => sources.records(merchant, resource), resource, records);
  }
  if (effects) {
    if (effects.match?.merchant !== undefined)
      checkMerchant(sources, effects.match.merchant, `${where}.match.merchant`);
    return checkEffects(runSummary, effects, merchant, sources.hasAudited);
  }
  if (verdicts) return planVerdicts(sources, verdicts, merchant, where);
  if (scenario) return planScenario(sources, scenario, merchant, where);
  const wanted = fault as ExpectationOf<"fault">;
  if (!sources.allowUnarmed) checkName(wanted.id, [...faults().keys()], `${where}.id`, "fault rule");
  validateCount(wanted.fired, `${where}.fired`);
  return checkFault(() => faults().get(wanted.id) ?? 0, wanted);
}

function planVerdicts(
  { judge, faults, allowUnarmed = false }: VerificationSources,
  wanted: ExpectationOf<"verdicts">,
  merchant: string | undefined,
  where: string,
): Check {
  for (const rule of wanted.rules) {
    const unknown = unknownRuleMessage(rule, judge.rules);
    if (unknown !== undefined) fail("validation_failed", `${where}.rules: ${unknown}`);
  }
  for (const id of allowUnarmed ? [] : (wanted.faults ?? []))
    checkName(id, [...faults().keys()], `${where}.faults`, "fault rule");
  return () => checkVerdicts(judge.verdicts(), wanted, merchant);
}

function planScenario(
  { scenarios, judge, allowUnarmed = false }: VerificationSources,
  wanted: ExpectationOf<"scenario">,
  merchant: string | undefined,
  where: string,
): Check {
  const names = () => scenarios().map(({ name }) => name);
  if (!allowUnarmed) checkName(wanted.name, [...new Set(names())], `${where}.name`, "armed scenario");
  validateCount(wanted.score, `${where}.score`);
  const merchantId = wanted.merchant ?? merchant;
  const armed = () => scenarios().filter(({ name }) => name === wanted.name);
  const find = () =>
    armed().filter(({ merchant: owner }) => merchantId === undefined || owner === null || owner === merchantId);
  if (find().length === 1 || allowUnarmed) return checkScenario(() => find()[0], wanted, judge);
  const owners = armed().map(({ merchant: owner }) => owner ?? "all");
  return fail(
    "validation_failed",
    `${where}.merchant must be one of the merchants for which ${wanted.name} is armed: ${owners.join(", ")}.`,
  );
}

function checkMatch(sources: VerificationSources, { operation, merchant, body }: RequestMatch, where: string): void {
  for (const name of [operation ?? []].flat()) checkName(name, sources.operations, `${where}.operation`, "operation");
  if (merchant !== undefined) checkMerchant(sources, merchant, `${where}.merchant`);
  for (const pointer of Object.keys(body ?? {}))
    if (pointer !== "" && !pointer.startsWith("/"))
      fail(
        "validation_failed",
        `${where}.body names values by JSON Pointer, such as "/amount"; received ${JSON.stringify(pointer)}.`,
      );
}

/** A merchant that was removed is known as long as the log has its requests. */
function checkMerchant({ tenants, requestLog }: VerificationSources, merchant: string, where: string): void {
  if (tenants.has(merchant) || requestLog.find({ merchant }, 1).length > 0) return;
  const known = tenants.list().map(({ id }) => id);
  checkName(merchant, known, where, "merchant");
}

function checkName(name: string, known: readonly string[], where: string, noun: string): void {
  if (known.some((one) => matchesWildcard(one, name))) return;
  fail("validation_failed", `${where}: there is no ${noun} ${name}.${nearestOrAll(name, known)}`);
}
