// How many ids of each kind a merchant has used. New ids are a function of these numbers, so two equal runs make equal ids.

import { type Dice, placeOf } from "../kernel/random.ts";
import type { Database } from "./database.ts";

/** A new id: `prefix` names the kind, and each merchant counts for itself. */
export type Mint = (merchant: string, prefix: string) => string;

export interface Counters {
  next(merchant: string, name: string): number;
  mint: Mint;
}

export function openCounters(database: Database, dice: Dice): Counters {
  const increment = database.sql
    .prepare<[string, string], number>(
      "insert into counters (merchant, name, value) values (?, ?, 1) on conflict do update set value = value + 1 returning value",
    )
    .pluck();
  const next = (merchant: string, name: string) => increment.get(merchant, name) as number;
  const mint = (merchant: string, prefix: string) => {
    const count = next(merchant, prefix);
    return dice.idAt(placeOf(count), prefix, merchant, count);
  };
  return { next, mint };
}
