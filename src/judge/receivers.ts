// What receivers of webhooks did: which events they took, and what they wrote to the service after that.

import type { Firing } from "../contracts/fault.ts";
import type { AttemptMessage } from "../contracts/live-messages.ts";
import type { Call } from "./observed-call.ts";
import type { Arrival, Echo } from "./rules/rule.ts";
import { isGenuine } from "./tampering.ts";
import { AFTERMATH, createAftermath, type Taken } from "./write-attribution.ts";

interface Pair {
  readonly first: Taken;
  readonly again: Taken;
}

export interface Ears {
  delivered(arrival: Arrival): void;
  echoed(echo: Echo): void;
}

/** The receivers of one merchant. Times are real milliseconds. */
export interface Receivers {
  /** An attempt that lasted from `from` to `now` has ended; `wrote` is what the merchant wrote meanwhile. */
  hear(attempt: AttemptMessage, faults: readonly Firing[], from: number, now: number, wrote: readonly Call[]): void;
  /** Notes a write of the merchant's. */
  wrote(call: Call): void;
  /** Whether what the merchant writes at `now` may follow on a delivery. */
  isWatching(now: number): boolean;
  /** Concludes what enough time has passed for. */
  settle(now: number): void;
  /** The second deliveries that are not concluded yet. */
  open(): Echo[];
  isEmpty(): boolean;
}

const MOST_EVENTS = 200;

export function openReceivers(ears: Ears): Receivers {
  const events = new Map<string, Taken>();
  const struck = new Map<string, string>();
  const aftermath = createAftermath();
  const pairs = new Set<Pair>();
  const take = (name: string, taken: Taken) => {
    const first = events.get(name);
    if (first) pairs.add({ first, again: taken });
    else remember(events, name, taken);
  };
  return {
    hear(attempt, faults, from, now, wrote) {
      const name = `${attempt.endpointId} ${attempt.eventId}`;
      if (faults[0]) remember(struck, name, faults[0].ruleId);
      // What comes after an attempt that a fault struck, its retries and copies, comes because of that.
      const fault = struck.get(name);
      ears.delivered({ attempt, faults, fault, taken: events.get(name)?.attempt });
      const taken = { attempt, from, until: now + AFTERMATH, wrote: [], fault };
      aftermath.watch(taken);
      for (const call of wrote) aftermath.attribute(call);
      if (attempt.status === "succeeded" && isGenuine(faults)) take(name, taken);
    },
    wrote: aftermath.attribute,
    isWatching: aftermath.isWatching,
    settle(now) {
      aftermath.settle(now);
      for (const pair of pairs) {
        if (pair.again.until >= now) continue;
        pairs.delete(pair);
        ears.echoed(echoOf(pair));
      }
    },
    open: () => [...pairs].map(echoOf),
    isEmpty: () => events.size === 0,
  };
}

function remember<T>(events: Map<string, T>, name: string, what: T): void {
  if (events.size === MOST_EVENTS) events.delete(events.keys().next().value as string);
  events.set(name, what);
}

/** What came once the second delivery was under way is the second one's. */
const echoOf = ({ first, again }: Pair): Echo => ({
  first: first.attempt,
  again: again.attempt,
  wroteFirst: first.wrote.filter((call) => call.arrived < again.from),
  wroteAgain: again.wrote,
  fault: again.fault,
});
