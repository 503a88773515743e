// The outbox: writes events and their deliveries in the transaction of the change that they report, so that both are
// stored or neither.

import type { Clock } from "../../kernel/clock.ts";
import { fail } from "../../kernel/errors.ts";
import { count } from "../../kernel/text.ts";
import type { Behaviour } from "../../schema/assumed.ts";
import type { Counters } from "../records/id-counters.ts";
import type { Database } from "../sqlite/database.ts";
import { createEventChains } from "./event-chains.ts";
import type { Retention } from "./retention.ts";

export type Outbox = ReturnType<typeof openOutbox>;

/** Subscribes to all types of events. */
export const EVERY_TYPE = "*";

export interface EndpointKey {
  merchant: string;
  endpoint: string;
}

export interface Origin {
  request?: string;
  /** The span of the request that emitted the event, as a `traceparent`. */
  trace?: string | undefined;
  test?: boolean;
  at?: number;
}

/** The most deliveries that wait for an attempt at once, of all merchants. */
const MOST_PENDING = 100_000;
/** Deliveries between two counts of the pending ones: counting 100,000 takes 5 ms. */
const COUNTED_EVERY = 1_000;

interface OutboxOptions {
  database: Database;
  clock: Clock;
  counters: Counters;
  retention: Retention;
  heldEndpoints: { isHeld(merchant: string, endpoint: string): boolean };
  /** The merchant whose endpoints a test's merchant shares; undefined for other merchants. */
  baseOf(merchant: string): string | undefined;
  /** The milliseconds before each attempt, the first one included. */
  gaps: readonly number[];
  /** Writes an event as it is signed and sent. */
  writeEvent(event: object): string;
}

export function openOutbox(options: OutboxOptions) {
  const { database, clock, counters, retention, heldEndpoints, gaps, writeEvent, baseOf } = options;
  const { sql } = database;
  const insertEvent = sql.insert("insert into events", "id, merchant, type, created, origin, request, trace, body");
  const madeBy = sql.prepare<[string], { id: string; type: string }>(
    "select id, type from events where request = ? order by sequence",
  );
  const find = sql.prepare<[{ id: string; merchant: string }], { sequence: number; type: string }>(
    "select sequence, type from events where id = @id and merchant = @merchant",
  );
  const insertDelivery = sql.insert(
    "insert into deliveries",
    "merchant, endpoint, event, trigger, replay, state, allowed, due, created",
  );
  const { subscribersOf, ...changes } = subscriptions(database, baseOf);
  const takeRoom = pendingBound(database);
  const chains = createEventChains();
  let deliveriesAdded = () => {};
  return {
    ...changes,
    attributeTo: chains.attributeTo,
    /** Calls back in the transaction that adds deliveries, so that a first attempt can start in the same commit. */
    onPending(listener: () => void) {
      deliveriesAdded = listener;
    },
    /** The events that a request emitted. */
    eventsOf: (request: string) => madeBy.all(request),
    /**
     * Writes an event and a delivery for each endpoint that subscribed to its type. `at` is the time of the event
     * (default: now). Throws 503 while too many deliveries are pending, except for a time-driven change, because no
     * client could repeat it. Also throws 503 for a call that continues a feedback loop. Call inside a transaction.
     */
    emit(merchant: string, type: string, data: unknown, { request, trace, test = false, at }: Origin) {
      const now = clock.now();
      const created = at ?? now;
      const head = headOf({ id: counters.mint(merchant, "evt"), merchant, type, created });
      const trigger = test ? "test" : "event";
      const origin = at === undefined ? trigger : "clock";
      // Stored as it is sent, because every retry and replay repeats these bytes.
      const body = writeEvent({ ...head, data });
      const cause = { request: request ?? null, trace: trace ?? null };
      const { lastInsertRowid: event } = insertEvent({ id: head.id, merchant, type, created, origin, ...cause, body });
      const { owner, endpoints } = subscribersOf(merchant, type);
      if (at === undefined) takeRoom(endpoints.length);
      if (request !== undefined && endpoints.length > 0) chains.add(head.id, chains.next(merchant));
      const first = now + (gaps[0] ?? 0);
      const attempts = { state: "pending", allowed: gaps.length, created: now };
      for (const endpoint of endpoints) {
        const due = heldEndpoints.isHeld(owner, endpoint) ? null : first;
        insertDelivery({ ...attempts, due, merchant, endpoint, event, trigger, replay: 0 });
      }
      if (endpoints.length > 0) deliveriesAdded();
      retention.rowAdded();
      return { event: { ...head, data }, endpoints };
    },
    /**
     * Delivers an existing event again, once, to one endpoint or to all that subscribe to its type now.
     * Undefined when the merchant has no such event. Call inside a transaction.
     */
    replay(merchant: string, id: string, endpoint?: string) {
      const event = find.get({ id, merchant });
      if (!event) return undefined;
      const now = clock.now();
      const endpoints = endpoint === undefined ? subscribersOf(merchant, event.type).endpoints : [endpoint];
      takeRoom(endpoints.length);
      const replays = endpoints.map((one) => ({ endpoint: one, number: counters.next(merchant, "replay") }));
      const attempts = { state: "pending", allowed: 1, due: now, created: now };
      for (const { endpoint, number } of replays)
        insertDelivery({ ...attempts, merchant, endpoint, event: event.sequence, trigger: "replay", replay: number });
      deliveriesAdded();
      return replays;
    },
  };
}

/** The fields of an event before its data, in the order in which they are sent. */
function headOf({ id, merchant, type, created }: { id: string; merchant: string; type: string; created: number }) {
  return {
    id,
    object: "event" as const,
    type,
    created: Math.floor(created / 1000),
    livemode: false as const,
    merchantId: merchant,
  };
}

/**
 * Refuses a write while too many deliveries are pending, so that a receiver whose calls cause deliveries to itself
 * cannot fill the disk. Returns the function that a write calls with the number of its deliveries.
 */
function pendingBound({ sql }: Database): (deliveries: number) => void {
  const pending = sql.prepare<[], number>("select count(*) from deliveries where state = 'pending'").pluck();
  let room = 0;
  return (deliveries) => {
    room -= deliveries;
    if (deliveries === 0 || room >= 0) return;
    const left = MOST_PENDING - (pending.get() ?? 0) - deliveries;
    if (left < 0)
      fail(
        "sandbox_unavailable",
        `${count(MOST_PENDING)} deliveries are pending, which is the most that the sandbox keeps. ` +
          "Wait until the receivers have accepted some, or delete an endpoint; the pending ones are still delivered.",
      );
    room = Math.min(left, COUNTED_EVERY);
  };
}

export const behaviours: Behaviour[] = [
  {
    id: "webhooks.pending_limit",
    fact:
      `At most ${count(MOST_PENDING)} deliveries are pending, over all merchants. ` +
      "Then a write whose event has a subscriber gets 503 and changes nothing; pending deliveries are kept.",
    why:
      "The service's documentation gives no limit; " +
      "without one, a receiver that causes events for itself fills the disk.",
  },
];

/** The endpoints that subscribe to each type of events. */
function subscriptions({ sql }: Database, baseOf: OutboxOptions["baseOf"]) {
  const subscribe = sql.insert("insert or ignore into subscriptions", "merchant, type, endpoint");
  const unsubscribe = sql.prepare<[EndpointKey]>(
    "delete from subscriptions where merchant = @merchant and endpoint = @endpoint",
  );
  // The log must not announce attempts that will not be made.
  const clearNextAttempts = sql.prepare<[EndpointKey]>(
    `update attempts set nextDue = null from deliveries d
     where d.merchant = @merchant and d.endpoint = @endpoint and d.state = 'pending'
       and attempts.delivery = d.sequence and attempts.attempt = d.attempts`,
  );
  const cancel = sql.prepare<[EndpointKey]>(
    `update deliveries set state = 'cancelled', due = null
     where merchant = @merchant and endpoint = @endpoint and state = 'pending'`,
  );
  const ofType = "select endpoint from subscriptions where merchant = @merchant and type =";
  const subscribed = sql
    .prepare<[{ merchant: string; type: string }], string>(`${ofType} '${EVERY_TYPE}' union all ${ofType} @type`)
    .pluck();
  const hasAny = sql.prepare<[string]>("select 1 from subscriptions where merchant = ? limit 1");
  /**
   * The merchant whose endpoints get a merchant's events. A test's merchant without endpoints shares the endpoints of
   * the merchant that it was created from.
   */
  const ownerOf = (merchant: string) => {
    const base = baseOf(merchant);
    return base === undefined || hasAny.get(merchant) !== undefined ? merchant : base;
  };
  const unsubscribed: EndpointKey[] = [];
  return {
    subscribersOf(merchant: string, type: string) {
      const owner = ownerOf(merchant);
      // `union` would make SQLite fill a temporary table, and most events have no subscriber.
      return { owner, endpoints: [...new Set(subscribed.all({ merchant: owner, type }))] };
    },
    subscribe(merchant: string, endpoint: string, types: readonly string[]) {
      for (const type of types) subscribe({ merchant, type, endpoint });
    },
    /** Replaces the types of an endpoint; its pending deliveries stay. */
    changeTypes(merchant: string, endpoint: string, types: readonly string[]) {
      unsubscribe.run({ merchant, endpoint });
      for (const type of types) subscribe({ merchant, type, endpoint });
    },
    /** Ends the subscriptions of an endpoint and cancels its pending deliveries. */
    unsubscribe(merchant: string, endpoint: string) {
      unsubscribe.run({ merchant, endpoint });
      clearNextAttempts.run({ merchant, endpoint });
      if (cancel.run({ merchant, endpoint }).changes > 0) unsubscribed.push({ merchant, endpoint });
    },
    /** The endpoints whose deliveries were cancelled since the last call, even if the transaction was rolled back. */
    takeUnsubscribed: () => unsubscribed.splice(0),
  };
}
