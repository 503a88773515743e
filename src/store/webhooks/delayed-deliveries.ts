// Deliveries that fault rules delay: the rules' decisions about the next attempt, and the event that a delivery waits
// for.

import type { Database } from "../sqlite/database.ts";
import { type Delivery, type PendingEndpoint, WITH_EVENT } from "./deliveries.ts";

export type DelayedDeliveries = ReturnType<typeof openDelayedDeliveries>;

export interface DelayUntil {
  /** Sandbox milliseconds. */
  due: number;
  held: string | null;
}

export const pendingEndpointOf = ({ merchant, endpoint }: Delivery, due: number): PendingEndpoint => ({
  merchant,
  endpoint,
  due,
});

export function openDelayedDeliveries(database: Database) {
  return { ...deciding(database), ...holding(database) };
}

function deciding({ sql }: Database) {
  const open = "d.state = 'pending' and d.decided is null";
  const undecided = sql.prepare<[number], Delivery>(
    `${WITH_EVENT} where ${open} and d.due <= ? order by d.due, d.sequence`,
  );
  const undecidedOf = sql.prepare<[string], Delivery>(
    `${WITH_EVENT} where ${open} and d.due is not null and d.attempts = 0 and e.request = ? order by d.sequence`,
  );
  const decide = sql.prepare<
    [{ delivery: number; decided: string } & { [Name in keyof DelayUntil]: DelayUntil[Name] | null }]
  >("update deliveries set decided = @decided, due = coalesce(@due, due), held = @held where sequence = @delivery");
  const unfinished = sql
    .prepare<[{ request: string; decided: string }], number>(
      `select count(*) from deliveries d join events e on e.sequence = d.event
       where e.request = @request and d.copy = 0 and d.state in ('pending', 'sending')
         and instr(d.decided, @decided) > 0`,
    )
    .pluck();
  const wants = sql
    .prepare<[{ merchant: string; endpoint: string; type: string }], number>(
      "select count(*) from subscriptions where merchant = @merchant and endpoint = @endpoint and type in (@type, '*')",
    )
    .pluck();
  return {
    /** The due deliveries that fault rules have not decided about, in the order in which they fell due. */
    undecided: (now: number) => undecided.all(now),
    /** Like `undecided`, for the first attempts of a request's events, due or not. */
    undecidedOf: (request: string) => undecidedOf.all(request),
    /**
     * Stores the rules' decisions about the next attempt. `due` is its new time; `held` names the event that it waits
     * for.
     */
    decide: (delivery: number, decided: string, until?: DelayUntil) =>
      void decide.run({ delivery, decided, due: until?.due ?? null, held: until?.held ?? null }),
    /** The number of a request's unfinished deliveries whose decision contains this text. */
    unfinished: (request: string, decided: string) => unfinished.get({ request, decided }) ?? 0,
    /** Whether an endpoint subscribes to a type of event. */
    wants: (merchant: string, endpoint: string, type: string) => (wants.get({ merchant, endpoint, type }) ?? 0) > 0,
  };
}

function holding({ sql }: Database) {
  const waiting = sql.prepare<[string], Delivery>(
    `${WITH_EVENT} where d.state = 'pending' and d.held = ? order by d.sequence`,
  );
  const overdue = sql
    .prepare<[{ kind: string; now: number }], string>(
      `select distinct held from deliveries
       where held is not null and state = 'pending' and instr(held, @kind) = 1 and due <= @now order by held`,
    )
    .pluck();
  const postpone = sql.prepare<[DelayUntil & { delivery: number }]>(
    "update deliveries set due = @due, held = @held where sequence = @delivery",
  );
  const any = sql
    .prepare<[], number>("select exists (select 1 from deliveries where held is not null and state = 'pending')")
    .pluck();
  const copy = sql.prepare<[Record<string, unknown>], { sequence: number }>(
    `insert into deliveries
       (merchant, endpoint, event, trigger, replay, state, allowed, due, created, decided, held, copy)
     select merchant, endpoint, event, trigger, replay, 'pending', 1, @due, @now, @decided, @held,
       (select max(c.copy) + 1 from deliveries c
        where c.event = d.event and c.endpoint = d.endpoint and c.replay = d.replay)
     from deliveries d where d.sequence = @of returning sequence`,
  );
  return {
    /** The deliveries that wait for this event, oldest first. */
    waitingFor: (held: string) => waiting.all(held),
    /** The distinct `held` values of this kind whose deliveries are overdue. */
    overdue: (kind: string, now: number) => overdue.all({ kind, now }),
    /** The distinct `held` values of this kind. */
    held: (kind: string) => overdue.all({ kind, now: Number.MAX_SAFE_INTEGER }),
    /** Delays a delivery again, and keeps the decision about it. */
    postpone: (delivery: number, { due, held }: DelayUntil) => void postpone.run({ delivery, due, held }),
    /** Whether any delivery waits for an event. */
    any: () => any.get() === 1,
    /** Adds a copy of a delivery: a single attempt, with this decision about it. Returns the copy's sequence. */
    copy: (of: number, copied: { decided: string; now: number } & DelayUntil) =>
      copy.get({ of, ...copied }) as { sequence: number },
  };
}
