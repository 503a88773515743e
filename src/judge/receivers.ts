// Tracks one merchant's webhook receivers: which events they accepted, and what they wrote to the API after each delivery.

import type { Firing } from "../contracts/fault.ts";
import type { AttemptMessage } from "../contracts/live-messages.ts";
import type { ObservedCall } from "./observed-call.ts";
import type { ObservedDelivery, RepeatDelivery } from "./rules/rule.ts";
import { isGenuine } from "./tampering.ts";
import { ATTRIBUTION_WINDOW, createWriteAttribution, type WatchedDelivery } from "./write-attribution.ts";

/** Two accepted deliveries of one event. */
interface DeliveryPair {
  readonly first: WatchedDelivery;
  readonly repeat: WatchedDelivery;
}

export interface ReceiverListeners {
  onDelivery(delivery: ObservedDelivery): void;
  onRepeatDelivery(repeat: RepeatDelivery): void;
}

export type Receivers = ReturnType<typeof createReceivers>;

const MAX_EVENTS = 200;

/** Times are real milliseconds. */
export function createReceivers(listeners: ReceiverListeners) {
  const accepted = new Map<string, WatchedDelivery>();
  const faultOf = new Map<string, string>();
  const attribution = createWriteAttribution();
  const pairs = new Set<DeliveryPair>();
  const accept = (key: string, delivery: WatchedDelivery) => {
    const first = accepted.get(key);
    if (first) pairs.add({ first, repeat: delivery });
    else setBounded(accepted, key, delivery);
  };
  return {
    /** Observes an attempt that lasted from `started` to `now`; `writes` are the merchant's writes since `started`. */
    observe(attempt: AttemptMessage, faults: readonly Firing[], started: number, now: number, writes: readonly ObservedCall[]) {
      const key = `${attempt.endpointId} ${attempt.eventId}`;
      if (faults[0]) setBounded(faultOf, key, faults[0].ruleId);
      // Retries and copies of an attempt that a fault affected are caused by that fault too.
      const fault = faultOf.get(key);
      listeners.onDelivery({ attempt, faults, fault, acceptedBefore: accepted.get(key)?.attempt });
      const delivery = { attempt, started, watchedUntil: now + ATTRIBUTION_WINDOW, writes: [], fault };
      attribution.watch(delivery);
      for (const call of writes) attribution.attribute(call);
      if (attempt.status === "succeeded" && isGenuine(faults)) accept(key, delivery);
    },
    observeWrite: attribution.attribute,
    /** Whether a write at `now` may belong to a delivery. */
    isWatching: attribution.isWatching,
    /** Reports the repeat deliveries whose writes are complete. */
    resolve(now: number) {
      attribution.expire(now);
      for (const pair of pairs) {
        if (pair.repeat.watchedUntil >= now) continue;
        pairs.delete(pair);
        listeners.onRepeatDelivery(describePair(pair));
      }
    },
    /** The repeat deliveries that are still watched for writes. */
    pending: () => [...pairs].map(describePair),
    /** Reports all of them: the run is over. */
    conclude() {
      for (const pair of pairs) listeners.onRepeatDelivery(describePair(pair));
      pairs.clear();
    },
    isEmpty: () => accepted.size === 0,
  };
}

function setBounded<T>(map: Map<string, T>, key: string, value: T): void {
  if (map.size === MAX_EVENTS) map.delete(map.keys().next().value as string);
  map.set(key, value);
}

/** Writes that arrive after the second delivery has started belong to the second one. */
const describePair = ({ first, repeat }: DeliveryPair): RepeatDelivery => ({
  first: first.attempt,
  repeat: repeat.attempt,
  writesAfterFirst: first.writes.filter((call) => call.arrived < repeat.started),
  writesAfterRepeat: repeat.writes,
  fault: repeat.fault,
});
