// The facts of a service file, checked against the list of facts: values by id, for one operation or for all.

import type { FactValue, ServiceFact } from "../contracts/fact.ts";
import { didYouMean } from "../kernel/did-you-mean.ts";
import { adoptableKinds, formProblem } from "./adoptable.ts";
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

/** The known facts and operations, against which a service file is checked. */
export interface KnownFacts {
  facts: readonly ServiceFact[];
  operations: readonly string[];
}

/** Why an entry of a service file cannot be adopted, in one sentence; undefined if it can. */
export function createFactCheck({ facts, operations }: KnownFacts): (id: string, value: FactValue) => string | undefined {
  const byId = new Map(facts.map((fact) => [fact.id, fact]));
  const find = (id: string) => {
    const own = byId.get(id);
    if (own) return { fact: own, part: "value" as const };
    const renamed = id.endsWith(RENAME) ? byId.get(id.slice(0, -RENAME.length)) : undefined;
    return renamed && { fact: renamed, part: "name" as const };
  };
  return (entry, value) => {
    const cut = entry.indexOf("/");
    const [operation, id] = cut === -1 ? [undefined, entry] : [entry.slice(0, cut), entry.slice(cut + 1)];
    if (operation !== undefined && !operations.includes(operation))
      return `There is no operation ${operation}.${didYouMean(operation, operations)}`;
    const found = find(id);
    if (!found) return `There is no fact ${id}.${didYouMean(id, byId.keys())} docs/assumptions.md lists all facts.`;
    const { fact, part } = found;
    const kind = adoptableKinds[fact.kind];
    if (fact.origin === "design") return `${id} differs by design: ${fact.why}`;
    if (kind.not !== undefined) return `${id} cannot be adopted: ${kind.not}.`;
    if (operation !== undefined && !kind.byOperation) return `${id} holds for all operations: write it without ${operation}/.`;
    if (part === "name" && !kind.rename) return `${fact.id} cannot be renamed: its kind is ${fact.kind}.`;
    return formProblem(fact, part, value);
  };
}

const RENAME = ".name";
