// The deliveries whose effects may still come, and which of them what a merchant writes follows on.

import type { AttemptMessage } from "../contracts/live-messages.ts";
import type { Call } from "./observed-call.ts";

/** A delivery that a receiver took, and what its merchant wrote while it was under way and shortly after. */
export interface Taken {
  readonly attempt: AttemptMessage;
  /** Real milliseconds. */
  readonly from: number;
  readonly until: number;
  readonly wrote: Call[];
  /** The fault that brought it about. */
  readonly fault: string | undefined;
}

/** Times are real milliseconds. */
export interface Aftermath {
  /** Watches a delivery that has just ended. */
  watch(taken: Taken): void;
  /** A write follows on the delivery that began last before it; what was thought to follow on another is moved. */
  attribute(call: Call): void;
  /** Whether what is written at `now` may follow on a delivery. */
  isWatching(now: number): boolean;
  settle(now: number): void;
}

/** How long after a delivery its effects may come. */
export const AFTERMATH = 3_000;
const MOST_WRITES = 100;

export function createAftermath(): Aftermath {
  /** In the order in which they ended, from `first` on: there may be tens of thousands, and nothing here looks at all of them. */
  let watched: Taken[] = [];
  let first = 0;
  const holders = new Map<string, Taken>();
  const drop = ({ wrote }: Taken) => {
    for (const { request } of wrote) holders.delete(request);
  };
  return {
    watch: (taken) => void watched.push(taken),
    attribute(call) {
      const before = holders.get(call.request);
      before?.wrote.splice(
        before.wrote.findIndex(({ request }) => request === call.request),
        1,
      );
      const holder = followedBy(watched, first, call);
      if (!holder) return void holders.delete(call.request);
      holder.wrote.push(call);
      holders.set(call.request, holder);
    },
    isWatching: (now) => watched.length > first && (watched.at(-1) as Taken).until >= now,
    settle(now) {
      for (let taken = watched[first]; taken && taken.until < now; taken = watched[++first]) drop(taken);
      // Cut in halves, so that the cost of moving them is spread.
      if (first <= watched.length / 2) return;
      watched = watched.slice(first);
      first = 0;
    },
  };
}

/** From the newest back, until none can have begun later than the one that was found. */
function followedBy(watched: readonly Taken[], first: number, { arrived }: Call): Taken | undefined {
  let latest: Taken | undefined;
  for (let place = watched.length - 1; place >= first; place--) {
    const taken = watched[place] as Taken;
    const ended = taken.until - AFTERMATH;
    if (taken.until < arrived || ended <= (latest?.from ?? -Infinity)) return latest;
    const fits = arrived >= taken.from && taken.wrote.length < MOST_WRITES;
    if (fits && taken.from > (latest?.from ?? -Infinity)) latest = taken;
  }
  return latest;
}
