// What fault rules decided about deliveries that are not sent yet, and what is held back until something else has happened.

import type { Database } from "../sqlite/database.ts";
import { type Delivery, type PendingEndpoint, WITH_EVENT } from "./deliveries.ts";

export interface DelayedDeliveries {
  /** What is due, and what no rule was asked about, in the order in which it fell due. */
  undecided(now: number): Delivery[];
  /** The same of the first attempts that a request made, due or not. */
  undecidedOf(request: string): Delivery[];
  /** What rules decided about the attempt to come; `due` brings it forward or puts it off, `held` says what it waits for beyond that. */
  decide(delivery: number, decided: string, until?: DelayUntil): void;
  /** What waits for this, in the order in which it was owed. */
  waitingFor(held: string): Delivery[];
  /** Those things of this kind that were waited for until now. */
  overdue(kind: string, now: number): string[];
  /** Puts a delivery off anew: what was decided about it stays. */
  postpone(delivery: number, until: DelayUntil): void;
  /** Whether anything waits for anything. */
  any(): boolean;
  /** Owes an endpoint the same once more: a single attempt, about which all is decided. */
  copy(of: Delivery, decided: string, until: DelayUntil, now: number): Delivery;
  /** What a request made of which an attempt is decided in these words, and not over. */
  unfinished(request: string, decided: string): number;
  /** Whether an endpoint wants a type of event. */
  wants(merchant: string, endpoint: string, type: string): boolean;
}

export interface DelayUntil {
  /** Sandbox milliseconds. */
  due: number;
  held: string | null;
}

export const pendingEndpointOf = ({ merchant, endpoint }: Delivery, due: number): PendingEndpoint => ({ merchant, endpoint, due });

export function openDelayedDeliveries(database: Database): DelayedDeliveries {
  return { ...deciding(database), ...holding(database) };
}

function deciding({ sql }: Database): Pick<DelayedDeliveries, "undecided" | "undecidedOf" | "decide" | "unfinished" | "wants"> {
  const open = "d.state = 'pending' and d.decided is null";
  const undecided = sql.prepare<[number], Delivery>(`${WITH_EVENT} where ${open} and d.due <= ? order by d.due, d.sequence`);
  const undecidedOf = sql.prepare<[string], Delivery>(
    `${WITH_EVENT} where ${open} and d.attempts = 0 and e.request = ? order by d.sequence`,
  );
  const decide = sql.prepare("update deliveries set decided = ?, due = coalesce(?, due), held = ? where sequence = ?");
  const unlanded = sql
    .prepare<[string, string], number>(
      `select count(*) from deliveries d join events e on e.sequence = d.event
       where e.request = ? and d.copy = 0 and d.state in ('pending', 'sending') and instr(d.decided, ?) > 0`,
    )
    .pluck();
  const wants = sql
    .prepare<[string, string, string], number>(
      "select count(*) from subscriptions where merchant = ? and endpoint = ? and type in (?, '*')",
    )
    .pluck();
  return {
    undecided: (now) => undecided.all(now),
    undecidedOf: (request) => undecidedOf.all(request),
    decide: (delivery, decided, until) => void decide.run(decided, until?.due ?? null, until?.held ?? null, delivery),
    unfinished: (request, decided) => unlanded.get(request, decided) ?? 0,
    wants: (merchant, endpoint, type) => (wants.get(merchant, endpoint, type) ?? 0) > 0,
  };
}

function holding({ sql }: Database): Pick<DelayedDeliveries, "waitingFor" | "overdue" | "postpone" | "any" | "copy"> {
  const waiting = sql.prepare<[string], Delivery>(`${WITH_EVENT} where d.state = 'pending' and d.held = ? order by d.sequence`);
  const overdue = sql
    .prepare<[string, number], string>(
      "select distinct held from deliveries where held is not null and state = 'pending' and instr(held, ?) = 1 and due <= ? order by held",
    )
    .pluck();
  const put = sql.prepare("update deliveries set due = ?, held = ? where sequence = ?");
  const any = sql.prepare<[], number>("select exists (select 1 from deliveries where held is not null and state = 'pending')").pluck();
  const copy = sql.prepare<[Record<string, unknown>], { sequence: number; copy: number }>(
    `insert into deliveries (merchant, endpoint, event, trigger, replay, state, allowed, due, created, decided, held, copy)
     select merchant, endpoint, event, trigger, replay, 'pending', 1, @due, @now, @decided, @held,
       (select max(c.copy) + 1 from deliveries c where c.event = d.event and c.endpoint = d.endpoint and c.replay = d.replay)
     from deliveries d where d.sequence = @of returning sequence, copy`,
  );
  return {
    waitingFor: (held) => waiting.all(held),
    overdue: (kind, now) => overdue.all(kind, now),
    postpone: (delivery, { due, held }) => void put.run(due, held, delivery),
    any: () => any.get() === 1,
    copy(of, decided, until, now) {
      const made = copy.get({ of: of.sequence, decided, now, ...until }) as { sequence: number; copy: number };
      return { ...of, ...made, due: until.due, decided, attempts: 0, aborted: 0, allowed: 1 };
    },
  };
}
