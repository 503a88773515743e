// The newest events of the live stream, numbered: what a client that reconnects can still get, and what it has missed.

import type { LiveEvent, LiveItem, LiveMessage } from "../contracts/live-messages.ts";

export interface EventBuffer {
  /** The number of the newest event. */
  newest(): number;
  push(event: LiveEvent): void;
  /** The resets that a client has missed because the buffer no longer has them: the last one of everything, and of each merchant since. */
  missedResets(seen: number): LiveItem[];
  /** The next messages for a client that has seen everything up to `seen`, with at most `limit` events. */
  since(seen: number, limit?: number): LiveMessage[];
}

export function createEventBuffer(capacity: number): EventBuffer {
  let items: LiveItem[] = [];
  let newest = 0;
  let resets: (LiveItem & { kind: "reset" })[] = [];
  const kinds: Partial<Record<LiveItem["kind"], number>> = {};
  return {
    newest: () => newest,
    push(event) {
      const nth = (kinds[event.kind] ?? 0) + 1;
      kinds[event.kind] = nth;
      const item = { seq: ++newest, nth, ...event } as LiveItem;
      items.push(item);
      if (item.kind === "reset") resets = [...resets.filter(({ merchant }) => item.merchant !== null && item.merchant !== merchant), item];
      // Dropping half of the items at a time spreads the cost of moving them over as many pushes.
      if (items.length > 2 * capacity) items = items.slice(-capacity);
    },
    missedResets: (seen) => resets.filter(({ seq }) => seq > seen && seq < (items[0]?.seq ?? newest + 1)),
    since(seen, limit = Infinity) {
      const oldest = items[0]?.seq ?? newest + 1;
      const first = Math.max(0, seen + 1 - oldest);
      const fresh = items.slice(first, first + limit);
      const gap: LiveMessage[] = seen + 1 < oldest ? [{ type: "gap", from: seen + 1, to: oldest - 1 }] : [];
      return fresh.length > 0 ? [...gap, { type: "batch", items: fresh }] : gap;
    },
  };
}
