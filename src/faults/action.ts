// The declaration of an action: its fields, its phase, its effect, and the outcome of the call or delivery.

import type {
  ApiEffect,
  ApiPhase,
  CallOutcome,
  DeliveryEffect,
  DeliveryOutcome,
  DeliveryPhase,
  FaultTarget,
} from "../contracts/fault.ts";
import { type Static, type TObject, type TProperties, Type } from "../schema/shapes.ts";

/** The data of one firing that actions use. */
export interface FiringContext {
  /** A number in [0, 1), determined by the rule, the seed, the firing and the purpose. */
  chance(purpose: string): number;
  /** Sandbox milliseconds at which the rule's ttl or `for` ends; Infinity without one. */
  endsAt: number;
}

/** An action on calls or deliveries. `Values` is the type of its fields in a rule. */
export interface Action<
  Values = object,
  Phase = ApiPhase | DeliveryPhase,
  Effect = unknown,
  Outcome = CallOutcome | DeliveryOutcome,
> {
  readonly type: string;
  readonly target: FaultTarget;
  readonly phase: Phase;
  /** One sentence that says what the action does. */
  readonly description: string;
  /** Arguments of `fault add`, for the documentation. */
  readonly example: string;
  readonly schema: TObject<TProperties>;
  /** The field that `action=value` sets. */
  readonly main?: string;
  /** Fields allowed only when another field has a given value (default: its first). */
  readonly onlyWith?: Readonly<Record<string, readonly [field: string, value: string]>>;
  /** The outcome of the call or delivery, which the judge uses. */
  outcome(values: Values): Outcome;
  /** Checks the fields against each other; returns the first problem and how to fix it. */
  check?(values: Values): string | undefined;
  /**
   * How often the action fires by default (default: once). An action that needs several calls for an effect returns
   * more.
   */
  defaultTimes?(values: Values): number;
  /** How many attempts of one delivery a single firing covers (default: 1). */
  attempts?(values: Values): number;
  /** Whether the action affects only deliveries that can precede the response to the call that caused them. */
  precedesResponse?(values: Values): boolean;
  /** Called once when the rule is armed. Returns the effect, or a function that makes it at each firing. */
  prepare(values: Values): Effect | ((moment: FiringContext) => Effect);
}

type Declaration<Values, Fields, Phase, Effect, Outcome> = Omit<
  Action<Values, Phase, Effect, Outcome>,
  "target" | "schema" | "outcome"
> & {
  fields: Fields;
  /** A function if the outcome depends on the fields. */
  outcome: Outcome | ((values: Values) => Outcome);
};

type ValuesOf<Name extends string, Fields extends TProperties> = { type: Name } & Static<TObject<Fields>>;

export const onCalls = <const Name extends string, Fields extends TProperties>(
  declaration: { type: Name } & Declaration<ValuesOf<Name, Fields>, Fields, ApiPhase, ApiEffect, CallOutcome>,
) => createAction("api", declaration);

export const onDeliveries = <const Name extends string, Fields extends TProperties>(
  declaration: { type: Name } & Declaration<
    ValuesOf<Name, Fields>,
    Fields,
    DeliveryPhase,
    DeliveryEffect,
    DeliveryOutcome
  >,
) => createAction("delivery", declaration);

function createAction<Values, Phase, Effect, Outcome extends string>(
  target: FaultTarget,
  { fields, outcome, ...declared }: Declaration<Values, TProperties, Phase, Effect, Outcome>,
): Action<Values, Phase, Effect, Outcome> {
  const { type, description } = declared;
  const schema = Type.Object(
    { type: Type.String({ const: type, description }), ...fields },
    { additionalProperties: false },
  );
  return {
    ...declared,
    target,
    schema,
    outcome: (values) => (typeof outcome === "function" ? outcome(values) : outcome),
  };
}
