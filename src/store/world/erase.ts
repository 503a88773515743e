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
  "request_log",
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
  // The replies of logins as this merchant that calls of other merchants stored: their tokens are deleted with its keys.
  const loginReplies = sql.prepare(`delete from replies where exists (select 1 from keys where merchant = @id and kind = 'session')
    and case when body like '{"object":"session",%' then body ->> '$.merchant.id' = @id end`);
  return {
    /** To be called inside a transaction. */
    merchant(id: string) {
      loginReplies.run({ id });
      for (const statement of perMerchant) statement.run(id);
    },
    /** Also restarts all counts at one. To be called inside a transaction. */
    everything() {
      for (const statement of all) statement.run();
    },
  };
}
