// The probes that only a count of the receiver's effects can decide: whether it acts once on an event, however often
// and in whatever way the event arrives.

import { exactly, type Probe } from "./probes.ts";
import type { TestDelivery } from "./test-deliveries.ts";

const COPIES = 20;

const ONCE =
  "Save the event's id under a unique constraint, in the transaction of the effect. " +
  "A lookup before the insert is not enough: two simultaneous deliveries both pass it.";

const times = (count: number, delivery: TestDelivery) => Array.from({ length: count }, () => delivery);

const common = { expected: "accepted", should: "act once, and answer 2xx in the end", why: ONCE } as const;

export const effectProbes: readonly Probe[] = [
  {
    ...common,
    id: "three_times",
    sent: "the same event, three times",
    isRetried: true,
    effects: exactly(1),
    deliveries: (make) => times(3, make.genuine()),
  },
  {
    ...common,
    id: "twenty_times",
    sent: `the same event, ${COPIES} times`,
    isRetried: true,
    effects: exactly(1),
    deliveries: (make) => times(COPIES, make.genuine()),
  },
  {
    ...common,
    id: "twenty_at_once",
    sent: `the same event, ${COPIES} times at once`,
    isBurst: true,
    isRetried: true,
    effects: exactly(1),
    deliveries: (make) => times(COPIES, make.genuine()),
  },
  {
    ...common,
    id: "after_error",
    sent: "a genuine event until it gets 2xx, then once more, as when a proxy answers 500 in between",
    why: `Work done before a failure is not undone: roll it back, or recognise the event when it comes again. ${ONCE}`,
    isTriedAlways: true,
    isRetried: true,
    effects: exactly(1),
    deliveries: (make) => times(2, make.genuine()),
  },
  {
    ...common,
    id: "after_timeout",
    sent: "a genuine event whose sender closes the connection before the response, then the same event",
    judged: (outcomes) => outcomes.slice(1),
    effects: exactly(1),
    deliveries(make) {
      const delivery = make.genuine();
      return [{ ...delivery, transport: "hang_up" }, delivery];
    },
  },
];

/** Needs a way to restart the receiver. */
export const restartProbe: Probe = {
  ...common,
  id: "after_restart",
  sent: "two events; then, after a restart of the receiver, one of them again",
  should: "act once on each",
  why: "Keep event ids and unprocessed events in a database: a restart loses what is in memory.",
  isRetried: true,
  restartsBefore: 2,
  effects: exactly(2),
  deliveries(make) {
    const [first, again] = [make.genuine(), make.genuine()];
    return [first, again, again];
  },
};
