// Declares facts that the option `assumptions` can set, each with its default and the schema of its values, and returns
// the value that a sandbox uses.

import type { DeclaredFact, FactKind, FactValue } from "../contracts/fact.ts";
import { type ErrorCode, errors } from "../kernel/errors.ts";
import { type TSchema, Type } from "../schema/shapes.ts";

/** A fact that can be set. `value` is its default. */
export interface SettableFact<V extends FactValue = FactValue> extends DeclaredFact {
  readonly value: V;
  readonly settable: TSchema;
}

/** The values that a sandbox's options set, by the id of the fact. */
export type Assumptions = Readonly<Record<string, FactValue>>;

export const NO_ASSUMPTIONS: Assumptions = Object.freeze({});

export const settableFact = <V extends FactValue>(
  id: string,
  kind: FactKind,
  value: V,
  settable: TSchema,
): SettableFact<V> => ({ id, kind, value, settable });

/** The value that a sandbox uses: the one that was set, or the default. */
export const assumedValue = <V extends FactValue>(set: Assumptions, { id, value }: SettableFact<V>): V =>
  (set[id] as V | undefined) ?? value;

/** The status of an operation's successful response. */
export const successStatusFact = (operation: string, status: number) =>
  settableFact<number>(`${operation}.status`, "success_status", status, Type.Integer({ minimum: 200, maximum: 299 }));

/** The default and the bounds of a parameter that is a number. */
export const BOUNDS = ["default", "minimum", "maximum"] as const;

export const boundFact = (parameter: string, kind: (typeof BOUNDS)[number], value: number) =>
  settableFact<number>(`${parameter}.${kind}`, kind, value, Type.Integer({ minimum: 1, maximum: 1_000 }));

/**
 * Errors that no assumption changes: Node itself sends the first three, and the others report outages of fault rules or
 * defects of the sandbox.
 */
const UNSETTABLE: readonly ErrorCode[] = [
  "malformed_http",
  "headers_too_large",
  "request_timeout",
  "outage",
  "internal_error",
  "database_damaged",
];

/** The status, the category and the code that an error shows. */
export function errorFacts(code: ErrorCode) {
  const { status, error } = errors[code];
  const text = Type.String({ minLength: 1, maxLength: 100 });
  return {
    isSettable: !UNSETTABLE.includes(code),
    status: settableFact<number>(
      `error.${code}.status`,
      "error_status",
      status,
      Type.Integer({ minimum: 400, maximum: 599 }),
    ),
    category: settableFact<string>(`error.${code}.category`, "error_category", error, text),
    code: settableFact<string>(`error.${code}.code`, "error_code", code, text),
  };
}

/** The status, category and code with which an error is sent under these assumptions. */
export function shownError(set: Assumptions, code: ErrorCode): { status: number; error: string; code: string } {
  // Most sandboxes set nothing.
  if (set === NO_ASSUMPTIONS) return { status: errors[code].status, error: errors[code].error, code };
  const facts = errorFacts(code);
  return {
    status: assumedValue(set, facts.status),
    error: assumedValue(set, facts.category),
    code: assumedValue(set, facts.code),
  };
}
