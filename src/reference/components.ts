// The parts of an OpenAPI document that are printed once and pointed to: titled schemas, error examples, headers, common replies.

import type { TSchema } from "../schema/shapes.ts";
import { mapSubschemas, type Printed, titleOf } from "./subschemas.ts";

type Section = "schemas" | "responses" | "parameters" | "examples" | "headers";

export interface Components {
  /** The schema as the document shows it: a pointer, where it has a title of its own. */
  schema(schema: TSchema): Printed;
  /** A pointer to a part of this name, which is made when it is first pointed to. */
  point(section: Section, name: string, make: () => Printed): Printed;
  /** Everything that was pointed to. */
  all(): Partial<Record<Section, Record<string, Printed>>>;
}

export function openComponents(): Components {
  const sections: Partial<Record<Section, Record<string, Printed>>> = {};
  const hoisted = new Map<string, string>();

  const point: Components["point"] = (section, name, make) => {
    sections[section] ??= {};
    const known = sections[section];
    // The name is taken before the part is made, so that a part which points to itself comes to an end.
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
    if ((hoisted.get(title) ?? source) !== source) throw new Error(`Two schemas bear the title ${title}: give one of them another`);
    hoisted.set(title, source);
    const reference = point("schemas", title, () => body(plain));
    return orNull ? { anyOf: [reference, { type: "null" }] } : reference;
  };
  return { schema: print, point, all: () => sections };
}

/** A titled schema that also takes null is the titled schema, or null. */
function withoutNull(schema: TSchema): { plain: TSchema; orNull: boolean } {
  const { type } = schema as { type?: unknown };
  if (!Array.isArray(type) || !type.includes("null")) return { plain: schema, orNull: false };
  const others = type.filter((name) => name !== "null");
  return { plain: { ...schema, type: others.length === 1 ? others[0] : others } as TSchema, orNull: true };
}

const ANY_NAME = "^.*$";

/** The builder writes a map with any names as a pattern that all names match; tools know it as additional properties. */
function withPlainMaps({ patternProperties, ...rest }: Printed): Printed {
  if (patternProperties === undefined) return rest;
  const values = patternProperties as Record<string, Printed>;
  const inner = values[ANY_NAME];
  if (inner === undefined || Object.keys(values).length > 1) return { ...rest, patternProperties };
  return { ...rest, additionalProperties: Object.keys(inner).length === 0 ? true : inner };
}
