// Events and the deliveries they owe, written in the transaction of the effect: both are on disk, or neither.

import type { Clock } from "../kernel/clock.ts";
import type { Counters } from "./counters.ts";
import type { Database } from "./database.ts";

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
  /** The events that a request made. */
  madeBy(request: string): { id: string; type: string }[];
  subscribe(merchant: string, endpoint: string, types: readonly string[]): void;
  /** Ends the subscriptions of an endpoint and cancels what it was still owed. */
  unsubscribe(merchant: string, endpoint: string): void;
}

/** Delivery goes to the types that an endpoint names exactly, or to all. */
export const EVERY_TYPE = "*";

export function openOutbox(database: Database, clock: Clock, counters: Counters, allowedAttempts: () => number): Outbox {
  const { sql } = database;
  const insertEvent = sql.prepare("insert into events (id, merchant, type, created, origin, request, body) values (?, ?, ?, ?, ?, ?, ?)");
  const subscribers = sql
    .prepare<[string, string], string>(`select distinct endpoint from subscriptions where merchant = ? and type in (?, '${EVERY_TYPE}')`)
    .pluck();
  const insertDelivery = sql.prepare(
    "insert into deliveries (merchant, endpoint, event, trigger, state, allowed, due, created) values (?, ?, ?, ?, 'pending', ?, ?, ?)",
  );
  const subscribe = sql.prepare("insert or ignore into subscriptions (merchant, type, endpoint) values (?, ?, ?)");
  const unsubscribe = sql.prepare("delete from subscriptions where merchant = ? and endpoint = ?");
  const cancel = sql.prepare(
    "update deliveries set state = 'cancelled', due = null where merchant = ? and endpoint = ? and state = 'pending'",
  );

  const madeBy = sql.prepare<[string], { id: string; type: string }>("select id, type from events where request = ? order by sequence");

  return {
    madeBy: (request) => madeBy.all(request),
    emit(merchant, type, data, { request, test = false }) {
      const now = clock.now();
      const id = counters.mint(merchant, "evt");
      const event: EmittedEvent = {
        id,
        object: "event",
        type,
        created: Math.floor(now / 1000),
        livemode: false,
        merchantId: merchant,
        data,
      };
      const origin = test ? "test" : "event";
      const { lastInsertRowid } = insertEvent.run(id, merchant, type, now, origin, request ?? null, JSON.stringify(event));
      const endpoints = subscribers.all(merchant, type);
      for (const endpoint of endpoints) insertDelivery.run(merchant, endpoint, lastInsertRowid, origin, allowedAttempts(), now, now);
      return { event, endpoints };
    },
    subscribe(merchant, endpoint, types) {
      for (const type of types) subscribe.run(merchant, type, endpoint);
    },
    unsubscribe(merchant, endpoint) {
      unsubscribe.run(merchant, endpoint);
      cancel.run(merchant, endpoint);
    },
  };
}
