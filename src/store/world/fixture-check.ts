// Validates a fixture against the declared kinds of records: fields, names, states, unique values, and the rules of the kinds.

import { fixtureFields } from "../../contracts/record-fields.ts";
import type { AnyRecord, RecordBase, Resource } from "../../contracts/resource.ts";
import { didYouMean } from "../../kernel/did-you-mean.ts";
import { ApiError } from "../../kernel/errors.ts";
import { escapePointer } from "../../schema/json-pointer.ts";
import type { JsonObject } from "../../schema/schema.ts";
import { day, email, oneOf, Type, text } from "../../schema/shapes.ts";
import { fieldErrors } from "../../schema/validator.ts";
import { seededRecord, uniqueValue } from "../records/collection.ts";
import { emailKey } from "../records/logins.ts";
import { checkWorld, recordsInMemory } from "./check-world.ts";

/** An error in a fixture, with its place in the file. */
export interface FixtureProblem {
  pointer: string;
  message: string;
}

const OFF = oneOf(["off"], "Time does not change the records");

const PARTS = {
  description: Type.Optional(text("Who this merchant is")),
  asOf: Type.Optional(day("The day that its dates were written for")),
  life: Type.Optional(Type.Union([OFF, Type.Record(OFF)])),
  records: Type.Optional(Type.Record(Type.Array(Type.Record(Type.Unknown())))),
};

const IDENTITY = {
  id: text("The merchant's id", { minLength: 1 }),
  name: text("The merchant's name", { minLength: 1 }),
  email: email("Where the merchant is written to"),
  apiKey: text("The merchant's key"),
  password: Type.Optional(text("To log in with", { minLength: 1 })),
};

/** Every problem of one file, from its top to its records. */
export function checkFixture(fixture: JsonObject, resources: readonly Resource[]): FixtureProblem[] {
  // Only the service creates records of kinds with hidden fields (secrets), so a fixture cannot contain them.
  const kinds = new Map(resources.filter(({ hidden }) => hidden.length === 0).map((resource) => [resource.kind, resource]));
  const profile = { ...fixtureFields(kinds.get("merchant") as Resource).properties, ...IDENTITY };
  const invalid = fieldErrors(Type.Object({ ...PARTS, merchant: Type.Object(profile) }), fixture);
  const unknown = unknownFields(fixture, [...Object.keys(PARTS), "merchant"], "", "a fixture");
  if (invalid.length > 0) return [...unknown, ...invalid];
  const merchant = fixture.merchant as JsonObject;
  const records = (fixture.records ?? {}) as Record<string, JsonObject[]>;
  const still = typeof fixture.life === "object" ? (fixture.life as JsonObject) : {};
  const problems = [
    ...unknown,
    ...unknownFields(merchant, Object.keys(profile), "/merchant", "a merchant"),
    ...keyProblems(String(merchant.apiKey)),
    ...unknownFields(still, [...kinds.keys()], "/life", "life, which names kinds of record"),
    ...Object.entries(records).flatMap(([kind, list]) => problemsOfKind(kind, list, kinds)),
  ];
  return problems.length > 0 ? problems : contradictions(merchant, records, kinds);
}

/** The rules of the kinds that the records would break once seeded. */
function contradictions(
  { apiKey: _, password: __, ...profile }: JsonObject,
  records: Readonly<Record<string, readonly JsonObject[]>>,
  kinds: ReadonlyMap<string, Resource>,
): FixtureProblem[] {
  const world = new Map<string, RecordBase[]>();
  const problems: FixtureProblem[] = [];
  const own = recordsInMemory(world as Map<string, AnyRecord[]>);
  const scope = { merchant: String(profile.id), now: typeof profile.created === "number" ? profile.created : 0 };
  for (const [kind, list] of Object.entries({ merchant: [profile], ...records })) {
    const made: RecordBase[] = [];
    world.set(kind, made);
    for (const [index, fields] of list.entries()) {
      const mint = (prefix: string) => `${prefix}_number_${index + 1}`;
      try {
        made.push(seededRecord(kinds.get(kind) as Resource, { ...scope, mint }, own, fields));
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        problems.push({ pointer: pointerTo(kind, index), message: error.message });
      }
    }
  }
  if (problems.length > 0) return problems;
  const found = checkWorld({ resources: [...kinds.values()], world: world as Map<string, AnyRecord[]>, now: scope.now });
  return found.map(({ kind, id, field, message }) => {
    const index = (world.get(kind) ?? []).findIndex((record) => record.id === id);
    return { pointer: pointerTo(kind, index, field), message: `${kind} ${id}: ${message}` };
  });
}

const pointerTo = (kind: string, index: number, field?: string) =>
  `${kind === "merchant" ? "/merchant" : `/records/${kind}/${index}`}${field === undefined ? "" : `/${field}`}`;

/** Values that must be unique among the merchants of all files but are not. */
export function checkFixturesTogether(files: readonly { file: string; merchant: JsonObject }[]): (FixtureProblem & { file: string })[] {
  return ["id", "email", "apiKey"].flatMap((field) => {
    const first = new Map<unknown, string>();
    return files.flatMap(({ file, merchant }) => {
      const value = field === "email" ? emailKey(String(merchant[field])) : merchant[field];
      const owner = first.get(value);
      if (owner === undefined) first.set(value, file);
      const message = `merchant.${field} must differ from that in ${owner}; each merchant has its own.`;
      return owner === undefined ? [] : [{ file, pointer: `/merchant/${field}`, message }];
    });
  });
}

/** The message does not quote the key: it could be a real one. */
function keyProblems(key: string): FixtureProblem[] {
  if (/^sk_test_(?!session_)[\w.~+/=-]+$/.test(key)) return [];
  return [{ pointer: "/merchant/apiKey", message: "merchant.apiKey must be sk_test_ and a name of your own, such as sk_test_shop." }];
}

function problemsOfKind(kind: string, records: readonly JsonObject[], kinds: ReadonlyMap<string, Resource>): FixtureProblem[] {
  const pointer = `/records/${escapePointer(kind)}`;
  const resource = kinds.get(kind);
  if (kind === "merchant") return [{ pointer, message: "a fixture has one merchant, and that stands beside the records." }];
  if (!resource) {
    const names = [...kinds.keys()].filter((name) => name !== "merchant");
    return [{ pointer, message: `there is no kind of record ${kind}.${didYouMean(kind, names) || ` There are ${names.join(", ")}.`}` }];
  }
  const each = records.flatMap((record, index) => problemsOfRecord(resource, record, `${pointer}/${index}`));
  return [...each, ...[["id"], ...resource.unique].flatMap((fields) => duplicates(resource, records, fields))];
}

function problemsOfRecord(resource: Resource, record: JsonObject, pointer: string): FixtureProblem[] {
  const schema = fixtureFields(resource);
  const errors = fieldErrors(schema, record).map((error) => ({ pointer: pointer + error.pointer, message: error.message }));
  return [...errors, ...unknownFields(record, Object.keys(schema.properties), pointer, `a ${resource.kind}`)];
}

function unknownFields(fields: JsonObject, known: readonly string[], pointer: string, what: string): FixtureProblem[] {
  const names = Object.keys(fields).filter((name) => !known.includes(name));
  return names.map((name) => ({
    pointer: `${pointer}/${escapePointer(name)}`,
    message: `${name} is no field of ${what}.${didYouMean(name, known) || ` Its fields are ${known.join(", ")}.`}`,
  }));
}

/** Records that repeat the unique values of an earlier record. */
function duplicates(resource: Resource, records: readonly JsonObject[], fields: readonly string[]): FixtureProblem[] {
  const first = new Map<string, number>();
  return records.flatMap((record, index) => {
    const value = uniqueValue({ ...resource.defaults, ...withoutNulls(record) }, fields);
    const earlier = value === undefined ? undefined : first.get(value);
    if (value !== undefined && earlier === undefined) first.set(value, index);
    const message = `no two records of the kind ${resource.kind} may have the same ${fields.join(" and ")}; /records/${resource.kind}/${earlier} has it too.`;
    return earlier === undefined ? [] : [{ pointer: `/records/${resource.kind}/${index}/${fields[0]}`, message }];
  });
}

const withoutNulls = (record: JsonObject) => Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null));
