// Deletes one merchant with all its rows, or everything.

import type { Database } from "../sqlite/database.ts";

/** Every table whose rows belong to a merchant; tables that refer to others come first. */
const TABLES = [
  "attempts",
  "deliveries",
  "events",
  "let_go",
  "subscriptions",
  "replies",
  "documents",
  "logins",
  "keys",
  "counters",
  "journal",
  "left_steps",
  "learners",
  "origins",
];

/** The conditions for tables that have no index starting with the merchant. */
const CONDITIONS: Readonly<Record<string, string>> = {
  attempts: "delivery in (select sequence from deliveries where event in (select sequence from events where merchant = ?))",
  deliveries: "event in (select sequence from events where merchant = ?)",
};

export function openEraser({ sql }: Database) {
  const perMerchant = TABLES.map((table) => sql.prepare(`delete from ${table} where ${CONDITIONS[table] ?? "merchant = ?"}`));
  const all = [...TABLES.map((table) => `delete from ${table}`), "delete from sqlite_sequence"].map((text) => sql.prepare(text));
  return {
    /** To be called inside a transaction. */
    merchant(id: string) {
      for (const statement of perMerchant) statement.run(id);
    },
    /** Also restarts all counts at one. To be called inside a transaction. */
    everything() {
      for (const statement of all) statement.run();
    },
  };
}
