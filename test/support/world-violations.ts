// Runs the whole-world checker over a merchant of a running sandbox.

import Sqlite from "better-sqlite3";
import { resources } from "../../src/areas/index.ts";
import type { OwnRecords, Resource } from "../../src/contracts/resource.ts";
import type { AnyRecord } from "../../src/contracts/sample.ts";
import { parseTime } from "../../src/kernel/clock.ts";
import { checkWorld } from "../../src/store/world/check-world.ts";
import type { Bench } from "./sandbox.ts";

/** Contradictions in a merchant's world, read from a snapshot. */
export async function violations(bench: Bench, merchant: string, now: string) {
  const { file } = await bench.control("PUT", "/snapshots/day");
  const sql = new Sqlite(file, { readonly: true });
  const rows = sql
    .prepare<[string], { kind: string; body: string }>("select kind, body from documents where merchant = ? order by created, sequence")
    .all(merchant);
  sql.close();
  const world = new Map<string, Map<string, AnyRecord>>();
  for (const { kind, body } of rows) {
    const record = JSON.parse(body) as AnyRecord;
    world.set(kind, (world.get(kind) ?? new Map()).set(record.id, record));
  }
  const own = ({ kind }: Resource) => {
    const byId = world.get(kind) ?? new Map<string, AnyRecord>();
    const all = () => [...byId.values()];
    const newestOf = (count: number) => all().reverse().slice(0, count);
    return { all, newestOf, newest: () => all().at(-1), find: (id: string) => byId.get(id), require: (id: string) => byId.get(id) };
  };
  const found = checkWorld({ resources, own: own as unknown as OwnRecords, now: (parseTime(now) ?? 0) / 1_000 });
  return found.map(({ id, message }) => `${id}: ${message}`);
}
