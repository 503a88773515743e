// Counts of responses by operation and status, kept in memory; they start from the rows in the file.

import type { Database } from "../sqlite/database.ts";

interface StatusCount {
  operation: string | null;
  status: number;
  calls: number;
}

export function openCallCounts({ sql }: Database) {
  const counts = new Map<string, Record<string, number>>();
  const count = (operation: string | null | undefined, status: number, calls: number) => {
    if (operation == null) return;
    const byStatus = counts.get(operation) ?? {};
    byStatus[status] = (byStatus[status] ?? 0) + calls;
    counts.set(operation, byStatus);
  };
  const before = sql
    .prepare<[], StatusCount>("select operation, status, count(*) as calls from request_log group by operation, status")
    .all();
  for (const { operation, status, calls } of before) count(operation, status, calls);
  return { counts, count };
}
