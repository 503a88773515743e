// The newest events of the live stream, numbered: what a client that reconnects can still get, and what it has missed.

import type { LiveEvent, LiveItem, LiveMessage } from "../contracts/live-messages.ts";

export interface EventBuffer {
  /** The number of the newest event. */
  newest(): number;
  push(event: LiveEvent): void;
  /** The next messages for a client that has seen everything up to `seen`, with at most `limit` events. */
  since(seen: number, limit?: number): LiveMessage[];
}

export function createEventBuffer(capacity: number): EventBuffer {
  let items: LiveItem[] = [];
  let newest = 0;
  const kinds: Partial<Record<LiveItem["kind"], number>> = {};
  return {
    newest: () => newest,
    push(event) {
      const nth = (kinds[event.kind] ?? 0) + 1;
      kinds[event.kind] = nth;
      items.push({ seq: ++newest, nth, ...event } as LiveItem);
      // Dropping half of the items at a time spreads the cost of moving them over as many pushes.
      if (items.length > 2 * capacity) items = items.slice(-capacity);
    },
    since(seen, limit = Infinity) {
      const oldest = items[0]?.seq ?? newest + 1;
      const first = Math.max(0, seen + 1 - oldest);
      const fresh = items.slice(first, first + limit);
      const gap: LiveMessage[] = seen + 1 < oldest ? [{ type: "gap", from: seen + 1, to: oldest - 1 }] : [];
      return fresh.length > 0 ? [...gap, { type: "batch", items: fresh }] : gap;
    },
  };
}
