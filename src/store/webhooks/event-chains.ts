// Feedback loops: a receiver makes a call while a delivery to it is open, the call causes an event, its delivery causes
// a call, and so on. Counts how many events have followed from one another so, and ends the loop at a bound.

import { setBounded } from "../../kernel/bounded-cache.ts";
import { fail } from "../../kernel/errors.ts";
import { count } from "../../kernel/text.ts";
import type { Behaviour } from "../../schema/assumed.ts";

/** The most events that follow from one another. */
const MOST_IN_A_ROW = 500;
/** Events whose length of the chain is known. Only those in flight are looked up. */
const KEPT = 10_000;

export function createEventChains() {
  const lengths = new Map<string, number>();
  let openEvent: (merchant: string) => string | undefined = () => undefined;
  return {
    /** `find` returns the only event that is being delivered to a merchant's endpoints; undefined if it is not one. */
    attributeTo(find: typeof openEvent) {
      openEvent = find;
    },
    /** The length of the chain that an event of a call extends. Throws 503 at the bound. */
    next(merchant: string): number {
      const cause = openEvent(merchant);
      if (cause === undefined) return 0;
      const length = (lengths.get(cause) ?? 0) + 1;
      if (length >= MOST_IN_A_ROW)
        fail(
          "sandbox_unavailable",
          `This call came while ${cause} was being delivered, whose event came from a call during another delivery, ` +
            `and so on, ${count(MOST_IN_A_ROW)} times in a row: a feedback loop, which ends here. ` +
            "Let the receiver make no call that causes the event that it receives.",
        );
      return length;
    },
    add(event: string, length: number) {
      if (length > 0) setBounded(lengths, event, length, KEPT);
    },
  };
}

export const behaviours: Behaviour[] = [
  {
    id: "webhooks.loop_limit",
    fact:
      `At most ${count(MOST_IN_A_ROW)} events follow from one another, each from a call that was made while the one ` +
      "before it was the only event in delivery to the merchant. The next such call gets 503 and changes nothing.",
    why:
      "The service's documentation gives no limit; " +
      "without one, a receiver whose calls cause its own deliveries never ends.",
  },
];
