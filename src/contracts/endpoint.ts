// What a route is: one declaration from which the route, its validation, its documents and its tests are derived.

import type { ErrorCode } from "../kernel/errors.ts";
import { type Assumed, assumed, type Fact } from "../schema/assumed.ts";
import { type Static, type TProperties, type TSchema, Type } from "../schema/shapes.ts";
import type { Document } from "./document.ts";
import type { PreserializedJson } from "./preserialized-json.ts";

export type Method = "GET" | "POST" | "PATCH" | "PUT" | "DELETE";

export type ObjectSchema = TSchema & { properties: TProperties; required?: string[] };

type ParamName<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | ParamName<Rest> : never;

/** What a handler is given of the request. */
export interface HandlerInput<Path extends string, Query extends ObjectSchema, Body extends ObjectSchema> {
  params: Record<ParamName<Path>, string>;
  query: Static<Query>;
  /** Partial, because under `--bodies open` any field may be absent. */
  body: Partial<Static<Body>>;
  /** Unknown fields of the body, to be kept on the record; never one that the service owns. */
  extra: Record<string, unknown>;
}

export interface EndpointDeclaration<
  Path extends string,
  Query extends ObjectSchema,
  Body extends ObjectSchema,
  Reply extends TSchema,
  World,
> {
  id: string;
  area: string;
  method: Method;
  path: Path;
  summary: string;
  /** What a reader of the reference should know beyond the summary. */
  description?: string;
  query?: Query;
  body?: Body;
  /** A body that succeeds on the seeded world. */
  example?: Static<Body> & Record<string, unknown>;
  /** The records of the seeded world on which the example succeeds. */
  exampleParams?: Record<ParamName<Path>, string>;
  reply: Reply;
  /** What it answers instead of the reply, where `format` asks for it: a Document of this content type. */
  documents?: Readonly<Record<string, string>>;
  status?: Fact<number>;
  headers?: Record<string, string>;
  /** What this operation can answer beyond what every operation can. */
  errors?: readonly ErrorCode[];
  emits?: readonly Fact<string>[];
  /** Whether `Idempotency-Key` is honoured; by default on every POST and PATCH. */
  idempotent?: boolean;
  handle(call: HandlerInput<Path, Query, Body> & World): HandlerResult<Static<Reply>> | Promise<HandlerResult<Static<Reply>>>;
}

type HandlerResult<Reply> = Reply | PreserializedJson<Reply> | Document;

/** A declared route with its types forgotten: what the pipe, the reference and the tests loop over. */
export interface Endpoint<World = unknown> {
  readonly id: string;
  readonly area: string;
  readonly method: Method;
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly query: ObjectSchema;
  readonly body: ObjectSchema | undefined;
  readonly example: Record<string, unknown> | undefined;
  readonly exampleParams: Readonly<Record<string, string>>;
  readonly reply: TSchema;
  readonly documents: Readonly<Record<string, string>>;
  readonly status: Fact<number>;
  readonly headers: Readonly<Record<string, string>>;
  readonly errors: readonly ErrorCode[];
  readonly emits: readonly Fact<string>[];
  readonly idempotent: boolean;
  handle(call: HandlerInput<string, ObjectSchema, ObjectSchema> & World): unknown;
}

const OK: Assumed<number> = assumed<number>(200, "The document's table says `OK`, which is the reason phrase of 200.");
const nothing: ObjectSchema = Type.Object({});

/** Makes the `endpoint()` of one surface: the world is what its handlers may touch beside the request. */
export function endpointFactory<World>() {
  return <const Path extends string, Query extends ObjectSchema, Body extends ObjectSchema, Reply extends TSchema>(
    declared: EndpointDeclaration<Path, Query, Body, Reply, World>,
  ): Endpoint<World> => ({
    ...declared,
    description: declared.description ?? "",
    query: declared.query ?? nothing,
    body: declared.body,
    example: declared.example as Record<string, unknown> | undefined,
    exampleParams: declared.exampleParams ?? {},
    documents: declared.documents ?? {},
    status: declared.status ?? OK,
    headers: declared.headers ?? {},
    errors: declared.errors ?? [],
    emits: declared.emits ?? [],
    idempotent: declared.idempotent ?? (declared.method === "POST" || declared.method === "PATCH"),
    handle: declared.handle as unknown as Endpoint<World>["handle"],
  });
}

/** The names in braces of a path, in order. */
export const paramNames = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] as string);
