// Applies a service file at the edge of the service: to the catalogue, and each reply before it is sent.

import type { ErrorCode } from "../kernel/errors.ts";
import { once } from "../kernel/once.ts";
import type { TSchema } from "../schema/shapes.ts";
import type { Operation } from "../store/operation-context.ts";
import type { RequestEntry } from "../store/request-log/request-log.ts";
import type { AdoptedFacts } from "./adopted-facts.ts";
import { adoptedError, type CallAtEdge, createErrorReply, type EdgeReply, refusedReplay } from "./errors.ts";
import { adoptedEventTypes, type EventTypes, showsTypes, typesInBody, typesInQuery, typesInReply, withNames } from "./event-types.ts";
import { adoptedHeaders, type HeaderAdoption } from "./headers.ts";
import { adoptedReplay, replayRefusal } from "./idempotency.ts";
import type { Prefixes } from "./object-changes.ts";
import { adoptedQuery } from "./pages.ts";
import { adoptedPrefixes } from "./records.ts";
import { createShapes } from "./replies.ts";
import { adoptedRequest, mapValues, ownId } from "./requests.ts";
import { adoptedWebhooks, type WebhookAdoption } from "./webhooks.ts";

export interface Adoption {
  readonly facts: AdoptedFacts;
  /** The prefixes of ids that the file changes, by the sandbox's own. */
  readonly prefixes: Prefixes;
  /** The operations as the real service has them. */
  readonly catalogue: readonly Operation[];
  readonly idempotencyHeader: string;
  /** The reply as the real service sends it. */
  reply(call: CallAtEdge, reply: EdgeReply): EdgeReply;
  /** An error object as the service sends it; its status, category and code are the service's already. */
  errorShape(error: object): unknown;
  errorStatus(code: ErrorCode, operation?: string): number;
  readonly webhooks: WebhookAdoption;
  readonly headers: HeaderAdoption["outwards"];
  readonly headerName: HeaderAdoption["nameOf"];
  /** A logged request as the sandbox itself would have been called, for the judge. */
  inwards(entry: RequestEntry): RequestEntry;
}

export function createAdoption(facts: AdoptedFacts, catalogue: readonly Operation[], records: ReadonlyMap<string, TSchema>): Adoption {
  const prefixes = adoptedPrefixes(facts, records);
  const shapes = createShapes(facts, prefixes, records);
  const errorReply = createErrorReply(facts, shapes.error);
  const types = adoptedEventTypes(facts);
  const { idempotency, nameOf, outwards, inwards } = adoptedHeaders(facts);
  return {
    facts,
    prefixes,
    catalogue: catalogue.map((operation) => adoptedOperation(operation, facts, prefixes, types)),
    webhooks: adoptedWebhooks(facts, types, shapes.event),
    errorShape: shapes.error,
    errorStatus: (code, operation) => adoptedError(facts, code, operation).status,
    idempotencyHeader: idempotency,
    reply(call, reply) {
      const refusal = call.replayOf === undefined ? undefined : replayRefusal(facts, call.operation?.id);
      if (refusal !== undefined) return refusedReplay(facts, shapes.error, call, refusal);
      if (reply.status === 204) return { status: 204, body: "" };
      if (reply.status >= 400) return errorReply(call.operation, reply);
      return { ...reply, body: shapes.success(call.operation, withTypes(call, types, reply.body)) };
    },
    headers: outwards,
    headerName: nameOf,
    inwards,
  };
}

type RequestParts = ReturnType<typeof adoptedRequest> & ReturnType<typeof adoptedQuery>;

/** With each of the parts: one that is left out is an error of types. */
type AdoptedOperation = Operation & Record<keyof RequestParts, unknown>;

/** The schemas of query and body are adopted on first use: most runs call few operations, and doing it for all took 3 % of a start. */
function adoptedOperation(operation: Operation, facts: AdoptedFacts, prefixes: Prefixes, types: EventTypes | undefined): AdoptedOperation {
  const request = once(() => adoptedParts(operation, facts, prefixes, types));
  return {
    ...operation,
    ...adoptedReplay(operation, facts),
    status: facts.number(`${operation.id}.status`) ?? operation.status,
    get body() {
      return request().body;
    },
    get readBody() {
      return request().readBody;
    },
    get readParams() {
      return request().readParams;
    },
    get query() {
      return request().query;
    },
    get readQuery() {
      return request().readQuery;
    },
    get renamed() {
      return request().renamed;
    },
    get renamedFields() {
      return request().renamedFields;
    },
  };
}

function adoptedParts(operation: Operation, facts: AdoptedFacts, prefixes: Prefixes, types: EventTypes | undefined): RequestParts {
  const body = types ? withNames(operation, types) : operation.body;
  const { readBody, ...request } = adoptedRequest({ ...operation, body }, facts, prefixes);
  const { readQuery, ...query } = adoptedQuery(operation, facts);
  if (types === undefined && prefixes.size === 0) return { ...request, ...query, readBody, readQuery };
  const typesIn = (place: typeof typesInBody, sent: Record<string, unknown>) => (types ? place(operation, types, sent) : sent);
  return {
    ...request,
    ...query,
    readQuery: (sent) => typesIn(typesInQuery, mapValues(readQuery?.(sent) ?? sent, ownIn(prefixes))),
    readBody: (sent) => typesIn(typesInBody, readBody?.(sent) ?? sent),
  };
}

/** Cursors are ids. */
const ownIn = (prefixes: Prefixes) => (value: unknown) => (typeof value === "string" ? ownId(prefixes, value) : value);

/** Names types of events that the sandbox does not know. */
const WARNING = "X-Sandbox-Warning";

function withTypes({ operation, headers }: CallAtEdge, types: EventTypes | undefined, body: string): string {
  if (operation === undefined || types === undefined || !showsTypes(operation)) return body;
  const warning = headers[WARNING];
  if (warning !== undefined) headers[WARNING] = warning.replace(/[\w:/-]+(\.[\w:/-]+)*/g, types.shown);
  return JSON.stringify(typesInReply(operation, types, JSON.parse(body)));
}
