// Reads a merchant's records (its world) from a sandbox's file, and checks that they do not contradict each other.

import Sqlite from "better-sqlite3";
import { resources } from "../../src/areas/index.ts";
import type { AnyRecord, RecordsByKind } from "../../src/contracts/resource.ts";
import { usable } from "../../src/schema/as-sent.ts";
import { checkWorld } from "../../src/store/world/check-world.ts";
import type { Bench } from "./sandbox.ts";

type Row = [sequence: number, kind: string, body: string];

const kinds = new Map(resources.map((resource) => [resource.kind, resource]));

/**
 * Reads the records of a sandbox's file. Unchanged records are not parsed again, so that a test can check the records
 * after every step.
 */
export function openWorldFile(file: string) {
  const sql = new Sqlite(file, { readonly: true });
  const select = sql
    .prepare<[string], Row>("select sequence, kind, body from documents where merchant = ? order by created, sequence")
    .raw();
  const merchants = sql.prepare<[], string>("select distinct merchant from documents").pluck();
  const types = sql.prepare<[], string>("select distinct type from events").pluck();
  const parsed = parsedRecords();
  const known = new Map<string, RecordsByKind>();
  /** Returns the same object until a record changes. */
  const worldOf = (merchant: string): RecordsByKind => {
    const before = parsed.changes;
    const world = new Map<string, AnyRecord[]>();
    const rows = select.all(merchant);
    for (const row of rows) {
      const records = world.get(row[1]) ?? [];
      world.set(row[1], records);
      records.push(parsed.record(row));
    }
    const latest = known.get(merchant);
    if (latest !== undefined && parsed.changes === before) return latest;
    known.set(merchant, world);
    return world;
  };
  return {
    merchants: () => merchants.all(),
    eventTypes: () => types.all(),
    /** The merchant's records by kind, the oldest first. */
    records: worldOf,
    close: () => void sql.close(),
  };
}

/** Parses each record once for as long as its JSON is the same. */
function parsedRecords() {
  const known = new Map<number, { body: string; record: AnyRecord }>();
  const parse = ([, kind, body]: Row): AnyRecord => {
    const { schema, defaults } = kinds.get(kind) ?? {};
    const stored = JSON.parse(body) as AnyRecord;
    return schema ? (usable(schema, stored, defaults ?? {}) as AnyRecord) : stored;
  };
  const records = {
    /** How many records were new or had changed when they were read. */
    changes: 0,
    record(row: Row): AnyRecord {
      const [sequence, , body] = row;
      const latest = known.get(sequence);
      if (latest?.body === body) return latest.record;
      const record = parse(row);
      known.set(sequence, { body, record });
      records.changes++;
      return record;
    },
  };
  return records;
}

export type WorldFile = ReturnType<typeof openWorldFile>;

/** Contradictions between a merchant's records. `now` is in Unix seconds. */
export const contradictionsIn = (world: RecordsByKind, now: number): string[] =>
  checkWorld({ resources, world, now }).map(({ id, message }) => `${id}: ${message}`);

/** Contradictions between the records of each merchant in a file. `now` is in Unix seconds. */
export function violationsIn(file: string, now: number): string[] {
  const worlds = openWorldFile(file);
  const problemsOf = (merchant: string) =>
    contradictionsIn(worlds.records(merchant), now).map((problem) => `${merchant} ${problem}`);
  const found = worlds.merchants().flatMap(problemsOf);
  worlds.close();
  return found;
}

async function snapshotOf(bench: Bench): Promise<[file: string, now: number]> {
  const { unix } = await bench.control("GET", "/clock");
  const { file } = await bench.control("PUT", "/snapshots/checked");
  return [file, unix];
}

/** Contradictions between the records of each merchant of a running sandbox, at the time of its clock. */
export const violations = async (bench: Bench): Promise<string[]> => violationsIn(...(await snapshotOf(bench)));
