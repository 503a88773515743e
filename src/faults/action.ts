// What an action is: one entry that says its fields, where it steps in, what it does, and what comes of it.

import type { ApiEffect, ApiPhase, DeliveryEffect, DeliveryPhase, FaultTarget } from "../contracts/fault.ts";
import { type Static, type TObject, type TProperties, Type } from "../schema/shapes.ts";
import type { Trigger } from "./trigger.ts";

/** The moment at which an action is carried out. */
export interface Moment {
  /** A number in [0, 1): the same for the same rule, seed and firing. */
  chance(purpose: string): number;
  /** How far the rule's budget or span is used up, from 0 to 1. */
  progress: number;
}

type Given<Fields extends TProperties> = Static<TObject<Fields>>;

interface Entry<Name extends string, Fields extends TProperties, Phase, Effect> {
  type: Name;
  phase: Phase;
  /** One sentence: what it does. */
  does: string;
  /** How `fault add` is told of it in one line. */
  example: string;
  fields: Fields;
  /** The field that `action=value` gives. */
  main?: keyof Fields & string;
  /** What the fields of one rule must hold beyond their shapes: the first thing that is wrong, and how to mend it. */
  check?(fields: Given<Fields>, trigger: Trigger): string | undefined;
  /** How often it fires where nobody said: once, unless one of its firings does nothing by itself. */
  usualTimes?(fields: Given<Fields>): number;
  /** How many attempts of one delivery a single firing holds for. */
  attempts?(fields: Given<Fields>): number;
  /** Read once when the rule is made, asked at each firing. */
  prepare(fields: Given<Fields>): (moment: Moment) => Effect;
}

/** An entry with the types of its fields forgotten: what matching and the documents loop over. */
export interface Action<Effect = unknown, Phase = ApiPhase | DeliveryPhase> {
  readonly type: string;
  readonly target: FaultTarget;
  readonly phase: Phase;
  readonly does: string;
  readonly example: string;
  readonly main: string | undefined;
  readonly schema: TObject<TProperties>;
  check(fields: object, trigger: Trigger): string | undefined;
  usualTimes(fields: object): number;
  attempts(fields: object): number;
  prepare(fields: object): (moment: Moment) => Effect;
}

/** The same with the type of what a rule may say. */
type Typed<Name extends string, Fields extends TProperties, Effect, Phase> = Action<Effect, Phase> & {
  readonly input?: { type: Name } & Given<Fields>;
};

export function onCalls<const Name extends string, Fields extends TProperties>(
  entry: Entry<Name, Fields, ApiPhase, ApiEffect>,
): Typed<Name, Fields, ApiEffect, ApiPhase> {
  return { ...common(entry), target: "api" };
}

export function onDeliveries<const Name extends string, Fields extends TProperties>(
  entry: Entry<Name, Fields, DeliveryPhase, DeliveryEffect>,
): Typed<Name, Fields, DeliveryEffect, DeliveryPhase> {
  return { ...common(entry), target: "delivery" };
}

function common<Name extends string, Fields extends TProperties, Phase, Effect>(entry: Entry<Name, Fields, Phase, Effect>) {
  const { type, phase, does, example, main, fields } = entry;
  const schema = Type.Object(
    { type: Type.String({ const: type, description: does }), ...fields },
    { additionalProperties: false },
  ) as unknown as TObject<TProperties>;
  const own = (given: object) => Object.fromEntries(Object.entries(given).filter(([name]) => name !== "type")) as Given<Fields>;
  return {
    type,
    phase,
    does,
    example,
    main,
    schema,
    check: (given: object, trigger: Trigger) => entry.check?.(own(given), trigger),
    usualTimes: (given: object) => entry.usualTimes?.(own(given)) ?? 1,
    attempts: (given: object) => entry.attempts?.(own(given)) ?? 1,
    prepare: (given: object) => entry.prepare(own(given)),
  };
}
