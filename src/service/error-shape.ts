// The body of an error as the real service writes it: its fields, the list of invalid fields, and the names that
// messages quote.

import { invalidFieldsForms, OWN_INVALID_FIELDS } from "../contracts/invalid-fields.ts";
import { type ErrorBody, type ErrorCode, errorSummary, errors, type FieldError } from "../kernel/errors.ts";
import type { Operation } from "../store/operation-context.ts";
import type { AdoptedFacts } from "./service-file.ts";
import { type Fields, type Prefixes, TOP, type Translate } from "./translator.ts";

export interface OwnError extends ErrorBody {
  code: ErrorCode;
}

/** The error of a reply, if it has one of the sandbox's own codes. */
export function ownErrorIn({ status, body }: { status: number; body: string }): OwnError | undefined {
  if (!body.startsWith("{")) return undefined;
  const parsed = JSON.parse(body) as OwnError;
  return Object.hasOwn(errors, parsed.code) && errors[parsed.code].status === status ? parsed : undefined;
}

/** The text of an error with this category and code. */
export type ErrorShape = (
  error: OwnError,
  shown: { error: string; code: string },
  operation: Operation | undefined,
) => string;

export function createErrorShape(
  facts: AdoptedFacts,
  prefixes: Prefixes,
  translate: Translate | undefined,
): ErrorShape {
  const envelope = facts.text("error.envelope");
  const moveInvalidFields = createInvalidFields(facts);
  return (error, shown, operation) => {
    const named = withPrefixes({ ...(operation ? withNames(error, operation, facts) : error), ...shown }, prefixes);
    const shaped = (translate?.(named, TOP) ?? named) as Fields;
    return JSON.stringify(enveloped(envelope, moveInvalidFields?.(named, shaped) ?? shaped));
  };
}

/** Puts a value into an envelope field such as `error`, or into a list there: `errors[]`. */
export function enveloped(name: string | undefined, value: unknown): unknown {
  if (name === undefined || name === "none") return value;
  return name.endsWith("[]") ? { [name.slice(0, -2)]: [value] } : { [name]: value };
}

/**
 * Moves an error's list of invalid fields to where the service has it. Undefined if the file does not change its form.
 */
function createInvalidFields(facts: AdoptedFacts): ((own: Fields, shaped: Fields) => Fields) | undefined {
  const text = facts.text("error.invalid_fields") ?? OWN_INVALID_FIELDS;
  const adopted = text === OWN_INVALID_FIELDS ? undefined : invalidFieldsForms.get(text);
  if (!adopted) return undefined;
  const { place, form, write } = adopted;
  const details = facts.text("error.details.name") ?? "details";
  const errors = facts.text("error.details.errors.name") ?? "errors";
  return (own, shaped) => {
    const found = (own as { details?: { errors?: unknown } }).details?.errors;
    if (!Array.isArray(found)) return shaped;
    const { [details]: inner, ...rest } = shaped;
    const { [errors]: list, ...others } = (inner ?? {}) as Fields;
    const value = form === "a list of objects" ? (list ?? found) : write(found as FieldError[]);
    if (place === "errors") return { ...rest, ...(inner === undefined ? {} : { [details]: others }), errors: value };
    return { ...rest, [details]: place === "details" ? value : { ...others, [errors]: value } };
  };
}

/** The error with the service's names of parameters and fields. */
function withNames(error: OwnError, { id }: Operation, facts: AdoptedFacts): OwnError {
  const { field, fields, errors: found } = error.details;
  const isAboutQuery = field !== undefined || fields !== undefined;
  const names = namesAt(`${id}.${isAboutQuery ? "query" : "body"}.`, facts);
  if (names.size === 0) return error;
  const shown = (path: unknown) => String(path).replace(/[^/.[\]]+/g, (name) => names.get(name) ?? name);
  const begun = (text: string, name: string) =>
    text.startsWith(`${name} `) ? shown(name) + text.slice(name.length) : text;
  const inText = (text: string, name: string) =>
    isAboutQuery ? text.replace(/\w+/g, (word) => names.get(word) ?? word) : begun(text, name);
  // An unknown field keeps the name that the client sent; only the known fields that its message lists are translated.
  const isForeign = (one: FieldError | undefined) => one?.code === "unknown_field";
  const withKnown = (text: string) =>
    text.replace(/(?<=Allowed: |Did you mean ).*/, (known) => known.replace(/\w+/g, shown));
  const listed = Array.isArray(found) ? (found as FieldError[]) : [];
  const moved = listed.map((one) =>
    isForeign(one)
      ? { ...one, message: withKnown(one.message) }
      : { ...one, pointer: shown(one.pointer), field: shown(one.field), message: inText(one.message, one.field) },
  );
  return {
    ...error,
    message:
      listed.length === 0
        ? inText(error.message, "")
        : error.message.replace(errorSummary(listed), () => errorSummary(moved)),
    details: {
      ...error.details,
      ...(field !== undefined && { field: shown(field) }),
      ...(Array.isArray(fields) && { fields: fields.map(shown) }),
      ...(found !== undefined && { errors: moved }),
    },
  };
}

/**
 * Leaves out a name that is also the service's name of another field there: an error does not say which of the two it
 * means.
 */
function namesAt(place: string, { values }: AdoptedFacts): ReadonlyMap<string, string> {
  const names = [...values].flatMap(([id, name]) =>
    // The field is the last part but one, as in `payments.create.body.items[].amount.name`.
    id.startsWith(place) && id.endsWith(".name")
      ? [[(id.split(".").at(-2) ?? "").replace("[]", ""), String(name)] as const]
      : [],
  );
  const taken = new Set(names.map(([, name]) => name));
  return new Map(names.filter(([own]) => !taken.has(own)));
}

/** Exchanges the prefixes of the ids that an error's message and details quote. */
function withPrefixes<Body extends object>(error: Body, prefixes: Prefixes): Body {
  if (prefixes.size === 0) return error;
  const { message, details } = error as { message?: unknown; details?: unknown };
  const others = new Map([...prefixes].flatMap(([own, prefix]) => [[own, prefix] as const, [prefix, own] as const]));
  const quoted = new RegExp(`\\b(${[...others.keys()].join("|")})(?=[A-Za-z0-9])`, "g");
  const exchanged = JSON.stringify({ message, details }).replace(quoted, (prefix) => others.get(prefix) ?? prefix);
  return { ...error, ...(JSON.parse(exchanged) as object) };
}
