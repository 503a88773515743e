// The latest calls of all merchants. Which of them a later event concerns is only known once that event happens.

import { realNow } from "../kernel/clock.ts";
import type { JournalEntry } from "../store/journal/request-log.ts";

export type RecentCalls = ReturnType<typeof createRecentCalls>;

const MAX_BODY = 16_384;

interface RecordedCall {
  entry: JournalEntry;
  /** Real milliseconds. */
  answered: number;
}

export const isSuccessfulWrite = ({ method, status }: JournalEntry) => method !== "GET" && status < 300;

/** A ring buffer of `capacity` calls for which `isKept` is true. */
export function createRecentCalls(capacity: number, isKept: (entry: JournalEntry) => boolean) {
  /** `next` is the slot of the oldest call. */
  const ring: (RecordedCall | undefined)[] = Array(capacity).fill(undefined);
  let next = 0;
  /** The call that is `back` places older than the newest. A loop over this is much faster than a generator. */
  const at = (back: number) => ring[(next - 1 - back + 2 * capacity) % capacity];
  return {
    record(entry: JournalEntry) {
      if (!isKept(entry) || entry.requestBody.length > MAX_BODY) return;
      ring[next] = { entry, answered: realNow() };
      next = (next + 1) % capacity;
    },
    /** A merchant's calls that arrived at or after a time in real milliseconds, oldest first. */
    since(merchant: string, arrived: number) {
      const found: JournalEntry[] = [];
      for (let back = 0; back < capacity; back++) {
        const call = at(back);
        // A request arrives before it is answered, so this call and all older ones arrived too early.
        if (call && call.answered < arrived) break;
        if (call?.entry.merchant === merchant && call.entry.arrived >= arrived) found.push(call.entry);
      }
      return found.reverse();
    },
    /** The newest calls that match, at most `limit`, oldest first. */
    matching(isMatch: (entry: JournalEntry) => boolean, limit: number) {
      const found: JournalEntry[] = [];
      for (let back = 0; back < capacity && found.length < limit; back++) {
        const entry = at(back)?.entry;
        if (entry && isMatch(entry)) found.push(entry);
      }
      return found.reverse();
    },
    forget(merchant?: string) {
      for (const [slot, call] of ring.entries()) if (merchant === undefined || call?.entry.merchant === merchant) ring[slot] = undefined;
    },
  };
}
