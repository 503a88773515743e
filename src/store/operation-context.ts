// What the handler of an operation may touch: the calling merchant's own world, inside one transaction.

import { type Endpoint, endpointFactory, type HandlerInput, type ObjectSchema } from "../contracts/endpoint.ts";
import type { RecordBase, Resource } from "../contracts/resource.ts";
import type { Random } from "../kernel/random.ts";
import { fieldErrors, matchesSchema } from "../schema/validator.ts";
import type { Collection, Collections, Scope } from "./records/collection.ts";
import type { Counters } from "./records/id-counters.ts";
import type { Tenants } from "./records/tenants.ts";
import type { Attempts } from "./webhooks/attempts.ts";
import type { CheckEndpointHealth } from "./webhooks/endpoint-health.ts";
import type { Emission, Outbox } from "./webhooks/outbox.ts";

export interface OperationContext {
  merchant: string;
  /** Unix seconds on the sandbox clock: the `created` of whatever this call makes. */
  now: number;
  /** The caller's own records of a kind; another merchant's are not there. */
  own<R extends RecordBase>(resource: Resource<R>): Collection<R>;
  /** The same for another merchant, for the two operations that reach one: creation and login. */
  of<R extends RecordBase>(merchant: string, resource: Resource<R>): Collection<R>;
  /** Says that something happened; the endpoints that subscribed are told after the commit. */
  emit(type: string, data: unknown): Emission;
  /** The same for a synthetic event, which no operation needs to have declared. */
  emitTest(type: string, data: unknown): Emission;
  /** A new id, for what is no record of its own. */
  mint(prefix: string): string;
  /** A secret for a named purpose, new at each call. */
  secret(purpose: string): string;
  /** Tells the client something beside the answer, in a header of its own. */
  warn(text: string): void;
  tenants: Tenants;
  outbox: Outbox;
  /** The log of webhook deliveries. */
  attempts: Attempts;
  /** How a webhook endpoint fares. */
  health: CheckEndpointHealth;
  webhooks: WebhookRules;
}

/** What holds for webhooks in this sandbox. */
export interface WebhookRules {
  /** Milliseconds before each attempt of a delivery, the first one included. */
  gaps: readonly number[];
  /** Refuses an address that nothing may be delivered to. */
  checkTarget(url: string): void;
  /** Every type of event that the service is known to send. */
  eventTypes: ReadonlySet<string>;
}

/** A declared operation of the service. */
export type Operation = Endpoint<OperationContext>;

export const endpoint = endpointFactory<OperationContext>();

interface OperationDependencies {
  collections: Collections;
  counters: Counters;
  outbox: Outbox;
  tenants: Tenants;
  attempts: Attempts;
  health: CheckEndpointHealth;
  webhooks: WebhookRules;
  random: Random;
}

/** What whoever makes a caller may want to hear of it. */
interface OperationListeners {
  /** The type of each event: so the pipe can hold an operation to what it declared. */
  emitted?(type: string): void;
  warned?(text: string): void;
}

/** What came in with the call, for whoever brings one. */
type OperationInput = HandlerInput<string, ObjectSchema, ObjectSchema>;

const NO_INPUT: OperationInput = { params: {}, query: {}, body: {}, extra: {} };

export function operationContextFactory(stores: OperationDependencies) {
  const { collections, counters, outbox, tenants, attempts, health, webhooks, random } = stores;
  // One literal, made anew for each request: an object that is copied to be added to costs several times as much.
  return (
    merchant: string,
    now: number,
    request: string | undefined,
    ears: OperationListeners = {},
    received = NO_INPUT,
  ): OperationContext & OperationInput => {
    const origin = request === undefined ? {} : { request };
    const emit = (type: string, data: unknown) => {
      ears.emitted?.(type);
      return outbox.emit(merchant, type, data, origin);
    };
    const of: OperationContext["of"] = (owner, resource) =>
      collections(resource, { merchant: owner, now, mint: (prefix) => counters.mint(owner, prefix), emit, hold });
    return {
      params: received.params,
      query: received.query,
      body: received.body,
      extra: received.extra,
      merchant,
      now,
      own: (resource) => of(merchant, resource),
      of,
      emit,
      emitTest: (type, data) => outbox.emit(merchant, type, data, { test: true, ...origin }),
      mint: (prefix) => counters.mint(merchant, prefix),
      secret: (purpose) => random.hex(32, "secret", merchant, purpose, counters.next(merchant, "secret")),
      warn: (text) => ears.warned?.(text),
      tenants,
      outbox,
      attempts,
      health,
      webhooks,
    };
  };
}

const hold: Scope["hold"] = ({ kind, schema }, record) => {
  if (matchesSchema(schema, record)) return;
  throw new Error(`${record.id} would be stored as what no ${kind} is declared to be: ${JSON.stringify(fieldErrors(schema, record))}`);
};

export type CreateOperationContext = ReturnType<typeof operationContextFactory>;
