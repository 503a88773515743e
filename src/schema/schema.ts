// JSON Schema as plain data, with the TypeScript type of the values that match it.

import type { JsonObject } from "../kernel/json-object.ts";

/** Exists only in types; no schema has this property at run time. */
declare const VALUE: unique symbol;
const OPTIONAL = Symbol("optional");

/** Any JSON Schema. Code that needs a particular keyword uses a narrower type. */
export interface TSchema {
  readonly [VALUE]: unknown;
}

/** A schema with the keywords that code reads when it walks through schemas. */
export interface SchemaKeywords extends TSchema {
  title?: string;
  type?: string | string[];
  required?: readonly string[];
  additionalProperties?: boolean;
  patternProperties?: Readonly<Record<string, TSchema>>;
  properties?: Readonly<Record<string, TSchema>>;
  items?: TSchema;
  anyOf?: readonly TSchema[];
  enum?: readonly unknown[];
  const?: unknown;
}

export interface TUnsafe<T> extends TSchema {
  readonly [VALUE]: T;
}

/** An optional property. The mark is a symbol: copies of the schema keep it, and its JSON does not contain it. */
export type TOptional<S extends TSchema> = S & { readonly [OPTIONAL]: true };

export type TProperties = Record<string, TSchema>;

export interface TObject<P extends TProperties> extends TSchema {
  readonly [VALUE]: ValueOf<P>;
  type: "object";
  properties: P;
  required?: string[];
}

/** The type of the values that match a schema. */
export type Static<S extends TSchema> = S[typeof VALUE];

type OptionalName<P extends TProperties> = {
  [Name in keyof P]: P[Name] extends { [OPTIONAL]: true } ? Name : never;
}[keyof P];
type ValueOf<P extends TProperties> = Flat<
  { [Name in Exclude<keyof P, OptionalName<P>>]: Static<P[Name]> } & { [Name in OptionalName<P>]?: Static<P[Name]> }
>;
type Flat<T> = { [Name in keyof T]: T[Name] };

const schema = <T>(keywords: JsonObject): TUnsafe<T> => keywords as unknown as TUnsafe<T>;

/** The builders of schemas. `more` adds further keywords. */
export const Type = {
  String: (more?: JsonObject) => schema<string>({ type: "string", ...more }),
  Integer: (more?: JsonObject) => schema<number>({ type: "integer", ...more }),
  Number: (more?: JsonObject) => schema<number>({ type: "number", ...more }),
  Boolean: (more?: JsonObject) => schema<boolean>({ type: "boolean", ...more }),
  Null: () => schema<null>({ type: "null" }),
  Unknown: (more?: JsonObject) => schema<unknown>({ ...more }),
  Array: <S extends TSchema>(items: S, more?: JsonObject) => schema<Static<S>[]>({ type: "array", items, ...more }),
  Record: <S extends TSchema>(values: S, more?: JsonObject) =>
    schema<Record<string, Static<S>>>({ type: "object", patternProperties: { "^.*$": values }, ...more }),
  Union: <const S extends readonly TSchema[]>(anyOf: S, more?: JsonObject) =>
    schema<Static<S[number]>>({ anyOf, ...more }),
  /** Any schema, for values of the given type. */
  Unsafe: <T>(keywords: JsonObject | TSchema) => schema<T>({ ...keywords }),
  Optional: <S extends TSchema>(property: S) => ({ ...property, [OPTIONAL]: true }) as TOptional<S>,

  Object<P extends TProperties>(properties: P, more?: JsonObject): TObject<P> {
    const required = Object.keys(properties).filter((name) => !(OPTIONAL in (properties[name] as TSchema)));
    return schema({
      type: "object",
      ...(required.length > 0 ? { required } : {}),
      properties,
      ...more,
    }) as unknown as TObject<P>;
  },
};
