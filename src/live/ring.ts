// The newest happenings, numbered: what a watcher can still be told, and what it has missed.

import type { LiveEvent, LiveItem, LiveMessage } from "../contracts/live-messages.ts";

export interface Ring {
  /** The number of the newest item. */
  newest(): number;
  push(happening: LiveEvent): void;
  /** What tells a watcher that has seen everything up to `seen` of all that came after. */
  since(seen: number): LiveMessage[];
}

export function createRing(capacity: number): Ring {
  let items: LiveItem[] = [];
  let newest = 0;
  return {
    newest: () => newest,
    push(happening) {
      items.push({ seq: ++newest, ...happening } as LiveItem);
      // Cut in halves, so that the cost of moving them is spread over as many pushes.
      if (items.length > 2 * capacity) items = items.slice(-capacity);
    },
    since(seen) {
      const oldest = items[0]?.seq ?? newest + 1;
      const fresh = items.slice(Math.max(0, seen + 1 - oldest));
      const gap: LiveMessage[] = seen + 1 < oldest ? [{ type: "gap", from: seen + 1, to: oldest - 1 }] : [];
      return fresh.length > 0 ? [...gap, { type: "batch", items: fresh }] : gap;
    },
  };
}
