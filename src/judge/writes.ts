// The latest writes of everybody: what a receiver did while a delivery was under way is only asked for when that has ended.

import type { JournalEntry } from "../store/journal.ts";

export interface Writes {
  /** Keeps a request that wrote something: one slot, whoever it is from. */
  note(entry: JournalEntry): void;
  /** What a merchant wrote since a moment, in real milliseconds. */
  since(merchant: string, arrived: number): JournalEntry[];
  forget(merchant?: string): void;
}

const MOST_KEPT = 256;
const LONGEST_BODY = 16_384;

export function createWrites(): Writes {
  const kept: (JournalEntry | undefined)[] = Array(MOST_KEPT).fill(undefined);
  let next = 0;
  return {
    note(entry) {
      if (entry.method === "GET" || entry.status >= 300 || entry.requestBody.length > LONGEST_BODY) return;
      kept[next] = entry;
      next = (next + 1) % MOST_KEPT;
    },
    since: (merchant, arrived) =>
      kept.filter((entry): entry is JournalEntry => entry !== undefined && entry.merchant === merchant && entry.arrived >= arrived),
    forget(merchant) {
      for (const [slot, entry] of kept.entries()) if (merchant === undefined || entry?.merchant === merchant) kept[slot] = undefined;
    },
  };
}
