// The schemas that areas share: ids, money, dates, lists.

import type { ErrorCode } from "../kernel/errors.ts";
import { annotate, assumed } from "./assumed.ts";
import { PATTERNS } from "./patterns.ts";
import {
  type Static,
  type TObject,
  type TOptional,
  type TProperties,
  type TSchema,
  type TUnsafe,
  Type,
} from "./schema.ts";

export type { Static, TObject, TProperties, TSchema, TUnsafe };
export { Type };

const SAFE = Number.MAX_SAFE_INTEGER;

export const text = (description: string, options: object = {}) =>
  Type.String({ description, maxLength: 5_000, ...options });

/** One name or several, of which one must match. `x-sandbox-names` gives them their literal types in TypeScript. */
export const oneOrSeveral = (kind: "operation" | "event", description: string, keywords: object = {}) => {
  const one = (words: string) => text(words, { minLength: 1, "x-sandbox-names": kind, ...keywords });
  return Type.Union([one("One"), Type.Array(one("One of several"), { minItems: 1, maxItems: 100 })], { description });
};

export const flag = (description: string) => Type.Boolean({ description });

/** A switch in a query. */
export const zeroOrOne = (description: string) => text(description, { pattern: "^[01]$" });

export const count = (description: string, options: object = {}) =>
  Type.Integer({ description, minimum: 0, maximum: SAFE, ...options });

/** An id with the prefix of its kind of record. Fixtures have readable ids, created records random ones. */
export const id = (prefix: string, description: string) =>
  prefixed(prefix, description, { minLength: 1, maxLength: 255 });

/** The keyword for the prefix of a text, such as an id. The description names the prefix too. */
export const PREFIX = "x-sandbox-prefix";

export const prefixed = (prefix: string, description: string, options: object = {}) =>
  text(`${description} (\`${prefix}_…\`)`, { ...options, [PREFIX]: `${prefix}_` });

/** The prefix of an id, such as `pay_`; undefined for other texts. */
export const prefixOf = (schema: object) => (schema as { [PREFIX]?: string })[PREFIX];

/** The keyword for the unit of a number. The description names the unit too. */
const UNIT = "x-sandbox-unit";

const SMALLEST_UNIT = "the currency's smallest unit";
const UNIX_SECONDS = "Unix seconds";
const BASIS_POINTS = "basis points";

type Unit = typeof SMALLEST_UNIT | typeof UNIX_SECONDS | typeof BASIS_POINTS;

const inUnit = (unit: Unit, description: string) => ({ description: `${description}, in ${unit}`, [UNIT]: unit });

const unitOf = (schema: object) => (schema as { [UNIT]?: Unit })[UNIT];

export function descriptionWithoutUnit(schema: object): string {
  const { description = "" } = schema as { description?: string };
  return description.replace(`, in ${unitOf(schema)}`, "");
}

/** Money: an integer in the currency's smallest unit. */
export const amount = (description: string, options: object = {}) =>
  Type.Integer({ ...inUnit(SMALLEST_UNIT, description), minimum: -SAFE, maximum: SAFE, ...options });

/** Whether a field, perhaps a nullable one, is an amount of money. */
export const isAmount = (schema: object) => unitOf(schema) === SMALLEST_UNIT;

export const basisPoints = (description: string) =>
  Type.Integer({ ...inUnit(BASIS_POINTS, description), minimum: 0, maximum: 10_000 });

export const currency = () =>
  Type.String({ description: "ISO 4217 code, upper case", pattern: PATTERNS.currency.pattern });

export const country = () =>
  Type.String({ description: "ISO 3166-1 alpha-2 code, upper case", pattern: PATTERNS.country.pattern });

export const day = (description: string) => Type.String({ description, format: "date" });

export const month = (description: string) => Type.String({ description, pattern: PATTERNS.month.pattern });

export const email = (description: string) =>
  Type.String({ description, maxLength: 320, pattern: PATTERNS.email.pattern });

export const timestamp = (description: string) =>
  Type.Integer({ ...inUnit(UNIX_SECONDS, description), format: "int64", minimum: 0, maximum: SAFE });

/** Whether a field is a point in time. */
export const isTimestamp = (schema: object) => unitOf(schema) === UNIX_SECONDS;

/** A time as text, such as 2026-01-05T09:00:00.000Z, in replies of the control API. */
export const timeText = (description: string) => Type.String({ description, format: "date-time" });

/** A time as a number, inside the sandbox and on the live stream, within the range of a Date. */
export const timeNumber = () =>
  Type.Number({ description: "Sandbox milliseconds", minimum: -8.64e15, maximum: 8.64e15 });

export const oneOf = <const V extends string>(
  values: readonly V[],
  description: string,
  options: { default?: V } = {},
) => Type.Unsafe<V>({ type: "string", enum: [...values], description, ...options });

/** The keyword for the default of an optional field, in words. The description names it too. */
const DEFAULT = "x-sandbox-default";

export const withDefault = <S extends TSchema>(schema: S, fallback: string): S => {
  const { description = "" } = schema as { description?: string };
  const keywords = { description: `${description} (default: ${fallback})`, [DEFAULT]: fallback.replaceAll("`", "") };
  return annotate(schema, keywords);
};

/** Free-form data of the client's own. */
export const metadata = () =>
  Type.Record(Type.Unknown(), { description: "Free-form key-value data, stored unchanged" });

/** A copy of a schema that also allows null. */
export function nullable<S extends TSchema>(schema: S) {
  const plain = schema as TSchema & { type?: string; enum?: unknown[] };
  if (typeof plain.type !== "string") return Type.Union([schema, Type.Null()]) as unknown as TUnsafe<Static<S> | null>;
  const widened = annotate(Type.Unsafe<Static<S> | null>(schema), { type: [plain.type, "null"] });
  return plain.enum ? annotate(widened, { enum: [...plain.enum, null] }) : widened;
}

export const nullableText = (description: string) => nullable(Type.String({ description }));

/** An optional field of a request; null means the same as absent. */
export const optional = <S extends TSchema>(schema: S) => Type.Optional(nullable(schema));

/** Fields of a record that are each null by default. */
export const nullables = <const F extends TProperties>(fields: F) => mapped(fields, nullable) as NullableFields<F>;

export const optionals = <const F extends TProperties>(fields: F) => mapped(fields, optional) as OptionalFields<F>;

type NullableFields<F extends TProperties> = { [Name in keyof F]: TUnsafe<Static<F[Name]> | null> };
type OptionalFields<F extends TProperties> = { [Name in keyof F]: TOptional<TUnsafe<Static<F[Name]> | null>> };

const mapped = (fields: TProperties, change: (schema: TSchema) => TSchema) =>
  Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, change(schema)]));

/** A JSON Schema, as an operation returns it. */
export const jsonSchemaReply = Type.Unsafe<Record<string, unknown>>(
  Type.Object(
    { $schema: Type.String({ description: "The dialect" }), title: Type.Optional(Type.String()) },
    { title: "json_schema", description: "A JSON Schema", additionalProperties: true },
  ),
);

/** The envelope of every list. */
export const listOf = <S extends TSchema>(item: S) =>
  Type.Object({
    object: oneOf(["list"], "Always `list`"),
    data: Type.Array(item, { description: "Newest first" }),
    has_more: Type.Boolean({
      description: "Whether there are more objects after this page, in the requested direction",
    }),
  });

/** The envelope of lists whose reply the service's documentation shows only as `OK`. */
export const assumedListOf = <S extends TSchema>(item: S) =>
  assumed(
    listOf(item),
    "The service's documentation shows the format of three lists; the other lists use the same one.",
  );

const cursor = (description: string) =>
  assumed(
    Type.Optional(Type.String({ description, "x-sandbox-code": "invalid_cursor" })),
    "`has_more` is of no use without a cursor; the names are those of the most widely copied payments API.",
  );

/** The error code for an invalid value of a query parameter. */
export const errorCodeOf = (parameter: TSchema | undefined): ErrorCode =>
  (parameter as { "x-sandbox-code"?: ErrorCode } | undefined)?.["x-sandbox-code"] ?? "validation_failed";

/** The `limit` of a list. */
export const pageSize = () =>
  Type.Optional(
    Type.Integer({
      description: "Maximum number of objects to return",
      minimum: 1,
      maximum: 100,
      default: 25,
      "x-sandbox-code": "invalid_limit",
    }),
  );

const cursors = () => ({
  starting_after: cursor("Cursor: id of an object; returns the objects after it (older)"),
  ending_before: cursor("Cursor: id of an object; returns the objects before it (newer)"),
});

/** The query of the list whose `limit` the service's documentation describes. */
export const documentedPageQuery = Type.Object({ limit: pageSize(), ...cursors() });

/** The query of the other lists: the same parameters, so that a client learns them once. */
export const assumedPageQuery = Type.Object({
  limit: assumed(
    pageSize(),
    "The service's documentation states the bounds only for the payments list; every list uses the same.",
  ),
  ...cursors(),
});

export type PageQuery = Static<typeof documentedPageQuery>;
