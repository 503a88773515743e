// The components of an OpenAPI document, which are printed once and then referenced: titled schemas, error examples,
// headers, common responses.

import { pascal } from "../../src/kernel/text.ts";
import type { TSchema } from "../../src/schema/shapes.ts";
import { mapSubschemas, type Printed, titleOf } from "./subschemas.ts";

type ComponentKind = "schemas" | "responses" | "parameters" | "examples" | "headers";

export type Components = ReturnType<typeof createComponents>;

/** `names` gives names to schemas without a title. Schemas are compared by their JSON text. */
export function createComponents(names: Readonly<Record<string, TSchema>> = {}) {
  const nameOfText = new Map(Object.entries(names).map(([name, schema]) => [JSON.stringify(schema), name]));
  const sections: Partial<Record<ComponentKind, Record<string, Printed>>> = {};
  const hoisted = new Map<string, string>();

  /** A `$ref` to the component of this name, which `make` builds on the first reference. */
  const reference = (section: ComponentKind, name: string, make: () => Printed): Printed => {
    sections[section] ??= {};
    const known = sections[section];
    // The name is registered before the component is built, so that a recursive schema terminates.
    if (!(name in known)) {
      known[name] = {};
      known[name] = make();
    }
    return { $ref: `#/components/${section}/${name}` };
  };
  const body = (schema: TSchema): Printed => withPortableKeywords(mapSubschemas(schema, print));
  /** A `$ref` to the schema, under this name. */
  const named = (name: string, schema: TSchema): Printed => {
    const { plain, orNull } = withoutNull(schema);
    const source = JSON.stringify(plain);
    if ((hoisted.get(name) ?? source) !== source)
      throw new Error(`Two different schemas have the name ${name}: rename one of them`);
    hoisted.set(name, source);
    const { title: _, ...shape } = plain as TSchema & { title?: string };
    const ref = reference("schemas", name, () => body(shape as TSchema));
    return orNull ? { anyOf: [ref, { type: "null" }] } : ref;
  };
  /** The name of a schema, made from its title or found in `names`. */
  const nameOf = (schema: TSchema): string | undefined => {
    const title = titleOf(schema);
    return title === undefined ? nameOfText.get(JSON.stringify(schema)) : pascal(title);
  };
  /** The schema as printed in the document: a `$ref` if the schema has a name. */
  const print = (schema: TSchema): Printed => {
    const name = nameOf(schema);
    return name === undefined ? body(schema) : named(name, schema);
  };
  return { schema: print, nameOf, named, reference, /** Every component referenced so far. */ all: () => sections };
}

/** Splits `null` off a nullable titled schema, so that the plain schema can be referenced. */
function withoutNull(schema: TSchema): { plain: TSchema; orNull: boolean } {
  const { type } = schema as { type?: unknown };
  if (!Array.isArray(type) || !type.includes("null")) return { plain: schema, orNull: false };
  const others = type.filter((name) => name !== "null");
  return { plain: { ...schema, type: others.length === 1 ? others[0] : others } as TSchema, orNull: true };
}

/**
 * The keywords in a form that all tools read. One allowed value becomes a `const`. A pattern with `\p{…}` is left out,
 * because it is valid only with the flag `u`.
 */
function withPortableKeywords({ enum: values, pattern, ...rest }: Printed): Printed {
  const [only, ...others] = (values as unknown[] | undefined) ?? [];
  const allowed = others.length === 0 ? { const: only } : { enum: values };
  const isPortable = pattern !== undefined && !String(pattern).includes("\\p{");
  return withPlainMaps({ ...rest, ...(values === undefined ? {} : allowed), ...(isPortable ? { pattern } : {}) });
}

const ANY_NAME = "^.*$";

/** A record with string keys is declared as `patternProperties`; OpenAPI tools expect `additionalProperties`. */
function withPlainMaps({ patternProperties, ...rest }: Printed): Printed {
  if (patternProperties === undefined) return rest;
  const values = patternProperties as Record<string, Printed>;
  const inner = values[ANY_NAME];
  if (inner === undefined || Object.keys(values).length > 1) return { ...rest, patternProperties };
  return { ...rest, additionalProperties: Object.keys(inner).length === 0 ? true : inner };
}
