// How traffic creates a kind of record and moves it from state to state.

import type { AnyRecord } from "../contracts/resource.ts";
import type { JsonObject } from "../schema/schema.ts";
import type { StepContext } from "./step-context.ts";

export interface TrafficKind {
  /** How often this kind is chosen, relative to the others. */
  weight: number;
  /** A merchant with records of these kinds does this business (default: the kind itself). */
  basedOn?: readonly string[];
  /** Fields of a new record that its sample must not choose; undefined while there is no occasion for one. Default: none, always. */
  newRecord?(step: StepContext): JsonObject | undefined;
  /** The probability of each next state, by state. The rest up to 1 is the share of records that stay, or that time moves on. */
  transitions: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Fields that change when a record enters a state, besides those that the state sets. */
  onEnter?: Readonly<Record<string, (step: StepContext, record: AnyRecord) => JsonObject>>;
  /** Prepares the merchant for a record that enters a state, such as by buying stock; false if it cannot: the record stays. */
  prepare?: Readonly<Record<string, (step: StepContext, record: AnyRecord) => boolean>>;
  /** Records of a kind that follow from a record in a state; traffic moves them on as its own. */
  consequences?: Readonly<Record<string, { kind: string; field: string }>>;
}
