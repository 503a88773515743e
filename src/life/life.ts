// Time-driven changes: moves each due record to its next state, in the order of due times. Each change is dated at its
// due time.

import type { LifeChange } from "../contracts/life.ts";
import type { RecordBase, Resource } from "../contracts/resource.ts";
import { afterRealTimeIfRunning, type Clock, isoTime, realNow } from "../kernel/clock.ts";
import { SandboxError } from "../kernel/errors.ts";
import { notify, subscribeTo } from "../kernel/listeners.ts";
import type { Behaviour } from "../schema/assumed.ts";
import type { DueRecord } from "../store/records/due-records.ts";
import type { Stores } from "../store/stores.ts";

interface LifeDependencies extends Pick<Stores, "database" | "dueRecords" | "createOperationContext"> {
  clock: Clock;
  resources: readonly Resource[];
  isOn: boolean;
  /** Reports a defect of the sandbox itself. */
  report(error: unknown): void;
}

export type Life = ReturnType<typeof createLife>;

/**
 * The most records in one transaction. They share one wait for the disk, and requests are served between two
 * transactions.
 */
const BATCH = 100;
/** Real milliseconds. */
const TRY_AGAIN_AFTER = 2_000;

export function createLife(deps: LifeDependencies) {
  const { clock, database, dueRecords, isOn, report } = deps;
  const listeners = new Set<(change: LifeChange) => void>();
  let playing: Promise<void> | undefined;
  let retryAfter = 0;
  const playAll = async (now: number) => {
    while ((dueRecords.soonest() ?? Infinity) <= now) {
      const changes = await database.groupCommit(() => playBatch(deps, now));
      for (const change of changes) notify(listeners, change);
    }
  };
  const play = async (now: number) => {
    try {
      await playAll(now);
    } catch (error) {
      retryAfter = realNow() + TRY_AGAIN_AFTER;
      afterRealTimeIfRunning(TRY_AGAIN_AFTER, clock.wake);
      // A SandboxError means that another program locks the database, or that the sandbox is closing. The due times are
      // kept for a later try.
      if (!(error instanceof SandboxError)) report(error);
    }
    playing = undefined;
    clock.wake();
  };
  return {
    /** False with `--life off`: then nothing is due. */
    isOn,
    nextDue: () => (!isOn || playing || realNow() < retryAfter ? null : dueRecords.soonest()),
    run(now: number) {
      playing = play(now);
    },
    settled: async () => playing,
    /** Calls the listener with each change after its commit. Returns a function that removes it. */
    listen: subscribeTo(listeners),
  };
}

/** Moves a batch of due records. Call this inside a transaction. */
function playBatch(deps: LifeDependencies, now: number): LifeChange[] {
  const changes: LifeChange[] = [];
  for (let count = 0; count < BATCH; count++) {
    const record = deps.dueRecords.first(now);
    if (!record) break;
    changes.push(...playOne(deps, record));
  }
  return changes;
}

/** Reports a record that cannot be changed, and leaves it as it is. Other records are unaffected. */
function playOne(deps: LifeDependencies, record: DueRecord): LifeChange[] {
  const { database, dueRecords, report } = deps;
  try {
    return database.transaction(() => takeToNextState(deps, record));
  } catch (error) {
    // The database itself failed: the whole transaction is rolled back.
    if (error instanceof SandboxError) throw error;
    dueRecords.set(record, null);
    report(error);
    return [];
  }
}

const facts: Omit<Behaviour, "setting">[] = [
  {
    id: "life.dates",
    fact:
      "Records change on their dates, in the time zone of the merchant's country, and emit the events of these " +
      "changes. Business days are Monday to Friday.",
    why:
      "The service's documentation names states such as `paid` and `overdue`, but no operation that leads to " +
      "them.",
  },
  {
    id: "life.payouts",
    fact:
      "A payout arrives two business days after its creation, or after one as mobile money. It is in transit from " +
      "08:00 of the business day before its `arrivalDate`, but never on the day of its creation, and paid at 09:00 " +
      "of the `arrivalDate`. A payout method is verified after a minute.",
    why: "The service's documentation does not say how long payouts take; one or two days are common.",
  },
  {
    id: "life.payroll",
    fact:
      "A submitted payroll is processed at 08:00 and paid at 09:00 of its `payDate`. A draft is not paid. If it is " +
      "submitted after its `payDate`, it is paid on the next business day.",
    why: "The service's documentation has no operation that pays a payroll.",
  },
  {
    id: "life.remittances",
    fact:
      "A pending remittance is overdue from the day after its `dueDate`. " +
      "With `autoRemit`, it is paid and confirmed at 09:00 of its `dueDate`.",
    why: "The service's documentation names `autoRemit` but does not say when it pays.",
  },
  {
    id: "life.bookings",
    fact:
      "A confirmed booking checks in at 15:00 of `checkIn` and out at 11:00 of `checkOut`. " +
      "A booking that is still pending is cancelled at the end of its first day.",
    why: "The service's documentation has no operations for arrivals and departures; these hours are common.",
  },
  {
    id: "life.renewals",
    fact:
      "At 09:00 of its `dueDate`, a pending renewal with `autoRenew` is renewed, and any other enters its grace " +
      "period. It lapses on the day after `graceUntil`.",
    why: "The service's documentation lists renewals but does not say how they happen.",
  },
  {
    id: "life.orders",
    fact: "A shipped order is delivered at 09:00 of its `expectedDelivery`.",
    why: "The service's documentation does not say how orders are tracked.",
  },
  {
    id: "life.syncs",
    fact: "A running synchronisation succeeds two minutes after it started.",
    why: "The service's documentation lists the logs but does not say how long a synchronisation takes.",
  },
];

export const behaviours: Behaviour[] = facts.map((fact) => ({ ...fact, setting: "--life" }));

/** Returns the record's own change, followed by the changes that it caused. Call this inside a transaction. */
function takeToNextState(
  { resources, dueRecords, createOperationContext }: LifeDependencies,
  due: DueRecord,
): LifeChange[] {
  const { merchant, kind, id } = due;
  const resource = resources.find((one) => one.kind === kind);
  if (!resource) throw new Error(`There is no kind of record ${kind}.`);
  const emitted: { event: string; record: RecordBase }[] = [];
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
  const describe = (changed: RecordBase, from: string | null, type: string | null) =>
    changeOf(due, changed, from, type);
  return [
    describe(moved, record.status ?? null, event?.event ?? null),
    ...emitted.filter((one) => one !== event).map((one) => describe(one.record, null, one.event)),
  ];
}

function changeOf(
  { merchant, due }: DueRecord,
  record: RecordBase,
  from: string | null,
  event: string | null,
): LifeChange {
  const { amount, totals, currency } = record as RecordBase & {
    amount?: number;
    totals?: { netAmount: number };
    currency?: string;
  };
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
