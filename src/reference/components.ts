// The components of an OpenAPI document, printed once and referenced: titled schemas, error examples, headers, common responses.

import type { TSchema } from "../schema/shapes.ts";
import { mapSubschemas, type Printed, titleOf } from "./subschemas.ts";

type ComponentKind = "schemas" | "responses" | "parameters" | "examples" | "headers";

export interface Components {
  /** The schema as printed in the document: a `$ref` if it has a title. */
  schema(schema: TSchema): Printed;
  /** A `$ref` to the component of this name, which `make` builds on the first reference. */
  reference(section: ComponentKind, name: string, make: () => Printed): Printed;
  /** Every component referenced so far. */
  all(): Partial<Record<ComponentKind, Record<string, Printed>>>;
}

export function createComponents(): Components {
  const sections: Partial<Record<ComponentKind, Record<string, Printed>>> = {};
  const hoisted = new Map<string, string>();

  const reference: Components["reference"] = (section, name, make) => {
    sections[section] ??= {};
    const known = sections[section];
    // The name is registered before the component is built, so that a recursive schema terminates.
    if (!(name in known)) {
      known[name] = {};
      known[name] = make();
    }
    return { $ref: `#/components/${section}/${name}` };
  };
  const body = (schema: TSchema) => withPlainMaps(mapSubschemas(schema, print));
  const print = (schema: TSchema): Printed => {
    const title = titleOf(schema);
    if (title === undefined) return body(schema);
    const { plain, orNull } = withoutNull(schema);
    const source = JSON.stringify(plain);
    if ((hoisted.get(title) ?? source) !== source) throw new Error(`Two different schemas have the title ${title}: rename one of them`);
    hoisted.set(title, source);
    const ref = reference("schemas", title, () => body(plain));
    return orNull ? { anyOf: [ref, { type: "null" }] } : ref;
  };
  return { schema: print, reference, all: () => sections };
}

/** Splits `null` off a nullable titled schema, so that the plain schema can be referenced. */
function withoutNull(schema: TSchema): { plain: TSchema; orNull: boolean } {
  const { type } = schema as { type?: unknown };
  if (!Array.isArray(type) || !type.includes("null")) return { plain: schema, orNull: false };
  const others = type.filter((name) => name !== "null");
  return { plain: { ...schema, type: others.length === 1 ? others[0] : others } as TSchema, orNull: true };
}

const ANY_NAME = "^.*$";

/** TypeBox writes a record with string keys as `patternProperties`; OpenAPI tools expect `additionalProperties`. */
function withPlainMaps({ patternProperties, ...rest }: Printed): Printed {
  if (patternProperties === undefined) return rest;
  const values = patternProperties as Record<string, Printed>;
  const inner = values[ANY_NAME];
  if (inner === undefined || Object.keys(values).length > 1) return { ...rest, patternProperties };
  return { ...rest, additionalProperties: Object.keys(inner).length === 0 ? true : inner };
}
