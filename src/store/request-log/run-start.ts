// Marks where a run of `exec` starts: the database may have rows of earlier runs, which the report leaves out.

import type { RequestLog } from "./request-log.ts";
import type { LoggedDelivery, RunSummary } from "./run-summary.ts";

export type RunStart = ReturnType<typeof markStart>;

interface Logs {
  requestLog: Pick<RequestLog, "numbers" | "statusCounts">;
  runSummary: Pick<RunSummary, "newest" | "events">;
}

export type Run = ReturnType<typeof openRun>;

export function openRun(logs: Logs) {
  let start: RunStart | undefined;
  return {
    /** Call it when `exec` has opened its sandbox. */
    begin() {
      start = markStart(logs);
    },
    /** Call it after all logs were erased: their sequence numbers may start again. */
    erased() {
      if (start) start = { ...start, request: 0, delivery: 0, attempt: 0 };
    },
    /** Undefined outside of `exec`. */
    start: () => start,
  };
}

const markStart = ({ requestLog, runSummary }: Logs) => ({
  // The newest sequence number of each log.
  request: requestLog.numbers.last(),
  ...runSummary.newest(),
  /** The responses so far, by operation and status. */
  calls: requestLog.statusCounts(true),
  /** The events so far, by type. */
  events: runSummary.events(true),
});

/** Whether the delivery was created or attempted since the start. */
export const isSince = ({ delivery, attempt }: RunStart, { sequence, lastAttempt }: LoggedDelivery) =>
  sequence > delivery || lastAttempt > attempt;

/** The counts minus those from before the start. Never below zero: a restored snapshot may have fewer rows. */
export const countsSince = <Name extends string>(
  counts: Readonly<Record<Name, number>>,
  before: Readonly<Partial<Record<Name, number>>> | undefined,
) =>
  Object.fromEntries(
    Object.entries<number>(counts).map(([name, count]) => [name, Math.max(0, count - (before?.[name as Name] ?? 0))]),
  ) as Record<Name, number>;
