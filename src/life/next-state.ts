// One change of life on the clock: a record moves to its next state, with the consequences for other records.

import type { LifeChange } from "../contracts/life.ts";
import type { RecordBase, Resource } from "../contracts/resource.ts";
import { isoTime } from "../kernel/clock.ts";
import type { DueRecord } from "../store/records/due-records.ts";
import type { Stores } from "../store/stores.ts";

interface NextStateDependencies extends Pick<Stores, "dueRecords" | "createOperationContext"> {
  resources: readonly Resource[];
}

interface Emitted {
  event: string;
  record: RecordBase;
}

/** Returns what changed: the record itself, then the consequences. To be called inside a transaction. */
export function takeToNextState(deps: NextStateDependencies, due: DueRecord): LifeChange[] {
  const { resources, dueRecords, createOperationContext } = deps;
  const { merchant, kind, id } = due;
  const resource = resources.find((one) => one.kind === kind);
  if (!resource) throw new Error(`There is no kind of record ${kind}.`);
  const emitted: Emitted[] = [];
  const { own } = createOperationContext(merchant, Math.floor(due.due / 1000), undefined, {
    asOf: due.due,
    emitted: (event, record) => void emitted.push({ event, record: record as RecordBase }),
  });
  const record = own(resource).require(id);
  const next = resource.states[record.status ?? ""]?.next?.({ record, own });
  // Settings of the merchant may have changed since the due time was stored.
  if (!next || next.at > due.due) {
    dueRecords.set(due, next?.at ?? null);
    return [];
  }
  const moved = own(resource).move(record, next.status);
  const event = emitted.find(({ record }) => record.object === kind && record.id === id);
  const describe = (changed: RecordBase, from: string | null, type: string | null) => changeOf(due, changed, from, type);
  return [
    describe(moved, record.status ?? null, event?.event ?? null),
    ...emitted.filter((one) => one !== event).map((one) => describe(one.record, null, one.event)),
  ];
}

function changeOf({ merchant, due }: DueRecord, record: RecordBase, from: string | null, event: string | null): LifeChange {
  const { amount, totals, currency } = record as RecordBase & { amount?: number; totals?: { netAmount: number }; currency?: string };
  return {
    at: isoTime(due),
    merchant,
    kind: record.object,
    id: record.id,
    from,
    to: record.status ?? null,
    event,
    amount: amount ?? totals?.netAmount ?? null,
    currency: currency ?? null,
  };
}
