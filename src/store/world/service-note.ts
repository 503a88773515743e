// Notes in a database under which service file it is used: what it keeps from before may be in another form.

import type { Database } from "../sqlite/database.ts";

/** A service file. */
export interface ServiceMark {
  /** Its path, as it was named. */
  file: string;
  /** Identifies its facts. */
  hash: string;
}

/** Returns the service file of the start before, null for none; undefined if it was the same, or the database is new. */
export function noteService({ file, sql }: Database, service: ServiceMark | undefined): ServiceMark | null | undefined {
  if (file === undefined) return undefined;
  const read = sql.prepare<[string], string>("select value from settings where name = ?").pluck();
  const noted = read.get("service");
  const before = noted === undefined ? null : (JSON.parse(noted) as ServiceMark | null);
  if (before?.hash === service?.hash) return undefined;
  const isNew = read.get("owner") === undefined;
  const now = service === undefined ? null : { file: service.file, hash: service.hash };
  sql.prepare<[string]>("insert or replace into settings (name, value) values ('service', ?)").run(JSON.stringify(now));
  return isNew ? undefined : before;
}
