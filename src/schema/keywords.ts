// The JSON Schema keywords that constrain a value as a whole: each one's test and error message.

import { daysIn, monthIndex } from "../kernel/calendar.ts";
import { isObject } from "../kernel/json-object.ts";
import { patternRequirement } from "./patterns.ts";

/** Tests a value that has the type of the keyword. */
export type Test = (value: never) => boolean;

export interface Keyword {
  /** The error code of a value that fails the test. */
  code: string;
  /** The requirement, for the error message. */
  must(setting: never): string;
  /** The JSON type of the values that it constrains (default: every type). */
  type?: string;
  /** Returns the test for the keyword's value in a schema. */
  test(setting: never): Test;
}

const keywords: Readonly<Record<string, Keyword>> = {
  type: {
    code: "wrong_type",
    must: (types: string | string[]) => `must be ${[types].flat().map(withArticle).join(" or ")}`,
    test: (types: string | string[]) => testTypes([types].flat()),
  },
  minLength: {
    ...counted("character", "at least"),
    type: "string",
    test: (limit: number) => (text: string) => text.length >= 2 * limit || characters(text) >= limit,
  },
  maxLength: {
    ...counted("character", "at most"),
    type: "string",
    test: (limit: number) => (text: string) => text.length <= limit || characters(text) <= limit,
  },
  format: {
    code: "wrong_format",
    must: (format: string) =>
      format === "date" ? "must be a calendar day, YYYY-MM-DD" : "must be a time such as 2026-01-05T09:00:00Z",
    type: "string",
    test: (format: string) => FORMATS[format] ?? unsupported("format", format),
  },
  pattern: {
    code: "wrong_format",
    must: patternRequirement,
    type: "string",
    test(pattern: string) {
      const expression = new RegExp(pattern, "u");
      return (text: string) => expression.test(text);
    },
  },
  exclusiveMinimum: {
    ...bounded("more than"),
    test: (limit: number) => (value: number) => value > limit,
  },
  exclusiveMaximum: {
    ...bounded("less than"),
    test: (limit: number) => (value: number) => value < limit,
  },
  minimum: {
    ...bounded("at least"),
    test: (limit: number) => (value: number) => value >= limit,
  },
  maximum: {
    ...bounded("at most"),
    test: (limit: number) => (value: number) => value <= limit,
  },
  minItems: {
    ...counted("item", "at least"),
    type: "array",
    test: (limit: number) => (items: unknown[]) => items.length >= limit,
  },
  maxItems: {
    ...counted("item", "at most"),
    type: "array",
    test: (limit: number) => (items: unknown[]) => items.length <= limit,
  },
  minProperties: {
    ...counted("entry", "at least"),
    type: "object",
    test: (limit: number) => (value: object) => Object.keys(value).length >= limit,
  },
  maxProperties: {
    ...counted("entry", "at most"),
    type: "object",
    test: (limit: number) => (value: object) => Object.keys(value).length <= limit,
  },
  const: {
    code: "not_allowed",
    must: (allowed: unknown) => `must be ${JSON.stringify(allowed)}`,
    test: (allowed: unknown) => (value: unknown) => value === allowed,
  },
  enum: {
    code: "not_allowed",
    must: (allowed: unknown[]) => `must be one of ${allowed.filter((value) => value !== null).join(", ")}`,
    test: (allowed: unknown[]) => (value: unknown) => allowed.includes(value),
  },
};

/** The keywords in the order of their checks: an error names the first one that a value violates. */
export const KEYWORDS: ReadonlyMap<string, Keyword> = new Map(Object.entries(keywords));

function counted(noun: string, bound: string) {
  const plural = noun === "entry" ? "entries" : `${noun}s`;
  return {
    code: "wrong_length",
    must: (limit: number) => `must have ${bound} ${limit} ${limit === 1 ? noun : plural}`,
  };
}

function bounded(bound: string) {
  return { code: "out_of_range", must: (limit: number) => `must be ${bound} ${limit}`, type: "number" };
}

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === "string",
  integer: Number.isInteger,
  number: Number.isFinite,
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null,
  array: Array.isArray,
  object: isObject,
};

export const testType = (type: string) => TYPES[type] ?? unsupported("type", type);

function testTypes(types: readonly string[]): (value: unknown) => boolean {
  const [first = () => false, ...others] = types.map(testType);
  return others.length === 0 ? first : (value) => first(value) || others.some((test) => test(value));
}

const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  date: isDay,
  "date-time": isTime,
  // Documents the width of a number, and constrains nothing.
  int64: () => true,
};

/** Throws for a keyword, type or format that is not checked, which would otherwise be ignored silently. */
export function unsupported(keyword: string, setting: string): never {
  throw new Error(`A schema uses the ${keyword} ${setting}, which is not supported.`);
}

/** JSON Schema counts code points; `length` counts UTF-16 units, one or two for each. */
function characters(text: string): number {
  return [...text].length;
}

function isDay(text: string): boolean {
  if (!/^\d{4}-(0[1-9]|1[0-2])-\d\d$/.test(text)) return false;
  const day = Number(text.slice(8));
  return day >= 1 && day <= daysIn(monthIndex(text));
}

/** A time as RFC 3339 writes it. */
function isTime(text: string): boolean {
  return /^.{10}T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text) && isDay(text.slice(0, 10));
}

/** A type's name with its article. */
export function withArticle(type: string): string {
  if (type === "null") return type;
  return /^[aio]/.test(type) ? `an ${type}` : `a ${type}`;
}
