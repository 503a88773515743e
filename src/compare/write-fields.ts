// Writes new and renamed fields of the service as facts of a service file.

import type { FactValue, ServiceFact } from "../contracts/fact.ts";
import { isSecretName } from "../kernel/secrets.ts";
import type { Evidence } from "./compare.ts";
import type { UnknownField } from "./observations.ts";
import { CALLED, plainName } from "./recording.ts";
import type { FileLine } from "./write-values.ts";

const idOf = ({ object, field }: UnknownField) => `${object}.${field}`;

/**
 * Renamed fields by fact. A field is renamed if no object has it and every object has the new one, both have the same
 * type and the same prefix, format or values (or one name begins with the other, or both are of secrets), and neither
 * side has another candidate.
 */
export function fieldRenames(facts: readonly ServiceFact[], evidence: Evidence): ReadonlyMap<string, FileLine> {
  const byId = new Map(facts.map((fact) => [fact.id, fact]));
  const shown = new Set(evidence.observations.flatMap(({ fact, seen }) => (seen === "absent" ? [] : [fact])));
  const missing = new Set(evidence.observations.flatMap(({ fact, seen }) => (seen === "absent" ? [fact] : [])));
  const isGone = ({ id, kind }: ServiceFact) =>
    (kind === "field" || kind === "body_field") && missing.has(id) && !shown.has(id);
  const lost = facts.filter(isGone);
  const found = caseRenames(evidence);
  for (const [object, count] of evidence.objects) {
    const gone = lost.filter(({ id }) => parentOf(id) === object);
    const isNew = (one: UnknownField) =>
      one.object === object && one.count === count && !one.field.startsWith("a text of ");
    const fresh = evidence.unknownFields.filter(isNew);
    const pairs = gone.flatMap((fact) => fresh.filter((one) => isAlike(fact, one, byId)).map((one) => ({ fact, one })));
    const only = pairs.filter(
      ({ fact, one }) =>
        pairs.filter((pair) => pair.fact === fact).length === 1 &&
        pairs.filter((pair) => pair.one === one).length === 1,
    );
    for (const { fact, one } of only)
      found.set(fact.id, { id: `${fact.id}.name`, value: one.field, seen: one.count, entries: one.entries });
  }
  return found;
}

/** Fields whose names differ only in their case style. */
const caseRenames = ({ observations }: Evidence) =>
  new Map(
    observations.flatMap(({ fact, seen, count, entries }): [string, FileLine][] =>
      String(seen).startsWith(CALLED)
        ? [[fact, { id: `${fact}.name`, value: String(seen).slice(CALLED.length), seen: count, entries }]]
        : [],
    ),
  );

const parentOf = (id: string) => id.slice(0, id.lastIndexOf("."));
const nameIn = (id: string) => id.slice(id.lastIndexOf(".") + 1);

function isAlike({ id }: ServiceFact, one: UnknownField, facts: ReadonlyMap<string, ServiceFact>): boolean {
  const value = (part: string) => facts.get(`${id}.${part}`)?.value;
  const types = value("type");
  if (!Array.isArray(types) || ![...one.types].every((type) => types.includes(type))) return false;
  const [prefix, form, listed] = [value("prefix"), value("format"), value("values")];
  if (isSecretName(nameIn(id))) return isSecretName(one.field);
  if (prefix !== undefined) return one.prefixes.size === 1 && one.prefixes.has(String(prefix));
  if (form !== undefined && one.forms.size === 1 && one.forms.has(String(form))) return true;
  if (Array.isArray(listed) && one.values.size > 0 && [...one.values.keys()].every((name) => listed.includes(name)))
    return true;
  const [own, other] = [plainName(nameIn(id)), plainName(one.field)];
  return own.startsWith(other) || other.startsWith(own);
}

export function addedFields(
  facts: readonly ServiceFact[],
  evidence: Evidence,
  renames: ReadonlyMap<string, FileLine>,
): FileLine[] {
  const known = new Set(facts.map(({ id }) => id));
  const taken = new Set([...renames].map(([id, { value }]) => `${parentOf(id)}.${value}`));
  return evidence.unknownFields
    .filter((one) => known.has(`${one.object}.other_fields`) && !taken.has(idOf(one)))
    .flatMap((one) =>
      one.object.includes(".body") ? bodyField(one, evidence) : addedField(one, evidence.objects.get(one.object) ?? 0),
    );
}

const line = (one: UnknownField, part: string, value: FactValue): FileLine => ({
  id: part === "" ? idOf(one) : `${idOf(one)}.${part}`,
  value,
  seen: one.count,
  entries: one.entries,
});

function addedField(one: UnknownField, objects: number): FileLine[] {
  if (one.field.startsWith("a text of ")) return [];
  // A sample would look like a secret, and verify nothing.
  if (isSecretName(one.field))
    return [{ ...line(one, "", "always"), question: "the sandbox has no secret that belongs into it" }];
  const presence = one.count === objects ? "always" : "sometimes";
  return [line(one, "", presence), ...describe(one)];
}

/** Writes a new body field only if the service requires it, because the sandbox accepts unknown fields anyway. */
function bodyField(one: UnknownField, { observations }: Evidence): FileLine[] {
  const place = one.object.replace(/\.body.*$/, ".body");
  const isRequired = observations.some(
    ({ fact, seen }) => fact === `${place}.accepted` && seen === `${one.field} is required`,
  );
  return isRequired ? [line(one, "", "known"), ...describe(one)] : [];
}

const FEW = 8;

function describe(one: UnknownField): FileLine[] {
  const types = [...one.types].toSorted((a, b) => Number(a === "null") - Number(b === "null"));
  const type =
    types.includes("integer") && types.includes("number") ? types.filter((name) => name !== "integer") : types;
  const [form] = one.forms;
  const [prefix] = one.prefixes;
  const parts = [line(one, "type", type)];
  if (form !== undefined && one.forms.size === 1) return [...parts, line(one, "format", form)];
  if (prefix?.endsWith("_") && one.prefixes.size === 1) return [...parts, line(one, "prefix", prefix)];
  const values = [...one.values.keys()];
  if (values.length === 0 || values.includes("")) return parts;
  const areCodes = values.every((value) => typeof value === "string");
  const isFew = values.length <= FEW && one.count >= values.length * 2;
  if (areCodes && isFew) return [...parts, line(one, "values", values.map(String))];
  // Other texts could be personal, so no example is written.
  return areCodes ? parts : [...parts, line(one, "example", values[0] as FactValue)];
}
