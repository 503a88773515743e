// A field of a form, made of what a JSON Schema says of it.

import type { Field, Option } from "../overlays/field.ts";
import { choicesOf, read, type Shape } from "../wire/json-schema.ts";

interface Known {
  required: boolean;
  /** What it holds at first. */
  first: string | undefined;
  /** What there is to choose from, where the schema does not say; anything else may be written too. */
  options: readonly Option[] | undefined;
}

const UNSET: Option = { value: "", label: "-", words: "as it is when nothing is said" };

export function fieldOf(name: string, shape: Shape, { required, first, options }: Known): Field {
  const choices = choicesOf(shape)?.map((value): Option => ({ value }));
  const offered = options ?? (choices && (required ? choices : [UNSET, ...choices]));
  return {
    name,
    label: name.split(".").at(-1) ?? name,
    words: shape.description ?? "",
    ...(offered && { options: offered }),
    ...(options && { free: true }),
    ...(first !== undefined && { first }),
    problem: (text) => problemOf(shape, text, required),
  };
}

function problemOf(shape: Shape, text: string, required: boolean): string | undefined {
  if (text === "") return required ? "is required" : undefined;
  const reading = read(shape, text);
  return "problem" in reading ? reading.problem : undefined;
}

/** What goes into the call; a text that is wrong goes in as it is, so that the call shows it. */
export function valueFrom(shape: Shape, text: string): unknown {
  const reading = read(shape, text);
  return "value" in reading ? reading.value : text;
}
