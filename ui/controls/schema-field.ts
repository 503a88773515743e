// Form fields made from a JSON Schema.

import type { FieldOption, FormField } from "../overlays/field.ts";
import { choicesOf, type JsonSchema, parseText } from "../wire/json-schema.ts";

interface SchemaFieldOptions {
  required: boolean;
  initial: string | undefined;
  /** Suggestions for a field that the schema leaves open; other text is accepted too. */
  options: readonly FieldOption[] | undefined;
}

const UNSET: FieldOption = { value: "", label: "-", help: "default" };

export function fieldFromSchema(name: string, schema: JsonSchema, { required, initial, options }: SchemaFieldOptions): FormField {
  const choices = choicesOf(schema)?.map((value): FieldOption => ({ value }));
  const offered = options ?? (choices && (required ? choices : [UNSET, ...choices]));
  return {
    name,
    label: name.split(".").at(-1) ?? name,
    help: schema.description ?? "",
    ...(offered && { options: offered }),
    ...(options && { allowOther: true }),
    ...(initial !== undefined && { initial }),
    validate: (text) => problemOf(schema, text, required),
  };
}

function problemOf(schema: JsonSchema, text: string, required: boolean): string | undefined {
  if (text === "") return required ? "is required" : undefined;
  const parsed = parseText(schema, text);
  return "problem" in parsed ? parsed.problem : undefined;
}

/** The value for the call. Invalid text is used as it is, so that the curl line shows it. */
export function valueFromText(schema: JsonSchema, text: string): unknown {
  const parsed = parseText(schema, text);
  return "value" in parsed ? parsed.value : text;
}
