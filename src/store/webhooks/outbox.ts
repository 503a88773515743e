// Events and the deliveries they owe, written in the transaction of the effect: both are on disk, or neither.

import type { Clock } from "../../kernel/clock.ts";
import type { Counters } from "../records/id-counters.ts";
import type { Database } from "../sqlite/database.ts";
import type { Retention } from "./retention.ts";

export interface EmittedEvent {
  id: string;
  object: "event";
  type: string;
  created: number;
  livemode: false;
  merchantId: string;
  data: unknown;
}

export interface Emission {
  event: EmittedEvent;
  /** The endpoints that will be told. */
  endpoints: string[];
}

export interface Outbox {
  /** Writes an event and one delivery for each endpoint that wants it. Only inside a transaction. */
  emit(merchant: string, type: string, data: unknown, origin: { request?: string; test?: boolean }): Emission;
  /**
   * Owes one more attempt of an event that exists to one endpoint, or to all that want its type now; answers to whom.
   * Undefined when the merchant has no such event. Only inside a transaction.
   */
  replay(merchant: string, event: string, endpoint?: string): Replay[] | undefined;
  /** Hears, still inside the transaction, that something is owed: so that its first attempt can be prepared in the same commit. */
  onPending(listener: () => void): void;
  /** The events that a request made. */
  eventsOf(request: string): { id: string; type: string }[];
  subscribe(merchant: string, endpoint: string, types: readonly string[]): void;
  /** Ends the subscriptions of an endpoint and cancels what it was still owed. */
  unsubscribe(merchant: string, endpoint: string): void;
}

export interface Replay {
  endpoint: string;
  /** Counts the merchant's replays: the id of the attempt is made from it. */
  number: number;
}

/** Delivery goes to the types that an endpoint names exactly, or to all. */
export const EVERY_TYPE = "*";

interface Needs {
  database: Database;
  clock: Clock;
  counters: Counters;
  retention: Retention;
  /** The milliseconds before each attempt, the first one included. */
  gaps: readonly number[];
}

export function openOutbox({ database, clock, counters, retention, gaps }: Needs): Outbox {
  const { sql } = database;
  const insertEvent = sql.prepare("insert into events (id, merchant, type, created, origin, request, body) values (?, ?, ?, ?, ?, ?, ?)");
  const madeBy = sql.prepare<[string], { id: string; type: string }>("select id, type from events where request = ? order by sequence");
  const find = sql.prepare<[string, string], { sequence: number; type: string }>(
    "select sequence, type from events where id = ? and merchant = ?",
  );
  const subscribed = sql.prepare<[string, string], string>("select endpoint from subscriptions where merchant = ? and type = ?").pluck();
  // Not by one statement: for what is distinct SQLite fills a table, and most events are nobody's.
  const subscribers = (merchant: string, type: string) => [
    ...new Set([...subscribed.all(merchant, EVERY_TYPE), ...subscribed.all(merchant, type)]),
  ];
  const insertDelivery = sql.prepare(
    `insert into deliveries (merchant, endpoint, event, trigger, replay, state, allowed, due, created)
     values (?, ?, ?, ?, ?, 'pending', ?, ?, ?)`,
  );
  let owed = () => {};
  return {
    ...subscriptions(database),
    onPending(listener) {
      owed = listener;
    },
    eventsOf: (request) => madeBy.all(request),
    emit(merchant, type, data, { request, test = false }) {
      const now = clock.now();
      const event = compose(merchant, counters.mint(merchant, "evt"), type, now, data);
      const origin = test ? "test" : "event";
      const { lastInsertRowid } = insertEvent.run(event.id, merchant, type, now, origin, request ?? null, JSON.stringify(event));
      const endpoints = subscribers(merchant, type);
      for (const endpoint of endpoints)
        insertDelivery.run(merchant, endpoint, lastInsertRowid, origin, 0, gaps.length, now + (gaps[0] ?? 0), now);
      if (endpoints.length > 0) owed();
      retention.gained();
      return { event, endpoints };
    },
    replay(merchant, id, endpoint) {
      const event = find.get(id, merchant);
      if (!event) return undefined;
      const now = clock.now();
      const endpoints = endpoint === undefined ? subscribers(merchant, event.type) : [endpoint];
      const replays = endpoints.map((told) => ({ endpoint: told, number: counters.next(merchant, "replay") }));
      for (const told of replays) insertDelivery.run(merchant, told.endpoint, event.sequence, "replay", told.number, 1, now, now);
      owed();
      return replays;
    },
  };
}

function compose(merchantId: string, id: string, type: string, now: number, data: unknown): EmittedEvent {
  return { id, object: "event", type, created: Math.floor(now / 1000), livemode: false, merchantId, data };
}

function subscriptions({ sql }: Database): Pick<Outbox, "subscribe" | "unsubscribe"> {
  const subscribe = sql.prepare("insert or ignore into subscriptions (merchant, type, endpoint) values (?, ?, ?)");
  const unsubscribe = sql.prepare("delete from subscriptions where merchant = ? and endpoint = ?");
  // The log must not announce attempts that will not come.
  const recall = sql.prepare(
    `update attempts set next_due = null from deliveries d where d.merchant = ? and d.endpoint = ? and d.state = 'pending'
       and attempts.delivery = d.sequence and attempts.attempt = d.attempts`,
  );
  const cancel = sql.prepare(
    "update deliveries set state = 'cancelled', due = null where merchant = ? and endpoint = ? and state = 'pending'",
  );
  return {
    subscribe(merchant, endpoint, types) {
      for (const type of types) subscribe.run(merchant, type, endpoint);
    },
    unsubscribe(merchant, endpoint) {
      unsubscribe.run(merchant, endpoint);
      recall.run(merchant, endpoint);
      cancel.run(merchant, endpoint);
    },
  };
}
