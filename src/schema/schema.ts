// What a schema is: JSON Schema as plain data, which knows at compile time the type of what fits it.

/** Types only: nothing stands under it. */
declare const FITTING: unique symbol;
const OPTIONAL = Symbol("optional");

/** JSON Schema. Whoever wants a keyword that not every schema has asks for it by a type of its own. */
export interface TSchema {
  readonly [FITTING]: unknown;
}

export interface TUnsafe<T> extends TSchema {
  readonly [FITTING]: T;
}

/** A property that may be left out. The mark is a symbol: copies keep it, and JSON does not show it. */
export type TOptional<S extends TSchema> = S & { readonly [OPTIONAL]: true };

export type TProperties = Record<string, TSchema>;

export interface TObject<P extends TProperties> extends TSchema {
  readonly [FITTING]: ValueOf<P>;
  type: "object";
  properties: P;
  required?: string[];
}

export interface TUnion<S extends readonly TSchema[]> extends TSchema {
  readonly [FITTING]: Static<S[number]>;
  anyOf: S;
}

/** The type of what fits a schema. */
export type Static<S extends TSchema> = S[typeof FITTING];

type OptionalName<P extends TProperties> = { [Name in keyof P]: P[Name] extends { [OPTIONAL]: true } ? Name : never }[keyof P];
type ValueOf<P extends TProperties> = Flat<
  { [Name in Exclude<keyof P, OptionalName<P>>]: Static<P[Name]> } & { [Name in OptionalName<P>]?: Static<P[Name]> }
>;
type Flat<T> = { [Name in keyof T]: T[Name] };

type Keywords = Readonly<Record<string, unknown>>;

const schema = <T>(keywords: Keywords): TUnsafe<T> => keywords as unknown as TUnsafe<T>;

/** The words that schemas are built of. `more` are keywords beside those that the word itself says. */
export const Type = {
  String: (more?: Keywords) => schema<string>({ type: "string", ...more }),
  Integer: (more?: Keywords) => schema<number>({ type: "integer", ...more }),
  Number: (more?: Keywords) => schema<number>({ type: "number", ...more }),
  Boolean: (more?: Keywords) => schema<boolean>({ type: "boolean", ...more }),
  Null: (more?: Keywords) => schema<null>({ type: "null", ...more }),
  Unknown: (more?: Keywords) => schema<unknown>({ ...more }),
  Array: <S extends TSchema>(items: S, more?: Keywords) => schema<Static<S>[]>({ type: "array", items, ...more }),
  Record: <S extends TSchema>(values: S, more?: Keywords) =>
    schema<Record<string, Static<S>>>({ type: "object", patternProperties: { "^.*$": values }, ...more }),
  Union: <const S extends readonly TSchema[]>(anyOf: S, more?: Keywords) => schema({ anyOf, ...more }) as unknown as TUnion<S>,
  /** A schema as it is written, for values of this type. */
  Unsafe: <T>(written: Keywords | TSchema) => schema<T>({ ...written }),
  Optional: <S extends TSchema>(property: S) => ({ ...property, [OPTIONAL]: true }) as TOptional<S>,

  Object<P extends TProperties>(properties: P, more?: Keywords): TObject<P> {
    const required = Object.keys(properties).filter((name) => !(OPTIONAL in (properties[name] as TSchema)));
    return schema({ type: "object", ...(required.length > 0 ? { required } : {}), properties, ...more }) as unknown as TObject<P>;
  },
};
