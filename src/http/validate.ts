// Validates query and body against the operation's declaration, and separates known fields from unknown ones.

import type { ObjectSchema } from "../contracts/endpoint.ts";
import { didYouMean } from "../kernel/did-you-mean.ts";
import { errorSummary, type FieldError, fail } from "../kernel/errors.ts";
import { mask, maskValue } from "../kernel/mask.ts";
import { withSent } from "../schema/as-sent.ts";
import { ASSUMED } from "../schema/assumed.ts";
import { errorCodeOf, type TSchema } from "../schema/shapes.ts";
import { fieldErrors, MAX_ERRORS, MAX_NAME, matchesSchema } from "../schema/validator.ts";
import type { Operation } from "../store/operation-context.ts";
import { contextOf, type RequestContext, type Stage } from "./context.ts";

/**
 * `checked` rejects known fields that are missing or of the wrong type. `open` accepts any object if the body's shape
 * is an assumption: it uses the fields that match, and stores and returns the others as sent. `strict`, for the control
 * API, also rejects unknown fields.
 */
export type BodyMode = "checked" | "open" | "strict";

/** The parts of a request context that validation reads and writes. */
export type RequestInput = Pick<RequestContext, "search" | "headers" | "body" | "query" | "extra">;

/** The fields of a declaration that validation uses. */
type InputDeclaration = Pick<Operation, "method" | "query" | "usualQuery" | "body" | "handlerChecksBody" | "reply">;

export const validate =
  (bodies: BodyMode): Stage =>
  (request, _response, next) => {
    const context = contextOf(request);
    readInput(context.operation as Operation, context, bodies);
    next();
  };

export function readInput(declaration: InputDeclaration, context: RequestInput, bodies: BodyMode): void {
  context.query = readQuery(declaration, context, bodies);
  if (declaration.method === "GET") return;
  const { body, handlerChecksBody } = declaration;
  if (handlerChecksBody) return;
  const { known, unknown } = sortFields(declaration, context.body);
  const foreign = unknown.map(([name]) => name);
  const isOthersAllowed = body?.additionalProperties ?? bodies !== "strict";
  const refused = isOthersAllowed ? NONE : unknownErrors("body field", foreign, Object.keys(body?.properties ?? {}));
  const isOpen = bodies === "open" && body !== undefined && ASSUMED in body;
  if (!isOpen) checkBody(body, known, bodies, refused);
  const invalid = isOpen ? takeInvalidFields(body, known) : undefined;
  const unused = [...foreign, ...Object.keys(invalid ?? {})];
  if (unused.length > 0) context.headers["X-Sandbox-Unknown-Fields"] = headerList(unused);
  const extra = extraFields(declaration, unknown);
  context.extra = invalid ? withSent(extra, maskValue(invalid) as Record<string, unknown>) : extra;
  context.body = known;
}

const NONE: readonly never[] = [];

/** The query parameters, as text or integers. Skips parsing for an empty query, the usual case. */
function readQuery(declaration: InputDeclaration, context: RequestInput, bodies: BodyMode): Record<string, unknown> {
  const sent = context.search === "" ? {} : checkedQuery(declaration.query, context, bodies);
  const query = declaration.usualQuery === undefined ? sent : { ...declaration.usualQuery, ...sent };
  if (query.starting_after !== undefined && query.ending_before !== undefined)
    fail("invalid_cursor", "Send starting_after or ending_before, not both.", {
      fields: ["starting_after", "ending_before"],
    });
  return query;
}

function checkedQuery(schema: ObjectSchema, context: RequestInput, bodies: BodyMode): Record<string, unknown> {
  const sent = new URLSearchParams(context.search);
  const query: Record<string, unknown> = {};
  const unknown = [...new Set(sent.keys())].filter((name) => !Object.hasOwn(schema.properties, name));
  const refused =
    bodies === "strict" ? unknownErrors("query parameter", unknown, Object.keys(schema.properties)) : NONE;
  if (refused.length > 0) fail("validation_failed", errorSummary(refused), { errors: refused });
  if (unknown.length > 0) context.headers["X-Sandbox-Unknown-Params"] = headerList(unknown);
  for (const [name, property] of Object.entries(schema.properties)) {
    const values = sent.getAll(name);
    if (values.length > 1)
      fail(errorCodeOf(property), `${name} was sent ${values.length} times; send it once.`, {
        field: name,
        received: values,
      });
    if (values[0] !== undefined)
      query[name] =
        (property as { type?: string }).type === "integer" && /^-?\d{1,15}$/.test(values[0])
          ? Number(values[0])
          : values[0];
  }
  const errors = fieldErrors(schema, query);
  const field = errors[0]?.field;
  if (field !== undefined)
    fail(errorCodeOf(schema.properties[field]), errorSummary(errors), { field, received: sent.get(field), errors });
  return query;
}

function sortFields({ body }: InputDeclaration, sent: Record<string, unknown>) {
  const known: Record<string, unknown> = {};
  // Pairs instead of an object, because V8 is slow with as many properties as a body may have fields.
  const unknown: [name: string, value: unknown][] = [];
  for (const name of Object.keys(sent)) {
    if (body && Object.hasOwn(body.properties, name)) known[name] = sent[name];
    else unknown.push([name, sent[name]]);
  }
  return { known, unknown };
}

function checkBody(
  schema: ObjectSchema | undefined,
  body: Record<string, unknown>,
  bodies: BodyMode,
  refused: readonly FieldError[],
): void {
  const errors = [...refused, ...(schema ? fieldErrors(schema, body) : NONE)];
  if (errors.length === 0) return;
  const isAssumed =
    bodies !== "strict" &&
    schema !== undefined &&
    ASSUMED in schema &&
    errors.some(({ code }) => code !== "unknown_field");
  const remedy = isAssumed ? " Assumed shape; --bodies open accepts others." : "";
  fail("validation_failed", `${errorSummary(errors)}${remedy}`, { errors });
}

function unknownErrors(kind: "query parameter" | "body field", names: string[], known: string[]): FieldError[] {
  return names.slice(0, MAX_ERRORS).map((whole) => {
    const name = whole.slice(0, MAX_NAME);
    const remedy = didYouMean(name, known) || ` Allowed: ${known.join(", ")}.`;
    const message =
      known.length === 0
        ? `This call takes no ${kind}s; received ${name}.`
        : `Unknown ${kind.split(" ")[1]} ${name}.${remedy}`;
    return { pointer: `/${name}`, field: name, code: "unknown_field", message };
  });
}

/** Removes known fields with invalid values from the body and returns them. Missing fields are allowed. */
function takeInvalidFields(schema: ObjectSchema, body: Record<string, unknown>): Record<string, unknown> {
  const invalid = Object.entries(body).filter(
    ([name, value]) => !matchesSchema(schema.properties[name] as TSchema, value),
  );
  for (const [name] of invalid) delete body[name];
  return Object.fromEntries(invalid);
}

const DANGEROUS = new Set(["__proto__", "constructor", "prototype"]);

/**
 * The unknown fields to store on the record, with their secrets masked. Omits fields that the service sets itself,
 * unless the body's schema declares `additionalProperties`: such a body accepts all fields of a record.
 */
function extraFields(
  { body, reply }: InputDeclaration,
  unknown: [name: string, value: unknown][],
): Record<string, unknown> {
  const owned = body?.additionalProperties ? {} : ((reply as Partial<ObjectSchema>).properties ?? {});
  const kept = unknown.filter(([name]) => !Object.hasOwn(owned, name) && !DANGEROUS.has(name));
  return maskValue(Object.fromEntries(kept)) as Record<string, unknown>;
}

const MAX_LIST_LENGTH = 1_000;

/**
 * Names as one header value. Secrets are masked, and names with characters that a header cannot carry are
 * percent-encoded.
 */
function headerList(names: string[]): string {
  let list = "";
  for (const name of names) {
    if (list.length > MAX_LIST_LENGTH) break;
    const shown = mask(name, MAX_LIST_LENGTH);
    list += `${list === "" ? "" : ", "}${/^[\w.$-]+$/.test(shown) ? shown : encodeURIComponent(shown.toWellFormed())}`;
  }
  return list.slice(0, MAX_LIST_LENGTH);
}
