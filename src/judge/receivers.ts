// What receivers of webhooks did: which events they took, and what they wrote to the service after that.

import type { Firing } from "../kernel/fault.ts";
import type { AttemptMessage } from "../kernel/messages.ts";
import type { Call } from "./call.ts";
import type { Arrival, Echo } from "./rule.ts";
import { isUntouched } from "./touched.ts";

/** A delivery that a receiver took, and what its merchant wrote while it was under way and shortly after. */
interface Taken {
  readonly attempt: AttemptMessage;
  /** Real milliseconds. */
  readonly from: number;
  readonly until: number;
  readonly wrote: Call[];
  /** The fault that brought it about. */
  readonly fault: string | undefined;
}

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

/** How long after a delivery its effects may come. */
const AFTERMATH = 3_000;
const MOST_EVENTS = 200;
const MOST_WRITES = 100;

export function openReceivers(ears: Ears): Receivers {
  const events = new Map<string, Taken>();
  const struck = new Map<string, string>();
  const fresh = new Set<Taken>();
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
      fresh.add(taken);
      for (const call of wrote) attribute(fresh, call);
      if (attempt.status === "succeeded" && isUntouched(faults)) take(name, taken);
    },
    wrote: (call) => attribute(fresh, call),
    isWatching(now) {
      for (const { until } of fresh) if (until >= now) return true;
      return false;
    },
    settle(now) {
      for (const taken of fresh) if (taken.until < now) fresh.delete(taken);
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

/** A write follows on the delivery that began last before it; what was thought to follow on another is moved. */
function attribute(fresh: Set<Taken>, call: Call): void {
  let latest: Taken | undefined;
  for (const taken of fresh) {
    const place = taken.wrote.findIndex(({ request }) => request === call.request);
    if (place >= 0) taken.wrote.splice(place, 1);
    const fits = call.arrived >= taken.from && call.arrived <= taken.until && taken.wrote.length < MOST_WRITES;
    if (fits && taken.from >= (latest?.from ?? 0)) latest = taken;
  }
  latest?.wrote.push(call);
}

function remember<T>(events: Map<string, T>, name: string, what: T): void {
  if (events.size === MOST_EVENTS) for (const oldest of [...events.keys()].slice(0, 1)) events.delete(oldest);
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
