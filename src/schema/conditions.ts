// Conditions on values and counts, as fault rules and expectations use them: their schemas and their evaluation.

import { fail } from "../kernel/errors.ts";
import { type Static, Type } from "./shapes.ts";

const closed = { additionalProperties: false, minProperties: 1 } as const;

const Scalar = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]);
const bound = (description: string) => Type.Optional(Type.Union([Type.Number(), Type.String()], { description }));

const Operators = Type.Object(
  {
    present: Type.Optional(Type.Boolean({ description: "Whether the value is present" })),
    eq: Type.Optional(Scalar),
    ne: Type.Optional(Scalar),
    gt: bound("More than"),
    gte: bound("At least"),
    lt: bound("Less than"),
    lte: bound("At most"),
    in: Type.Optional(Type.Array(Scalar, { description: "One of these values", minItems: 1 })),
    contains: Type.Optional(Type.String({ description: "Text that contains this", minLength: 1 })),
    startsWith: Type.Optional(Type.String({ description: "Text that starts with this", minLength: 1 })),
  },
  closed,
);

/** A plain value means `eq`. */
export const Condition = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null(), Operators], {
  description: "The value itself, or operators such as {gte: 100} that must all hold",
});

export type Condition = Static<typeof Condition>;
type Operators = Static<typeof Operators>;

/** How often something is expected (default: at least once). */
export const Count = Type.Object(
  {
    exactly: Type.Optional(Type.Integer({ minimum: 0 })),
    atLeast: Type.Optional(Type.Integer({ minimum: 0 })),
    atMost: Type.Optional(Type.Integer({ minimum: 0 })),
  },
  { ...closed, description: "How often: exactly, atLeast and atMost, all of which must hold" },
);

export type Count = Static<typeof Count>;

const tests: Record<keyof Operators, (value: unknown, wanted: never) => boolean> = {
  present: (value, wanted) => (value !== undefined) === wanted,
  eq: (value, wanted) => value === wanted,
  ne: (value, wanted) => value !== wanted,
  gt: (value, wanted) => isAbove(value, wanted),
  gte: (value, wanted) => value === wanted || isAbove(value, wanted),
  lt: (value, wanted) => isAbove(wanted, value),
  lte: (value, wanted) => value === wanted || isAbove(wanted, value),
  in: (value, wanted: readonly unknown[]) => wanted.includes(value),
  contains: (value, wanted) => typeof value === "string" && value.includes(wanted),
  startsWith: (value, wanted) => typeof value === "string" && value.startsWith(wanted),
};

/** Compares numbers with numbers and text with text; false for any other pair. */
function isAbove(one: unknown, other: unknown): boolean {
  if (typeof one === "number" && typeof other === "number") return one > other;
  return typeof one === "string" && typeof other === "string" && one > other;
}

/** Whether a value meets a condition; undefined stands for an absent value. */
export function meetsCondition(condition: Condition, value: unknown): boolean {
  if (typeof condition !== "object" || condition === null) return value === condition;
  return (Object.entries(condition) as [keyof Operators, never][]).every(([name, wanted]) =>
    tests[name](value, wanted),
  );
}

/** Whether text matches a pattern in which `*` matches any characters. */
export function matchesWildcard(text: string, pattern: string): boolean {
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

/** Compares a count with its bounds. `too few` can still become right, `too many` cannot. */
export function compareCount(count: Count, found: number): "right" | "too few" | "too many" {
  const { exactly, atLeast: least = exactly ?? 0, atMost: most = exactly ?? Infinity } = count;
  if (found > Math.min(most, exactly ?? Infinity)) return "too many";
  return found < Math.max(least, exactly ?? 0) ? "too few" : "right";
}

/** Describes a count, such as `exactly 2` or `at least 1 and at most 3`. */
export const describeCount = (count: Count) =>
  Object.entries(count)
    .map(([name, number]) => `${name.replace(/[A-Z]/, (letter) => ` ${letter.toLowerCase()}`)} ${number}`)
    .join(" and ");

/** Rejects bounds that no number satisfies. */
export function validateCount(count: Count = {}, where: string): void {
  const { exactly, atLeast: least = exactly ?? 0, atMost: most = exactly ?? Infinity } = count;
  if (Math.max(least, exactly ?? 0) > Math.min(most, exactly ?? Infinity))
    fail("validation_failed", `${where} wants ${describeCount(count)}, which no number satisfies.`);
}
