// The latest writes of everybody: what a receiver did while a delivery was under way is only asked for when that has ended.

import { realNow } from "../kernel/clock.ts";
import type { LoggedRequest } from "../store/journal/request-log.ts";

export interface Writes {
  /** Keeps a request that wrote something: one slot, whoever it is from. */
  note(entry: LoggedRequest): void;
  /** What a merchant wrote since a moment, in real milliseconds. */
  since(merchant: string, arrived: number): LoggedRequest[];
  forget(merchant?: string): void;
}

const MOST_KEPT = 256;
const LONGEST_BODY = 16_384;

interface Noted {
  entry: LoggedRequest;
  /** Real milliseconds. */
  at: number;
}

export function createWrites(): Writes {
  const kept: (Noted | undefined)[] = Array(MOST_KEPT).fill(undefined);
  let next = 0;
  return {
    note(entry) {
      if (entry.method === "GET" || entry.status >= 300 || entry.requestBody.length > LONGEST_BODY) return;
      kept[next] = { entry, at: realNow() };
      next = (next + 1) % MOST_KEPT;
    },
    since(merchant, arrived) {
      const found: LoggedRequest[] = [];
      for (let back = 1; back <= MOST_KEPT; back++) {
        const noted = kept[(next - back + MOST_KEPT) % MOST_KEPT];
        // What was answered before that moment had arrived before it too, as had all that was answered sooner.
        if (noted && noted.at < arrived) break;
        if (noted?.entry.merchant === merchant && noted.entry.arrived >= arrived) found.push(noted.entry);
      }
      return found.reverse();
    },
    forget(merchant) {
      for (const [slot, noted] of kept.entries()) if (merchant === undefined || noted?.entry.merchant === merchant) kept[slot] = undefined;
    },
  };
}
