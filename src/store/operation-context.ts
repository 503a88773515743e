// The context of an operation's handler: the calling merchant's records and the stores, inside one transaction.

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
  /** Unix seconds on the sandbox clock: the `created` of the records that this call makes. */
  now: number;
  /** The calling merchant's records of a kind. */
  own<R extends RecordBase>(resource: Resource<R>): Collection<R>;
  /** The records of another merchant, for the two operations that need them: creation and login. */
  of<R extends RecordBase>(merchant: string, resource: Resource<R>): Collection<R>;
  /** Writes an event and its deliveries to the endpoints that subscribed; they are sent after the commit. */
  emit(type: string, data: unknown): Emission;
  /** The same for a test event, which the operation need not declare. */
  emitTest(type: string, data: unknown): Emission;
  /** A new id for something that is not a record. */
  mint(prefix: string): string;
  /** A new secret, derived from the seed, the merchant and `purpose`. */
  secret(purpose: string): string;
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
  /** Milliseconds before each attempt of a delivery, the first one included. */
  gaps: readonly number[];
  /** Fails for an address that deliveries may not go to. */
  checkTarget(url: string): void;
  /** Every type of event that the service sends. */
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

export interface OperationListeners {
  /** Receives the type of each event, to check it against the operation's declaration. */
  emitted?(type: string): void;
  warned?(text: string): void;
}

/** The input of a request; empty where there is none, as for background traffic. */
type OperationInput = HandlerInput<string, ObjectSchema, ObjectSchema>;

const NO_INPUT: OperationInput = { params: {}, query: {}, body: {}, extra: {} };

export function operationContextFactory(stores: OperationDependencies) {
  const { collections, counters, outbox, tenants, attempts, health, webhooks, random } = stores;
  // One object literal per request: copying an object and adding to it costs several times as much.
  return (
    merchant: string,
    now: number,
    request: string | undefined,
    listeners: OperationListeners = {},
    input = NO_INPUT,
  ): OperationContext & OperationInput => {
    const origin = request === undefined ? {} : { request };
    const emit = (type: string, data: unknown) => {
      listeners.emitted?.(type);
      return outbox.emit(merchant, type, data, origin);
    };
    const of: OperationContext["of"] = (owner, resource) =>
      collections(resource, { merchant: owner, now, mint: (prefix) => counters.mint(owner, prefix), emit, checkRecord });
    return {
      params: input.params,
      query: input.query,
      body: input.body,
      extra: input.extra,
      merchant,
      now,
      own: (resource) => of(merchant, resource),
      of,
      emit,
      emitTest: (type, data) => outbox.emit(merchant, type, data, { test: true, ...origin }),
      mint: (prefix) => counters.mint(merchant, prefix),
      secret: (purpose) => random.hex(32, "secret", merchant, purpose, counters.next(merchant, "secret"), tenants.keyOf(merchant)),
      warn: (text) => listeners.warned?.(text),
      tenants,
      outbox,
      attempts,
      health,
      webhooks,
    };
  };
}

const checkRecord: Scope["checkRecord"] = ({ kind, schema }, record) => {
  if (matchesSchema(schema, record)) return;
  throw new Error(`${record.id} does not match the schema of a ${kind}: ${JSON.stringify(fieldErrors(schema, record))}`);
};

export type CreateOperationContext = ReturnType<typeof operationContextFactory>;
