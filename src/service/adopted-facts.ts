// The facts of a service file: values by id, for one operation or for all.

import type { FactValue } from "../contracts/fact.ts";
import { entryValue, type ServiceFile } from "./service-file.ts";

export interface AdoptedFacts {
  readonly values: ReadonlyMap<string, FactValue>;
  /** The value for the operation, otherwise the common one. */
  value(id: string, operation?: string): FactValue | undefined;
  number(id: string, operation?: string): number | undefined;
  text(id: string, operation?: string): string | undefined;
}

export function adoptedFacts({ facts }: ServiceFile): AdoptedFacts {
  const values = new Map(Object.entries(facts).map(([id, entry]) => [id, entryValue(entry)]));
  const value: AdoptedFacts["value"] = (id, operation) =>
    (operation === undefined ? undefined : values.get(`${operation}/${id}`)) ?? values.get(id);
  return {
    values,
    value,
    number(id, operation) {
      const found = value(id, operation);
      return typeof found === "number" ? found : undefined;
    },
    text(id, operation) {
      const found = value(id, operation);
      return typeof found === "string" ? found : undefined;
    },
  };
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

/** The default and the bounds of a parameter. Those that the file does not have move with the others: a default of 200 implies a maximum of 200. */
export function adoptedBounds(facts: AdoptedFacts, id: string, own: Bounds): Bounds {
  const [usual, least, most] = BOUNDS.map((kind) => facts.number(`${id}.${kind}`));
  const minimum = least ?? Math.min(own.minimum, usual ?? own.minimum, most ?? own.minimum);
  const maximum = most ?? Math.max(own.maximum, usual ?? own.maximum, minimum);
  return { default: usual ?? Math.min(maximum, Math.max(minimum, own.default)), minimum, maximum };
}
