// One queue for each endpoint with pending deliveries, so that a slow endpoint never delays another.

import type { Clock } from "../kernel/clock.ts";
import type { Deliveries, PendingEndpoint } from "../store/webhooks/deliveries.ts";
import type { EndpointKey } from "../store/webhooks/outbox.ts";

export interface EndpointQueue {
  readonly merchant: string;
  readonly endpoint: string;
  /** When the next waiting delivery is due; null when none waits. This time may be too early, never too late. */
  due: number | null;
  inFlight: number;
  /** Whether the last attempt got a response, of whatever status. */
  responds: boolean;
}

/** An endpoint gets one attempt at a time until it responds, so a dead endpoint holds only one connection. */
const SLOTS_BEFORE_RESPONSE = 1;
const MAX_SLOTS = 64;

const nameOf = ({ merchant, endpoint }: { merchant: string; endpoint: string }) => `${merchant} ${endpoint}`;

export function createEndpointQueues(deliveries: Deliveries, clock: Pick<Clock, "mode">) {
  // On a frozen clock, an endpoint that responds also gets one attempt at a time, so that it sees the same order in
  // every run.
  const freeSlots = ({ inFlight, responds }: EndpointQueue) =>
    (responds && clock.mode !== "frozen" ? MAX_SLOTS : SLOTS_BEFORE_RESPONSE) - inFlight;
  // When the queue can begin its next delivery; Infinity if none waits, no slot is free, or the endpoint is paused.
  const canBeginAt = (queue: EndpointQueue) =>
    queue.due !== null && freeSlots(queue) > 0 && !isPaused(queue) ? queue.due : Infinity;
  const queues = new Map<string, EndpointQueue>();
  const { pause, isPaused } = createPauses();
  let newest = 0;
  // Compares the object: another queue of the same name, with deliveries, may have replaced a removed one.
  const removeIfIdle = (queue: EndpointQueue) => {
    if (queue.due === null && queue.inFlight === 0 && queues.get(nameOf(queue)) === queue) queues.delete(nameOf(queue));
  };
  // Operations write deliveries without notifying the queues, so each read looks for deliveries after the newest one
  // read.
  const readNewDeliveries = () => {
    const added = deliveries.pendingEndpointsSince(newest);
    newest = added.newest;
    for (const pending of added.endpoints) add(queues, pending);
    return queues;
  };
  return {
    freeSlots,
    /**
     * Adds a pending delivery to the queue of its endpoint. The delivery may be due before the queue's other
     * deliveries.
     */
    add: (pending: PendingEndpoint) => add(queues, pending),
    /** Reads every pending delivery again. */
    load() {
      const pending = deliveries.pendingEndpoints();
      for (const queue of queues.values()) queue.due = null;
      newest = pending.newest;
      for (const endpoint of pending.endpoints) add(queues, endpoint);
      for (const queue of queues.values()) removeIfIdle(queue);
    },
    /** When the next delivery can begin; null when none can. */
    nextDue() {
      readNewDeliveries();
      let next = Infinity;
      for (const queue of queues.values()) next = Math.min(next, canBeginAt(queue));
      return next === Infinity ? null : next;
    },
    /** When the next waiting delivery of a merchant is due; Infinity when none waits. */
    dueOf: (merchant: string) => dueOf(readNewDeliveries(), merchant),
    /** The queues with a due delivery and a free slot, the least recently served first. */
    ready(now: number) {
      readNewDeliveries();
      return [...queues.values()].filter((queue) => canBeginAt(queue) <= now);
    },
    pause,
    takeSlot(queue: EndpointQueue) {
      queue.inFlight++;
    },
    /**
     * Call after a queue began every delivery that it could: reads when its next one is due, and moves the queue behind
     * the others.
     */
    served(queue: EndpointQueue) {
      queue.due = deliveries.soonest(queue.merchant, queue.endpoint);
      queues.delete(nameOf(queue));
      queues.set(nameOf(queue), queue);
      removeIfIdle(queue);
    },
    /** Frees the slot of an attempt that has ended, or was never sent. */
    freeSlot(queue: EndpointQueue, responds: boolean) {
      queue.inFlight--;
      queue.responds = responds;
    },
    /**
     * Call after the outcome of an attempt was recorded. `nextDue` is when its delivery is retried; null when it is
     * not.
     */
    recorded(queue: EndpointQueue, nextDue: number | null) {
      if (nextDue !== null) add(queues, { ...queue, due: nextDue });
      removeIfIdle(queue);
    },
  };
}

function createPauses() {
  const pauses = new Set<{ endpoint: string }>();
  return {
    isPaused: ({ endpoint }: EndpointKey) => pauses.size > 0 && [...pauses].some((one) => one.endpoint === endpoint),
    /** Begins no delivery to an endpoint, of whatever merchant, until the returned function is called. */
    pause({ endpoint }: EndpointKey): () => void {
      const pause = { endpoint };
      pauses.add(pause);
      return () => void pauses.delete(pause);
    },
  };
}

function dueOf(queues: ReadonlyMap<string, EndpointQueue>, merchant: string): number {
  const own = [...queues.values()].filter((queue) => queue.merchant === merchant);
  return Math.min(...own.map(({ due }) => due ?? Infinity));
}

/** `responds` carries over from a removed queue of the same endpoint. */
function add(
  queues: Map<string, EndpointQueue>,
  { merchant, endpoint, due, responds = false }: PendingEndpoint & { responds?: boolean },
): void {
  const name = nameOf({ merchant, endpoint });
  const queue = queues.get(name) ?? { merchant, endpoint, due: null, inFlight: 0, responds };
  queue.due = Math.min(queue.due ?? due, due);
  queues.set(name, queue);
}
