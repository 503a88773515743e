// Counts the ids of each kind that a merchant has used. New ids are derived from these counts, so equal runs create
// equal ids.

import { type Random, sortKeyOf } from "../../kernel/random.ts";
import type { Behaviour } from "../../schema/assumed.ts";
import type { Database } from "../sqlite/database.ts";

/** Call every method inside a transaction. */
export type Counters = ReturnType<typeof openCounters>;

/** The owner of the counters that belong to no merchant. */
export const SANDBOX = "sandbox";

interface Counter {
  merchant: string;
  name: string;
  value: number;
}

export function openCounters(database: Database, random: Random) {
  const { sql } = database;
  const read = sql
    .prepare<[Omit<Counter, "value">], number>("select value from counters where merchant = @merchant and name = @name")
    .pluck();
  const write = sql.prepare<[Counter]>(
    "insert or replace into counters (merchant, name, value) values (@merchant, @name, @value)",
  );
  // Cached per transaction: each count is read once and written once for all calls that share the transaction.
  const counters = database.perTransaction(
    () => new Map<string, Counter>(),
    (used) => {
      for (const counter of used.values()) write.run(counter);
    },
  );
  const counterOf = (merchant: string, name: string) => {
    const used = counters();
    const key = `${merchant} ${name}`;
    const counter = used.get(key) ?? { merchant, name, value: read.get({ merchant, name }) ?? 0 };
    used.set(key, counter);
    return counter;
  };
  const next = (merchant: string, name: string) => ++counterOf(merchant, name).value;
  /** Raises a count to `value`, a number that a record uses although it was not counted. */
  const raise = (merchant: string, name: string, value: number) => {
    const counter = counterOf(merchant, name);
    counter.value = Math.max(counter.value, value);
  };
  /** A new id: `prefix` names the kind, and each merchant has its own counts. */
  const mint = (merchant: string, prefix: string) => {
    const count = next(merchant, prefix);
    return random.sortableId(sortKeyOf(count), prefix, merchant, count);
  };
  return { next, raise, mint };
}

export const behaviours: Behaviour[] = [
  {
    id: "records.ids",
    fact:
      "An id is the prefix of its kind, an underscore and 16 letters and digits; seeded records have readable ids. " +
      "Keys are `sk_test_` and secrets `whsec_`, followed by a text that is derived from the seed.",
    why:
      "The service's documentation gives the prefixes `cus_`, `evt_`, `whsec_`, `sk_test_` and `sk_live_`, but no " +
      "others, and does not say what follows a prefix.",
  },
];
