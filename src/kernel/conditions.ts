// Conditions that a person writes down about a value: what it must be, be like, or be at least. The grammar and its meaning.

import { isDeepStrictEqual } from "node:util";
import { fail } from "./errors.ts";
import { type Static, Type } from "./shapes.ts";

const closed = { additionalProperties: false, minProperties: 1 } as const;

const Operators = Type.Object(
  {
    present: Type.Optional(Type.Boolean({ description: "Whether it is there at all" })),
    equals: Type.Optional(Type.Unknown({ description: "Is this, however deep" })),
    not: Type.Optional(Type.Unknown({ description: "Is there and is not this" })),
    in: Type.Optional(Type.Array(Type.Unknown(), { description: "Is one of these" })),
    gt: Type.Optional(Type.Number({ description: "Is more than this" })),
    gte: Type.Optional(Type.Number({ description: "Is at least this" })),
    lt: Type.Optional(Type.Number({ description: "Is less than this" })),
    lte: Type.Optional(Type.Number({ description: "Is at most this" })),
    contains: Type.Optional(Type.String({ description: "Is text that holds this" })),
    like: Type.Optional(Type.String({ description: "Is text of this form, where * stands for anything" })),
  },
  closed,
);

/** A plain value stands for `equals`. */
export const Condition = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null(), Operators], {
  description: "The value itself, or operators such as {gte: 100} that must all hold",
});

export type Condition = Static<typeof Condition>;
type Operators = Static<typeof Operators>;

/** How often something is wanted. Without this, at least once. */
export const Count = Type.Object(
  {
    exactly: Type.Optional(Type.Integer({ minimum: 0 })),
    at_least: Type.Optional(Type.Integer({ minimum: 0 })),
    at_most: Type.Optional(Type.Integer({ minimum: 0 })),
  },
  { ...closed, description: "How often: exactly, at_least and at_most, all of which must hold" },
);

export type Count = Static<typeof Count>;

const tests: { [Name in keyof Operators]-?: (value: unknown, wanted: NonNullable<Operators[Name]>) => boolean } = {
  present: (value, wanted) => (value !== undefined) === wanted,
  equals: (value, wanted) => isDeepStrictEqual(value, wanted),
  not: (value, wanted) => value !== undefined && !isDeepStrictEqual(value, wanted),
  in: (value, wanted) => wanted.some((one) => isDeepStrictEqual(value, one)),
  gt: (value, wanted) => typeof value === "number" && value > wanted,
  gte: (value, wanted) => typeof value === "number" && value >= wanted,
  lt: (value, wanted) => typeof value === "number" && value < wanted,
  lte: (value, wanted) => typeof value === "number" && value <= wanted,
  contains: (value, wanted) => typeof value === "string" && value.includes(wanted),
  like: (value, wanted) => typeof value === "string" && isLike(value, wanted),
};

/** Whether a value, undefined where there is none, is as the condition wants it. */
export function holds(condition: Condition, value: unknown): boolean {
  if (typeof condition !== "object" || condition === null) return value === condition;
  return Object.entries(condition).every(([name, wanted]) =>
    (tests[name as keyof Operators] as (value: unknown, wanted: unknown) => boolean)(value, wanted),
  );
}

/** Whether text has the form of a pattern in which * stands for anything. */
export function isLike(text: string, pattern: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
  let from = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, from);
    if (found === -1 || found + part.length > text.length - last.length) return false;
    from = found + part.length;
  }
  return true;
}

/** `too few` may still come right, `too many` never does. */
export function compareCount(count: Count, found: number): "right" | "too few" | "too many" {
  const { exactly, at_least: least = exactly ?? 0, at_most: most = exactly ?? Infinity } = count;
  if (found > Math.min(most, exactly ?? Infinity)) return "too many";
  return found < Math.max(least, exactly ?? 0) ? "too few" : "right";
}

/** `exactly 2`, `at least 1 and at most 3`. */
export const countWords = (count: Count) =>
  Object.entries(count)
    .map(([name, number]) => `${name.replace("_", " ")} ${number}`)
    .join(" and ");

/** Refuses bounds between which no number lies. */
export function checkCount(count: Count, where: string): void {
  const { exactly, at_least: least = exactly ?? 0, at_most: most = exactly ?? Infinity } = count;
  if (Math.max(least, exactly ?? 0) > Math.min(most, exactly ?? Infinity))
    fail("validation_failed", `${where} wants ${countWords(count)}, which no number is.`);
}
