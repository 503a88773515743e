// One SQL view for each kind of record, so that any SQLite tool can `select * from payments`.

import type { Resource } from "../../contracts/resource.ts";
import type { TSchema } from "../../schema/shapes.ts";
import type { Database } from "../sqlite/database.ts";

/** The columns that every view begins with. */
const COLUMNS = ["id", "merchant", "created", "status"];
const IN_COLUMNS = new Set([...COLUMNS, "merchantId"]);

/** Recreates the views at each start, so that they match the declared kinds. */
export function createViews(database: Pick<Database, "sql" | "transaction">, resources: readonly Resource[]): void {
  database.transaction(() => {
    for (const resource of resources)
      database.sql.exec(`drop view if exists ${name(resource.view)}; ${definition(resource)}`);
  });
}

function definition({ kind, view, schema, hidden }: Resource): string {
  const fields = Object.entries(schema.properties).filter(
    ([field]) => !IN_COLUMNS.has(field) && !hidden.includes(field),
  );
  // The table's column `created` orders lists, and differs from the record's own time if the clock was set back.
  const own = COLUMNS.map((column) => (column === "created" ? "body ->> 'created' as created" : column));
  const columns = [...own, ...fields.map(([field, shape]) => `body ${arrow(shape)} ${text(field)} as ${name(field)}`)];
  return `create view ${name(view)} as select ${columns.join(", ")} from documents where kind = ${text(kind)}`;
}

/** `->>` returns a scalar as a SQL value, `->` returns an object or an array as JSON. */
function arrow(shape: TSchema): "->>" | "->" {
  const types = [(shape as { type?: string | string[] }).type ?? "any"].flat();
  return types.some((type) => type === "object" || type === "array" || type === "any") ? "->" : "->>";
}

const name = (identifier: string) => `"${identifier.replaceAll('"', '""')}"`;
const text = (value: string) => `'${value.replaceAll("'", "''")}'`;
