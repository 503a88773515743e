// Maps arguments to kinds of records and statuses, and flags to fields.

import { resources } from "../../areas/index.ts";
import type { Resource } from "../../contracts/resource.ts";
import { parseTime } from "../../kernel/clock.ts";
import { didYouMean } from "../../kernel/did-you-mean.ts";
import { usageError } from "../../kernel/errors.ts";
import { decimalsOf, readAmount, writeAmount } from "../../kernel/money.ts";
import { kebab } from "../../kernel/text.ts";
import { descriptionWithoutUnit, isAmount, isTimestamp, type TSchema, Type } from "../../schema/shapes.ts";
import { fieldErrors } from "../../schema/validator.ts";
import { creatableFields, updatableFields } from "../../store/records/record-fields.ts";
import type { FlagDefinition, Flags } from "../arguments.ts";

/**
 * The words that name each kind: its name and the plural of its name. If the name has several words, the first and the
 * last word also name the kind, unless they already name another kind.
 */
const words = new Map<string, Resource>();
for (const resource of resources)
  for (const part of [0, -1].map((index) => resource.kind.split("_").at(index) as string))
    for (const word of part.endsWith("s") ? [part] : [part, `${part}s`])
      if (!words.has(word)) words.set(word, resource);
for (const resource of resources)
  for (const word of [resource.view, resource.kind].map(kebab)) words.set(word, resource);

export const kindNames = resources.map(({ kind }) => kebab(kind));

/** The statuses of the kind that an argument names; empty if it names no kind. */
export const statusesOf = (word: string): string[] => Object.keys(findKind(word)?.transitions ?? {});

const findKind = (word: string): Resource | undefined => words.get(kebab(word.toLowerCase()));

/** The kind that an argument names. */
export function kindNamed(word: string): Resource {
  const found = findKind(word);
  if (found) return found;
  const hint = didYouMean(kebab(word), words.keys()) || ` There are ${kindNames.join(", ")}.`;
  usageError(`There is no kind of record ${word}.${hint}`);
}

/** The status that an argument names. */
export function statusNamed({ kind, transitions }: Resource, word: string): string {
  const known = Object.keys(transitions);
  const status = word.toLowerCase().replaceAll("-", "_");
  if (known.includes(status)) return status;
  const name = kebab(kind);
  if (known.length === 0) usageError(`A ${name} has no status.`);
  usageError(`A ${name} has no status ${word}.${didYouMean(status, known)} Its statuses are ${known.join(", ")}.`);
}

/** The first argument that names a kind; otherwise the first argument. The value of a flag may come before the kind. */
export const kindIn = (positionals: readonly string[]): string | undefined =>
  positionals.find(findKind) ?? positionals[0];

type FieldSchema = TSchema & { type?: string | string[]; format?: string; description?: string; enum?: unknown[] };

/** The fields that flags may set on a new record (`isNew`), or change on an existing one. */
export const fieldsOf = (resource: Resource, isNew: boolean): Readonly<Record<string, FieldSchema>> =>
  (isNew ? creatableFields(resource) : updatableFields(resource)).properties;

/** `--amount` takes the major unit and `--amount-minor` the smallest; `--customer` is short for `--customer-id`. */
export function fieldFlags(fields: Readonly<Record<string, FieldSchema>>): Record<string, FlagDefinition> {
  const flags = Object.entries(fields).flatMap(([name, schema]): [string, FlagDefinition][] => {
    const flag = { value: placeholderOf(schema), description: describe(name, schema) };
    const asInBodies: [string, FlagDefinition][] = name === kebab(name) ? [] : [[name, { ...flag, hidden: true }]];
    if (isAmount(schema))
      return [
        [kebab(name), flag],
        [`${kebab(name)}-minor`, { ...flag, value: "integer", hidden: true }],
        ...asInBodies,
      ];
    if (!name.endsWith("Id")) return [[kebab(name), flag], ...asInBodies];
    return [[kebab(name.slice(0, -2)), flag], [kebab(name), { ...flag, hidden: true }], ...asInBodies];
  });
  return Object.fromEntries(flags);
}

const typesOf = ({ type }: FieldSchema) => [type ?? []].flat();

function placeholderOf(schema: FieldSchema): string {
  const types = typesOf(schema);
  if (isAmount(schema)) return "amount";
  if (isTimestamp(schema)) return "time";
  if (schema.enum) return schema.enum.filter((value) => value !== null).join("|");
  if (schema.format === "date") return "YYYY-MM-DD";
  if (types.includes("boolean")) return "true|false";
  if (types.includes("integer") || types.includes("number")) return "number";
  return types.includes("string") ? "text" : "json";
}

function describe(name: string, schema: FieldSchema): string {
  if (!isAmount(schema)) return schema.description ?? "";
  return `${descriptionWithoutUnit(schema)}, such as 12.50; --${kebab(name)}-minor takes the smallest unit`;
}

/** The fields of a record from flags. `currencyOf` is called only if an amount needs a currency. */
export async function readFields(
  resource: Resource,
  isNew: boolean,
  flags: Flags,
  currencyOf: () => Promise<string | null>,
): Promise<Record<string, unknown>> {
  const schemas = fieldsOf(resource, isNew);
  const given: Record<string, unknown> = {};
  const flagOf = new Map<string, string>();
  const currencies = new Map<string, string | null>();
  for (const [name, schema] of Object.entries(schemas)) {
    const short = name.endsWith("Id") ? [kebab(name.slice(0, -2))] : [];
    const spellings = [kebab(name), name, ...short, `${kebab(name)}-minor`];
    const flag = spellings.find((spelling) => flags[spelling] !== undefined);
    if (flag === undefined) continue;
    flagOf.set(name, flag);
    const text = flags[flag] as string;
    if (name === "status") given[name] = statusNamed(resource, text);
    else if (isAmount(schema) && flag !== `${kebab(name)}-minor`) {
      currencies.set(name, flags.currency ?? (await currencyOf()));
      given[name] = readMajor(flag, text, currencies.get(name));
    } else given[name] = readValue(flag, text, schema);
  }
  const [error] = fieldErrors(
    Type.Object(Object.fromEntries([...flagOf.keys()].map((name) => [name, schemas[name] as TSchema]))),
    given,
  );
  if (error === undefined) return given;
  const [start = ""] = error.field.split(".");
  const flag = `${flagOf.get(start)}`;
  const message = error.message.replace(start, () => `--${flag}`);
  usageError(currencies.has(start) ? inMajorUnit(message, flags[flag], currencies.get(start)) : message);
}

/** Converts an error such as "must be at least 0; received -300." from the smallest to the major unit. */
function inMajorUnit(message: string, text: string | undefined, currency: string | null | undefined): string {
  const [requirement = ""] = message.split("; received");
  const limit = requirement.replace(/-?\d+$/, (minor) => writeAmount(Number(minor), currency));
  return `${limit}; received ${JSON.stringify(text)}.`;
}

function readMajor(flag: string, text: string, currency: string | null | undefined): number {
  const amount = readAmount(text, currency);
  if (amount !== undefined) return amount;
  const decimals = decimalsOf(currency);
  const example = decimals === 0 ? "1250" : `12.${"5".padEnd(decimals, "0")}`;
  usageError(
    `--${flag} takes an amount such as ${example}${currency ? ` ${currency}` : ""}; received ${JSON.stringify(text)}.`,
  );
}

function readValue(flag: string, text: string, schema: FieldSchema): unknown {
  const types = typesOf(schema);
  if (text === "null" && types.includes("null")) return null;
  if (types.includes("string")) return text;
  if (types.includes("boolean") && (text === "true" || text === "false")) return text === "true";
  if (isTimestamp(schema) && !/^\d+$/.test(text)) return secondsOf(flag, text);
  if ((types.includes("integer") || types.includes("number")) && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  try {
    return JSON.parse(text);
  } catch {
    usageError(`--${flag} takes ${placeholderOf(schema)}; received ${JSON.stringify(text)}.`);
  }
}

function secondsOf(flag: string, text: string): number {
  const time = parseTime(text);
  if (time !== undefined) return Math.floor(time / 1000);
  usageError(`--${flag} takes a time such as 2026-01-05T09:00:00Z, or Unix seconds; received ${JSON.stringify(text)}.`);
}
