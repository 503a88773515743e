// What a JSON Schema says of a value, and how a line of text is read as such a value.

import { tryParseDuration } from "../../src/kernel/duration.ts";

/** As much of JSON Schema as the control plane's schemas use. */
export interface Shape {
  type?: string | readonly string[];
  title?: string;
  description?: string;
  enum?: readonly unknown[];
  const?: unknown;
  anyOf?: readonly Shape[];
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  maxItems?: number;
  items?: Shape;
  properties?: Readonly<Record<string, Shape>>;
  required?: readonly string[];
}

export type Reading = { value: unknown } | { problem: string };

const SPAN = "^[0-9]+(\\.[0-9]+)?(ms|s|m|h|d)$";

const problem = (words: string): Reading => ({ problem: words });

export const typesOf = ({ type }: Shape): readonly string[] => (type === undefined ? [] : [type].flat());

/** What may be chosen, where the shape is a choice. */
export function choicesOf(shape: Shape): readonly string[] | undefined {
  if (shape.enum) return shape.enum.filter((value) => value !== null).map(String);
  return typesOf(shape).includes("boolean") ? ["true", "false"] : undefined;
}

/** The value that a text stands for, or why it stands for none. */
export function read(shape: Shape, text: string): Reading {
  if (shape.anyOf) return readAny(shape, shape.anyOf, text);
  const types = typesOf(shape);
  if (text === "null" && types.includes("null")) return { value: null };
  if (shape.const !== undefined) return text === String(shape.const) ? { value: shape.const } : problem(`must be ${String(shape.const)}`);
  if (shape.enum) return readChoice(shape.enum, text);
  const reader = READERS[types.find((type) => type !== "null") ?? ""];
  return reader ? reader(shape, text) : readJson(text, "a value as JSON");
}

const READERS: Record<string, (shape: Shape, text: string) => Reading> = {
  integer: readNumber,
  number: readNumber,
  boolean: (_, text) => (text === "true" || text === "false" ? { value: text === "true" } : problem("must be true or false")),
  null: (_, text) => (text === "null" ? { value: null } : problem("must be null")),
  string: readString,
  array: readArray,
  object: (_, text) => (text.trim().startsWith("{") ? readJson(text, "an object") : problem('must be an object, such as {"name": 1}')),
};

/** Plain text fits nearly everything, so it is tried last. */
function readAny(shape: Shape, variants: readonly Shape[], text: string): Reading {
  const isOpen = (variant: Shape) =>
    variant.anyOf !== undefined || (typesOf(variant).includes("string") && !variant.enum && variant.const === undefined);
  const isList = (variant: Shape) => typesOf(variant).includes("array");
  const wanted = variants.filter((variant) => !isList(variant) || text.includes(","));
  const readings = [...wanted.filter((one) => !isOpen(one)), ...wanted.filter(isOpen)].map((variant) => read(variant, text));
  return readings.find((reading) => "value" in reading) ?? problem(`must be as it says: ${shape.description ?? "another value"}`);
}

function readChoice(choices: readonly unknown[], text: string): Reading {
  const found = choices.find((choice) => choice !== null && String(choice) === text);
  return found === undefined ? problem(`must be one of ${choices.filter((choice) => choice !== null).join(", ")}`) : { value: found };
}

function readNumber(shape: Shape, text: string): Reading {
  const whole = typesOf(shape).includes("integer");
  const form = whole ? /^-?\d+$/ : /^-?\d+(\.\d+)?$/;
  if (!form.test(text)) return problem(whole ? "must be a whole number" : "must be a number");
  const value = Number(text);
  if (shape.minimum !== undefined && value < shape.minimum) return problem(`must be at least ${shape.minimum}`);
  if (shape.maximum !== undefined && value > shape.maximum) return problem(`must be at most ${shape.maximum}`);
  return { value };
}

function readString(shape: Shape, text: string): Reading {
  const { pattern, minLength = 0, maxLength = Infinity } = shape;
  const length = [...text].length;
  if (length < minLength) return problem(`must have at least ${minLength} characters`);
  if (length > maxLength) return problem(`must have at most ${maxLength} characters`);
  if (pattern === SPAN) return tryParseDuration(text) === undefined ? problem("must be a span such as 600ms, 30s or 24h") : { value: text };
  if (pattern !== undefined && !new RegExp(pattern, "u").test(text)) return problem(`must be like ${pattern}`);
  return { value: text };
}

function readArray({ items = {}, maxItems = Infinity }: Shape, text: string): Reading {
  const readings = text.split(",").map((piece) => read(items, piece.trim()));
  if (readings.length > maxItems) return problem(`must have at most ${maxItems} items`);
  const wrong = readings.find((reading) => "problem" in reading);
  return wrong ?? { value: readings.map((reading) => (reading as { value: unknown }).value) };
}

export function readJson(text: string, what: string): Reading {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return problem(`must be ${what}, in JSON`);
  }
}
