// A merchant's records in memory, for rules and checks that read other records.

import type { AnyRecord, OwnRecords, RecordBase, Records, RecordsByKind, Resource } from "../../contracts/resource.ts";
import { fail } from "../../kernel/errors.ts";

/** Reads only: a write is a defect of the caller. */
export function recordsInMemory(world: RecordsByKind): OwnRecords {
  const indexes = new Map<string, Map<string, AnyRecord>>();
  /** Records may be added to the world meanwhile. */
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
