// Carries out what fault rules decided about the time of deliveries: what is put off, held back until something else has landed, or made twice.

import type { DeliveryFaults, DeliveryInjection, DeliverySubject } from "../../contracts/fault.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Random } from "../../kernel/random.ts";
import { type DelayedDeliveries, type DelayUntil, pendingEndpointOf } from "../../store/webhooks/delayed-deliveries.ts";
import type { Deliveries, Delivery, PendingEndpoint } from "../../store/webhooks/deliveries.ts";
import { attemptId } from "../attempt-recorder.ts";
import { type EffectOf, effectOf, injectionsOf } from "./content.ts";

/** Every method but the first two is to be called inside a transaction. Those that answer what is owed say what a lane does not know yet. */
export interface Interference {
  /** False while no rule is armed and nothing is held back: then nothing else here need be called. */
  isPresent(): boolean;
  /** Finds out anew whether something is held back. */
  load(): void;
  /** Asks the rules about each attempt that is due, once and in the order in which they fell due. */
  decide(): PendingEndpoint[];
  /** The same about what a request made, due or not. */
  decideFor(request: string): PendingEndpoint[];
  /** Whether something that a request made is to land before the answer to it, and has not. */
  isAwaited(request: string): boolean;
  /** Makes what a rule wants beside a delivery whose attempt begins; answers those that are to be sent in the same moment. */
  copies(delivery: Delivery): Delivery[];
  /** An attempt is over: lets go what waited for that. */
  landed(delivery: Delivery, taken: boolean): PendingEndpoint[];
}

interface Needs {
  clock: Clock;
  random: Random;
  faults: DeliveryFaults;
  delayedDeliveries: DelayedDeliveries;
  deliveries: Pick<Deliveries, "receiver">;
}

/** Nothing is held back for longer: what never comes must not cost a delivery. */
const LONGEST_HOLD = 86_400_000;
const NOTHING: PendingEndpoint[] = [];
/** How a decision to land before the answer is written down. */
const BEFORE_RESPONSE = `"until":"before_response"`;

// What a delivery may wait for.
const BATCH = "batch ";
const batchOf = (rule: string, { merchant, endpoint }: Delivery) => `${BATCH}${rule} ${merchant} ${endpoint}`;
const landingOf = ({ sequence }: Delivery) => `landing ${sequence}`;
const typeAt = (type: string, merchant: string, endpoint: string) => `type ${type} ${merchant} ${endpoint}`;
const ANY_ENDPOINT = "*";

export function createInterference({ clock, random, faults, delayedDeliveries, deliveries }: Needs): Interference {
  const held = createHeld(clock, random, delayedDeliveries);
  /** What is to land before an answer: the rule may be spent by the time that the answer is ready. */
  const pressing = new Set<number>();
  const decideOne = (delivery: Delivery): PendingEndpoint[] => {
    const injections = faults.decide(subjectOf(delivery, random, deliveries));
    const until = untilOf(delivery, injections, delayedDeliveries, clock.now());
    delayedDeliveries.decide(delivery.sequence, JSON.stringify(injections), until);
    if (!until) return [];
    if (injections.some(isPressing)) pressing.add(delivery.sequence);
    if (until.held === null) return [pendingEndpointOf(delivery, until.due)];
    held.note();
    const batch = effectOf(injections, "reorder")?.batch ?? Infinity;
    return delayedDeliveries.waitingFor(until.held).length >= batch ? held.letGoBatch(until.held) : [];
  };
  return {
    isPresent: () => faults.armed || held.any() || pressing.size > 0,
    load() {
      held.load();
      pressing.clear();
    },
    decide: () => [
      ...(held.any() ? delayedDeliveries.overdue(BATCH, clock.now()).flatMap(held.letGoBatch) : []),
      ...(faults.armed ? delayedDeliveries.undecided(clock.now()).flatMap(decideOne) : []),
    ],
    decideFor: (request) => (faults.armed ? delayedDeliveries.undecidedOf(request).flatMap(decideOne) : []),
    isAwaited: (request) => delayedDeliveries.unfinished(request, BEFORE_RESPONSE) > 0,
    copies(delivery) {
      const effect = delivery.copy > 0 ? undefined : effectOf(injectionsOf(delivery), "duplicate");
      if (!effect) return [];
      const made = makeCopies(delivery, effect, delayedDeliveries, clock.now());
      held.note();
      return effect.concurrent ? made : [];
    },
    landed(delivery, taken) {
      pressing.delete(delivery.sequence);
      if (!held.any()) return NOTHING;
      const { eventType, merchant, endpoint } = delivery;
      const types = taken ? [endpoint, ANY_ENDPOINT].map((where) => typeAt(eventType, merchant, where)) : [];
      const owed = [landingOf(delivery), ...types].flatMap(held.letGo);
      held.load();
      return owed;
    },
  };
}

/** What is held back. That there is anything at all is kept in memory: a landing need not look while there is not. */
function createHeld(clock: Clock, random: Random, holds: DelayedDeliveries) {
  let holding = false;
  const letGo = (delivery: Delivery): PendingEndpoint => {
    holds.postpone(delivery.sequence, { due: clock.now(), held: null });
    return pendingEndpointOf(delivery, clock.now());
  };
  return {
    any: () => holding,
    note() {
      holding = true;
    },
    load() {
      holding = holds.any();
    },
    letGo: (name: string): PendingEndpoint[] => holds.waitingFor(name).map(letGo),
    /** One after the other: each waits until the one before it has landed. */
    letGoBatch(batch: string): PendingEndpoint[] {
      const waiting = holds.waitingFor(batch);
      const shuffles = waiting.some((delivery) => effectOf(injectionsOf(delivery), "reorder")?.order === "shuffle");
      const ordered = shuffles ? shuffled(waiting, random) : waiting.reverse();
      for (const [place, delivery] of ordered.entries()) holds.postpone(delivery.sequence, afterThe(ordered[place - 1], clock.now()));
      return ordered.slice(0, 1).map((delivery) => pendingEndpointOf(delivery, clock.now()));
    },
  };
}

const isPressing = ({ effect }: DeliveryInjection) => effect.kind === "delay" && "until" in effect && effect.until === "before_response";

function subjectOf(delivery: Delivery, random: Random, { receiver }: Needs["deliveries"]): DeliverySubject {
  const { merchant, endpoint, eventType, eventId, attempts, body } = delivery;
  const attempt = attempts + 1;
  const event = () => JSON.parse(body) as unknown;
  const rotatedAt = () => {
    const seconds = receiver(merchant, endpoint)?.rotated;
    return seconds == null ? undefined : seconds * 1_000;
  };
  return { merchant, endpoint, eventType, eventId, attempt, attemptId: attemptId(random, delivery, attempt), event, rotatedAt };
}

/** Until when, and for what, an attempt is put off; undefined when it is not. */
function untilOf(
  delivery: Delivery,
  injections: readonly DeliveryInjection[],
  holds: DelayedDeliveries,
  now: number,
): DelayUntil | undefined {
  const { merchant, endpoint } = delivery;
  const made = injections.find(({ phase }) => phase === "schedule");
  if (made?.effect.kind === "reorder") {
    const { hold = LONGEST_HOLD } = made.effect;
    return { due: now + hold, held: batchOf(made.firing.ruleId, delivery) };
  }
  if (made?.effect.kind !== "delay") return undefined;
  if ("by" in made.effect) return { due: Math.max(now, delivery.due) + made.effect.by, held: null };
  if (made.effect.until === "before_response") return { due: now, held: null };
  // Where the endpoint itself is told of that type, it is told of it first; otherwise it is enough that any endpoint was.
  const type = made.effect.until.after;
  const where = holds.wants(merchant, endpoint, type) ? endpoint : ANY_ENDPOINT;
  return { due: now + LONGEST_HOLD, held: typeAt(type, merchant, where) };
}

/** At once, or when another one has landed. */
const afterThe = (other: Delivery | undefined, now: number): DelayUntil =>
  other ? { due: now + LONGEST_HOLD, held: landingOf(other) } : { due: now, held: null };

/** Never the order in which they came. */
function shuffled(deliveries: readonly Delivery[], random: Random): Delivery[] {
  const drawn = deliveries.map((delivery) => {
    const { merchant, endpoint, eventId, replay, attempts } = delivery;
    return { delivery, place: random.fraction("shuffle", merchant, endpoint, eventId, replay, attempts) };
  });
  const ordered = drawn.sort((one, other) => one.place - other.place).map(({ delivery }) => delivery);
  return ordered.every((delivery, place) => delivery === deliveries[place]) ? ordered.reverse() : ordered;
}

function makeCopies(
  delivery: Delivery,
  { copies, gap, concurrent }: EffectOf<"duplicate">,
  holds: DelayedDeliveries,
  now: number,
): Delivery[] {
  const made: Delivery[] = [];
  for (let number = 1; number < copies; number++) {
    const atItsTime = concurrent || gap > 0;
    const until = atItsTime ? { due: now + number * gap, held: null } : afterThe(made.at(-1) ?? delivery, now);
    made.push(holds.copy(delivery, delivery.decided ?? "[]", until, now));
  }
  return made;
}
