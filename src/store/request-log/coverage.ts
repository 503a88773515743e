// The coverage of a run: each operation with its calls by status, and each type of event with its counts.

import type { ErrorCode } from "../../kernel/errors.ts";
import { factOf } from "../../schema/assumed.ts";
import type { Operation } from "../operation-context.ts";
import type { RequestLog } from "./request-log.ts";
import { countsSince, type Run } from "./run-start.ts";
import type { RunSummary } from "./run-summary.ts";

export type RunCoverage = ReturnType<typeof readCoverage>;
export type OperationCoverage = ReturnType<typeof operationCoverage>;
export type EventTypeCoverage = RunCoverage["events"][number];

interface CoverageSources {
  operations: readonly Operation[];
  eventTypes: ReadonlySet<string>;
  requestLog: Pick<RequestLog, "statusCounts">;
  runSummary: Pick<RunSummary, "events">;
  run: Pick<Run, "start">;
  statusOf(code: ErrorCode): number;
}

const NO_EVENTS = { emitted: 0, delivered: 0 };

/** `erased` includes the calls and events from before a reset, but not those from before the start of `exec`. */
export function readCoverage(
  { operations, eventTypes, requestLog, runSummary, run, statusOf }: CoverageSources,
  erased: boolean,
) {
  const start = erased ? run.start() : undefined;
  const called = requestLog.statusCounts(erased);
  const counts = runSummary.events(erased);
  const callsOf = (id: string) => countsSince(called.get(id) ?? {}, start?.calls.get(id));
  const eventsOf = (type: string) => countsSince(counts.get(type) ?? NO_EVENTS, start?.events.get(type));
  return {
    operations: operations.map((operation) => operationCoverage(operation, callsOf(operation.id), statusOf)),
    /** For every event type, how many were emitted, and how many deliveries succeeded. */
    events: [...eventTypes].sort().map((type) => ({ type, ...eventsOf(type) })),
  };
}

function operationCoverage(
  operation: Operation,
  byStatus: Record<string, number>,
  statusOf: CoverageSources["statusOf"],
) {
  const { id, area, method, path, summary, status, errors: declared, emits } = operation;
  const possible = [factOf(status), ...declared.map((code) => statusOf(code)), ...Object.keys(byStatus).map(Number)];
  const statuses = [...new Set(possible)].sort((one, other) => one - other);
  return {
    id,
    area,
    method,
    path: `/v1${path}`,
    summary,
    calls: Object.values(byStatus).reduce((sum, calls) => sum + calls, 0),
    /** Only statuses of responses that were sent. */
    byStatus,
    /** Every status that the operation declares or that was sent, with its count. */
    statuses: statuses.map((one) => ({ status: one, calls: byStatus[one] ?? 0 })),
    /** The declared types of events. */
    emits: emits.map(factOf),
  };
}
