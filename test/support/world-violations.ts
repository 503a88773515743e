// Runs the whole-world checker over the merchants of a running sandbox, from its file or a snapshot.

import Sqlite from "better-sqlite3";
import { resources } from "../../src/areas/index.ts";
import type { AnyRecord } from "../../src/contracts/sample.ts";
import { parseTime } from "../../src/kernel/clock.ts";
import { usable } from "../../src/schema/as-sent.ts";
import { checkWorld } from "../../src/store/world/check-world.ts";
import type { RecordsByKind } from "../../src/store/world/records-in-memory.ts";
import type { Bench } from "./sandbox.ts";

interface Row {
  sequence: number;
  kind: string;
  body: string;
}

const kinds = new Map(resources.map((resource) => [resource.kind, resource]));

/** Reads the records of a sandbox's file. Unchanged records are parsed once, so that a world can be checked after each of many steps. */
export function openWorldFile(file: string) {
  const sql = new Sqlite(file, { readonly: true });
  const select = sql.prepare<[string], Row>("select sequence, kind, body from documents where merchant = ? order by created, sequence");
  const merchants = sql.prepare<[], string>("select id from documents where kind = 'merchant' order by sequence").pluck();
  const parsed = new Map<number, { body: string; record: AnyRecord }>();
  const parse = ({ sequence, kind, body }: Row): AnyRecord => {
    const known = parsed.get(sequence);
    if (known?.body === body) return known.record;
    const { schema, defaults } = kinds.get(kind) ?? {};
    const stored = JSON.parse(body) as AnyRecord;
    const record = schema ? (usable(schema, stored, defaults ?? {}) as AnyRecord) : stored;
    parsed.set(sequence, { body, record });
    return record;
  };
  const worldOf = (merchant: string): RecordsByKind => {
    const world = new Map<string, AnyRecord[]>();
    for (const row of select.all(merchant)) {
      const records = world.get(row.kind) ?? [];
      world.set(row.kind, records);
      records.push(parse(row));
    }
    return world;
  };
  return {
    merchants: () => merchants.all(),
    /** The merchant's records by kind, the oldest first. */
    records: worldOf,
    /** Contradictions in a merchant's world. `now` is in Unix seconds. */
    violations(merchant: string, now: number): string[] {
      const found = checkWorld({ resources, world: worldOf(merchant), now });
      return found.map(({ id, message }) => `${id}: ${message}`);
    },
    close: () => void sql.close(),
  };
}

export type WorldFile = ReturnType<typeof openWorldFile>;

/** Contradictions in a merchant's world, read from a snapshot. */
export async function violations(bench: Bench, merchant: string, now: string) {
  const { file } = await bench.control("PUT", "/snapshots/day");
  const world = openWorldFile(file);
  const found = world.violations(merchant, (parseTime(now) ?? 0) / 1_000);
  world.close();
  return found;
}
