// The error responses of an OpenAPI document: one per status, with its codes and an example of each.

import { STATUS_CODES } from "node:http";
import { errorObject } from "../../src/contracts/envelopes.ts";
import { type ErrorCode, errors } from "../../src/kernel/errors.ts";
import { REQUEST_ID_HEADER } from "../../src/reference/headers.ts";
import { ASSUMED, type Assumption, annotate } from "../../src/schema/assumed.ts";
import { oneOf, type TSchema } from "../../src/schema/shapes.ts";
import { codes, type DeclaredOperation, errorsOf, type Surface, unmarked } from "./api-surface.ts";
import type { Components } from "./components.ts";
import type { Printed } from "./subschemas.ts";

export const ERRORS_ASSUMPTION: Assumption = {
  why: "The service's documentation shows the format of an error but, of the statuses, only 429.",
};

/**
 * The schema of the error responses of a surface: the error object, with a list of all codes that the operations of the
 * surface can return.
 */
export function errorSchemaOf(surface: Surface, operations: readonly DeclaredOperation[]): TSchema {
  const used = new Set(operations.flatMap((operation) => errorsOf(surface, operation)));
  const returned = codes.filter((one) => used.has(one));
  const error = oneOf([...new Set(returned.map((one) => errors[one].error))], "Category of the error");
  const code = oneOf(returned, "Error code for the exact condition; each operation lists its own in its responses");
  const { properties, ...rest } = surface.assumes ? errorObject : unmarked(errorObject);
  const schema = {
    ...rest,
    properties: { ...properties, error: titled("error_category", error), code: titled("error_code", code) },
  };
  return titled("api_error", schema as TSchema);
}

const titled = (title: string, schema: TSchema) => annotate(schema, { title });

/** The error responses of an operation, by status. `schema` is the schema of every error of the surface. */
export function failures(
  surface: Surface,
  operation: DeclaredOperation,
  schema: TSchema,
  components: Components,
): Record<string, Printed> {
  const possible = errorsOf(surface, operation);
  const common = new Set<ErrorCode>([...surface.errors.always, ...surface.errors.body, ...surface.errors.key]);
  const statusOf = (code: ErrorCode) => errors[code].status;
  const statuses = [...new Set(possible.map(statusOf))].sort((one, other) => one - other);
  const entries = statuses.map((status) => {
    const here = possible.filter((code) => statusOf(code) === status);
    const commonCodes = codes.filter((code) => common.has(code) && statusOf(code) === status);
    const make = () => failure(surface, operation, status, here, schema, components);
    const isShared = SHARED.has(status) && here.join() === commonCodes.join();
    return [String(status), isShared ? components.reference("responses", nameOf(status), make) : make()];
  });
  return Object.fromEntries(entries);
}

/** Statuses with one common response. An operation uses this response if it has exactly the common codes. */
const SHARED = new Set([401, 403, 413, 415, 422, 429, 500, 503]);

const nameOf = (status: number) => (STATUS_CODES[status] ?? String(status)).replaceAll(/[^A-Za-z]/g, "");

function failure(
  surface: Surface,
  operation: DeclaredOperation,
  status: number,
  here: ErrorCode[],
  schema: TSchema,
  components: Components,
): Printed {
  const isAssumption = surface.assumes && !here.some((code) => "documented" in errors[code]);
  const examples = here.map((code) => [code, components.reference("examples", code, () => example(surface, code))]);
  return {
    description: `${STATUS_CODES[status] ?? status}: ${here.map((code) => `\`${code}\``).join(", ")}`,
    ...omitIfEmpty("headers", headersOf(surface, operation, status, components)),
    content: { "application/json": { schema: components.schema(schema), examples: Object.fromEntries(examples) } },
    ...(isAssumption ? { [ASSUMED]: ERRORS_ASSUMPTION } : {}),
  };
}

function example(surface: Surface, code: ErrorCode): Printed {
  const { when, error } = errors[code];
  const isLogged = surface.headers.some(({ name }) => name === REQUEST_ID_HEADER);
  return { summary: when, value: { error, message: when, code, details: isLogged ? { requestId: "req_1" } : {} } };
}

/** `{ [keyword]: map }`, or nothing if the map is empty. */
export const omitIfEmpty = (keyword: string, map: Record<string, Printed>): Printed =>
  Object.keys(map).length > 0 ? { [keyword]: map } : {};

/** The headers of an operation's response with this status, as references to components. */
export function headersOf(
  surface: Surface,
  operation: DeclaredOperation,
  status: number,
  components: Components,
): Record<string, Printed> {
  const sent = surface.headers.filter((header) => header.sentWith(operation, status));
  const entries = sent.map(({ name, schema, assumption }) => {
    const { description, ...shape } = components.schema(schema);
    const make = () => ({ description, schema: shape, ...(assumption ? { [ASSUMED]: assumption } : {}) });
    return [name, components.reference("headers", name, make)];
  });
  return Object.fromEntries(entries);
}
