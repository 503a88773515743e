// What of the service a run touched: each operation with its answers, each type of event with what became of it. Counted here and nowhere else.

import { errors } from "../../kernel/errors.ts";
import { factOf } from "../../schema/assumed.ts";
import type { Operation } from "../operation-context.ts";
import type { RequestLog } from "./request-log.ts";
import type { RunSummary } from "./run-summary.ts";

export interface OperationCoverage {
  id: string;
  area: string;
  method: string;
  path: string;
  summary: string;
  calls: number;
  /** Only those that it answered. */
  byStatus: Record<string, number>;
  /** Every status that it declares and every other that it answered, with how often. */
  statuses: { status: number; calls: number }[];
  /** The types of events that it declares. */
  emits: string[];
}

export interface EventTypeCoverage {
  type: string;
  /** How many there were, whatever made them. */
  emitted: number;
  /** How many deliveries of them were taken. */
  delivered: number;
}

export interface RunCoverage {
  operations: OperationCoverage[];
  /** Every type that the service is known to send. */
  events: EventTypeCoverage[];
}

interface Needs {
  catalogue: readonly Operation[];
  eventTypes: ReadonlySet<string>;
  requestLog: Pick<RequestLog, "statusCounts">;
  runSummary: Pick<RunSummary, "events">;
}

export function readCoverage({ catalogue, eventTypes, requestLog, runSummary }: Needs): RunCoverage {
  const called = requestLog.statusCounts();
  const told = runSummary.events();
  return {
    operations: catalogue.map((operation) => touchedOperation(operation, called.get(operation.id) ?? {})),
    events: [...eventTypes].sort().map((type) => ({ type, ...(told.get(type) ?? { emitted: 0, delivered: 0 }) })),
  };
}

function touchedOperation(operation: Operation, byStatus: Record<string, number>): OperationCoverage {
  const { id, area, method, path, summary, status, errors: declared, emits } = operation;
  const possible = [factOf(status), ...declared.map((code) => errors[code].status), ...Object.keys(byStatus).map(Number)];
  const statuses = [...new Set(possible)].sort((one, other) => one - other);
  return {
    id,
    area,
    method,
    path: `/v1${path}`,
    summary,
    calls: Object.values(byStatus).reduce((sum, calls) => sum + calls, 0),
    byStatus,
    statuses: statuses.map((one) => ({ status: one, calls: byStatus[one] ?? 0 })),
    emits: emits.map(factOf),
  };
}
