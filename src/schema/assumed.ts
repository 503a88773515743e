// Marks what the service's document leaves open. The mark sits on the fact itself, so the ledger cannot drift from the code.

import type { TSchema } from "./schema.ts";

export interface Assumption {
  why: string;
  /** The option that gives another answer, where a real client could need one. */
  setting?: string;
}

/** A fact that is not a schema (a status, an event's name, a header) together with why it was assumed. */
export interface Assumed<V> {
  readonly fact: V;
  readonly assumption: Assumption;
}

export type Fact<V> = V | Assumed<V>;

/** The key under which a schema carries its assumption into the OpenAPI document. */
export const ASSUMED = "x-sandbox-assumed";

/** A rule of behaviour that belongs to no single schema: an algorithm, a schedule, an order. */
export interface Behaviour extends Assumption {
  id: string;
  fact: string;
}

export function assumed<V extends string | number>(fact: V, why: string, setting?: string): Assumed<V>;
export function assumed<S extends TSchema>(schema: S, why: string, setting?: string): S;
export function assumed(fact: TSchema | string | number, why: string, setting?: string): TSchema | Assumed<string | number> {
  const assumption: Assumption = setting === undefined ? { why } : { why, setting };
  return typeof fact === "object" ? annotate(fact, { [ASSUMED]: assumption }) : { fact, assumption };
}

export function isAssumed<V>(fact: Fact<V>): fact is Assumed<V> {
  return typeof fact === "object" && fact !== null && "assumption" in fact;
}

export const factOf = <V extends string | number>(fact: Fact<V>): V => (isAssumed(fact) ? fact.fact : fact);

/** A copy of a schema with further keywords. */
export const annotate = <S extends TSchema>(schema: S, keywords: Record<string, unknown>): S => ({ ...schema, ...keywords });
