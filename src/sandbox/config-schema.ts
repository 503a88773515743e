// The schema of merchant-sandbox.json, derived from the options.

import { annotate } from "../schema/assumed.ts";
import { type TSchema, Type } from "../schema/shapes.ts";
import { type OptionName, optionDefinitions, optionNames } from "./options.ts";

/** The file in a folder that sets the options of the sandboxes started there. */
export const CONFIG_FILE = "merchant-sandbox.json";

function schemaOf(name: OptionName): TSchema {
  const { value, multiple, schema, description } = optionDefinitions[name];
  if (schema) return annotate(schema, { description });
  if (value === undefined) return Type.Boolean({ description });
  return multiple ? Type.Union([Type.String(), Type.Array(Type.String())], { description }) : Type.String({ description });
}

export const configSchema = Type.Object(
  {
    $schema: Type.Optional(Type.String({ description: "The address of this schema, for editors" })),
    ...Object.fromEntries(optionNames.map((name) => [name, Type.Optional(schemaOf(name))])),
  },
  { title: "merchant-sandbox.json", description: "Options of the sandboxes that are started in this folder", additionalProperties: false },
);
