// Deliveries to webhook endpoints, and the endpoints as the dispatcher sees them.

import { baggageOf } from "../../kernel/baggage.ts";
import type { Database } from "../sqlite/database.ts";
import type { EndpointKey, Outbox } from "./outbox.ts";

/** The kind of the records of endpoints; the webhooks area declares its fields. */
export const ENDPOINT_KIND = "webhook_endpoint" as const;

/** An endpoint with pending deliveries, and when the first of them is due. */
export interface PendingEndpoint extends EndpointKey {
  /** Sandbox milliseconds. */
  due: number;
}

/** A delivery with the event it carries. */
export interface Delivery {
  sequence: number;
  merchant: string;
  endpoint: string;
  trigger: "event" | "test" | "replay";
  /** Counts the merchant's replays; 0 for the delivery of a new event. */
  replay: number;
  /** How many attempts were started, and how many of them a crash interrupted. */
  attempts: number;
  aborted: number;
  /** How many attempts may fail. */
  allowed: number;
  due: number;
  /** The decision of the fault rules about the next attempt, as JSON; null before they have made one. */
  decided: string | null;
  /** Counts the copies that a fault rule made of a delivery; 0 for the delivery itself. */
  copy: number;
  eventId: string;
  eventType: string;
  /** The request that caused the event; null when no request did. */
  request: string | null;
  /** The span of the request that caused the event, as a `traceparent`; null without a trace. */
  trace: string | null;
  /** The exact text that is signed and sent. */
  body: string;
}

/** The address to which deliveries of an endpoint go now. */
export interface Receiver {
  url: string;
  secret: string;
  previousSecret: string | null;
  /** When the secret was last rotated, in Unix seconds; null if never. */
  rotated: number | null;
  /** The `baggage` header: names the test's merchant if its delivery goes to an endpoint of the app's merchant. */
  baggage?: string;
}

export type Deliveries = ReturnType<typeof openDeliveries>;

/** Selects the fields of a `Delivery`. */
export const WITH_EVENT = `select d.sequence, d.merchant, d.endpoint, d.trigger, d.replay, d.attempts, d.aborted,
  d.allowed, d.due, d.decided, d.copy, e.id as eventId, e.type as eventType, e.request, e.trace, e.body
  from deliveries d join events e on e.sequence = d.event`;

/** The merchant whose endpoints a test's merchant shares; undefined for other merchants. */
type BaseOf = (merchant: string) => string | undefined;

export function openDeliveries(database: Database, outbox: Outbox, baseOf: BaseOf) {
  return { ...queue(database), ...progress(database), ...endpoints(database, outbox, baseOf) };
}

/** A delivery that waits until the user releases it. */
export const HELD = "state = 'pending' and due is null";

function queue({ sql }: Database) {
  const all = sql.prepare<[], PendingEndpoint>(
    `select merchant, endpoint, min(due) as due from deliveries
     where state = 'pending' and due is not null group by merchant, endpoint`,
  );
  const held = sql.prepare<[], number>(`select count(*) from deliveries where ${HELD}`).pluck();
  const release = sql.prepare<[number]>(`update deliveries set due = ? where ${HELD}`);
  const newest = sql.prepare<[], number>("select coalesce(max(sequence), 0) from deliveries").pluck();
  // `+state` hides the column from the planner: it searches the few newest rows instead of scanning all pending ones.
  const added = sql.prepare<[number], PendingEndpoint & { newest: number }>(
    `select merchant, endpoint, min(due) as due, max(sequence) as newest from deliveries
     where sequence > ? and due is not null and +state = 'pending' group by merchant, endpoint`,
  );
  const soonest = sql
    .prepare<[EndpointKey], number | null>(
      "select min(due) from deliveries where merchant = @merchant and endpoint = @endpoint and state = 'pending'",
    )
    .pluck();
  const pending = sql.prepare<[], number>("select count(*) from deliveries where state = 'pending'").pluck();
  const due = sql.prepare<[Record<string, unknown>], Delivery>(
    `${WITH_EVENT} where d.merchant = @merchant and d.endpoint = @endpoint and d.state = 'pending' and d.due <= @now
     order by d.due, d.sequence limit @most + 0`,
  );
  // `indexed by`, because SQLite would otherwise scan all deliveries.
  const interrupted = sql.prepare<[], Delivery>(
    `${WITH_EVENT} where d.sequence in (select sequence from deliveries indexed by deliveries_open ` +
      "where state = 'sending') order by d.sequence",
  );
  return {
    /**
     * The endpoints with pending deliveries. `newest` is the newest delivery so far, after which the next read begins.
     */
    pendingEndpoints: () => ({ endpoints: all.all(), newest: newest.get() ?? 0 }),
    /** Like `pendingEndpoints`, for deliveries that were added after this sequence. */
    pendingEndpointsSince(sequence: number) {
      const endpoints = added.all(sequence);
      return { endpoints, newest: endpoints.reduce((most, row) => Math.max(most, row.newest), sequence) };
    },
    soonest: (merchant: string, endpoint: string) => soonest.get({ merchant, endpoint }) ?? null,
    /** How many deliveries are pending, due or not. */
    pending: () => pending.get() ?? 0,
    /** How many deliveries wait until they are released. */
    held: () => held.get() ?? 0,
    /** Makes the held deliveries due; returns their number. */
    release: (now: number) => release.run(now).changes,
    /** The due deliveries of an endpoint, oldest first. */
    due: (merchant: string, endpoint: string, now: number, most: number) => due.all({ merchant, endpoint, now, most }),
    /** The deliveries that were being sent when the last process ended. */
    interrupted: () => interrupted.all(),
  };
}

function progress({ sql }: Database) {
  const begin = sql.prepare(
    "update deliveries set state = 'sending', due = null, held = null, attempts = attempts + 1 where sequence = ?",
  );
  const open = "sequence = @sequence and (state = 'pending' or state = 'sending')";
  const finish = sql.prepare<[{ sequence: number; state: string }]>(
    `update deliveries set state = @state, due = null where ${open}`,
  );
  // Fault rules decide about each attempt again, except for copies: a copy keeps the decision that created it.
  const pending = "state = 'pending', due = @due, held = null, decided = case when copy > 0 then decided end";
  const retry = sql.prepare<[{ sequence: number; due: number }]>(`update deliveries set ${pending} where ${open}`);
  const retryInterrupted = sql.prepare<[{ sequence: number; due: number }]>(
    `update deliveries set ${pending}, aborted = aborted + 1 where ${open}`,
  );
  return {
    markSending: (sequence: number) => void begin.run(sequence),
    /** Finishes a delivery; false when it no longer exists, as after a reset. */
    finish: (sequence: number, ending: "succeeded" | "failed" | "cancelled") =>
      finish.run({ sequence, state: ending }).changes > 0,
    /** Plans another attempt after one that failed; false when the delivery no longer exists. */
    retryAt: (sequence: number, due: number) => retry.run({ sequence, due }).changes > 0,
    /** Plans another attempt after a crash. The interrupted attempt does not count as one of those allowed. */
    retryInterrupted: (sequence: number, due: number) => void retryInterrupted.run({ sequence, due }),
  };
}

/** Reads an endpoint of a merchant, or an endpoint that the merchant shares. */
const withShared =
  <Found extends Receiver>(read: (key: EndpointKey) => Found | undefined, baseOf: BaseOf) =>
  (merchant: string, endpoint: string): Found | undefined => {
    const own = read({ merchant, endpoint });
    if (own) return own;
    const base = baseOf(merchant);
    const shared = base === undefined ? undefined : read({ merchant: base, endpoint });
    return shared && { ...shared, baggage: baggageOf(merchant) };
  };

function endpoints({ sql }: Database, outbox: Outbox, baseOf: BaseOf) {
  const ofEndpoint = `merchant = @merchant and kind = '${ENDPOINT_KIND}' and id = @endpoint`;
  const address =
    "body ->> 'url' as url, body ->> 'secret' as secret, body ->> 'previousSecret' as previousSecret, " +
    "body ->> 'rotated' as rotated";
  const receiver = sql.prepare<[EndpointKey], Receiver>(
    `select ${address} from documents where ${ofEndpoint} and status = 'enabled'`,
  );
  const known = sql.prepare<[EndpointKey], Receiver & { enabled: 0 | 1 }>(
    `select ${address}, status = 'enabled' as enabled from documents where ${ofEndpoint}`,
  );
  const owner = sql
    .prepare<[string], string>(`select merchant from documents where kind = '${ENDPOINT_KIND}' and id = ?`)
    .pluck();
  const at = sql.prepare<[string], EndpointKey>(
    `select merchant, id as endpoint from documents
     where kind = '${ENDPOINT_KIND}' and status = 'enabled' and body ->> 'url' = ?`,
  );
  const secrets = sql.prepare<[string], Pick<Receiver, "secret" | "previousSecret"> & { endpoint: string }>(
    `select id as endpoint, body ->> 'secret' as secret, body ->> 'previousSecret' as previousSecret from documents
     where merchant = ? and kind = '${ENDPOINT_KIND}' order by sequence`,
  );
  const bodyOf = sql
    .prepare<[{ merchant: string; event: string }], string>(
      "select body from events where id = @event and merchant = @merchant",
    )
    .pluck();
  const types = sql
    .prepare<[EndpointKey], string>(`select body ->> 'events' from documents where ${ofEndpoint}`)
    .pluck();
  const setStatus = sql.prepare<[EndpointKey & { status: string; reason: string | null }]>(
    `update documents set status = @status,
       body = json_set(body, '$.status', @status, '$.disabledReason', @reason) where ${ofEndpoint}`,
  );
  const anyReceiver = withShared((key) => known.get(key), baseOf);
  return {
    /** The endpoint's address and secret; undefined when it was removed or is disabled. */
    receiver: withShared((key) => receiver.get(key), baseOf),
    /** Like `receiver`, for disabled endpoints too. */
    anyReceiver,
    /** The merchant of an endpoint; undefined for an unknown one. */
    ownerOf: (endpoint: string) => owner.get(endpoint),
    /** The enabled endpoints of all merchants with this URL. */
    endpointsAt: (url: string) => at.all(url),
    /** The current and the previous secret of each of a merchant's endpoints. */
    secrets: (merchant: string) => secrets.all(merchant),
    /** Like `secrets`, with the secrets of the endpoints that the merchant shares. */
    allSecrets: (merchant: string) => [...secrets.all(merchant), ...secrets.all(baseOf(merchant) ?? "")],
    /** The body of an event, as it is sent. */
    bodyOf: (merchant: string, event: string) => bodyOf.get({ merchant, event }),
    /** Disables an endpoint and cancels its pending deliveries. */
    disable(merchant: string, endpoint: string) {
      const isShared = anyReceiver(merchant, endpoint)?.baggage !== undefined;
      const owner = (isShared ? baseOf(merchant) : undefined) ?? merchant;
      setStatus.run({ merchant: owner, endpoint, status: "disabled", reason: "gone" });
      outbox.unsubscribe(owner, endpoint);
    },
    /** Enables an endpoint again; false when the merchant has no such endpoint. */
    enable(merchant: string, endpoint: string) {
      const wanted = types.get({ merchant, endpoint });
      if (wanted === undefined) return false;
      setStatus.run({ merchant, endpoint, status: "enabled", reason: null });
      outbox.subscribe(merchant, endpoint, JSON.parse(wanted) as string[]);
      return true;
    },
  };
}
