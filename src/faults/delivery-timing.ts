// Timing faults: a rule delays a delivery, holds it until another one was accepted, reorders it or duplicates it.

import type { DeliveryInjection, DeliverySubject } from "../contracts/fault.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Random } from "../kernel/random.ts";
import { type DelayedDeliveries, type DelayUntil, pendingEndpointOf } from "../store/webhooks/delayed-deliveries.ts";
import type { Deliveries, Delivery, PendingEndpoint } from "../store/webhooks/deliveries.ts";
import { type EffectOf, effectOf, injectionsOf } from "./delivery-content.ts";
import type { DeliveryFaults } from "./index.ts";

/** Names an attempt of a delivery. */
type AttemptId = (delivery: Delivery, attempt: number) => string;

interface TimingFaultOptions {
  clock: Clock;
  random: Random;
  attemptId: AttemptId;
  faults: DeliveryFaults;
  delayedDeliveries: DelayedDeliveries;
  deliveries: Pick<Deliveries, "receiver">;
}

/** The longest hold, in sandbox milliseconds, because the event that a delivery waits for may never come. */
const MAX_HOLD = 86_400_000;
/** This text is part of each stored decision to hold a response until its delivery has ended. */
const BEFORE_RESPONSE = `"until":"before_response"`;

type DeliveryNumber = Pick<Delivery, "sequence">;

// Names of the events that held deliveries wait for, as the database stores them.
const BATCH = "batch ";
const batchOf = (rule: string, { merchant, endpoint }: Delivery) => `${BATCH}${rule} ${merchant} ${endpoint}`;
const startOf = ({ sequence }: DeliveryNumber) => `start ${sequence}`;
const endOf = ({ sequence }: DeliveryNumber) => `landing ${sequence}`;
const typeAt = (type: string, merchant: string, endpoint: string) => `type ${type} ${merchant} ${endpoint}`;
const ANY_ENDPOINT = "*";

/**
 * Call all methods except `isActive` and `load` inside a transaction. The methods that change due times return the
 * endpoints of these deliveries.
 */
export function createTimingFaults(options: TimingFaultOptions) {
  const { clock, random, attemptId, faults, delayedDeliveries, deliveries } = options;
  const held = createHeldDeliveries(clock, random, delayedDeliveries);
  /**
   * Deliveries that must end before a response. They keep `isActive` true even if their rule is used up before the
   * response is ready.
   */
  const beforeResponse = new Set<number>();
  const decide = (delivery: Delivery): PendingEndpoint[] => {
    const injections = faults.decide(subjectOf(delivery, attemptId, deliveries));
    const until = delayOf(delivery, injections, delayedDeliveries, clock.now());
    const decided = JSON.stringify(injections);
    delayedDeliveries.decide(delivery.sequence, decided, until);
    if (writeCopies({ ...delivery, decided }, effectOf(injections, "duplicate"), delayedDeliveries, clock.now()))
      held.noteAny();
    if (!until) return [];
    if (injections.some(comesBeforeResponse)) beforeResponse.add(delivery.sequence);
    if (until.held === null) return [pendingEndpointOf(delivery, until.due)];
    held.noteAny();
    const batch = effectOf(injections, "reorder")?.batch ?? Infinity;
    return delayedDeliveries.waitingFor(until.held).length >= batch ? held.releaseBatch(until.held) : [];
  };
  return {
    /** While this is false, no rule is armed and no delivery is held, so no other method has to be called. */
    isActive: () => faults.armed || held.any() || beforeResponse.size > 0,
    /** Reads from the database whether deliveries are held. */
    load() {
      held.load();
      beforeResponse.clear();
    },
    /**
     * Releases overdue batches, and evaluates the rules once for each attempt that is due, in the order of their due
     * times.
     */
    decideDue: () => [
      ...(held.any() ? delayedDeliveries.overdue(BATCH, clock.now()).flatMap(held.releaseBatch) : []),
      ...(faults.armed ? delayedDeliveries.undecided(clock.now()).flatMap(decide) : []),
    ],
    /** Releases the batches of removed rules, because nothing would complete them. */
    releaseRemoved: () =>
      held.any()
        ? delayedDeliveries
            .held(BATCH)
            .filter((batch) => !faults.has(batch.slice(BATCH.length).split(" ", 1)[0] as string))
            .flatMap(held.releaseBatch)
        : [],
    /** Evaluates the rules for each delivery of a request, due or not. */
    decideForRequest: (request: string) => (faults.armed ? delayedDeliveries.undecidedOf(request).flatMap(decide) : []),
    /** Whether a delivery of the request has to end before the response is sent. */
    delaysResponse: (request: string) => delayedDeliveries.unfinished(request, BEFORE_RESPONSE) > 0,
    /**
     * Releases the copies that wait until the attempt of a delivery begins. Returns the copies to send at the same time
     * as the delivery.
     */
    startCopies: (delivery: Delivery) => startCopies(delivery, delayedDeliveries, clock.now()),
    /** Releases the deliveries that were held until this attempt ended. */
    attemptEnded(delivery: Delivery, isAccepted: boolean) {
      beforeResponse.delete(delivery.sequence);
      if (!held.any()) return [];
      const { eventType, merchant, endpoint } = delivery;
      const types = isAccepted ? [endpoint, ANY_ENDPOINT].map((where) => typeAt(eventType, merchant, where)) : [];
      const released = [endOf(delivery), ...types].flatMap(held.release);
      held.load();
      return released;
    },
  };
}

/**
 * Deliveries that wait for an event. A flag in memory says whether there are any, so that most attempts end without a
 * query.
 */
function createHeldDeliveries(clock: Clock, random: Random, delayedDeliveries: DelayedDeliveries) {
  let isAnyHeld = false;
  const releaseOne = (delivery: Delivery): PendingEndpoint => {
    delayedDeliveries.postpone(delivery.sequence, { due: clock.now(), held: null });
    return pendingEndpointOf(delivery, clock.now());
  };
  return {
    any: () => isAnyHeld,
    noteAny() {
      isAnyHeld = true;
    },
    load() {
      isAnyHeld = delayedDeliveries.any();
    },
    release: (held: string): PendingEndpoint[] => delayedDeliveries.waitingFor(held).map(releaseOne),
    /**
     * Releases the first delivery of the batch in its new order; each later delivery waits until the previous one has
     * ended.
     */
    releaseBatch(batch: string): PendingEndpoint[] {
      const waiting = delayedDeliveries.waitingFor(batch);
      const isShuffled = waiting.some((delivery) => effectOf(injectionsOf(delivery), "reorder")?.order === "shuffle");
      const ordered = isShuffled ? shuffled(waiting, random) : waiting.reverse();
      for (const [index, delivery] of ordered.entries())
        delayedDeliveries.postpone(delivery.sequence, afterEndOf(ordered[index - 1], clock.now()));
      return ordered.slice(0, 1).map((delivery) => pendingEndpointOf(delivery, clock.now()));
    },
  };
}

const comesBeforeResponse = ({ effect }: DeliveryInjection) =>
  effect.kind === "delay" && "until" in effect && effect.until === "before_response";

function subjectOf(
  delivery: Delivery,
  nameAttempt: AttemptId,
  { receiver }: TimingFaultOptions["deliveries"],
): DeliverySubject {
  const { merchant, endpoint, eventType, eventId, request, replay, attempts, body } = delivery;
  const attempt = attempts + 1;
  const event = () => JSON.parse(body) as unknown;
  const rotatedAt = () => {
    const seconds = receiver(merchant, endpoint)?.rotated;
    return seconds == null ? undefined : seconds * 1_000;
  };
  return {
    merchant,
    endpoint,
    eventType,
    eventId,
    attempt,
    attemptId: nameAttempt(delivery, attempt),
    canPrecedeResponse: request !== null && replay === 0 && attempts === 0,
    event,
    rotatedAt,
  };
}

/** When an attempt becomes due, and the event that the attempt waits for. Undefined if no rule delays it. */
function delayOf(
  delivery: Delivery,
  injections: readonly DeliveryInjection[],
  delayedDeliveries: DelayedDeliveries,
  now: number,
): DelayUntil | undefined {
  const { merchant, endpoint } = delivery;
  const scheduled = injections.find(({ phase }) => phase === "schedule");
  if (scheduled?.effect.kind === "reorder") {
    const { hold = MAX_HOLD } = scheduled.effect;
    return { due: now + hold, held: batchOf(scheduled.firing.ruleId, delivery) };
  }
  if (scheduled?.effect.kind !== "delay") return undefined;
  if ("by" in scheduled.effect) return { due: Math.max(now, delivery.due) + scheduled.effect.by, held: null };
  if (scheduled.effect.until === "before_response") return { due: now, held: null };
  // If the endpoint also subscribes to the awaited type, it must itself accept an event of that type first. Otherwise,
  // any endpoint's acceptance counts.
  const type = scheduled.effect.until.after;
  const where = delayedDeliveries.wants(merchant, endpoint, type) ? endpoint : ANY_ENDPOINT;
  return { due: now + MAX_HOLD, held: typeAt(type, merchant, where) };
}

/** Makes a delivery due now, or when the previous delivery has ended. */
const afterEndOf = (previous: Delivery | undefined, now: number): DelayUntil =>
  previous ? { due: now + MAX_HOLD, held: endOf(previous) } : { due: now, held: null };

/** A random order that is never the original one. */
function shuffled(deliveries: readonly Delivery[], random: Random): Delivery[] {
  const drawn = deliveries.map((delivery) => {
    const { merchant, endpoint, eventId, replay, attempts } = delivery;
    return { delivery, rank: random.fraction("shuffle", merchant, endpoint, eventId, replay, attempts) };
  });
  const ordered = drawn.sort((one, other) => one.rank - other.rank).map(({ delivery }) => delivery);
  return ordered.every((delivery, index) => delivery === deliveries[index]) ? ordered.reverse() : ordered;
}

/**
 * Writes the copies of a delivery as soon as a rule decides to duplicate it. Returns false if no rule does. The log
 * orders simultaneous attempts by delivery number. If the copies were written only when an attempt begins, their
 * numbers would depend on how fast each receiver responds.
 */
function writeCopies(
  delivery: Delivery & { decided: string },
  effect: EffectOf<"duplicate"> | undefined,
  delayedDeliveries: DelayedDeliveries,
  now: number,
): boolean {
  if (!effect) return false;
  const isTimed = effect.concurrent || effect.gap > 0;
  let previous: DeliveryNumber = delivery;
  for (let number = 1; number < effect.copies; number++) {
    const held = isTimed ? startOf(delivery) : endOf(previous);
    previous = delayedDeliveries.copy(delivery.sequence, { decided: delivery.decided, due: now + MAX_HOLD, held, now });
  }
  return true;
}

function startCopies(delivery: Delivery, delayedDeliveries: DelayedDeliveries, now: number): Delivery[] {
  const effect = delivery.copy > 0 ? undefined : effectOf(injectionsOf(delivery), "duplicate");
  if (!effect) return [];
  const copies = delayedDeliveries.waitingFor(startOf(delivery));
  if (effect.concurrent) return copies;
  for (const [index, { sequence }] of copies.entries())
    delayedDeliveries.postpone(sequence, { due: now + (index + 1) * effect.gap, held: null });
  return [];
}
