// Raises the counts of ids in a file that another program may have written.

import type { Resource } from "../../contracts/resource.ts";
import { ALPHABET } from "../../kernel/random.ts";
import { SANDBOX } from "../records/id-counters.ts";
import type { Sql } from "../sqlite/lazy-statements.ts";

/** The end of an id that this program made: four digits of a count, and twelve random characters. */
const MADE = "[0-9A-Za-z]".repeat(16);
const COUNT_DIGITS = 4;

/**
 * Raises each count to the greatest one in an existing id. Otherwise, a file with a lower count would make an existing
 * id again. The digits of a count sort in numeric order, so the last id in the index has the greatest count.
 */
export function raiseCounts(sql: Sql, resources: readonly Resource[]): void {
  const raise = sql.prepare<[string, string, number]>(
    `insert into counters (merchant, name, value) values (?, ?, ?)
     on conflict do update set value = max(value, excluded.value)`,
  );
  const lastOf = (table: string, where: string) =>
    sql
      .prepare<string[], string>(
        `select id from main.${table} where ${where} and id glob ? || '_${MADE}' order by id desc limit 1`,
      )
      .pluck();
  const record = lastOf("documents", "merchant = ? and kind = ? and id >= ? and id < ?");
  const event = lastOf("events", "merchant = ?");
  const keep = (owner: string, prefix: string, id: string | undefined) => {
    const count = id === undefined ? undefined : countIn(id, prefix);
    if (count !== undefined) raise.run(owner, prefix, count);
  };
  const prefixes = new Map(resources.map(({ kind, prefix }) => [kind, prefix]));
  for (const { merchant, kind } of distinct(sql, "merchant, kind", "documents")) {
    const prefix = prefixes.get(kind ?? "") as string;
    // "`" is the character after "_", so the range has exactly the ids with this prefix.
    const id = record.get(merchant, kind as string, `${prefix}_`, `${prefix}\``, prefix);
    keep(kind === "merchant" ? SANDBOX : merchant, prefix, id);
  }
  for (const { merchant } of distinct(sql, "merchant", "events")) keep(merchant, "evt", event.get(merchant, "evt"));
}

/** The count in an id that this program made; undefined for an id of another form, such as pay_001. */
export function countIn(id: string, prefix: string): number | undefined {
  const made = id.startsWith(`${prefix}_`) ? id.slice(prefix.length + 1) : "";
  if (!/^[0-9A-Za-z]{16}$/.test(made)) return undefined;
  return [...made.slice(0, COUNT_DIGITS)].reduce(
    (count, digit) => count * ALPHABET.length + ALPHABET.indexOf(digit),
    0,
  );
}

/** The distinct values of these columns. */
export const distinct = (sql: Sql, columns: string, table: string) =>
  sql.prepare(`select distinct ${columns} from main.${table}`).all() as { merchant: string; kind?: string }[];
