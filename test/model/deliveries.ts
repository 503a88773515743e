// Webhook deliveries: when each attempt is made, how the receiver responds, and when the next attempt is due.

import { matchDeliveryFaults } from "./faults.ts";
import { cancel, endpointOf } from "./webhooks.ts";
import { type Attempt, type Delivery, type Merchant, recordsOf, type World } from "./world.ts";

/** Seconds before each attempt, counted from the end of the previous attempt. */
const GAPS = [0, 1, 5, 15, 30, 60];
const LATER = 90;

/**
 * Receiver behaviours, by the last part of the address. `again` accepts an event on the second attempt. `later` does
 * too, and first responds 503 with Retry-After. `gone` responds 410, and `closed` is a port without a server.
 */
export const RECEIVERS = ["ok", "down", "again", "later", "gone", "moved", "broken", "silent", "closed"] as const;
export type ReceiverName = (typeof RECEIVERS)[number];

type Outcome = Pick<Attempt, "status" | "responseStatus" | "errorCode">;

const taken: Outcome = { status: "succeeded", responseStatus: 200, errorCode: null };
const answered = (responseStatus: number): Outcome => ({ status: "failed", responseStatus, errorCode: "http_status" });
const failed = (errorCode: string): Outcome => ({ status: "failed", responseStatus: null, errorCode });

const OUTCOMES: Record<ReceiverName, (timesSeen: number) => Outcome> = {
  ok: () => taken,
  down: () => answered(500),
  again: (timesSeen) => (timesSeen === 0 ? answered(500) : taken),
  later: (timesSeen) => (timesSeen === 0 ? answered(503) : taken),
  gone: () => answered(410),
  moved: () => ({ status: "failed", responseStatus: 302, errorCode: "redirect_not_followed" }),
  broken: () => failed("reset"),
  silent: () => failed("timeout"),
  closed: () => failed("connection_refused"),
};

/**
 * The outcome of an attempt at a receiver that has received the event `timesSeen` times before. The receivers of the
 * runner use this function too.
 */
export const outcomeOf = (name: ReceiverName, timesSeen: number): Outcome => OUTCOMES[name](timesSeen);

export const receiverOf = (url: string): ReceiverName => url.slice(url.lastIndexOf("/") + 1) as ReceiverName;

const isDue = (delivery: Delivery, now: number) => delivery.state === "pending" && delivery.due <= now;

/** Makes and returns every attempt that is due, including attempts that become due in the meantime. */
export function deliverDue(world: World): Attempt[] {
  for (const merchant of world.merchants.values())
    for (const [key, { expires }] of merchant.idempotencyReplies)
      if (expires <= world.now) merchant.idempotencyReplies.delete(key);
  const made: Attempt[] = [];
  for (let due = dueNow(world); due.length > 0; due = dueNow(world)) {
    // Fault rules are evaluated for the whole batch before the first attempt.
    for (const { delivery } of due)
      delivery.decided ??= world.faults.length > 0 ? matchDeliveryFaults(world, delivery) : undefined;
    const ready = due.filter(({ delivery }) => isDue(delivery, world.now));
    for (const { merchant, delivery } of ready)
      if (delivery.state === "pending") made.push(attempt(world, merchant, delivery));
  }
  return made;
}

/** The due deliveries, sorted by due time. */
function dueNow(world: World): { merchant: Merchant; delivery: Delivery }[] {
  const all = [...world.merchants.values()].flatMap((merchant) =>
    merchant.deliveries.map((delivery) => ({ merchant, delivery })),
  );
  const due = all.filter(({ delivery }) => isDue(delivery, world.now));
  return due.sort((one, other) => one.delivery.due - other.delivery.due || one.delivery.order - other.delivery.order);
}

/** Advances the clock, making each attempt at its due time. */
export function advance(world: World, until: number): Attempt[] {
  const made = deliverDue(world);
  for (let due = soonest(world); due <= until; due = soonest(world)) {
    world.now = Math.max(world.now, due);
    made.push(...deliverDue(world));
  }
  world.now = Math.max(world.now, until);
  made.push(...deliverDue(world));
  return made;
}

const soonest = (world: World): number =>
  Math.min(
    Number.POSITIVE_INFINITY,
    ...[...world.merchants.values()].flatMap(({ deliveries }) =>
      deliveries.filter(({ state }) => state === "pending").map(({ due }) => due),
    ),
  );

function attempt(world: World, merchant: Merchant, delivery: Delivery): Attempt {
  const { endpoint: id, decided = {} } = delivery;
  const url = String(recordsOf(merchant, "webhook_endpoint").find((record) => record.id === id)?.url);
  const number = ++delivery.attempts;
  const outcome = decided.drop ? failed("dropped") : outcomeOf(receiverOf(url), timesSeen(world, delivery, url));
  const made: Attempt = {
    id: undefined,
    delivery,
    trigger: number === 1 ? delivery.trigger : "retry",
    attempt: number,
    url,
    ...outcome,
    nextDue: null,
    ended: world.now,
    decided,
    secret: endpointOf(merchant, id).secret,
  };
  merchant.attempts.push(made);
  copy(world, merchant, delivery);
  conclude(world, merchant, made);
  return made;
}

/** Counts an arrival of the event at the address, and returns the number of earlier arrivals. */
function timesSeen({ seen }: World, { event }: Delivery, url: string): number {
  const name = `${url} ${event.id}`;
  const times = seen.get(name) ?? 0;
  seen.set(name, times + 1);
  return times;
}

function conclude(world: World, merchant: Merchant, made: Attempt): void {
  const { delivery, status, responseStatus } = made;
  const gap = GAPS[made.attempt];
  const isLast = made.attempt >= delivery.allowed || gap === undefined;
  if (status !== "succeeded" && !isLast && responseStatus !== 410) {
    const putOff = responseStatus === 503 ? LATER : 0;
    made.nextDue = world.now + Math.max(gap, putOff) * 1_000;
    delivery.due = made.nextDue;
    if (!delivery.isCopy) delivery.decided = undefined;
  } else delivery.state = status;
  if (responseStatus === 410) disable(merchant, delivery.endpoint);
}

function disable(merchant: Merchant, id: string): void {
  for (const record of recordsOf(merchant, "webhook_endpoint")) if (record.id === id) record.status = "disabled";
  endpointOf(merchant, id).disabledReason = "gone";
  cancel(merchant, id);
}

/** Queues the duplicates of a delivery. Each duplicate is attempted once, after the previous duplicate. */
function copy(world: World, merchant: Merchant, delivery: Delivery): void {
  const { copies = 1 } = delivery.decided ?? {};
  if (delivery.isCopy) return;
  for (let number = 1; number < copies; number++)
    merchant.deliveries.push({
      ...delivery,
      number: undefined,
      order: world.orders++,
      isCopy: true,
      attempts: 0,
      allowed: 1,
      state: "pending",
      due: world.now,
    });
}
