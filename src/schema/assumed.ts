// Marks details that the service's documentation leaves open. The mark is part of the schema or value itself, so the
// list of assumptions always matches the code.

import type { TSchema } from "./schema.ts";

export interface Assumption {
  why: string;
  /** The command line option that changes the assumption, if there is one. */
  setting?: string;
}

/** An assumed value that is not a schema (a status, an event type, a header), with the reason for it. */
export interface Assumed<V> {
  readonly fact: V;
  readonly assumption: Assumption;
}

export type Fact<V> = V | Assumed<V>;

/** The keyword that holds a schema's assumption, in the OpenAPI document too. */
export const ASSUMED = "x-sandbox-assumed";

/** An assumption about behaviour rather than a schema: an algorithm, a schedule, an order. */
export interface Behaviour extends Assumption {
  id: string;
  fact: string;
}

export function assumed<V extends string | number>(fact: V, why: string, setting?: string): Assumed<V>;
export function assumed<S extends TSchema>(schema: S, why: string, setting?: string): S;
export function assumed(
  fact: TSchema | string | number,
  why: string,
  setting?: string,
): TSchema | Assumed<string | number> {
  const assumption: Assumption = setting === undefined ? { why } : { why, setting };
  return typeof fact === "object" ? annotate(fact, { [ASSUMED]: assumption }) : { fact, assumption };
}

export function isAssumed<V>(fact: Fact<V>): fact is Assumed<V> {
  return typeof fact === "object" && fact !== null && "assumption" in fact;
}

export const factOf = <V extends string | number>(fact: Fact<V>): V => (isAssumed(fact) ? fact.fact : fact);

/** A copy of a schema with additional keywords. */
export const annotate = <S extends TSchema>(schema: S, keywords: Record<string, unknown>): S => ({
  ...schema,
  ...keywords,
});
