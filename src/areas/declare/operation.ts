// Declares operations. `endpoint()` declares an operation of the service, and `listEndpoint()` an operation that lists
// the records of a kind. `endpointFactory()` creates an `endpoint()` for another API.

import type { Endpoint, EndpointDeclaration, ObjectSchema } from "../../contracts/endpoint.ts";
import type { RecordBase, Resource } from "../../contracts/resource.ts";
import { type Assumed, assumed } from "../../schema/assumed.ts";
import { assumedListOf, assumedPageQuery, type TProperties, type TSchema, Type } from "../../schema/shapes.ts";
import type { Operation, OperationContext } from "../../store/operation-context.ts";

const OK: Assumed<number> = assumed<number>(
  200,
  "The service's documentation says `OK`, which is the reason phrase of status 200.",
);

const DEFAULTS = {
  position: Number.MAX_SAFE_INTEGER,
  description: "",
  query: Type.Object({}),
  exampleParams: {},
  documents: {},
  status: OK,
  headers: {},
  errors: [],
  emits: [],
  mayEmit: {},
  mayEmitAfter: [],
};

type Declare<World, More> = <
  const Path extends string,
  Query extends ObjectSchema,
  Body extends ObjectSchema,
  Reply extends TSchema,
>(
  declared: EndpointDeclaration<Path, Query, Body, Reply, World> & More,
) => Endpoint<World>;

/**
 * Creates an `endpoint()` function. With an `area`, all operations belong to that area; otherwise each operation
 * declares its own area. Handlers receive the fields of `World` and those of the request.
 */
export function endpointFactory<World>(): Declare<World, { area: string }>;
export function endpointFactory<World>(area: string): Declare<World, unknown>;
export function endpointFactory<World>(area = ""): Declare<World, unknown> {
  return (declared) => {
    const idempotent = declared.method === "POST" || declared.method === "PATCH";
    return { ...DEFAULTS, area, idempotent, ...declared } as unknown as Endpoint<World>;
  };
}

export const endpoint = endpointFactory<OperationContext>();

/** Declares an operation that lists a merchant's records of a kind. By default, its reply and query are assumptions. */
export const listEndpoint = <R extends RecordBase>(
  resource: Resource<R>,
  declared: Pick<Operation, "id" | "position" | "area" | "path" | "summary">,
  {
    reply = assumedListOf(resource.schema),
    query = assumedPageQuery,
  }: { reply?: TSchema; query?: typeof assumedPageQuery } = {},
): Operation =>
  endpoint({
    ...declared,
    method: "GET",
    lists: resource.kind,
    query,
    reply,
    errors: ["invalid_limit", "invalid_cursor"],
    handle: ({ query: page, own }) => own(resource).list(page),
  });

/** A request body with these fields, which are an assumption: `--bodies open` accepts any others. */
export const assumedBody = <P extends TProperties>(
  fields: P,
  why = "The service's documentation does not show this body.",
) => assumed(Type.Object(fields), why, "--bodies open");
