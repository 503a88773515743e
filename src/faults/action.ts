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

type FieldValues<Fields extends TProperties> = Static<TObject<Fields>>;

interface Declaration<Name extends string, Fields extends TProperties, Phase, Effect, Outcome> {
  type: Name;
  phase: Phase;
  /** One sentence: what it does. */
  description: string;
  /** Arguments of `fault add`, for the documentation. */
  example: string;
  fields: Fields;
  /** The field that `action=value` sets. */
  main?: keyof Fields & string;
  /** Fields that belong to one value of another field, which by default has the first of its values. */
  onlyWith?: { readonly [Name in keyof Fields]?: OnlyWith };
  /** The fate of the call or delivery, by which the judge decides. A function where it depends on the fields. */
  outcome: Outcome | ((fields: FieldValues<Fields>) => Outcome);
  /** Checks the fields against each other and against the trigger; returns the first problem and how to fix it. */
  check?(fields: FieldValues<Fields>, trigger: Trigger): string | undefined;
  /** How often it fires by default: once, unless a single firing has no effect. */
  defaultTimes?(fields: FieldValues<Fields>): number;
  /** How many attempts of one delivery a single firing covers (default: 1). */
  attempts?(fields: FieldValues<Fields>): number;
  /** Called once when the rule is made; the returned function is called at each firing. */
  prepare(fields: FieldValues<Fields>): (moment: FiringContext) => Effect;
}

/** The name of another field, and its value. */
export type OnlyWith = readonly [field: string, value: string];

/** An action without the types of its fields. */
export interface Action<Effect = unknown, Phase = ApiPhase | DeliveryPhase, Outcome = CallOutcome | DeliveryOutcome> {
  readonly type: string;
  readonly target: FaultTarget;
  readonly phase: Phase;
  readonly description: string;
  readonly example: string;
  readonly main: string | undefined;
  readonly onlyWith: Readonly<Record<string, OnlyWith | undefined>>;
  readonly schema: TObject<TProperties>;
  outcome(fields: object): Outcome;
  check(fields: object, trigger: Trigger): string | undefined;
  defaultTimes(fields: object): number;
  attempts(fields: object): number;
  prepare(fields: object): (moment: FiringContext) => Effect;
}

/** Carries the type of the action as a rule contains it. There is no such property at run time. */
export interface WithInput<Name extends string, Fields extends TProperties> {
  readonly input?: { type: Name } & FieldValues<Fields>;
}

export function onCalls<const Name extends string, Fields extends TProperties>(
  declaration: Declaration<Name, Fields, ApiPhase, ApiEffect, CallOutcome>,
): Action<ApiEffect, ApiPhase, CallOutcome> & WithInput<Name, Fields> {
  return { ...fromDeclaration(declaration), target: "api" };
}

export function onDeliveries<const Name extends string, Fields extends TProperties>(
  declaration: Declaration<Name, Fields, DeliveryPhase, DeliveryEffect, DeliveryOutcome>,
): Action<DeliveryEffect, DeliveryPhase, DeliveryOutcome> & WithInput<Name, Fields> {
  return { ...fromDeclaration(declaration), target: "delivery" };
}

function fromDeclaration<Name extends string, Fields extends TProperties, Phase, Effect, Outcome extends string>(
  declaration: Declaration<Name, Fields, Phase, Effect, Outcome>,
) {
  const { type, phase, description, example, main, onlyWith = {}, fields, outcome } = declaration;
  const schema = Type.Object({ type: Type.String({ const: type, description }), ...fields }, { additionalProperties: false });
  const own = ({ type: _, ...values }: { type?: unknown }) => values as FieldValues<Fields>;
  return {
    type,
    phase,
    description,
    example,
    main,
    onlyWith: onlyWith as Action["onlyWith"],
    schema: schema as unknown as TObject<TProperties>,
    outcome: (given: object) => (typeof outcome === "function" ? outcome(own(given)) : outcome),
    check: (given: object, trigger: Trigger) => declaration.check?.(own(given), trigger),
    defaultTimes: (given: object) => declaration.defaultTimes?.(own(given)) ?? 1,
    attempts: (given: object) => declaration.attempts?.(own(given)) ?? 1,
    prepare: (given: object) => declaration.prepare(own(given)),
  };
}
