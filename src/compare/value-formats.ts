// The formats in which services write times, amounts, days and codes. Finds the format of a field from its schema or
// from a value.

import { memoize } from "../kernel/bounded-cache.ts";
import { isAmount, isTimestamp } from "../schema/shapes.ts";

interface ValueForm {
  name: string;
  matches(value: unknown): boolean;
}

const form = (name: string, pattern: RegExp): ValueForm => ({
  name,
  matches: (value) => typeof value === "string" && pattern.test(value),
});

const integer = (name: string, from: number, below: number): ValueForm => ({
  name,
  matches: (value) => Number.isInteger(value) && (value as number) >= from && (value as number) < below,
});

const ISO_TIME = form("ISO 8601 time", /^\d{4}-\d\d-\d\dT\d\d:\d\d[\d:.]*(Z|[+-]\d\d:?\d\d)$/);
const ISO_DAY = form("YYYY-MM-DD", /^\d{4}-\d\d-\d\d$/);
const UNIX = [integer("Unix seconds", 1e8, 1e11), integer("Unix milliseconds", 1e11, 1e14)] as const;

/** The formats of each kind of value. The sandbox uses the first one. */
const families = {
  time: [...UNIX, ISO_TIME, form("day as text", /^\d{4}-\d\d-\d\d$/), form("seconds as text", /^\d+$/)],
  amount: [
    { name: "integer in the smallest unit", matches: Number.isInteger },
    { name: "decimal number", matches: (value) => typeof value === "number" },
    form("decimal text", /^-?\d+\.\d+$/),
    form("integer text", /^-?\d+$/),
  ],
  day: [ISO_DAY, ISO_TIME, ...UNIX, form("day with slashes or dots", /^\d{1,4}[/.]\d{1,2}[/.]\d{1,4}$/)],
  month: [form("YYYY-MM", /^\d{4}-\d\d$/), form("day of a month", /^\d{4}-\d\d-\d\d$/)],
  currency: [
    form("three capital letters", /^[A-Z]{3}$/),
    form("three small letters", /^[a-z]{3}$/),
    form("three digits", /^\d{3}$/),
  ],
  country: [
    form("two capital letters", /^[A-Z]{2}$/),
    form("two small letters", /^[a-z]{2}$/),
    form("three letters", /^[A-Za-z]{3}$/),
  ],
  email: [form("e-mail address", /^[^\s@]+@[^\s@]+\.[^\s@]+$/)],
  wait: [form("seconds", /^\d{1,8}$/), form("HTTP date", /^[A-Z][a-z]{2}, \d\d /), form("milliseconds", /^\d{9,}$/)],
  reset: [
    form("Unix seconds, as text", /^\d{9,11}$/),
    form("seconds from now", /^\d{1,8}$/),
    form("Unix milliseconds, as text", /^\d{12,14}$/),
  ],
} satisfies Record<string, readonly ValueForm[]>;

type Family = keyof typeof families;

/** The format that the sandbox uses for a family. */
export const ownForm = (family: Family): string => (families[family][0] as ValueForm).name;

const PATTERNS: Readonly<Record<string, Family>> = {
  "^[A-Z]{3}$": "currency",
  "^[A-Z]{2}$": "country",
  "^[0-9]{4}-(0[1-9]|1[0-2])$": "month",
  "^[^\\s@]+@[^\\s@]+\\.[^\\s@]+$": "email",
};

/** The format of a field's values; undefined if the type alone describes them. */
export function formOfSchema(schema: object): string | undefined {
  if (isTimestamp(schema)) return ownForm("time");
  if (isAmount(schema)) return ownForm("amount");
  const { format, pattern = "" } = schema as { format?: string; pattern?: string };
  if (format === "date") return ownForm("day");
  const family = PATTERNS[pattern];
  return family && ownForm(family);
}

/** The formats of a family, the expected one first, so that 25 counts as a decimal number if that is expected. */
const familyOf = memoize(1_000, (expected: string): readonly ValueForm[] => {
  const all = Object.values<readonly ValueForm[]>(families);
  const family =
    all.find((forms) => forms[0]?.name === expected) ??
    all.find((forms) => forms.some(({ name }) => name === expected)) ??
    [];
  return family.toSorted((one, other) => Number(other.name === expected) - Number(one.name === expected));
});

/** The format of a value within the family of the expected format. Never contains the value itself. */
export const formOfValue = (expected: string, value: unknown): string =>
  familyOf(expected).find(({ matches }) => matches(value))?.name ??
  `another form of ${value === null ? "null" : typeof value}`;
