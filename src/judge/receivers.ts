// Tracks one merchant's webhook receivers: which events they accepted, and what they wrote to the API after each
// delivery.

import type { Firing } from "../contracts/fault.ts";
import type { AttemptMessage } from "../contracts/live-messages.ts";
import { setBounded } from "../kernel/bounded-cache.ts";
import { isGenuine } from "./firings.ts";
import type { ObservedCall } from "./observed-call.ts";
import type { ObservedDelivery, RepeatDelivery } from "./rules/rule.ts";

/** An accepted delivery, with the earlier accepted deliveries of the same event in order (at least one). */
interface Repeat {
  readonly earlier: readonly WatchedDelivery[];
  readonly repeat: WatchedDelivery;
}

export interface ReceiverListeners {
  onDelivery(delivery: ObservedDelivery): void;
  onRepeatDelivery(repeat: RepeatDelivery): void;
}

const MAX_EVENTS = 200;
/** Deliveries kept for each event, to compare later ones with. */
const MAX_DELIVERIES = 20;

/** Times are real milliseconds. */
export function createReceivers(listeners: ReceiverListeners) {
  const accepted = new Map<string, readonly WatchedDelivery[]>();
  const faultOf = new Map<string, string>();
  const attribution = createWriteAttribution();
  const repeats = new Set<Repeat>();
  const accept = (key: string, delivery: WatchedDelivery) => {
    const earlier = accepted.get(key);
    if (earlier) repeats.add({ earlier, repeat: delivery });
    if (earlier && earlier.length < MAX_DELIVERIES) accepted.set(key, [...earlier, delivery]);
    if (!earlier) setBounded(accepted, key, [delivery], MAX_EVENTS);
  };
  const report = (watched: Repeat) => {
    repeats.delete(watched);
    listeners.onRepeatDelivery(describeRepeat(watched));
  };
  const resolve = (now: number) => {
    attribution.expire(now);
    for (const watched of repeats) if (watched.repeat.watchedUntil < now) report(watched);
  };
  return {
    /**
     * Observes an attempt that began at `started` and is recorded `now`; `writes` are the merchant's writes since
     * `started`.
     */
    observe(
      attempt: AttemptMessage,
      faults: readonly Firing[],
      started: number,
      now: number,
      writes: readonly ObservedCall[],
    ) {
      const key = `${attempt.endpointId} ${attempt.eventId}`;
      if (faults[0]) setBounded(faultOf, key, faults[0].ruleId, MAX_EVENTS);
      // The fault of an attempt also causes its retries and copies.
      const fault = faultOf.get(key);
      const acceptedBefore = accepted.get(key)?.[0]?.attempt;
      listeners.onDelivery({ attempt, faults, fault, acceptedBefore });
      const delivery = { attempt, started, watchedUntil: now + ATTRIBUTION_WINDOW, writes: [], fault };
      attribution.watch(delivery);
      for (const call of writes) attribution.attribute(call);
      if (attempt.status === "succeeded" && isGenuine(faults)) accept(key, delivery);
      // Resolves last: before this attempt was recorded, its writes may have counted as the effect of an earlier
      // repeat.
      resolve(now);
    },
    observeWrite: attribution.attribute,
    /** Whether a write at `now` may belong to a delivery. */
    isWatching: attribution.isWatching,
    /** Reports the repeat deliveries whose writes are complete. */
    resolve,
    /** The repeat deliveries that are still watched for writes. */
    pending: () => [...repeats].map(describeRepeat),
    /** Reports all repeat deliveries, because the run is over. */
    conclude: () => repeats.forEach(report),
    isEmpty: () => accepted.size === 0,
  };
}

/**
 * A write belongs to the last delivery that started before it arrived. A slow write of the first delivery can therefore
 * count as the second delivery's, so a third delivery is compared with both.
 */
const describeRepeat = ({ earlier, repeat }: Repeat): RepeatDelivery => ({
  first: (earlier.find(({ writes }) => writes.length > 0) ?? (earlier[0] as WatchedDelivery)).attempt,
  repeat: repeat.attempt,
  writesBefore: earlier.flatMap(({ writes }) => writes).filter((call) => call.arrived < repeat.started),
  writesAfterRepeat: repeat.writes,
  fault: repeat.fault,
});

/** A delivery attempt with its merchant's writes during it and shortly after. */
interface WatchedDelivery {
  readonly attempt: AttemptMessage;
  /** Real milliseconds, like `watchedUntil`. */
  readonly started: number;
  readonly watchedUntil: number;
  writes: ObservedCall[];
  /** The fault rule that caused the delivery. */
  readonly fault: string | undefined;
}

/**
 * How long a write counts as the effect of a delivery. Counted from recording, because a busy process sees no writes
 * earlier.
 */
const ATTRIBUTION_WINDOW = 3_000;
const MAX_WRITES = 100;

/** Attributes a merchant's writes to the webhook deliveries that caused them. Times are real milliseconds. */
function createWriteAttribution() {
  /**
   * Deliveries in the order of recording, starting at index `first`. There may be tens of thousands, so no function
   * visits them all.
   */
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
      for (let delivery = watched[first]; delivery && delivery.watchedUntil < now; delivery = watched[++first])
        drop(delivery);
      // Compacts the list only after half of it has expired, so the cost per delivery stays constant.
      if (first <= watched.length / 2) return;
      watched = watched.slice(first);
      first = 0;
    },
  };
}

/**
 * Finds the fitting delivery with the latest start. Searches backwards, and stops once no older delivery can have
 * started later.
 */
function findDelivery(
  watched: readonly WatchedDelivery[],
  first: number,
  { arrived }: ObservedCall,
): WatchedDelivery | undefined {
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
