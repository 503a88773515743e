// Checks the entries of a service file against the list of facts, and explains in one sentence why an entry cannot be
// adopted.

import { type FactValue, isByOperation, type ServiceFact } from "../contracts/fact.ts";
import { closestMatch, didYouMean } from "../kernel/did-you-mean.ts";
import { addedFieldProblem, adoptableKinds, formProblem } from "./adoptable-kinds.ts";
import { type AdoptedFacts, adoptedBounds, adoptedFacts, BOUNDS, boundsOf, type ServiceFile } from "./service-file.ts";

/** The known facts and operations, against which a service file is checked. */
interface KnownFacts {
  facts: readonly ServiceFact[];
  operations: readonly string[];
}

/** An entry that cannot be adopted, and why, in one sentence. */
export interface RefusedEntry {
  id: string;
  message: string;
}

/** Finds the first entry that cannot be adopted together with the others; undefined if all can. */
export function createFileCheck({ facts, operations }: KnownFacts) {
  const byId = new Map(facts.map((fact) => [fact.id, fact]));
  const find = (id: string) => {
    // The list has the retries of the sandbox. A service may retry more often, so each retry is checked as the first
    // one.
    const own = byId.get(/^webhook\.schedule\.[1-9]\d?$/.test(id) ? "webhook.schedule.1" : id);
    if (own) return { fact: own, part: "value" as const };
    const renamed = id.endsWith(RENAME) ? byId.get(id.slice(0, -RENAME.length)) : undefined;
    return renamed && { fact: renamed, part: "name" as const };
  };
  const prefixes = new Set(facts.filter(({ kind }) => kind === "prefix").map((fact) => fact.value));
  const isOthers = ({ kind, value: own }: ServiceFact, value: FactValue) =>
    kind === "prefix" && value !== own && prefixes.has(value);
  const isTaken = (id: string, file: AdoptedFacts) =>
    byId.has(id) && file.value(id) !== "absent" && file.value(`${id}${RENAME}`) === undefined;
  const problemWith = (entry: string, value: FactValue, file: AdoptedFacts): string | undefined => {
    const cut = entry.indexOf("/");
    const [operation, id] = cut === -1 ? [undefined, entry] : [entry.slice(0, cut), entry.slice(cut + 1)];
    if (operation !== undefined && !operations.includes(operation))
      return `There is no operation ${operation}.${didYouMean(operation, operations)}`;
    const found = find(id);
    const added = found ? null : addedFieldProblem(id, value, byId, file);
    if (added !== null) return added;
    if (!found) return unknownFact(id, byId.keys());
    const { fact, part } = found;
    if (operation !== undefined && !isByOperation(fact.kind))
      return `${id} holds for all operations: write it without ${operation}/.`;
    if (part === "name" && isTaken(siblingOf(fact.id, String(value)), file))
      return `${id} cannot be ${JSON.stringify(value)}: another has this name, and the file neither renames nor removes it.`;
    if (isOthers(fact, value))
      return `${id} cannot be ${JSON.stringify(value)}: other ids of the sandbox have this prefix.`;
    return (
      unadoptable(fact, part) ??
      formProblem(fact, part, value, file) ??
      twinProblem(id, value, file, byId) ??
      boundsProblem(fact, file, byId)
    );
  };
  return (given: ServiceFile["facts"]): RefusedEntry | undefined => {
    const file = adoptedFacts({ facts: given });
    for (const [id, value] of file.values) {
      const message = problemWith(id, value, file);
      if (message !== undefined) return { id, message };
    }
    return undefined;
  };
}

/**
 * Finds two fields, values, event types or kinds of record with the same name or prefix, which could not be told apart.
 */
function twinProblem(
  id: string,
  value: FactValue,
  file: AdoptedFacts,
  facts: ReadonlyMap<string, ServiceFact>,
): string | undefined {
  const place = placeOf(id, facts);
  if (place === undefined) return undefined;
  // A field that refers to a record has the prefix of that record's ids.
  const own = place === PREFIXES ? facts.get(id)?.value : id;
  const isOther = (other: string) => (place === PREFIXES ? facts.get(other)?.value : other) !== own;
  const twin = [...file.values].find(
    ([other, name]) => name === value && placeOf(other, facts) === place && isOther(other),
  );
  return twin && `${id} cannot be ${JSON.stringify(value)}: ${twin[0]} is ${JSON.stringify(value)}, too.`;
}

const PREFIXES = "prefixes";

/** The place within which the name that an entry gives must be unique; undefined if the entry gives no name. */
function placeOf(id: string, facts: ReadonlyMap<string, ServiceFact>): string | undefined {
  if (facts.get(id)?.kind === "prefix") return PREFIXES;
  const values = id.indexOf(VALUES);
  if (values !== -1) return id.slice(0, values + VALUES.length);
  const field = id.endsWith(RENAME) ? id.slice(0, -RENAME.length) : undefined;
  return field !== undefined && facts.has(field) ? siblingOf(field, RENAME) : undefined;
}

/** Finds a default and bounds of a parameter that contradict each other. */
function boundsProblem(
  { id, kind }: ServiceFact,
  file: AdoptedFacts,
  facts: ReadonlyMap<string, ServiceFact>,
): string | undefined {
  if (!BOUNDS.some((bound) => bound === kind)) return undefined;
  const parameter = id.slice(0, id.lastIndexOf("."));
  const own = boundsOf(parameter, (one) => facts.get(one)?.value);
  const bounds = adoptedBounds(file, parameter, own);
  const isOpen = file.value(parameter) === "absent";
  if (isOpen || (bounds.minimum <= bounds.default && bounds.default <= bounds.maximum)) return undefined;
  return `${id} contradicts the file's other entries: ${parameter} has a minimum of ${bounds.minimum}, a default of ${bounds.default} and a maximum of ${bounds.maximum}.`;
}

/** Compares a mistyped rename without `.name`, because the known ids lack it, and adds it to the suggestion. */
function unknownFact(id: string, known: Iterable<string>): string {
  const rename = id.endsWith(RENAME) ? closestMatch(id.slice(0, -RENAME.length), known) : undefined;
  const guess = rename === undefined ? didYouMean(id, known) : ` Did you mean ${rename}${RENAME}?`;
  return `There is no fact ${id}.${guess} merchant-sandbox assumptions lists all facts.`;
}

/** The fact of another field or parameter at the same place. */
const siblingOf = (id: string, name: string) => `${id.slice(0, id.lastIndexOf(".") + 1)}${name}`;

function unadoptable({ id, kind, origin, why }: ServiceFact, part: "value" | "name"): string | undefined {
  const { not, rename } = adoptableKinds[kind];
  if (origin === "design") return `${id} differs by design: ${why}`;
  const never = not ?? (part === "value" ? NEVER.find(([ids]) => ids.test(id))?.[1] : undefined);
  if (never !== undefined) return `${id} cannot be adopted: ${never}.`;
  return part === "name" && !rename ? `${id} cannot be renamed: its kind is ${kind}.` : undefined;
}

const RENAME = ".name";
const VALUES = ".values.";

/** Facts that the sandbox cannot change, unlike others of their kind. */
const NEVER: readonly [ids: RegExp, why: string][] = [
  [
    /^error\.(malformed_http|headers_too_large|request_timeout)\./,
    "the sandbox sends it where it has not read a request",
  ],
  [/^deliveries\.list\.order$/, "the log is kept in the order in which attempts end"],
  [/^webhooks\.(create|rotate_secret)\.reply\.secret\.prefix$/, "the prefix is a part of the key that signs webhooks"],
  [/^event\.id\.prefix$/, "the delivery log and the headers of webhooks have the id, too"],
  [/\.query\.\w+\.values(\.|$)/, "the sandbox renames parameters, but not their values"],
  [/^(webhooks\.create\.body\.(url|events)|events\.test\.body\.type)(\.required)?$/, "the sandbox needs the field"],
];
