// The declaration of an action: its fields, its phase, its effect, and the outcome of the call or delivery.

import type { ApiEffect, ApiPhase, CallOutcome, DeliveryEffect, DeliveryOutcome, DeliveryPhase, FaultTarget } from "../contracts/fault.ts";
import { type Static, type TObject, type TProperties, Type } from "../schema/shapes.ts";
import type { Trigger } from "./trigger.ts";

/** One firing, as far as an action depends on it. */
export interface FiringContext {
  /** A number in [0, 1): the same for the same rule, seed and firing. */
  chance(purpose: string): number;
  /** How much of the rule's budget or time is used up, from 0 to 1. */
  progress: number;
  /** Sandbox milliseconds at which the rule's ttl or its `for` is over; Infinity without one. */
  endsAt: number;
}

/** An action on calls or deliveries. `Values` are the values of its fields in a rule. */
export interface Action<Values = object, Phase = ApiPhase | DeliveryPhase, Effect = unknown, Outcome = CallOutcome | DeliveryOutcome> {
  readonly type: string;
  readonly target: FaultTarget;
  readonly phase: Phase;
  /** One sentence: what it does. */
  readonly description: string;
  /** Arguments of `fault add`, for the documentation. */
  readonly example: string;
  readonly schema: TObject<TProperties>;
  /** The field that `action=value` sets. */
  readonly main?: string;
  /** Fields allowed only when another field has a given value (default: its first). */
  readonly onlyWith?: Readonly<Record<string, readonly [field: string, value: string]>>;
  /** The fate of the call or delivery, by which the judge decides. */
  outcome(values: Values): Outcome;
  /** Checks the fields against each other and against the trigger; returns the first problem and how to fix it. */
  check?(values: Values, trigger: Trigger): string | undefined;
  /** How often it fires by default: once, unless a single firing has no effect. */
  defaultTimes?(values: Values): number;
  /** How many attempts of one delivery a single firing covers (default: 1). */
  attempts?(values: Values): number;
  /** Called once when the rule is made: the effect, or a function that makes it at each firing. */
  prepare(values: Values): Effect | ((moment: FiringContext) => Effect);
}

type Declaration<Values, Fields, Phase, Effect, Outcome> = Omit<Action<Values, Phase, Effect, Outcome>, "target" | "schema" | "outcome"> & {
  fields: Fields;
  /** A function where it depends on the fields. */
  outcome: Outcome | ((values: Values) => Outcome);
};

type ValuesOf<Name extends string, Fields extends TProperties> = { type: Name } & Static<TObject<Fields>>;

export const onCalls = <const Name extends string, Fields extends TProperties>(
  declaration: { type: Name } & Declaration<ValuesOf<Name, Fields>, Fields, ApiPhase, ApiEffect, CallOutcome>,
) => createAction("api", declaration);

export const onDeliveries = <const Name extends string, Fields extends TProperties>(
  declaration: { type: Name } & Declaration<ValuesOf<Name, Fields>, Fields, DeliveryPhase, DeliveryEffect, DeliveryOutcome>,
) => createAction("delivery", declaration);

function createAction<Values, Phase, Effect, Outcome extends string>(
  target: FaultTarget,
  { fields, outcome, ...declared }: Declaration<Values, TProperties, Phase, Effect, Outcome>,
): Action<Values, Phase, Effect, Outcome> {
  const { type, description } = declared;
  const schema = Type.Object({ type: Type.String({ const: type, description }), ...fields }, { additionalProperties: false });
  return { ...declared, target, schema, outcome: (values) => (typeof outcome === "function" ? outcome(values) : outcome) };
}
