// The types of an operation's declaration, from which its route, validation, documentation and contract tests are
// derived. `areas/declare/` has the functions that declare.

import type { ErrorCode } from "../kernel/errors.ts";
import type { JsonObject } from "../kernel/json-object.ts";
import type { Document, PreserializedJson } from "../kernel/reply-bodies.ts";
import type { Fact } from "../schema/assumed.ts";
import type { Static, TProperties, TSchema } from "../schema/shapes.ts";
import type { AnyRecord } from "./resource.ts";

export type Method = "GET" | "POST" | "PATCH" | "PUT" | "DELETE";

export type ObjectSchema = TSchema & { properties: TProperties; required?: string[]; additionalProperties?: boolean };

type ParamName<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamName<Rest>
  : never;

/** The parts of the request that a handler receives. */
export interface HandlerInput<Path extends string, Query extends ObjectSchema, Body extends ObjectSchema> {
  params: Record<ParamName<Path>, string>;
  query: Static<Query>;
  /** Partial, because with `--bodies open` any field may be absent. */
  body: Partial<Static<Body>>;
  /** Unknown fields of the body, stored with the record. Never contains fields that the service owns. */
  extra: Record<string, unknown>;
  /** Aborted when the client has disconnected. Only for operations of the control API that are called over HTTP. */
  gone?: AbortSignal | undefined;
}

export interface EndpointDeclaration<
  Path extends string,
  Query extends ObjectSchema,
  Body extends ObjectSchema,
  Reply extends TSchema,
  World,
> {
  id: string;
  /** The operation's position in the list of its API (default: last). */
  position?: number;
  method: Method;
  path: Path;
  summary: string;
  /** Details that the summary omits, for the reference. */
  description?: string;
  query?: Query;
  body?: Body;
  /**
   * Set if the handler checks the body, so that one response can name the schema's errors and the handler's own. `body`
   * then only documents the body.
   */
  handlerChecksBody?: true;
  /** A body that succeeds on a freshly seeded sandbox. */
  example?: Static<Body> & Record<string, unknown>;
  /** Path parameters with which the example succeeds on a freshly seeded sandbox. */
  exampleParams?: Record<ParamName<Path>, string>;
  reply: Reply;
  /** Alternative representations: the content type of the Document returned for each value of `format`. */
  documents?: Readonly<Record<string, string>>;
  status?: Fact<number>;
  headers?: Record<string, string>;
  /** Errors specific to this operation, beyond those that any operation can return. */
  errors?: readonly ErrorCode[];
  emits?: readonly Fact<string>[];
  /** Events about other records that only some calls change: type → when, such as `if the guest paid a deposit`. */
  mayEmit?: Readonly<Record<string, string>>;
  /** Commands to run before the call, so that it emits its `mayEmit` events. Shown in docs/events.md. */
  mayEmitAfter?: readonly string[];
  /** How `trigger` calls the operation to cause its event. Preferred to a change of a record. */
  trigger?: OperationTrigger;
  /** Whether `Idempotency-Key` is honoured (default: true for POST and PATCH). */
  idempotent?: boolean;
  /** Milliseconds for which a reply is replayed for its `Idempotency-Key` (default: 24 hours). */
  replayWindow?: number;
  /** The kind of record that the operation lists. */
  lists?: string;
  /** Rejected from a web page, even of an allowed origin, because the operation has effects outside the API. */
  notFromPages?: true;
  handle(
    call: HandlerInput<Path, Query, Body> & World,
  ): HandlerResult<Static<Reply>> | Promise<HandlerResult<Static<Reply>>>;
}

export interface OperationTrigger {
  /** The record that the call is about. Without it, `params` and `body` receive an empty one. */
  record?: { kind: string; status?: string };
  params?(record: AnyRecord): Record<string, string>;
  /** `unique` is a new text for each call, for fields with unique values. */
  body(record: AnyRecord, unique: string): JsonObject;
}

type HandlerResult<Reply> = Reply | PreserializedJson<Reply> | Document;

type Declared<World> = EndpointDeclaration<string, ObjectSchema, ObjectSchema, TSchema, World> & { area: string };
/** The fields without a default. */
type MayLack = "body" | "handlerChecksBody" | "example" | "replayWindow" | "notFromPages" | "trigger" | "lists";

/** A declared operation without its type parameters, for code that iterates over all operations. */
export type Endpoint<World = unknown> = Readonly<
  Required<Omit<Declared<World>, MayLack | "exampleParams">> & Pick<Declared<World>, Exclude<MayLack, "example">>
> & {
  readonly example?: Readonly<Record<string, unknown>> | undefined;
  /** Values of query parameters that a call leaves out (default: none). */
  readonly usualQuery?: Readonly<Record<string, unknown>> | undefined;
  readonly exampleParams: Readonly<Record<string, string>>;
};

/** An operation without its handler. */
export type DeclaredOperation = Omit<Endpoint, "handle">;
