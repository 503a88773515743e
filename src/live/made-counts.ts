// Counts the requests and delivery attempts made since the last reset, by merchant.

import type { LiveEvent } from "../contracts/live-messages.ts";
import type { StoredCounts } from "../store/request-log/run-summary.ts";

/** `stored` reads what the database has, with the event that is being published. */
export function createMadeCounts(stored: () => StoredCounts) {
  // Read at the first event or query, so that an idle sandbox reads nothing.
  let counts: StoredCounts | undefined;
  const add = (byMerchant: Map<string, number>, merchant: string) => void byMerchant.set(merchant, (byMerchant.get(merchant) ?? 0) + 1);
  const addTo = ({ requests, attempts, lastAttempt }: StoredCounts, event: LiveEvent) => {
    if (event.kind === "request") add(requests, event.request.merchant ?? "");
    // Attempts are published one by one after they were written together.
    else if (event.kind === "attempt" && event.attempt.sequence > lastAttempt) add(attempts, event.attempt.merchant);
    else if (event.kind === "reset" && event.merchant !== null) for (const one of [requests, attempts]) one.delete(event.merchant);
  };
  return {
    add(event: LiveEvent) {
      if (event.kind === "reset" && event.merchant === null) counts = undefined;
      else if (counts) addTo(counts, event);
      else if (event.kind === "request" || event.kind === "attempt") counts = stored();
    },
    made() {
      counts ??= stored();
      return { requests: sum(counts.requests), attempts: sum(counts.attempts) };
    },
  };
}

function sum(byMerchant: ReadonlyMap<string, number>): number {
  let total = 0;
  for (const one of byMerchant.values()) total += one;
  return total;
}
