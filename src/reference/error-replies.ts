// The error replies of a document: one for each status, its codes listed, each with an example out of the table of errors.

import { STATUS_CODES } from "node:http";
import { type ErrorCode, errors } from "../kernel/errors.ts";
import { ASSUMED, type Assumption, assumed } from "../schema/assumed.ts";
import { Type, text } from "../schema/shapes.ts";
import { codes, type Declared, errorsOf, type Surface } from "./api-surface.ts";
import type { Components } from "./components.ts";
import { REQUEST_ID_HEADER } from "./headers.ts";
import { unmarked } from "./strip-assumed.ts";
import type { Printed } from "./subschemas.ts";

export const ERRORS_ASSUMPTION: Assumption = { why: "The document shows the form of an error, and of the statuses only 429." };

const fieldError = Type.Object({
  pointer: text("JSON Pointer to the field"),
  field: text("The same with dots"),
  code: text("What is wrong with it"),
  message: text("The same in words"),
});

export const errorObject = Type.Object(
  {
    error: text("The category of the error"),
    message: Type.Optional(text("What was received and how to mend it")),
    code: Type.Optional(text("The exact condition")),
    details: Type.Optional(
      assumed(
        Type.Object(
          {
            requestId: Type.Optional(text("The request's id in the sandbox's own journal")),
            errors: Type.Optional(Type.Array(fieldError, { description: "Every field that was wrong" })),
          },
          { description: "What a program could want to know of the error; further fields depend on the code" },
        ),
        "The document says that `details` is an object, and not what is in it.",
      ),
    ),
  },
  { title: "error", description: "Every reply with a status of 400 and above" },
);

/** The replies of an operation that fails, by status. */
export function failures(surface: Surface, operation: Declared, components: Components): Record<string, Printed> {
  const possible = errorsOf(surface, operation);
  const common = new Set<ErrorCode>([...surface.errors.always, ...surface.errors.body, ...surface.errors.key]);
  const statuses = [...new Set(possible.map((code) => errors[code].status))].sort((one, other) => one - other);
  const entries = statuses.map((status) => {
    const here = possible.filter((code) => errors[code].status === status);
    const everybodys = codes.filter((code) => common.has(code) && errors[code].status === status);
    const make = () => failure(surface, operation, status, here, components);
    const isCommon = SHARED.has(status) && here.join() === everybodys.join();
    return [String(status), isCommon ? components.point("responses", nameOf(status), make) : make()];
  });
  return Object.fromEntries(entries);
}

/** Statuses whose codes and headers are the same wherever no operation adds a code of its own. */
const SHARED = new Set([401, 403, 413, 415, 422, 429, 500, 503]);

const nameOf = (status: number) => (STATUS_CODES[status] ?? String(status)).replaceAll(/[^A-Za-z]/g, "");

function failure(surface: Surface, operation: Declared, status: number, here: ErrorCode[], components: Components): Printed {
  const categories = [...new Set(here.map((code) => errors[code].error))];
  const isAssumption = surface.assumes && !here.some((code) => "documented" in errors[code]);
  const schema = {
    allOf: [
      components.schema(surface.assumes ? errorObject : unmarked(errorObject)),
      { type: "object", properties: { error: { type: "string", enum: categories }, code: { type: "string", enum: here } } },
    ],
  };
  const examples = here.map((code) => [code, components.point("examples", code, () => example(surface, code))]);
  return {
    description: `${STATUS_CODES[status]}: ${here.map((code) => `\`${code}\``).join(", ")}`,
    ...unlessEmpty("headers", headersOf(surface, operation, status, components)),
    content: { "application/json": { schema, examples: Object.fromEntries(examples) } },
    ...(isAssumption ? { [ASSUMED]: ERRORS_ASSUMPTION } : {}),
  };
}

function example(surface: Surface, code: ErrorCode): Printed {
  const { error, when } = errors[code];
  const isJournaled = surface.headers.some(({ name }) => name === REQUEST_ID_HEADER);
  const details = isJournaled ? { requestId: "req_1" } : {};
  return { summary: when, value: { error, message: when, code, details } };
}

/** A keyword with its map, unless there is nothing in it. */
export const unlessEmpty = (keyword: string, map: Record<string, Printed>): Printed =>
  Object.keys(map).length > 0 ? { [keyword]: map } : {};

/** The headers of an operation's reply with this status, each printed once in the document. */
export function headersOf(surface: Surface, operation: Declared, status: number, components: Components): Record<string, Printed> {
  const sent = surface.headers.filter((header) => header.sentWith(operation, status));
  const entries = sent.map(({ name, schema, assumption }) => {
    const { description, ...shape } = components.schema(schema);
    const make = () => ({ description, schema: shape, ...(assumption ? { [ASSUMED]: assumption } : {}) });
    return [name, components.point("headers", name, make)];
  });
  return Object.fromEntries(entries);
}
