// Tracks one merchant's webhook receivers: the deliveries of each event that they got, and their writes to the API
// after each delivery.

import type { Firing } from "../contracts/fault.ts";
import type { AttemptMessage } from "../contracts/live-messages.ts";
import { setBounded } from "../kernel/bounded-cache.ts";
import type { CallBack } from "./call-backs.ts";
import { isGenuine } from "./firings.ts";
import type { ObservedCall } from "./observed-call.ts";
import type { ObservedDelivery, RepeatDelivery } from "./rules/rule.ts";

/** A delivery, with the earlier deliveries of the same event in order (at least one). */
interface Repeat {
  readonly earlier: readonly WatchedDelivery[];
  readonly repeat: WatchedDelivery;
  /** The result of a later count of the receiver's effects; undefined if no count has passed. */
  counted?: string | undefined;
}

export interface ReceiverListeners {
  onDelivery(delivery: ObservedDelivery): void;
  /**
   * Judges a repeat delivery, and returns the verdict's id. `reported` is the id of an earlier verdict on the same
   * delivery, which a later write can change.
   */
  onRepeatDelivery(repeat: RepeatDelivery, reported: string | undefined): string | undefined;
  /** Whether the repeat already fails a rule. */
  isFailure(repeat: RepeatDelivery): boolean;
  /** Whether only a count of effects can decide a rule on the repeat. */
  needsCount(repeat: RepeatDelivery): boolean;
  /** Whether a delivery is in flight. When it is recorded, an earlier write may turn out to be its effect. */
  isDelivering(): boolean;
  /** Called when a write is attributed to a delivery attempt, or no longer to any (`cause` is undefined). */
  onAttributed(write: ObservedCall, cause: CallBack | undefined): void;
  /** Asks for a call of `resolve` at this real time. */
  onDue(at: number): void;
}

const MAX_EVENTS = 200;
/** The most deliveries kept for each event, with which later deliveries are compared. */
const MAX_DELIVERIES = 20;
/** The most reported repeats that a later count of effects can still decide. */
const MAX_UNDECIDED = 1_000;
/**
 * Milliseconds from the write that shows a failure until the report. Calls and attempts that end at about the same time
 * are observed first.
 */
const SETTLED_AFTER = 50;

/** Tracks the receivers of one merchant. Times are real milliseconds. */
export function createReceivers(listeners: ReceiverListeners) {
  const faultOf = new Map<string, string>();
  const attribution = createWriteAttribution(listeners);
  const repeats = createRepeats(listeners);
  const history = createDeliveryHistory(repeats.open);
  const observeWrite = (call: ObservedCall) => {
    for (const delivery of attribution.attribute(call)) repeats.changed(delivery, call.answered);
  };
  const expire = (now: number) => {
    attribution.expire(now);
    repeats.expire(now);
  };
  return {
    /**
     * Observes an attempt that began at `started` and is recorded at `now`. `writes` are the merchant's writes since
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
      const acceptedBefore = history.acceptedBefore(key);
      listeners.onDelivery({ attempt, faults, fault, acceptedBefore });
      const isAccepted = attempt.status === "succeeded";
      const delivery = {
        attempt,
        isAccepted,
        started,
        recorded: now,
        watchedUntil: now + ATTRIBUTION_WINDOW,
        writes: [],
        shared: new Set<string>(),
        fault,
      };
      attribution.watch(delivery);
      if (isGenuine(faults)) history.add(key, delivery);
      for (const call of writes) observeWrite(call);
      repeats.recorded(now);
      // Expires repeats last, because some of their writes may have just been attributed to this attempt instead.
      expire(now);
    },
    observeWrite,
    /** Whether a write at `now` may belong to a delivery. */
    isWatching: attribution.isWatching,
    /** Reports the repeat deliveries whose writes are complete at `now`. */
    expire,
    /** Calls `expire`, then reports certain failures. Call this when all recorded attempts have been observed. */
    resolve(now: number) {
      expire(now);
      repeats.reportCertain();
    },
    /** When the next repeat delivery is complete; Infinity when none is watched. */
    nextDue: repeats.nextDue,
    /** Takes the result of a count of effects on these events; `shown` is undefined if the count did not pass. */
    counted: repeats.counted,
    /** The repeat deliveries that are still watched for writes. */
    pending: repeats.pending,
    /** Reports all repeat deliveries, because the run is over. */
    conclude: repeats.conclude,
    isEmpty: history.isEmpty,
  };
}

/** The deliveries of each event to each endpoint, by key. */
function createDeliveryHistory(onRepeat: (repeat: Repeat) => void) {
  /** Includes deliveries that the receiver did not accept, because it may have acted before it failed. */
  const delivered = new Map<string, readonly WatchedDelivery[]>();
  /** The first attempt that the receiver accepted. */
  const accepted = new Map<string, AttemptMessage>();
  return {
    add(key: string, delivery: WatchedDelivery) {
      const earlier = delivered.get(key);
      if (earlier) onRepeat({ earlier, repeat: delivery });
      if (earlier && earlier.length < MAX_DELIVERIES) delivered.set(key, [...earlier, delivery]);
      if (!earlier) setBounded(delivered, key, [delivery], MAX_EVENTS);
      if (delivery.isAccepted && !accepted.has(key)) setBounded(accepted, key, delivery.attempt, MAX_EVENTS);
    },
    acceptedBefore: (key: string) => accepted.get(key),
    isEmpty: () => delivered.size === 0,
  };
}

/** Watches each repeat delivery until its writes are complete, then reports it. Slow writes can revise the report. */
function createRepeats(listeners: ReceiverListeners) {
  /** The watched repeats by their delivery, in the order of recording. */
  const watched = new Map<WatchedDelivery, Repeat>();
  /** Watched deliveries that got a write since `reportCertain` last ran. */
  const suspects = new Set<WatchedDelivery>();
  /** The reported repeats by their delivery, with the id of the verdict. */
  const reported = new Map<WatchedDelivery, { repeat: Repeat; id: string | undefined }>();
  /** The reported repeats that a count can decide, by attempt. */
  const undecided = new Map<string, { repeat: Repeat; id: string | undefined }>();
  const report = (repeat: Repeat, before?: string) => {
    watched.delete(repeat.repeat);
    suspects.delete(repeat.repeat);
    const described = describeRepeat(repeat);
    const final = { repeat, id: listeners.onRepeatDelivery(described, before) };
    reported.set(repeat.repeat, final);
    if (listeners.needsCount(described)) setBounded(undecided, repeat.repeat.attempt.id, final, MAX_UNDECIDED);
    else undecided.delete(repeat.repeat.attempt.id);
  };
  return {
    open(repeat: Repeat) {
      watched.set(repeat.repeat, repeat);
      listeners.onDue(repeat.repeat.watchedUntil);
    },
    /** Call this when the writes of a delivery have changed. */
    changed(delivery: WatchedDelivery, now: number) {
      const final = reported.get(delivery);
      if (final) report(final.repeat, final.id);
      if (!watched.has(delivery)) return;
      suspects.add(delivery);
      listeners.onDue(now + SETTLED_AFTER);
    },
    /** Call this when an attempt was recorded, because a failure may now be certain. */
    recorded(now: number) {
      if (suspects.size > 0) listeners.onDue(now + SETTLED_AFTER);
    },
    expire(now: number) {
      for (const [{ watchedUntil }, repeat] of watched) {
        if (watchedUntil >= now) break;
        report(repeat);
      }
      for (const [delivery] of reported) {
        if (delivery.watchedUntil + ANSWERED_WITHIN >= now) break;
        reported.delete(delivery);
      }
    },
    reportCertain() {
      if (suspects.size === 0 || listeners.isDelivering()) return;
      for (const delivery of suspects) {
        const repeat = watched.get(delivery);
        if (repeat && listeners.isFailure(describeRepeat(repeat))) report(repeat);
      }
      suspects.clear();
    },
    counted(events: ReadonlySet<string>, shown: string | undefined) {
      const isCounted = (repeat: Repeat) => events.has(repeat.repeat.attempt.eventId) && repeat.counted !== shown;
      for (const repeat of watched.values()) if (isCounted(repeat)) repeat.counted = shown;
      for (const { repeat, id } of [...undecided.values()].filter((one) => isCounted(one.repeat))) {
        repeat.counted = shown;
        report(repeat, id);
      }
    },
    nextDue: () => watched.keys().next().value?.watchedUntil ?? Infinity,
    pending: () => [...watched.values()].map(describeRepeat),
    conclude() {
      for (const repeat of watched.values()) report(repeat);
    },
  };
}

/**
 * A write is attributed to the last delivery that started before the write arrived. A slow write caused by the first
 * delivery can therefore be attributed to the second, so a third delivery is compared with both.
 */
const describeRepeat = ({ earlier, repeat, counted }: Repeat): RepeatDelivery => {
  const acted = earlier.find((delivery) => effectsOf(delivery).length > 0);
  return {
    first: (acted ?? earlier.find(({ isAccepted }) => isAccepted) ?? (earlier[0] as WatchedDelivery)).attempt,
    repeat: repeat.attempt,
    wasAccepted: earlier.some(({ isAccepted }) => isAccepted),
    writesBefore: earlier.flatMap(effectsOf).filter((call) => call.arrived < repeat.started),
    writesAfterRepeat: effectsOf(repeat),
    isShared: (call) => [...earlier, repeat].some(({ shared }) => shared.has(call.request)),
    counted,
    fault: repeat.fault,
  };
};

/**
 * The writes that count as the effect of a delivery. If the receiver's response rejects the delivery, a write after the
 * response has another cause, such as the shop's own next call. After a timeout, the receiver may still be busy.
 */
const effectsOf = ({ attempt, isAccepted, recorded, writes }: WatchedDelivery): readonly ObservedCall[] =>
  isAccepted || attempt.responseStatus === null ? writes : writes.filter(({ arrived }) => arrived <= recorded);

/** A delivery attempt with its merchant's writes during it and shortly after. */
interface WatchedDelivery {
  readonly attempt: AttemptMessage;
  readonly isAccepted: boolean;
  /** Real milliseconds, like `recorded` and `watchedUntil`. */
  readonly started: number;
  readonly recorded: number;
  readonly watchedUntil: number;
  writes: ObservedCall[];
  /**
   * The ids of writes that another delivery may have caused: this delivery failed, and a delivery of another event was
   * in flight when they arrived.
   */
  readonly shared: Set<string>;
  /** The fault rule that caused the delivery. */
  readonly fault: string | undefined;
}

/**
 * Milliseconds from the recording of a delivery in which a write counts as its effect. The time does not start with the
 * response, because a busy process sees no writes until it has recorded the delivery.
 */
const ATTRIBUTION_WINDOW = 3_000;
const MAX_WRITES = 100;
/** A write in that window can still revise a verdict if its response took at most this many milliseconds. */
const ANSWERED_WITHIN = 10_000;

/** Attributes a merchant's writes to the webhook deliveries that caused them. Times are real milliseconds. */
function createWriteAttribution({ onAttributed }: Pick<ReceiverListeners, "onAttributed">) {
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
    /**
     * Assigns the write to the latest delivery that started before it, even if another delivery has the write. Returns
     * the deliveries whose writes changed.
     */
    attribute(call: ObservedCall): WatchedDelivery[] {
      const before = deliveryOf.get(call.request);
      const delivery = findDelivery(watched, first, call, before);
      if (delivery && !delivery.isAccepted && isSharedWith(watched, first, delivery, call))
        delivery.shared.add(call.request);
      if (delivery === before) return [];
      if (before) before.writes = before.writes.filter(({ request }) => request !== call.request);
      deliveryOf.delete(call.request);
      if (delivery) {
        delivery.writes.push(call);
        deliveryOf.set(call.request, delivery);
      }
      onAttributed(call, delivery && { attempt: delivery.attempt.id, wasInFlight: call.arrived <= delivery.recorded });
      return [before, delivery].filter((one) => one !== undefined);
    },
    /** Whether a write at `now` may belong to a delivery. */
    isWatching: (now: number) => watched.length > first && (watched.at(-1) as WatchedDelivery).watchedUntil >= now,
    /** Drops the deliveries that no write can belong to any more. */
    expire(now: number) {
      for (
        let delivery = watched[first];
        delivery && delivery.watchedUntil + ANSWERED_WITHIN < now;
        delivery = watched[++first]
      )
        drop(delivery);
      // Compacts the list only after half of it has expired, so the cost per delivery stays constant.
      if (first <= watched.length / 2) return;
      watched = watched.slice(first);
      first = 0;
    },
  };
}

/**
 * Finds the delivery with the latest start among those that may have caused the write. `before` is the delivery that
 * has the write so far. Searches backwards, and stops once no older delivery can have started later.
 */
function findDelivery(
  watched: readonly WatchedDelivery[],
  first: number,
  { arrived }: ObservedCall,
  before: WatchedDelivery | undefined,
): WatchedDelivery | undefined {
  let latest: WatchedDelivery | undefined;
  for (let index = watched.length - 1; index >= first; index--) {
    const delivery = watched[index] as WatchedDelivery;
    if (delivery.watchedUntil < arrived || delivery.recorded <= (latest?.started ?? -Infinity)) return latest;
    const hasRoom = delivery.writes.length < MAX_WRITES || delivery === before;
    const fits = arrived >= delivery.started && hasRoom;
    if (fits && delivery.started > (latest?.started ?? -Infinity)) latest = delivery;
  }
  return latest;
}

/**
 * Whether a delivery of another event was in flight when the write arrived. Such deliveries are the newest, so the
 * search goes backwards.
 */
function isSharedWith(
  watched: readonly WatchedDelivery[],
  first: number,
  { attempt }: WatchedDelivery,
  { arrived }: ObservedCall,
): boolean {
  for (let index = watched.length - 1; index >= first; index--) {
    const other = watched[index] as WatchedDelivery;
    if (other.recorded < arrived) return false;
    if (other.started <= arrived && other.attempt.eventId !== attempt.eventId) return true;
  }
  return false;
}
