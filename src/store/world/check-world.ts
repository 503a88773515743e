// Checks a merchant's whole world: every record against its schema, rules and references, and the sums between records.

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
import { ApiError, fail } from "../../kernel/errors.ts";
import { fieldErrors } from "../../schema/validator.ts";

type Problem = Omit<WorldViolation, "kind" | "id">;

interface WorldContext {
  resources: readonly Resource[];
  world: RecordsByKind;
  /** Unix seconds on the sandbox clock. */
  now: number;
}

/** Every contradiction in the world of a merchant. */
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
  return [...each, ...kinds.flatMap(({ sums }) => sums.flatMap((check) => check(world, own)))];
}

/** Passes the record as its own predecessor, so rules about changes do not apply. */
function brokenRule(rule: Rule<RecordBase>, record: AnyRecord, context: Pick<RuleContext<RecordBase>, "own" | "now">): Problem[] {
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

/** Collections that read the records of a world in memory. A write throws, because it is a defect of the caller. */
export function recordsInMemory(world: RecordsByKind): OwnRecords {
  const indexes = new Map<string, Map<string, AnyRecord>>();
  /** Rebuilt when records were added to the world. */
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
