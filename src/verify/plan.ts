// Makes checks of what was asked for; refuses names that nothing has, with the one that was meant.

import type { Expectation, ExpectationKind, Expectations, RequestMatch } from "../contracts/expectations.ts";
import type { RecordBase, Resource } from "../contracts/resource.ts";
import type { ScenarioState } from "../contracts/scenario.ts";
import { didYouMean } from "../kernel/did-you-mean.ts";
import { tryParseDuration } from "../kernel/duration.ts";
import { fail } from "../kernel/errors.ts";
import { type Count, matchesWildcard, validateCount } from "../schema/conditions.ts";
import type { RequestLog } from "../store/journal/request-log.ts";
import type { RunSummary } from "../store/journal/run-summary.ts";
import type { Tenants } from "../store/records/tenants.ts";
import type { Check } from "./check-result.ts";
import { checkDeliveries, checkFault, checkRecords, checkScenario, checkVerdicts, type Judged } from "./effects.ts";
import { checkNever, checkRequests, checkSequence } from "./requests.ts";

/** Everything that an expectation can be held against. */
export interface Sources {
  requestLog: Pick<RequestLog, "find" | "last">;
  runSummary: Pick<RunSummary, "deliveries" | "newest">;
  tenants: Pick<Tenants, "list">;
  /** Every record of a kind, of one merchant or of all. */
  records(merchant: string | undefined, resource: Resource): Iterable<RecordBase>;
  /** Ids of the operations of the service. */
  operations: readonly string[];
  resources: readonly Resource[];
  judge: {
    /** Ids of its rules. */
    rules: readonly string[];
    verdicts(): readonly Judged[];
  };
  /** The scenarios that are armed. */
  scenarios(): readonly ScenarioState[];
  /** How often each fault rule fired, by its id. */
  faults(): ReadonlyMap<string, number>;
  /** Whether scenarios and fault rules may be named that nobody has armed yet. */
  early?: boolean;
}

export type { Judged };

export interface Planned {
  kind: ExpectationKind;
  check: Check;
  /** Real milliseconds that this needs whatever happens. */
  atLeast: number;
  /** Whether requests and attempts tell of every change of it. */
  isHeard: boolean;
}

const LONGEST = 3_600_000;
const HEARD = new Set<ExpectationKind>(["requests", "sequence", "never", "deliveries"]);

export function plan(sources: Sources, { merchant, all }: Expectations): Planned[] {
  if (merchant !== undefined) checkMerchant(sources, merchant, "merchant");
  return all.map((expectation, index) => {
    const kind = Object.keys(expectation)[0] as ExpectationKind;
    const where = `all.${index}.${kind}`;
    const atLeast = expectation.never?.for === undefined ? 0 : span(expectation.never.for, `${where}.for`);
    return { kind, atLeast, isHeard: HEARD.has(kind), check: checkOf(sources, expectation, merchant, where, atLeast) };
  });
}

/** Real milliseconds of a span that somebody is to wait. */
export function span(text: string, where: string): number {
  const found =
    tryParseDuration(text) ?? fail("validation_failed", `${where} must be a span such as 500ms or 5s; received ${JSON.stringify(text)}.`);
  return found <= LONGEST ? found : fail("validation_failed", `${where} may be an hour at most; received ${JSON.stringify(text)}.`);
}

function checkOf(sources: Sources, expectation: Expectation, merchant: string | undefined, where: string, atLeast: number): Check {
  const { requestLog, runSummary, judge } = sources;
  const { requests, sequence, never, deliveries, records, verdicts, scenario, fault } = expectation;
  if (requests) {
    checkMatch(sources, requests.match, `${where}.match`);
    checkBounds(requests.count, `${where}.count`);
    return checkRequests(requestLog, requests, merchant);
  }
  if (sequence) {
    sequence.forEach((match, index) => {
      checkMatch(sources, match, `${where}.${index}`);
    });
    return checkSequence(requestLog, sequence, merchant);
  }
  if (never) {
    checkMatch(sources, never.match, `${where}.match`);
    return checkNever(requestLog, never.match, atLeast, merchant);
  }
  if (deliveries) {
    if (deliveries.match.merchant !== undefined) checkMerchant(sources, deliveries.match.merchant, `${where}.match.merchant`);
    checkBounds(deliveries.count, `${where}.count`);
    checkBounds(deliveries.attempts, `${where}.attempts`);
    return checkDeliveries(runSummary, deliveries, merchant);
  }
  if (records) return planRecords(sources, records, merchant, where);
  if (verdicts) {
    for (const rule of verdicts.rules) checkName(rule, judge.rules, `${where}.rules`, "rule of the judge");
    return checkVerdicts(judge.verdicts, verdicts, merchant);
  }
  if (scenario) return planScenario(sources, scenario, merchant, where);
  return planFault(sources, fault as NonNullable<typeof fault>, where);
}

function planRecords(sources: Sources, wanted: NonNullable<Expectation["records"]>, merchant: string | undefined, where: string): Check {
  const { resources } = sources;
  const kinds = resources.map(({ kind }) => kind);
  checkName(wanted.kind, kinds, `${where}.kind`, "kind of record");
  checkBounds(wanted.count, `${where}.count`);
  const resource =
    resources.find(({ kind }) => kind === wanted.kind) ?? fail("validation_failed", `${where}.kind must name one kind of record.`);
  return checkRecords(() => sources.records(merchant, resource), resource, wanted);
}

function planScenario(
  { scenarios, early = false }: Sources,
  wanted: NonNullable<Expectation["scenario"]>,
  merchant: string | undefined,
  where: string,
): Check {
  const names = () => scenarios().map(({ name }) => name);
  if (!early) checkName(wanted.name, [...new Set(names())], `${where}.name`, "armed scenario");
  checkBounds(wanted.score, `${where}.score`);
  const whose = wanted.merchant ?? merchant;
  const find = () =>
    scenarios().filter(
      ({ name, merchant: struck }) => name === wanted.name && (whose === undefined || struck === null || struck === whose),
    );
  const found = find();
  if (found.length === 1 || early) return checkScenario(() => find()[0], wanted);
  const armed = `it is armed for ${scenarios()
    .filter(({ name }) => name === wanted.name)
    .map(({ merchant: struck }) => struck ?? "everybody")
    .join(", ")}`;
  return fail("validation_failed", `${where}.merchant must name one for whom ${wanted.name} is armed: ${armed}.`);
}

function planFault({ faults, early = false }: Sources, wanted: NonNullable<Expectation["fault"]>, where: string): Check {
  if (!early) checkName(wanted.id, [...faults().keys()], `${where}.id`, "fault rule");
  checkBounds(wanted.fired, `${where}.fired`);
  return checkFault(() => faults().get(wanted.id) ?? 0, wanted);
}

function checkMatch(sources: Sources, { operation, merchant, body }: RequestMatch, where: string): void {
  for (const name of [operation ?? []].flat()) checkName(name, sources.operations, `${where}.operation`, "operation");
  if (merchant !== undefined) checkMerchant(sources, merchant, `${where}.merchant`);
  for (const pointer of Object.keys(body ?? {}))
    if (pointer !== "" && !pointer.startsWith("/"))
      fail("validation_failed", `${where}.body names values by JSON Pointer, such as "/amount"; received ${JSON.stringify(pointer)}.`);
}

const checkMerchant = ({ tenants }: Sources, merchant: string, where: string) =>
  checkName(
    merchant,
    tenants.list().map(({ id }) => id),
    where,
    "merchant",
  );

function checkName(name: string, known: readonly string[], where: string, noun: string): void {
  if (known.some((one) => matchesWildcard(one, name))) return;
  const choice = known.length > 0 ? ` There are ${known.join(", ")}.` : " There is none at all.";
  fail("validation_failed", `${where}: there is no ${noun} ${name}.${didYouMean(name, known) || choice}`);
}

const checkBounds = (count: Count | undefined, where: string) => (count ? validateCount(count, where) : undefined);
