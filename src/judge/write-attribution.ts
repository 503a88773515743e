// Attributes a merchant's writes to the webhook deliveries that caused them.

import type { AttemptMessage } from "../contracts/live-messages.ts";
import type { ObservedCall } from "./observed-call.ts";

/** A delivery attempt with its merchant's writes during it and shortly after. */
export interface WatchedDelivery {
  readonly attempt: AttemptMessage;
  /** Real milliseconds, like `watchedUntil`. */
  readonly started: number;
  readonly watchedUntil: number;
  writes: ObservedCall[];
  /** The fault rule that caused the delivery. */
  readonly fault: string | undefined;
}

/** How long a write counts as the effect of a delivery. Counted from recording, because a busy process sees no writes earlier. */
export const ATTRIBUTION_WINDOW = 3_000;
const MAX_WRITES = 100;

/** Times are real milliseconds. */
export function createWriteAttribution() {
  /** Deliveries in the order of recording, starting at index `first`. There may be tens of thousands, so no function visits them all. */
  let watched: WatchedDelivery[] = [];
  let first = 0;
  const deliveryOf = new Map<string, WatchedDelivery>();
  const drop = ({ writes }: WatchedDelivery) => {
    for (const { request } of writes) deliveryOf.delete(request);
  };
  return {
    /** Watches a delivery that has just been recorded. */
    watch: (delivery: WatchedDelivery) => void watched.push(delivery),
    /** Assigns the write to the latest delivery before it, reassigning if needed. */
    attribute(call: ObservedCall) {
      const before = deliveryOf.get(call.request);
      if (before) before.writes = before.writes.filter(({ request }) => request !== call.request);
      const delivery = findDelivery(watched, first, call);
      if (!delivery) return void deliveryOf.delete(call.request);
      delivery.writes.push(call);
      deliveryOf.set(call.request, delivery);
    },
    /** Whether a write at `now` may belong to a delivery. */
    isWatching: (now: number) => watched.length > first && (watched.at(-1) as WatchedDelivery).watchedUntil >= now,
    /** Drops the deliveries that are no longer watched. */
    expire(now: number) {
      for (let delivery = watched[first]; delivery && delivery.watchedUntil < now; delivery = watched[++first]) drop(delivery);
      // Compacts the list only after half of it has expired, so the cost per delivery stays constant.
      if (first <= watched.length / 2) return;
      watched = watched.slice(first);
      first = 0;
    },
  };
}

/** Finds the fitting delivery with the latest start. Searches backwards, and stops once no older delivery can have started later. */
function findDelivery(watched: readonly WatchedDelivery[], first: number, { arrived }: ObservedCall): WatchedDelivery | undefined {
  let latest: WatchedDelivery | undefined;
  for (let index = watched.length - 1; index >= first; index--) {
    const delivery = watched[index] as WatchedDelivery;
    const recorded = delivery.watchedUntil - ATTRIBUTION_WINDOW;
    if (delivery.watchedUntil < arrived || recorded <= (latest?.started ?? -Infinity)) return latest;
    const fits = arrived >= delivery.started && delivery.writes.length < MAX_WRITES;
    if (fits && delivery.started > (latest?.started ?? -Infinity)) latest = delivery;
  }
  return latest;
}
