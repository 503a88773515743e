// What is owed to webhook endpoints, and the endpoints as the dispatcher sees them.

import type { Database } from "../sqlite/database.ts";
import type { Outbox } from "./outbox.ts";

/** The kind of record that an endpoint is; the area of webhooks declares its fields. */
export const ENDPOINT_KIND = "webhook_endpoint" as const;

/** An endpoint that is owed something, and when the soonest of it is due. */
export interface PendingEndpoint {
  merchant: string;
  endpoint: string;
  /** Sandbox milliseconds. */
  due: number;
}

export interface PendingEndpoints {
  endpoints: PendingEndpoint[];
  /** The number of the newest delivery that was looked at: where to look on from. */
  newest: number;
}

/** A delivery with the event it carries. */
export interface Delivery {
  sequence: number;
  merchant: string;
  endpoint: string;
  trigger: "event" | "test" | "replay";
  /** Which of the merchant's replays it is; 0 for what an event itself made. */
  replay: number;
  /** How many attempts were begun, and how many of those a crash cut off. */
  attempts: number;
  aborted: number;
  /** How many attempts may fail. */
  allowed: number;
  due: number;
  /** What fault rules decided about the attempt to come, as JSON; null when none was asked. */
  decided: string | null;
  /** Counts what a fault rule made of a delivery beside it; 0 for the delivery itself. */
  copy: number;
  eventId: string;
  eventType: string;
  /** The very text that is signed and sent. */
  body: string;
}

/** Where deliveries of an endpoint go at this moment. */
export interface Receiver {
  url: string;
  secret: string;
  previousSecret: string | null;
  /** When it was rotated last, in Unix seconds; null where it never was. */
  rotated: number | null;
}

export interface EndpointSecret {
  endpoint: string;
  secret: string;
  previousSecret: string | null;
}

export interface Deliveries {
  /** Every endpoint that is owed something. */
  pendingEndpoints(): PendingEndpoints;
  /** The same for what was added after the delivery of that number. */
  pendingEndpointsSince(newest: number): PendingEndpoints;
  soonest(merchant: string, endpoint: string): number | null;
  /** How many wait for an attempt, now or later. */
  pending(): number;
  /** What is due to an endpoint, oldest first. */
  due(merchant: string, endpoint: string, now: number, most: number): Delivery[];
  /** What was being sent when the process before this one ended. */
  interrupted(): Delivery[];
  markSending(sequence: number): void;
  /** Concludes what is owed or being sent; false when it is gone, as after a reset. */
  finish(sequence: number, ending: "succeeded" | "failed" | "cancelled"): boolean;
  /** Owes another attempt after one that failed; false when the delivery is gone. */
  retryAt(sequence: number, due: number): boolean;
  /** Owes another attempt after one that a crash cut off: that one uses up none of those allowed. */
  retryInterrupted(sequence: number, due: number): void;
  /** The endpoint's address and secret; undefined when it is gone or disabled. */
  receiver(merchant: string, endpoint: string): Receiver | undefined;
  /** The same, enabled or not. */
  anyReceiver(merchant: string, endpoint: string): (Receiver & { enabled: 0 | 1 }) | undefined;
  /** The merchant of an endpoint; undefined when there is none of that id. */
  ownerOf(endpoint: string): string | undefined;
  /** The secrets of all endpoints of a merchant, with those that were rotated away. */
  secrets(merchant: string): EndpointSecret[];
  /** The body of an event, as it is sent. */
  bodyOf(merchant: string, event: string): string | undefined;
  /** Takes an endpoint out of service: nothing is owed to it any more. */
  disable(merchant: string, endpoint: string, reason: string): void;
  /** Puts it back; false when the merchant has no such endpoint. */
  enable(merchant: string, endpoint: string): boolean;
}

type Address = [merchant: string, endpoint: string];

/** What a `Delivery` is read from. */
export const WITH_EVENT = `select d.sequence, d.merchant, d.endpoint, d.trigger, d.replay, d.attempts, d.aborted, d.allowed, d.due,
  d.decided, d.copy, e.id as eventId, e.type as eventType, e.body from deliveries d join events e on e.sequence = d.event`;

export function openDeliveries(database: Database, outbox: Outbox): Deliveries {
  return { ...queue(database), ...progress(database), ...endpoints(database, outbox) };
}

function queue({
  sql,
}: Database): Pick<Deliveries, "pendingEndpoints" | "pendingEndpointsSince" | "soonest" | "pending" | "due" | "interrupted"> {
  const all = sql.prepare<[], PendingEndpoint>(
    "select merchant, endpoint, min(due) as due from deliveries where state = 'pending' group by merchant, endpoint",
  );
  const newest = sql.prepare<[], number>("select coalesce(max(sequence), 0) from deliveries").pluck();
  // The plus keeps SQLite on the few newest rows instead of walking everything that is pending.
  const added = sql.prepare<[number], PendingEndpoint & { newest: number }>(
    `select merchant, endpoint, min(due) as due, max(sequence) as newest from deliveries
     where sequence > ? and +state = 'pending' group by merchant, endpoint`,
  );
  const soonest = sql
    .prepare<Address, number | null>("select min(due) from deliveries where merchant = ? and endpoint = ? and state = 'pending'")
    .pluck();
  const pending = sql.prepare<[], number>("select count(*) from deliveries where state = 'pending'").pluck();
  const due = sql.prepare<[Record<string, unknown>], Delivery>(
    `${WITH_EVENT} where d.merchant = @merchant and d.endpoint = @endpoint and d.state = 'pending' and d.due <= @now
     order by d.due, d.sequence limit @most`,
  );
  // Named, because SQLite would rather walk every delivery there ever was.
  const interrupted = sql.prepare<[], Delivery>(
    `${WITH_EVENT} where d.sequence in (select sequence from deliveries indexed by deliveries_open where state = 'sending') order by d.sequence`,
  );
  return {
    pendingEndpoints: () => ({ endpoints: all.all(), newest: newest.get() ?? 0 }),
    pendingEndpointsSince(sequence) {
      const endpoints = added.all(sequence);
      return { endpoints, newest: endpoints.reduce((most, row) => Math.max(most, row.newest), sequence) };
    },
    soonest: (merchant, endpoint) => soonest.get(merchant, endpoint) ?? null,
    pending: () => pending.get() ?? 0,
    due: (merchant, endpoint, now, most) => due.all({ merchant, endpoint, now, most }),
    interrupted: () => interrupted.all(),
  };
}

function progress({ sql }: Database): Pick<Deliveries, "markSending" | "finish" | "retryAt" | "retryInterrupted"> {
  const begin = sql.prepare("update deliveries set state = 'sending', due = null, held = null, attempts = attempts + 1 where sequence = ?");
  const open = "sequence = ? and (state = 'pending' or state = 'sending')";
  const end = sql.prepare(`update deliveries set state = ?, due = null where ${open}`);
  // About another attempt, rules are asked anew; a copy is what they decided, whenever it is sent.
  const owe = "state = 'pending', due = ?, held = null, decided = case when copy > 0 then decided end";
  const again = sql.prepare(`update deliveries set ${owe} where ${open}`);
  const resume = sql.prepare(`update deliveries set ${owe}, aborted = aborted + 1 where ${open}`);
  return {
    markSending: (sequence) => void begin.run(sequence),
    finish: (sequence, ending) => end.run(ending, sequence).changes > 0,
    retryAt: (sequence, due) => again.run(due, sequence).changes > 0,
    retryInterrupted: (sequence, due) => void resume.run(due, sequence),
  };
}

function endpoints(
  { sql }: Database,
  outbox: Outbox,
): Pick<Deliveries, "receiver" | "anyReceiver" | "ownerOf" | "secrets" | "bodyOf" | "disable" | "enable"> {
  const named = `merchant = ? and kind = '${ENDPOINT_KIND}' and id = ?`;
  const address =
    "body ->> 'url' as url, body ->> 'secret' as secret, body ->> 'previousSecret' as previousSecret, body ->> 'rotated' as rotated";
  const receiver = sql.prepare<Address, Receiver>(`select ${address} from documents where ${named} and status = 'enabled'`);
  const known = sql.prepare<Address, Receiver & { enabled: 0 | 1 }>(
    `select ${address}, status = 'enabled' as enabled from documents where ${named}`,
  );
  const owner = sql.prepare<[string], string>(`select merchant from documents where kind = '${ENDPOINT_KIND}' and id = ?`).pluck();
  const secrets = sql.prepare<[string], EndpointSecret>(
    `select id as endpoint, body ->> 'secret' as secret, body ->> 'previousSecret' as previousSecret from documents
     where merchant = ? and kind = '${ENDPOINT_KIND}' order by sequence`,
  );
  const bodyOf = sql.prepare<[string, string], string>("select body from events where id = ? and merchant = ?").pluck();
  const types = sql.prepare<Address, string>(`select body ->> 'events' from documents where ${named}`).pluck();
  const setStatus = sql.prepare<[string, string, string | null, ...Address]>(
    `update documents set status = ?, body = json_set(body, '$.status', ?, '$.disabledReason', ?) where ${named}`,
  );
  return {
    receiver: (merchant, endpoint) => receiver.get(merchant, endpoint),
    anyReceiver: (merchant, endpoint) => known.get(merchant, endpoint),
    ownerOf: (endpoint) => owner.get(endpoint),
    secrets: (merchant) => secrets.all(merchant),
    bodyOf: (merchant, event) => bodyOf.get(event, merchant),
    disable(merchant, endpoint, reason) {
      setStatus.run("disabled", "disabled", reason, merchant, endpoint);
      outbox.unsubscribe(merchant, endpoint);
    },
    enable(merchant, endpoint) {
      const wanted = types.get(merchant, endpoint);
      if (wanted === undefined) return false;
      setStatus.run("enabled", "enabled", null, merchant, endpoint);
      outbox.subscribe(merchant, endpoint, JSON.parse(wanted) as string[]);
      return true;
    },
  };
}
