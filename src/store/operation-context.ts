// The context of an operation's handler: the calling merchant's records and the stores, inside one transaction.

import type { Endpoint, HandlerInput, ObjectSchema } from "../contracts/endpoint.ts";
import type { RecordBase, Resource } from "../contracts/resource.ts";
import type { Random } from "../kernel/random.ts";
import type { TSchema } from "../schema/schema.ts";
import { fieldErrors, matchesSchema } from "../schema/validator.ts";
import type { Collection, Collections, Scope } from "./records/collection.ts";
import type { Counters } from "./records/id-counters.ts";
import type { Tenants } from "./records/tenants.ts";
import { jsonIfWritten } from "./records/written-record.ts";
import type { Attempts } from "./webhooks/attempts.ts";
import type { CheckEndpointHealth } from "./webhooks/endpoint-health.ts";
import type { Outbox } from "./webhooks/outbox.ts";

/** A declared operation of the service. */
export type Operation = Endpoint<OperationContext>;

/** The part of a handler's argument that is the same for every operation. */
export interface OperationContext {
  /** Id of the calling merchant. */
  merchant: string;
  /** Unix seconds on the sandbox clock: the `created` of the records that this call makes. */
  now: number;
  /** The calling merchant's records of a kind. */
  own<R extends RecordBase>(resource: Resource<R>): Collection<R>;
  /** The records of another merchant, for the two operations that need them: creation and login. */
  of<R extends RecordBase>(owner: string, resource: Resource<R>): Collection<R>;
  /**
   * Writes an event, and a delivery to each endpoint that subscribed to its type. The deliveries are sent after the
   * commit.
   */
  emit(type: string, data: unknown): void;
  /** Like `emit`, for a test event, which the operation need not declare. */
  emitTest(type: string, data: unknown): ReturnType<Outbox["emit"]>;
  /** A new id for something that is not a record. */
  mint(prefix: string): string;
  /** A new secret of a webhook endpoint, derived from the seed and the merchant. */
  secret(): string;
  /** The stored JSON, if `result` is the record written last and its kind has this schema; otherwise undefined. */
  jsonOf(result: unknown, schema: TSchema): string | undefined;
  /** Sends a warning to the client, in a header of the response. */
  warn(text: string): void;
  tenants: Tenants;
  outbox: Outbox;
  /** The log of webhook deliveries. */
  attempts: Attempts;
  health: CheckEndpointHealth;
  webhooks: WebhookRules;
}

/** The webhook settings of this sandbox. */
export interface WebhookRules {
  /** Milliseconds before each attempt of a delivery, including the first. */
  gaps: readonly number[];
  /** Serialises an event to the text that is signed and sent. */
  writeEvent(event: object): string;
  /** Throws if deliveries may not go to this address. */
  checkTarget(url: string): void;
  /** Every type of event that the service sends. */
  eventTypes: ReadonlySet<string>;
}

interface OperationDependencies
  extends Pick<OperationContext, "outbox" | "tenants" | "attempts" | "health" | "webhooks"> {
  collections: Collections;
  counters: Counters;
  random: Random;
}

export interface OperationOptions {
  /**
   * For a change that the clock makes: the time of the change, in sandbox milliseconds. Its events get this time. A
   * date in a record that the change writes still takes effect, however long ago it was.
   */
  asOf?: number;
  /** Called with the type and the record of each event. */
  emitted?(type: string, data: unknown): void;
  /** Called with each warning, one sentence about a probable mistake. */
  warned?(text: string): void;
  /** The span of the request, as a `traceparent`. */
  trace?: string | undefined;
}

type OperationInput = HandlerInput<string, ObjectSchema, ObjectSchema>;

const NO_INPUT: OperationInput = { params: {}, query: {}, body: {}, extra: {} };

export function operationContextFactory(stores: OperationDependencies) {
  const { collections, counters, outbox, tenants, attempts, health, webhooks, random } = stores;
  // One object literal per request, because copying and extending an object costs several times as much.
  return (
    merchant: string,
    now: number,
    request: string | undefined,
    options: OperationOptions = {},
    input = NO_INPUT,
  ): OperationContext & OperationInput => {
    const { asOf, emitted, warned, trace } = options;
    const origin = originOf(request, asOf, trace);
    const emit = (type: string, data: unknown) => {
      emitted?.(type, data);
      outbox.emit(merchant, type, data, origin);
    };
    const shared = { now, emit, dueFrom: dueFrom(now, asOf), warn: warned };
    const scope = scopeOf(counters, merchant, shared);
    return {
      params: input.params,
      query: input.query,
      body: input.body,
      extra: input.extra,
      merchant,
      now,
      own: (resource) => collections(resource, scope),
      of: (owner, resource) => collections(resource, scopeOf(counters, owner, shared)),
      emit,
      emitTest: (type, data) => outbox.emit(merchant, type, data, { test: true, ...origin }),
      mint: (prefix) => counters.mint(merchant, prefix),
      secret: () =>
        random.hex(32, "secret", merchant, "webhook", counters.next(merchant, "secret"), tenants.keyOf(merchant)),
      jsonOf: (result, schema) => jsonIfWritten(scope, result, schema),
      warn: (text) => warned?.(text),
      tenants,
      outbox,
      attempts,
      health,
      webhooks,
    };
  };
}

/** The cause of the events: a request, or the date on which the clock changed a record. */
function originOf(request: string | undefined, asOf: number | undefined, trace: string | undefined) {
  if (request !== undefined) return { request, trace };
  return asOf === undefined ? {} : { at: asOf };
}

/** Milliseconds. A date of the last 24 hours is still due, so that a record can be created with today's date. */
const STILL_DUE = 86_400_000;

/** The earliest date, in sandbox milliseconds, that still changes a record that the operation writes. */
const dueFrom = (now: number, asOf: number | undefined) => (asOf === undefined ? now * 1000 - STILL_DUE : 0);

/** The dependencies of a merchant's collections. */
const scopeOf = (
  counters: Counters,
  merchant: string,
  { now, emit, dueFrom, warn }: Pick<Scope, "now" | "emit" | "dueFrom" | "warn">,
): Scope => ({
  merchant,
  now,
  mint: (prefix) => counters.mint(merchant, prefix),
  series: seriesFor(counters, merchant),
  emit,
  warn,
  dueFrom,
  checkRecord,
});

export const seriesFor = (counters: Counters, merchant: string): Scope["series"] => ({
  next: (name) => counters.next(merchant, name),
  raise: (name, value) => counters.raise(merchant, name, value),
});

const checkRecord: Scope["checkRecord"] = ({ kind, schema }, record) => {
  if (matchesSchema(schema, record)) return;
  throw new Error(
    `${record.id} does not match the schema of a ${kind}: ${JSON.stringify(fieldErrors(schema, record))}`,
  );
};
