// The JSON Schema keywords that constrain a value as a whole: each one's condition as JavaScript source, and its error
// message.

import { daysIn, monthIndex } from "../kernel/calendar.ts";
import { DURATION_PATTERN } from "../kernel/duration.ts";

export interface Keyword<Setting = never> {
  code: string;
  /** The requirement, for the error message. */
  must(setting: Setting): string;
  /** The JSON type of the values that it constrains (default: every type). */
  type?: string;
  /** The source of a condition on the expression `value`. */
  condition(setting: Setting, value: string): string;
}

const keywords: Readonly<Record<string, Keyword>> = {
  type: {
    code: "wrong_type",
    must: (types: string | string[]) => `must be ${[types].flat().map(withArticle).join(" or ")}`,
    condition: (types: string | string[], value) =>
      [types]
        .flat()
        .map((type) => typeCondition(type, value))
        .join(" || "),
  },
  minLength: sized(
    "character",
    "at least",
    "string",
    (limit, value) => `${value}.length >= ${2 * limit} || characters(${value}) >= ${limit}`,
  ),
  maxLength: sized(
    "character",
    "at most",
    "string",
    (limit, value) => `${value}.length <= ${limit} || characters(${value}) <= ${limit}`,
  ),
  format: {
    code: "wrong_format",
    must: (format: string) =>
      format === "date" ? "must be a calendar day, YYYY-MM-DD" : "must be a time such as 2026-01-05T09:00:00Z",
    type: "string",
    condition: (format: string, value) => (FORMATS[format] ?? unsupported("format", format))(value),
  },
  pattern: {
    code: "wrong_format",
    must: (pattern: string) => PATTERNS[pattern] ?? `must match ${pattern}`,
    type: "string",
    condition: (pattern: string, value) => `${new RegExp(pattern, "u")}.test(${value})`,
  },
  exclusiveMinimum: bounded("more than", ">"),
  exclusiveMaximum: bounded("less than", "<"),
  minimum: bounded("at least", ">="),
  maximum: bounded("at most", "<="),
  minItems: sized("item", "at least", "array", (limit, value) => `${value}.length >= ${limit}`),
  maxItems: sized("item", "at most", "array", (limit, value) => `${value}.length <= ${limit}`),
  minProperties: sized("entry", "at least", "object", (limit, value) => `Object.keys(${value}).length >= ${limit}`),
  maxProperties: sized("entry", "at most", "object", (limit, value) => `Object.keys(${value}).length <= ${limit}`),
  const: {
    code: "not_allowed",
    must: (allowed: unknown) => `must be ${JSON.stringify(allowed)}`,
    condition: (allowed: unknown, value) => `${value} === ${JSON.stringify(allowed)}`,
  },
  enum: {
    code: "not_allowed",
    must: (allowed: unknown[]) => `must be one of ${allowed.filter((value) => value !== null).join(", ")}`,
    condition: (allowed: unknown[], value) => allowed.map((one) => `${value} === ${JSON.stringify(one)}`).join(" || "),
  },
};

/** The keywords in the order of their checks: an error names the first one that a value violates. */
export const KEYWORDS: ReadonlyMap<string, Keyword> = new Map(Object.entries(keywords));

/** The functions that conditions call. */
export const FUNCTIONS = { characters, isDay, isTime };

function sized(noun: string, bound: string, type: string, condition: Keyword<number>["condition"]): Keyword<number> {
  const plural = noun === "entry" ? "entries" : `${noun}s`;
  return {
    code: "wrong_length",
    must: (limit) => `must have ${bound} ${limit} ${limit === 1 ? noun : plural}`,
    type,
    condition,
  };
}

function bounded(bound: string, operator: string): Keyword<number> {
  return {
    code: "out_of_range",
    must: (limit) => `must be ${bound} ${limit}`,
    type: "number",
    condition: (limit, value) => `${value} ${operator} ${limit}`,
  };
}

export const typeCondition = (type: string, value: string): string => (TYPES[type] ?? unsupported("type", type))(value);

const TYPES: Readonly<Record<string, (value: string) => string>> = {
  string: (value) => `typeof ${value} === "string"`,
  integer: (value) => `Number.isInteger(${value})`,
  number: (value) => `Number.isFinite(${value})`,
  boolean: (value) => `typeof ${value} === "boolean"`,
  null: (value) => `${value} === null`,
  array: (value) => `Array.isArray(${value})`,
  object: (value) => `typeof ${value} === "object" && ${value} !== null && !Array.isArray(${value})`,
};

const FORMATS: Readonly<Record<string, (value: string) => string>> = {
  date: (value) => `isDay(${value})`,
  "date-time": (value) => `isTime(${value})`,
  // Documents the width of a number, and constrains nothing.
  int64: () => "true",
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

/** The error message of each pattern. */
const PATTERNS: Readonly<Record<string, string>> = {
  "^[A-Z]{3}$": "must be an ISO 4217 code of three capital letters, such as EUR",
  "^[A-Z]{2}$": "must be an ISO 3166-1 code of two capital letters, such as PT",
  "^[0-9]{4}-(0[1-9]|1[0-2])$": "must be a month, YYYY-MM",
  "^[^\\s@]+@[^\\s@]+\\.[^\\s@]+$": "must be an e-mail address",
  [DURATION_PATTERN]: "must be a duration such as 600ms, 30s or 24h",
  "^(\\*|[a-z0-9_]+(\\.[a-z0-9_]+)+)$":
    "must be an event type such as payment.succeeded, or * for all; " +
    "patterns such as payment.* are expanded only by merchant-sandbox listen and receive, merchant-sandbox.json " +
    "and PUT /_sandbox/endpoints",
  "^(\\*|[a-z0-9_]+(\\.[a-z0-9_]+)*\\.(\\*|[a-z0-9_]+))$":
    "must be an event type such as payment.succeeded, a pattern such as payment.*, or *",
  "^[a-z0-9_]+(\\.[a-z0-9_]+)+$": "must be an event type such as payment.succeeded",
  "^[1-5]([0-9]{2}|xx)$": "must be a status such as 429, or a class such as 4xx",
  "^sk_test_(?!session_)[\\w.~+/=-]+$": "must be sk_test_ and a name of your own, such as sk_test_shop",
  "^\\+?([ -]?[0-9A-Za-z]){5,34}$": "must be 5 to 34 letters and digits, with spaces or dashes between them",
};

/** A type's name with its article. */
export function withArticle(type: string): string {
  if (type === "null") return type;
  return /^[aio]/.test(type) ? `an ${type}` : `a ${type}`;
}
