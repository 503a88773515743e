// The list of facts, with the values of a service file in place of the sandbox's own.

import type { FactKind, FactValue, ServiceFact } from "../contracts/fact.ts";
import { typesOfForm } from "../contracts/value-formats.ts";
import { type AdoptedFacts, adoptedBounds, boundsOf } from "./service-file.ts";

/** Replaces the values that a file changes. Facts that it adds come after the last fact of their object. */
export function adoptLedger(facts: readonly ServiceFact[], adopted: AdoptedFacts): ServiceFact[] {
  if (adopted.values.size === 0) return [...facts];
  const own = new Map(facts.map((fact) => [fact.id, fact]));
  const isGone = createAbsence(adopted);
  const changed = facts.flatMap((fact): ServiceFact[] => {
    if (isGone(fact.id)) return [];
    const value = adopted.values.get(fact.id) ?? derivedValue(fact, adopted, own);
    const { why: _, setting: __, ...known } = fact;
    return [value === undefined ? fact : { ...known, value, origin: "recorded" }];
  });
  const added = [...adopted.values]
    .filter(([id]) => !own.has(id) && !isGone(id))
    .map(([id, value]) => addedFact(id, value, own));
  return added.reduce((all, fact) => insert(all, fact), changed);
}

/**
 * Whether a fact is about a part of something that the service lacks, such as an absent field's type. Lists without
 * `limit` keep a default.
 */
function createAbsence({ values }: AdoptedFacts): (id: string) => boolean {
  const absent = new Set([...values].filter(([, value]) => value === "absent").map(([id]) => id));
  if (absent.size === 0) return () => false;
  return (id) => !id.endsWith(".default") && enclosing(id).some((place) => absent.has(place));
}

/** The ids that enclose an id: `a`, `a.b[]`, `a.b` and `a.b[].c` for `a.b[].c.type`. */
const enclosing = (id: string) =>
  [...id.matchAll(/\[\]\.|\./g)].flatMap(({ index, 0: cut }) => [
    id.slice(0, index),
    ...(cut === "." ? [] : [id.slice(0, index + 2)]),
  ]);

/** A value that follows from other facts of the file. */
function derivedValue(
  { id, kind, value }: ServiceFact,
  adopted: AdoptedFacts,
  facts: Map<string, ServiceFact>,
): FactValue | undefined {
  const { values } = adopted;
  if (kind === "type") {
    const form = values.get(id.replace(/\.type$/, ".format"));
    const types = typeof form === "string" ? typesOfForm(form) : undefined;
    return types && [...types, ...((value as readonly string[]).includes("null") ? ["null"] : [])];
  }
  if (kind === "values") {
    const names = (value as readonly string[]).map((one) => values.get(`${id}.${one}`) ?? one);
    return names.some((name, index) => name !== (value as readonly string[])[index]) ? names.map(String) : undefined;
  }
  if (kind === "default" || kind === "minimum" || kind === "maximum") {
    const parameter = id.slice(0, id.lastIndexOf("."));
    const own = boundsOf(parameter, (one) => facts.get(one)?.value);
    const moved = adoptedBounds(adopted, parameter, own)[kind];
    return moved === value ? undefined : moved;
  }
  if (kind === "prefix") {
    const source = [...facts.values()].find(
      (other) => other.value === value && OWN_ID.test(other.id) && values.has(other.id),
    );
    return source && values.get(source.id);
  }
  return undefined;
}

/** The prefix of a kind's own ids, which references to it share. */
const OWN_ID = /^\w+\.id\.prefix$/;

/** Last parts of the ids of facts about a field that are equal to the kind of the fact. */
const PARTS: readonly FactKind[] = ["type", "format", "prefix", "values", "required"];

function addedFact(id: string, value: FactValue, facts: Map<string, ServiceFact>): ServiceFact {
  const own = id.includes("/") ? facts.get(id.slice(id.indexOf("/") + 1)) : undefined;
  const part = PARTS.find((name) => id.endsWith(`.${name}`));
  const kind = own?.kind ?? part ?? (id.includes(".body.") ? "body_field" : "field");
  return { id, kind, value, origin: "recorded" };
}

const parentOf = (id: string) => id.slice(0, Math.max(id.lastIndexOf("."), 0));

function insert(facts: readonly ServiceFact[], fact: ServiceFact): ServiceFact[] {
  const id = fact.id.slice(fact.id.indexOf("/") + 1);
  const place = facts.findLastIndex((other) => other.id === id || other.id.startsWith(`${parentOf(id)}.`));
  return place === -1 ? [...facts, fact] : [...facts.slice(0, place + 1), fact, ...facts.slice(place + 1)];
}
