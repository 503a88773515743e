// Runs the checker of the whole world over every merchant of a sandbox, from its file or a snapshot.

import Sqlite from "better-sqlite3";
import { resources } from "../../src/areas/index.ts";
import type { AnyRecord } from "../../src/contracts/resource.ts";
import { usable } from "../../src/schema/as-sent.ts";
import { checkWorld } from "../../src/store/world/check-world.ts";
import type { Bench } from "./sandbox.ts";

const kinds = new Map(resources.map((resource) => [resource.kind, resource]));

/** Contradictions in the worlds of all merchants in a file. `now` is in Unix seconds. */
export function violationsIn(file: string, now: number): string[] {
  const sql = new Sqlite(file, { readonly: true });
  const select = sql.prepare<[], Record<"merchant" | "kind" | "body", string>>(
    "select merchant, kind, body from documents order by created, sequence",
  );
  const worlds = new Map<string, Map<string, AnyRecord[]>>();
  for (const { merchant, kind, body } of select.all()) {
    const world = worlds.get(merchant) ?? new Map<string, AnyRecord[]>();
    const { schema, defaults = {} } = kinds.get(kind) ?? {};
    const record = schema ? usable(schema, JSON.parse(body), defaults) : JSON.parse(body);
    worlds.set(merchant, world.set(kind, [...(world.get(kind) ?? []), record as AnyRecord]));
  }
  sql.close();
  return [...worlds].flatMap(([merchant, world]) =>
    checkWorld({ resources, world, now }).map(({ id, message }) => `${merchant} ${id}: ${message}`),
  );
}

/** Contradictions in the worlds of a running sandbox at the present of its clock. */
export async function violations(bench: Bench): Promise<string[]> {
  const { unix } = await bench.control("GET", "/clock");
  const { file } = await bench.control("PUT", "/snapshots/checked");
  return violationsIn(file, unix);
}
