// A ring buffer of the newest calls, with which the judge compares later calls.

import type { RequestEntry } from "../store/request-log/request-log.ts";

const MAX_BODY = 16_384;

/** A ring buffer of `capacity` calls. */
export function createRecentCalls(capacity: number) {
  /** `next` is the slot of the oldest call. */
  const ring: (RequestEntry | undefined)[] = Array(capacity).fill(undefined);
  let next = 0;
  /** The call `back` places before the newest. Looping over this is much faster than a generator. */
  const at = (back: number) => ring[(next - 1 - back + 2 * capacity) % capacity];
  return {
    record(entry: RequestEntry) {
      if (entry.requestBody.length > MAX_BODY) return;
      ring[next] = entry;
      next = (next + 1) % capacity;
    },
    /** A merchant's calls that arrived at or after a time in real milliseconds, oldest first. */
    since(merchant: string, arrived: number) {
      const found: RequestEntry[] = [];
      for (let back = 0; back < capacity; back++) {
        const call = at(back);
        // Calls are in the order of their responses. If this call was answered before `arrived`, this call and all
        // older ones also arrived before that time.
        if (call && call.answered < arrived) break;
        if (call?.merchant === merchant && call.arrived >= arrived) found.push(call);
      }
      return found.reverse();
    },
    /** The newest calls that match, at most `limit`, newest first. */
    matching(isMatch: (entry: RequestEntry) => boolean, limit: number) {
      const found: RequestEntry[] = [];
      for (let back = 0; back < capacity && found.length < limit; back++) {
        const entry = at(back);
        if (entry && isMatch(entry)) found.push(entry);
      }
      return found;
    },
    forget(merchant?: string) {
      for (const [slot, call] of ring.entries())
        if (merchant === undefined || call?.merchant === merchant) ring[slot] = undefined;
    },
  };
}
