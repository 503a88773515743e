// When time takes a record to its next state: computed by each write from what the record's state declares.

import type { OwnRecords, RecordBase, Resource } from "../../contracts/resource.ts";

interface DueTimeContext<R extends RecordBase> {
  resource: Resource<R>;
  own: OwnRecords;
  /** Unix seconds on the sandbox clock. */
  now: number;
  /** The earliest time, in sandbox milliseconds, at which something is still to come. */
  dueFrom: number;
}

/**
 * Sandbox milliseconds, a whole second; null if nothing is to come. Undefined keeps the stored time: the change left the state and its date
 * alone, and a date that had passed when the record was made stays past.
 */
export function dueTimeOf<R extends RecordBase>({ resource, own, now, dueFrom }: DueTimeContext<R>, record: R, before?: R) {
  const at = nextTime(resource, own, record);
  if (before?.status === record.status && at === nextTime(resource, own, before as R)) return undefined;
  const isPast = at !== undefined && at < dueFrom && !resource.states[record.status ?? ""]?.isBrief;
  return at === undefined || isPast ? null : Math.max(Math.ceil(at / 1000), now) * 1000;
}

const nextTime = <R extends RecordBase>({ states }: Resource<R>, own: OwnRecords, record: R) =>
  states[record.status ?? ""]?.next?.({ record, own })?.at;
