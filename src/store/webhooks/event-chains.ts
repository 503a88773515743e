// Feedback loops: a receiver makes a call while it gets a delivery, the call causes an event, its delivery causes a
// call, and so on. Counts the events of such a chain, and rejects the call that would make it too long.

import { setBounded } from "../../kernel/bounded-cache.ts";
import { fail } from "../../kernel/errors.ts";
import { count } from "../../kernel/text.ts";
import type { Behaviour } from "../../schema/assumed.ts";

/** The most events in a chain. */
const MOST_IN_A_ROW = 500;
/** The number of events whose position in a chain is remembered. Only events in flight are looked up. */
const KEPT = 10_000;

export function createEventChains() {
  const lengths = new Map<string, number>();
  let openEvent: (merchant: string) => string | undefined = () => undefined;
  return {
    /** `find` returns the event that is being delivered to a merchant; undefined if there is none, or several. */
    attributeTo(find: typeof openEvent) {
      openEvent = find;
    },
    /** The length of the chain up to an event that a call of the merchant causes now. Throws 503 at the bound. */
    next(merchant: string): number {
      const cause = openEvent(merchant);
      if (cause === undefined) return 0;
      const length = (lengths.get(cause) ?? 0) + 1;
      if (length >= MOST_IN_A_ROW)
        fail(
          "sandbox_unavailable",
          `This call is part of a feedback loop: ${count(MOST_IN_A_ROW)} times in a row, a call during a delivery ` +
            `caused the next delivery, most recently of ${cause}. ` +
            "The receiver must not make a call that causes the event that it receives.",
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
      `At most ${count(MOST_IN_A_ROW)} events form a feedback loop: each came from a call that was made while only ` +
      "the event before it was being delivered to the merchant. The next such call gets 503 and changes nothing.",
    why:
      "The service's documentation gives no limit; " +
      "without one, a receiver whose calls cause its own deliveries never ends.",
  },
];
