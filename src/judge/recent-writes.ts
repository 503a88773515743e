// The latest writes of all merchants. Which of them happened during a delivery is only known once the delivery has ended.

import { realNow } from "../kernel/clock.ts";
import type { JournalEntry } from "../store/journal/request-log.ts";

export type RecentWrites = ReturnType<typeof createRecentWrites>;

const CAPACITY = 256;
const MAX_BODY = 16_384;

interface RecordedWrite {
  entry: JournalEntry;
  /** Real milliseconds. */
  answered: number;
}

export function createRecentWrites() {
  /** A ring buffer; `next` is the slot of the oldest write. */
  const ring: (RecordedWrite | undefined)[] = Array(CAPACITY).fill(undefined);
  let next = 0;
  return {
    /** Keeps the request if it is a successful write. */
    record(entry: JournalEntry) {
      if (entry.method === "GET" || entry.status >= 300 || entry.requestBody.length > MAX_BODY) return;
      ring[next] = { entry, answered: realNow() };
      next = (next + 1) % CAPACITY;
    },
    /** A merchant's writes that arrived at or after a time in real milliseconds, oldest first. */
    since(merchant: string, arrived: number) {
      const found: JournalEntry[] = [];
      for (let back = 1; back <= CAPACITY; back++) {
        const write = ring[(next - back + CAPACITY) % CAPACITY];
        // A request arrives before it is answered, so this write and all older ones arrived too early.
        if (write && write.answered < arrived) break;
        if (write?.entry.merchant === merchant && write.entry.arrived >= arrived) found.push(write.entry);
      }
      return found.reverse();
    },
    forget(merchant?: string) {
      for (const [slot, write] of ring.entries()) if (merchant === undefined || write?.entry.merchant === merchant) ring[slot] = undefined;
    },
  };
}
