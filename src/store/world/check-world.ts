// Checks all records of a merchant, its world: each record against its schema, rules and references, and the records
// against one another. Also checks fixtures: their fields, names, states and unique values, and the world of their
// records.

import type {
  AnyRecord,
  OwnRecords,
  RecordBase,
  Records,
  RecordsByKind,
  Resource,
  Rule,
  RuleContext,
  WorldViolation,
} from "../../contracts/resource.ts";
import { ApiError, type FieldError, fail } from "../../kernel/errors.ts";
import type { JsonObject } from "../../kernel/json-object.ts";
import { oncePerKey } from "../../kernel/once.ts";
import { PATTERNS } from "../../schema/patterns.ts";
import { day, email, oneOf, type TProperties, type TSchema, Type, text } from "../../schema/shapes.ts";
import { fieldErrors } from "../../schema/validator.ts";
import { seededRecord, uniqueValue } from "../records/collection.ts";
import { fixtureFields } from "../records/record-fields.ts";
import { emailKey } from "../records/tenants.ts";

type Problem = Omit<WorldViolation, "kind" | "id">;

interface WorldContext {
  resources: readonly Resource[];
  world: RecordsByKind;
  /** Unix seconds on the sandbox clock. */
  now: number;
}

/** Every contradiction among the records of a merchant. */
export function checkWorld({ resources, world, now }: WorldContext): WorldViolation[] {
  const kinds = resources.filter(({ hidden }) => hidden.length === 0);
  const own = recordsInMemory(world);
  const each = kinds.flatMap((resource) =>
    (world.get(resource.kind) ?? []).flatMap((record) =>
      [
        ...fieldErrors(resource.schema, record).map(({ pointer, message }) => ({ field: pointer.slice(1), message })),
        ...resource.rules.flatMap((rule) => brokenRule(rule, record, { own, now })),
        ...danglingReferences(resource, record, world),
      ].map((problem) => ({ kind: resource.kind, id: record.id, ...problem })),
    ),
  );
  return [...each, ...kinds.flatMap(({ worldChecks }) => worldChecks.flatMap((check) => check(world, own)))];
}

/** Passes the record as its own predecessor, so rules about changes do not apply. */
function brokenRule(
  rule: Rule<RecordBase>,
  record: AnyRecord,
  context: Pick<RuleContext<RecordBase>, "own" | "now">,
): Problem[] {
  try {
    const problem = rule(record, { before: record, ...context });
    return problem ? [{ field: problem.field, message: problem.message }] : [];
  } catch (error) {
    if (error instanceof ApiError) return [{ message: error.message }];
    throw error;
  }
}

function danglingReferences({ references }: Resource, record: AnyRecord, world: RecordsByKind): Problem[] {
  return Object.entries(references).flatMap(([field, kind]) => {
    const id = record[field];
    return id == null || world.get(kind)?.some((other) => other.id === id)
      ? []
      : [{ field, message: `${field} is ${id}, which is no ${kind}` }];
  });
}

/** Collections that read records in memory. A write throws, because it is a defect of the caller. */
function recordsInMemory(world: RecordsByKind): OwnRecords {
  const indexes = new Map<string, Map<string, AnyRecord>>();
  /** The records of a kind by id. The index is rebuilt when records were added. */
  const indexOf = (kind: string) => {
    const records = world.get(kind) ?? [];
    const known = indexes.get(kind);
    if (known?.size === records.length) return known;
    const index = new Map(records.map((record) => [record.id, record]));
    indexes.set(kind, index);
    return index;
  };
  const refuseWrite = () => {
    throw new Error("Records in memory cannot be changed.");
  };
  const own = ({ kind, outstanding = () => false }: Pick<Resource, "kind" | "outstanding">): Records<RecordBase> => {
    const all = () => [...(world.get(kind) ?? [])];
    const find = (id: string) => indexOf(kind).get(id);
    return {
      find,
      require: (id) => find(id) ?? fail("resource_not_found", `No such ${kind}: ${id}.`),
      newest: () => world.get(kind)?.at(-1),
      newestOf: (count) => all().reverse().slice(0, count),
      all,
      outstanding: () => all().filter(outstanding),
      create: refuseWrite,
      update: refuseWrite,
      move: refuseWrite,
    };
  };
  return own as unknown as OwnRecords;
}

/** An error in a fixture, with its place in the file. */
export interface FixtureProblem {
  pointer: string;
  message: string;
}

const OFF = oneOf(["off"], "Time does not change the records");

const IDENTITY = {
  id: text("The merchant's id", { minLength: 1 }),
  name: text("The merchant's name", { minLength: 1 }),
  email: email("The merchant's email address"),
  apiKey: text("The merchant's key", { pattern: PATTERNS.testKey.pattern }),
  password: Type.Optional(text("Password for login", { minLength: 1 })),
};

const closed = (fields: TProperties) => Type.Object(fields, { additionalProperties: false });

const schemaOf = oncePerKey((resources: readonly Resource[]) => {
  // Only the service creates records of kinds with hidden fields (secrets), so a fixture cannot contain them.
  const kinds = resources
    .filter(({ hidden }) => hidden.length === 0)
    .map((one) => [one.kind, fixtureFields(one).properties] as const);
  const { merchant, ...records } = Object.fromEntries(kinds);
  const ofEachKind = (make: (fields: TProperties) => TSchema, of: Readonly<Record<string, TProperties>>) =>
    closed(Object.fromEntries(Object.entries(of).map(([kind, fields]) => [kind, Type.Optional(make(fields))])));
  return closed({
    description: Type.Optional(text("Who this merchant is")),
    asOf: Type.Optional(day("The day for which the fixture's dates were written")),
    life: Type.Optional(Type.Union([OFF, ofEachKind(() => OFF, { merchant: {}, ...records })])),
    merchant: closed({ ...merchant, ...IDENTITY }),
    records: Type.Optional(ofEachKind((fields) => Type.Array(closed(fields)), records)),
  });
});

/** Every problem of one file, misspelt names first. */
export function checkFixture(fixture: JsonObject, resources: readonly Resource[]): FixtureProblem[] {
  const errors = fieldErrors(schemaOf(resources), fixture);
  const isMisspelt = ({ code }: FieldError) => code === "unknown_field";
  if (errors.length > 0) return [...errors.filter(isMisspelt), ...errors.filter((error) => !isMisspelt(error))];
  const kinds = new Map(resources.map((resource) => [resource.kind, resource]));
  const records = (fixture.records ?? {}) as Record<string, JsonObject[]>;
  const repeated = Object.entries(records).flatMap(([kind, list]) => duplicates(kinds.get(kind) as Resource, list));
  return repeated.length > 0 ? repeated : contradictions(fixture.merchant as JsonObject, records, kinds);
}

/** The rules that the records would break once they are seeded. */
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
  const found = checkWorld({
    resources: [...kinds.values()],
    world: world as Map<string, AnyRecord[]>,
    now: scope.now,
  });
  return found.map(({ kind, id, field, message }) => {
    const index = (world.get(kind) ?? []).findIndex((record) => record.id === id);
    return { pointer: pointerTo(kind, index, field), message: `${kind} ${id}: ${message}` };
  });
}

const pointerTo = (kind: string, index: number, field?: string) =>
  `${kind === "merchant" ? "/merchant" : `/records/${kind}/${index}`}${field === undefined ? "" : `/${field}`}`;

/** Values that must be unique among the merchants of all files but are not. */
export function checkFixturesTogether(
  files: readonly { file: string; merchant: JsonObject }[],
): (FixtureProblem & { file: string })[] {
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

/** Records that repeat the unique values of an earlier record. */
const duplicates = (resource: Resource, records: readonly JsonObject[]): FixtureProblem[] =>
  [["id"], ...resource.unique].flatMap((fields) => {
    const first = new Map<string, number>();
    return records.flatMap((record, index) => {
      const value = uniqueValue({ ...resource.defaults, ...withoutNulls(record) }, fields);
      const earlier = value === undefined ? undefined : first.get(value);
      if (value !== undefined && earlier === undefined) first.set(value, index);
      const message =
        `no two records of the kind ${resource.kind} may have the same ${fields.join(" and ")}; ` +
        `/records/${resource.kind}/${earlier} has it too.`;
      return earlier === undefined ? [] : [{ pointer: `/records/${resource.kind}/${index}/${fields[0]}`, message }];
    });
  });

const withoutNulls = (record: JsonObject) =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null));
