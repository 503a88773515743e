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
