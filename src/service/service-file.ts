// A service file says, fact by fact, how the real service differs from the sandbox. This is its format, and how its
// values are read.

import type { FactValue } from "../contracts/fact.ts";
import { once } from "../kernel/once.ts";
import { type Static, Type } from "../schema/shapes.ts";

const Value = Type.Union(
  [Type.String({ maxLength: 200 }), Type.Number(), Type.Boolean(), Type.Array(Type.String({ maxLength: 200 }))],
  {
    description: "What the service does, in the form of the fact's value in the list of assumptions",
  },
);

const Observed = Type.Object(
  {
    value: Value,
    seen: Type.Optional(Type.Integer({ description: "How often a recording shows the value", minimum: 1 })),
    in: Type.Optional(
      Type.Array(Type.String(), { description: "Entries of the recording that show it, such as `shop.har#12`" }),
    ),
  },
  { description: "A value with its evidence", additionalProperties: false },
);

const Question = Type.Object(
  {
    fact: Type.String({ description: "The id of the fact" }),
    seen: Type.Array(Type.Object({ value: Value, count: Type.Integer({ minimum: 1 }) }), {
      description: "The values that were seen",
    }),
    why: Type.Optional(Type.String({ description: "Why the recording does not decide it" })),
  },
  {
    description: "A fact on which the observations disagree, or are too few; the sandbox ignores it",
    additionalProperties: false,
  },
);

export const serviceFileSchema = Type.Object(
  {
    $schema: Type.Optional(Type.String({ description: "The address of this schema, for editors" })),
    facts: Type.Record(Type.Union([Value, Observed]), {
      description:
        "Values by the id of the fact, such as `payments.create.status`. `payments.create/error.invalid_state.status` holds for one operation. The list of assumptions has every id",
    }),
    questions: Type.Optional(Type.Array(Question, { description: "Left for a person to decide" })),
  },
  { title: "service.json", description: "How the real service differs from the sandbox", additionalProperties: false },
);

export type ServiceFile = Static<typeof serviceFileSchema>;

/** The value of an entry, with or without evidence. */
export const entryValue = (entry: ServiceFile["facts"][string]) =>
  typeof entry === "object" && !Array.isArray(entry) ? entry.value : entry;

export type AdoptedFacts = ReturnType<typeof adoptedFacts>;

/** The values of a service file by the id of the fact, for one operation or for all. */
export function adoptedFacts({ facts }: ServiceFile) {
  const values: ReadonlyMap<string, FactValue> = new Map(
    Object.entries(facts).map(([id, entry]) => [id, entryValue(entry)]),
  );
  /** The value for the operation, or else the value for all. */
  const value = (id: string, operation?: string): FactValue | undefined =>
    (operation === undefined ? undefined : values.get(`${operation}/${id}`)) ?? values.get(id);
  const ofType =
    <T extends FactValue>(type: string) =>
    (id: string, operation?: string): T | undefined => {
      const found = value(id, operation);
      return typeof found === type ? (found as T) : undefined;
    };
  const below = once(() => fieldsBelow(values));
  return {
    values,
    value,
    /** The fields of the file directly below a place, also those that the sandbox has. */
    addedBelow: (place: string): readonly string[] => below().get(place) ?? [],
    number: ofType<number>("number"),
    text: ofType<string>("string"),
  };
}

/** Last parts of ids that describe a whole object, not a field. */
const NOT_FIELDS = new Set(["envelope", "other_fields", "accepted"]);

function fieldsBelow(values: ReadonlyMap<string, FactValue>): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const [id, value] of values) {
    const cut = id.lastIndexOf(".");
    const [place, name] = [id.slice(0, cut), id.slice(cut + 1)];
    const isField = value === "always" || value === "sometimes" || value === "known";
    if (cut > 0 && isField && !id.includes("/") && !NOT_FIELDS.has(name))
      found.set(place, [...(found.get(place) ?? []), name]);
  }
  return found;
}

export interface Bounds {
  default: number;
  minimum: number;
  maximum: number;
}

/** The parts of a parameter that are numbers. */
export const BOUNDS = ["default", "minimum", "maximum"] as const;

/** The default and the bounds of a parameter in the list of facts. */
export function boundsOf(parameter: string, valueIn: (id: string) => FactValue | undefined): Bounds {
  const [usual, minimum, maximum] = BOUNDS.map((kind) => valueIn(`${parameter}.${kind}`));
  return { default: Number(usual), minimum: Number(minimum), maximum: Number(maximum) };
}

/**
 * The default and the bounds of a parameter. Missing ones widen to fit the given ones: a default of 200 implies a
 * maximum of 200.
 */
export function adoptedBounds(facts: AdoptedFacts, id: string, own: Bounds): Bounds {
  const [usual, least, most] = BOUNDS.map((kind) => facts.number(`${id}.${kind}`));
  const minimum = least ?? Math.min(own.minimum, usual ?? own.minimum, most ?? own.minimum);
  const maximum = most ?? Math.max(own.maximum, usual ?? own.maximum, minimum);
  return { default: usual ?? Math.min(maximum, Math.max(minimum, own.default)), minimum, maximum };
}
