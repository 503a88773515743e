// What came since a moment: how everything stood then, and the sources without what is as it was.

import { createHash } from "node:crypto";
import type { Expectations } from "../contracts/expectations.ts";
import type { RecordBase } from "../contracts/resource.ts";
import type { ScenarioState } from "../contracts/scenario.ts";
import type { Judged, Sources } from "./plan.ts";

/** How everything stood at a moment. Plain data, so that it can be kept. */
export interface Mark {
  /** The newest numbers of each. */
  request: number;
  delivery: number;
  attempt: number;
  verdict: number;
  /** Digests of records by kind and id, of the kinds that are looked at. */
  records: Record<string, Record<string, string>>;
  /** How often each fault rule had fired. */
  fired: Record<string, number>;
  /** Digests of armed scenarios. */
  scenarios: string[];
}

export function markOf(sources: Sources, { merchant, all }: Expectations): Mark {
  const kinds = all.flatMap(({ records }) => (records ? [records.kind] : []));
  const looked = sources.resources.filter(({ kind }) => kinds.includes(kind));
  const { delivery, attempt } = sources.runSummary.newest();
  return {
    request: sources.requestLog.last(),
    delivery,
    attempt,
    verdict: Math.max(0, ...sources.judge.verdicts().map(numberOf)),
    records: Object.fromEntries(looked.map((resource) => [resource.kind, digests(sources.records(merchant, resource))])),
    fired: Object.fromEntries(sources.faults()),
    scenarios: sources.scenarios().map(digest),
  };
}

/** A mark of an earlier process, in which what only memory holds began to count anew. */
export const afterRestart = (mark: Mark, { requestLog }: Pick<Sources, "requestLog">): Mark => ({
  ...mark,
  request: Math.min(mark.request, requestLog.last()),
  verdict: 0,
  fired: {},
  scenarios: [],
});

/** A record, a scenario that is armed, or a fault rule counts when something about it is new. */
export function sourcesSince(sources: Sources, mark: Mark): Sources {
  const { requestLog, runSummary, judge, records, faults, scenarios } = sources;
  return {
    ...sources,
    requestLog: { ...requestLog, find: (filter, limit) => requestLog.find({ ...filter, after: mark.request }, limit) },
    runSummary: {
      ...runSummary,
      deliveries: (merchant) =>
        runSummary.deliveries(merchant).filter(({ sequence, lastAttempt }) => sequence > mark.delivery || lastAttempt > mark.attempt),
    },
    judge: { ...judge, verdicts: () => judge.verdicts().filter((verdict) => isNewer(verdict, mark)) },
    *records(merchant, resource) {
      const before = mark.records[resource.kind] ?? {};
      for (const record of records(merchant, resource)) if (before[nameOf(record)] !== digest(record)) yield record;
    },
    faults: () => new Map([...faults()].map(([id, fired]) => [id, fired - (mark.fired[id] ?? 0)])),
    scenarios: () => scenarios().filter((state) => !mark.scenarios.includes(digest(state))),
    early: true,
  };
}

/** What is found late is not new: the newest request that shows it decides, where one does. */
function isNewer(verdict: Judged, mark: Mark): boolean {
  const { id, requests = [] } = verdict;
  if (requests.length > 0) return requests.some((request) => Number(request.slice("req_".length)) > mark.request);
  return id == null || numberOf(verdict) > mark.verdict;
}

const numberOf = ({ id }: Judged) => (id == null ? 0 : Number(id.slice("vdt_".length)));

const digests = (records: Iterable<RecordBase>) => Object.fromEntries([...records].map((record) => [nameOf(record), digest(record)]));

/** Each merchant may have a record of the same id. */
const nameOf = ({ merchantId, id }: RecordBase) => `${merchantId} ${id}`;

const digest = (value: RecordBase | ScenarioState) => createHash("sha256").update(JSON.stringify(value)).digest("base64url").slice(0, 12);
