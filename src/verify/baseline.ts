// Baselines: the state at a moment, so that only later changes are checked.

import { createHash } from "node:crypto";
import type { Expectations } from "../contracts/expectations.ts";
import type { RecordBase } from "../contracts/resource.ts";
import type { ScenarioState } from "../contracts/scenario.ts";
import type { CheckedVerdict } from "./check-verdicts.ts";
import type { VerificationSources } from "./plan-checks.ts";

/** The state at a moment, as plain data that can be stored. */
export type Baseline = ReturnType<typeof takeBaseline>;

export function takeBaseline(sources: VerificationSources, { merchant, all }: Expectations) {
  const kinds = all.flatMap(({ records }) => (records ? [records.kind] : []));
  const looked = sources.resources.filter(({ kind }) => kinds.includes(kind));
  const { delivery, attempt } = sources.runSummary.newest();
  return {
    // The newest sequence number of each log.
    request: sources.requestLog.numbers.last(),
    delivery,
    attempt,
    verdict: Math.max(0, ...sources.judge.verdicts().map(numberOf)),
    /** Digests of records by kind and id, for the kinds that the expectations name. */
    records: Object.fromEntries(
      looked.map((resource) => [resource.kind, digests(sources.records(merchant, resource))]),
    ),
    fired: Object.fromEntries(sources.faults()),
    scenarios: sources.scenarios().map(digest),
  };
}

/** Adapts a baseline to a new process, in which the counts that exist only in memory have started from zero. */
export const afterRestart = (
  baseline: Baseline,
  { requestLog }: Pick<VerificationSources, "requestLog">,
): Baseline => ({
  ...baseline,
  request: Math.min(baseline.request, requestLog.numbers.last()),
  verdict: 0,
  fired: {},
  scenarios: [],
});

/** Sources that contain only entries added or changed since the baseline. */
export function sourcesSince(sources: VerificationSources, baseline: Baseline): VerificationSources {
  const { requestLog, runSummary, judge, records, faults, scenarios } = sources;
  return {
    ...sources,
    requestLog: {
      ...requestLog,
      find: (filter, limit) => requestLog.find({ ...filter, after: baseline.request }, limit),
    },
    runSummary: {
      ...runSummary,
      deliveries: (merchant) =>
        runSummary
          .deliveries(merchant)
          .filter(({ sequence, lastAttempt }) => sequence > baseline.delivery || lastAttempt > baseline.attempt),
    },
    judge: {
      ...judge,
      verdicts: () => judge.verdicts().filter((verdict) => isNewer(verdict, baseline, requestLog.sequenceOf)),
    },
    *records(merchant, resource) {
      const before = baseline.records[resource.kind] ?? {};
      for (const record of records(merchant, resource)) if (before[nameOf(record)] !== digest(record)) yield record;
    },
    faults: () => new Map([...faults()].map(([id, fired]) => [id, fired - (baseline.fired[id] ?? 0)])),
    scenarios: () => scenarios().filter((state) => !baseline.scenarios.includes(digest(state))),
    allowUnarmed: true,
  };
}

/**
 * Whether a verdict is new. A verdict on requests is new only if one of the requests is, because verdicts may come
 * late. For any other verdict, its own number decides.
 */
function isNewer(verdict: CheckedVerdict, baseline: Baseline, sequenceOf: (request: string) => number): boolean {
  const { id, requests = [] } = verdict;
  if (requests.length > 0) return requests.some((request) => sequenceOf(request) > baseline.request);
  return id == null || numberOf(verdict) > baseline.verdict;
}

const numberOf = ({ id }: CheckedVerdict) => (id == null ? 0 : Number(id.slice("vdt_".length)));

const digests = (records: Iterable<RecordBase>) =>
  Object.fromEntries([...records].map((record) => [nameOf(record), digest(record)]));

/** Two merchants may have records with the same id. */
const nameOf = ({ merchantId, id }: RecordBase) => `${merchantId} ${id}`;

const digest = (value: RecordBase | ScenarioState) =>
  createHash("sha256").update(JSON.stringify(value)).digest("base64url").slice(0, 12);
