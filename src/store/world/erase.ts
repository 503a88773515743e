// Forgetting: one merchant and all it owns, or everything.

import type { Database } from "../sqlite/database.ts";

/** Every table whose rows belong to a merchant, those that refer to others first. */
const OWNED = [
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

export interface Eraser {
  /** Removes a merchant with everything it has. Only inside a transaction. */
  merchant(id: string): void;
  /** Removes everything; what counts starts again at one. Only inside a transaction. */
  everything(): void;
}

/** How the rows of a merchant are found where no index begins with it. */
const FOUND: Readonly<Record<string, string>> = {
  attempts: "delivery in (select sequence from deliveries where event in (select sequence from events where merchant = ?))",
  deliveries: "event in (select sequence from events where merchant = ?)",
};

export function openEraser({ sql }: Database): Eraser {
  const perMerchant = OWNED.map((table) => sql.prepare(`delete from ${table} where ${FOUND[table] ?? "merchant = ?"}`));
  const all = [...OWNED.map((table) => `delete from ${table}`), "delete from sqlite_sequence"].map((text) => sql.prepare(text));
  return {
    merchant(id) {
      for (const statement of perMerchant) statement.run(id);
    },
    everything() {
      for (const statement of all) statement.run();
    },
  };
}
