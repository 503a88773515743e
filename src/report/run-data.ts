// Gathers a run as data: requests, responses, deliveries, verdicts. Every format presents this data.

import type { ReportedRequest } from "../contracts/logged-request.ts";
import type {
  Coverage,
  ReceiverCheck,
  ReportedAttempt,
  ReportedScenario,
  RunEnd,
  RunReport,
} from "../contracts/run-report.ts";
import type { ScenarioState } from "../contracts/scenario.ts";
import { ACTS_ONCE, type AddedSandbox, VERDICT_RANK, type Verdict, type VerdictMessage } from "../contracts/verdict.ts";
import type { WebhookDelivery } from "../contracts/webhook.ts";
import { type Clock, isoTime } from "../kernel/clock.ts";
import { mask } from "../kernel/mask.ts";
import { pick } from "../kernel/pick.ts";
import { plural } from "../kernel/text.ts";
import type { EventTypeCoverage, OperationCoverage, RunCoverage } from "../store/request-log/coverage.ts";
import { type RequestSummaryRow, shownRequest } from "../store/request-log/read-requests.ts";
import { isSince } from "../store/request-log/run-start.ts";
import type { LoggedDelivery } from "../store/request-log/run-summary.ts";
import type { Stores } from "../store/stores.ts";
import type { ReceiverChecks } from "./receiver-checks.ts";

export interface RunSources extends Pick<Stores, "requestLog" | "attempts" | "runSummary" | "run"> {
  about: { version: string; url: () => string };
  clock: Clock;
  coverage(erased: boolean): RunCoverage;
  /** The verdicts. `erased` includes the verdicts that a reset erased. */
  verdicts(erased: boolean): readonly VerdictMessage[];
  /** The number of verdicts since the last reset, including those that are no longer kept. */
  madeVerdicts(): Record<Verdict, number>;
  /** Other sandboxes, whose verdicts were added to this run. */
  sandboxes(): readonly AddedSandbox[];
  /** The results of audits and of expectations of effects. */
  checks: Pick<ReceiverChecks, "list">;
  /** The armed scenarios. `ended` includes the results of disarmed scenarios. */
  scenarios(ended: boolean): readonly ScenarioState[];
}

/** The most requests and attempts that a report lists. */
const MOST = 2_000;

export function gather(sources: RunSources, end: RunEnd): RunReport {
  const { about, clock, requestLog, runSummary } = sources;
  // The report of `exec` covers the whole run.
  const isWhole = end.failOn !== null;
  const start = isWhole ? sources.run.start() : undefined;
  const after = start?.request ?? 0;
  const rows = requestLog.summaries({ after }, MOST).reverse();
  const deliveries = runSummary.deliveries().filter((delivery) => start === undefined || isSince(start, delivery));
  const origins = new Map(deliveries.map(({ event, request }) => [event, request]));
  const { operations, events } = sources.coverage(isWhole);
  const coverage = operations.map((operation) => coverageOf(operation, events));
  const verdicts = failedFirst(sources.verdicts(isWhole));
  const checked = sources.checks.list(isWhole);
  const checks = failedFirst(checked.checks);
  const statuses = countBy(
    runSummary.statuses(after),
    ({ status }) => classOf(reportedStatus(status)),
    ({ calls }) => calls,
  );
  const requests = Object.values(statuses).reduce((sum, calls) => sum + calls, 0);
  const begun = deliveries.reduce((sum, delivery) => sum + delivery.attempts, 0);
  const states = sources.scenarios(isWhole);
  const scenarios = states.map(showScenario);
  const attempts = newestAttempts(sources, origins);
  const dropped = droppedVerdicts(sources);
  const found = { pass: 0, fail: 0, inconclusive: 0, ...countBy(verdicts, ({ verdict }) => verdict) };
  return {
    ...end,
    failed:
      end.problems.length > 0 ||
      (end.failOn === null && [...verdicts, ...scenarios, ...checks].some(({ verdict }) => verdict === "fail")),
    sandbox: { version: about.version, url: about.url(), clock: clock.mode, now: isoTime(clock.now()) },
    added: [...sources.sandboxes()],
    totals: {
      operations: { called: coverage.filter(({ calls }) => calls > 0).length, total: coverage.length },
      events: {
        emitted: events.filter(({ emitted }) => emitted > 0).length,
        delivered: events.filter(({ delivered }) => delivered > 0).length,
        total: events.length,
      },
      requests,
      statuses,
      attempts: begun,
      deliveries: countBy(deliveries, ({ state }) => state),
      notAccepted: countNotAccepted(runSummary, deliveries),
      verdicts: {
        pass: found.pass + dropped.pass,
        fail: found.fail + dropped.fail,
        inconclusive: found.inconclusive + dropped.inconclusive,
      },
    },
    unchecked: findUnchecked({ attempts: begun, events }, verdicts, states, checked),
    coverage,
    events,
    scenarios,
    checks,
    verdicts: verdicts.map((verdict) => ({ ...verdict, at: isoTime(verdict.at) })),
    requests: rows.map(showRequest),
    deliveries: attempts,
    omitted: {
      requests: Math.max(0, requests - rows.length),
      attempts: Math.max(0, begun - attempts.length),
      verdicts: dropped.pass + dropped.fail + dropped.inconclusive,
    },
  };
}

const failedFirst = <Judged extends { verdict: Verdict }>(all: readonly Judged[]) =>
  all.toSorted((one, other) => VERDICT_RANK[one.verdict] - VERDICT_RANK[other.verdict]);

/** Attempts are read page by page, because they are read with their bodies. */
const PAGE = 100;

/** How many verdicts of each kind are no longer kept. A verdict without an id may change, and is not counted. */
function droppedVerdicts({ verdicts, madeVerdicts }: RunSources): Record<Verdict, number> {
  const kept = verdicts(false).filter(({ id }) => id !== null);
  const made = madeVerdicts();
  const dropped = (kind: Verdict) => Math.max(0, made[kind] - kept.filter(({ verdict }) => verdict === kind).length);
  return { pass: dropped("pass"), fail: dropped("fail"), inconclusive: dropped("inconclusive") };
}

/** The newest attempts at deliveries of the run, oldest first. `origins` has the events of these deliveries. */
function newestAttempts({ attempts }: RunSources, origins: ReadonlyMap<string, string | null>): ReportedAttempt[] {
  const found: ReportedAttempt[] = [];
  let hasMore = true;
  let after: string | undefined;
  while (hasMore && found.length < MOST) {
    const page = attempts.page(undefined, { limit: PAGE, ...(after === undefined ? {} : { starting_after: after }) });
    const ofRun = page.data.filter(({ eventId }) => origins.has(eventId));
    found.push(...ofRun.map((attempt) => showAttempt(attempt, origins.get(attempt.eventId) ?? null)));
    after = page.data.at(-1)?.id;
    hasMore = page.has_more && ofRun.length > 0;
  }
  return found.reverse();
}

function countNotAccepted({ failedUnchanged }: RunSources["runSummary"], deliveries: readonly LoggedDelivery[]) {
  const newest = new Map<string, LoggedDelivery>();
  for (const delivery of deliveries) {
    const key = `${delivery.endpoint} ${delivery.event}`;
    if (delivery.lastAttempt > (newest.get(key)?.lastAttempt ?? 0)) newest.set(key, delivery);
  }
  return [...newest.values()].filter((delivery) => delivery.state !== "succeeded" && failedUnchanged(delivery)).length;
}

/** Headlines leave this check out, because the service documents no maximum age of events. */
const OLD_EVENTS = "whether it rejects old events";

/**
 * The questions about the receiver that nothing has decided. Whether it acted once shows only in its calls of the API
 * after repeated deliveries, or in the counts of scenarios, audits and expectations.
 */
function findUnchecked(
  sent: { attempts: number; events: readonly EventTypeCoverage[] },
  verdicts: readonly VerdictMessage[],
  scenarios: readonly ScenarioState[],
  checked: { effects: boolean; age: boolean },
): string[] {
  // A receiver may also have acted before it failed. Of deliveries that a reset erased, only the successes are counted.
  if (sent.attempts === 0 && sent.events.every(({ delivered }) => delivered === 0)) return [];
  const decisive = [...verdicts, ...scenarios.flatMap(({ expectations }) => expectations)];
  const isDecided = decisive.some(({ rule, verdict }) => rule === ACTS_ONCE && verdict !== "inconclusive");
  return [...(isDecided || checked.effects ? [] : ["whether it acted once"]), ...(checked.age ? [] : [OLD_EVENTS])];
}

/** Ends a headline with the webhooks not accepted and the checks not made, so that a pass does not hide them. */
function reservations({ unchecked, totals }: RunReport): string {
  const named = unchecked.filter((what) => what !== OLD_EVENTS);
  return (
    (totals.notAccepted === 0 ? "" : `, but the receiver did not accept ${plural(totals.notAccepted, "webhook")}`) +
    (named.length === 0 ? "" : `; not checked: ${named.join(", ")}`)
  );
}

/**
 * A request without a response has the status 0 in the request log and null in reports, so that a reader cannot take it
 * for a status.
 */
const reportedStatus = (status: number) => (status === 0 ? null : status);

export const nameOfStatus = (status: number | null) => (status === null ? "no response" : String(status));

/** The class of a status, such as 4xx; `unanswered` for a request whose response was lost. */
export const classOf = (status: number | null) => (status === null ? "unanswered" : `${Math.floor(status / 100)}xx`);

function countBy<T>(
  items: readonly T[],
  nameOf: (item: T) => string,
  weight: (item: T) => number = () => 1,
): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of items) counts[nameOf(item)] = (counts[nameOf(item)] ?? 0) + weight(item);
  return counts;
}

function coverageOf(operation: OperationCoverage, events: readonly EventTypeCoverage[]): Coverage {
  const { id, statuses, emits } = operation;
  const count = (type: string) => events.find((event) => event.type === type)?.emitted ?? 0;
  return {
    operation: id,
    ...pick(operation, ["area", "method", "path", "calls"]),
    statuses: statuses.map(({ status, calls }) => ({ status: reportedStatus(status), calls })),
    events: emits.map((type) => ({ type, count: count(type) })),
  };
}

const showScenario = (scenario: ScenarioState): ReportedScenario => ({
  ...pick(scenario, ["name", "title", "merchant"]),
  verdict: scenario.verdict ?? "inconclusive",
  ...pick(scenario, ["score", "points", "message"]),
  expectations: scenario.expectations.map((one) => pick(one, ["rule", "points", "verdict", "score"])),
});

function showRequest(row: RequestSummaryRow): ReportedRequest {
  const { key: _, trace: __, status, ...shown } = shownRequest(row);
  return { ...shown, status: reportedStatus(status) };
}

function showAttempt(attempt: WebhookDelivery, request: string | null): ReportedAttempt {
  return {
    id: attempt.id,
    at: isoTime(attempt.created * 1_000),
    merchant: attempt.merchantId,
    event: attempt.eventId,
    type: attempt.eventType,
    endpoint: attempt.endpointId,
    url: mask(attempt.url),
    ...pick(attempt, ["trigger", "attempt", "maxAttempts", "status", "responseStatus"]),
    error: attempt.errorCode,
    request,
  };
}

/** Whether a failed verdict or check fails the report. In `exec`, a report fails exactly if the run does. */
export const failsOnVerdicts = ({ failOn, failed }: RunReport) =>
  failOn === null || (failed && failOn.includes("verdicts"));

/**
 * Whether the scenario fails the report. Outside of `exec`, its verdict decides; in `exec`, the conditions on scores.
 */
export function failsOnScore({ failOn, failed }: RunReport, { verdict, score }: ReportedScenario): boolean {
  if (failOn === null) return verdict === "fail";
  const isMissed = (condition: string) => {
    const least = /^score=(\d+)$/.exec(condition)?.[1];
    return least === undefined ? condition === "score" && verdict !== "pass" : score < Number(least);
  };
  return failed && failOn.some(isMissed);
}

const NOUNS: Readonly<Record<ReceiverCheck["kind"], string>> = { audit: "audit", effects: "expectation" };

/** The worst verdict of the run, and how many results have that verdict, such as `2 verdicts, 1 audit`. */
function worstOf({ totals, scenarios, checks }: RunReport): { verdict: Verdict; what: string } | undefined {
  const judged = [
    ...scenarios.map(({ verdict }) => ({ noun: "scenario", verdict })),
    ...checks.map(({ kind, verdict }) => ({ noun: NOUNS[kind], verdict })),
  ];
  for (const verdict of ["fail", "inconclusive", "pass"] as const) {
    const others = judged.filter((one) => one.verdict === verdict);
    const counts = { verdict: totals.verdicts[verdict], ...countBy(others, ({ noun }) => noun) };
    const named = Object.entries(counts).filter(([, number]) => number > 0);
    if (named.length > 0) return { verdict, what: named.map(([noun, number]) => plural(number, noun)).join(", ") };
  }
  return undefined;
}

/** The headline of a run, and how good it is; null if nothing was judged. */
export function headline(run: RunReport): { verdict: Verdict | null; text: string } {
  if (run.problems.length > 0) return { verdict: "fail", text: "The run failed" };
  const worst = worstOf(run);
  if (!worst) return { verdict: null, text: "No verdicts" };
  const { verdict, what } = worst;
  if (verdict === "fail" && !run.failed) return { verdict: "inconclusive", text: `The run passed, but ${what} failed` };
  const text = {
    pass: "Every verdict is pass",
    fail: `${what} failed`,
    inconclusive: `Inconclusive: ${what} not decided`,
  }[verdict];
  const isRefused = verdict === "pass" && run.totals.notAccepted > 0;
  return { verdict: isRefused ? "inconclusive" : verdict, text: text + reservations(run) };
}
