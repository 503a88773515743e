// Cuts what happened down to what a screen can show: of each kind the newest, and the newest that the watcher looks for.

import type { DigestFilters, LiveItem } from "../contracts/live-messages.ts";
import { attemptFacts, requestFacts } from "../contracts/live-rows.ts";
import { type RowFilter, readRowFilter } from "../contracts/row-filter.ts";

export interface Digest {
  /** Takes a message of the watcher; what is no wish is passed over. */
  hear(text: string): void;
  /** The items to tell, in order. */
  cut(items: readonly LiveItem[]): LiveItem[];
}

/** Of each kind; a second of it fills the tallest screen several times over. */
const MOST = 60;

export function createDigest(): Digest {
  let filters: Wanted = { requests: undefined, deliveries: undefined };
  return {
    hear(text) {
      const wish = readWish(text);
      if (wish) filters = { requests: filterOf(wish.requests), deliveries: filterOf(wish.deliveries) };
    },
    cut: (items) => newest(items, filters),
  };
}

interface Wanted {
  requests: RowFilter | undefined;
  deliveries: RowFilter | undefined;
}

function newest(items: readonly LiveItem[], filters: Wanted): LiveItem[] {
  const counts = new Map<string, number>();
  const kept: LiveItem[] = [];
  const take = (group: string) => {
    const count = (counts.get(group) ?? 0) + 1;
    counts.set(group, count);
    return count <= MOST;
  };
  for (let index = items.length - 1; index >= 0; index--) {
    const item = items[index] as LiveItem;
    const isNew = take(item.kind);
    const isWanted = wants(filters, item) && take(`wanted ${item.kind}`);
    if (isNew || isWanted || item.kind === "reset") kept.push(item);
  }
  return kept.reverse();
}

function wants({ requests, deliveries }: Wanted, item: LiveItem): boolean {
  if (item.kind === "request") return requests?.(requestFacts(item.request)) ?? false;
  if (item.kind === "attempt") return deliveries?.(attemptFacts(item.attempt)) ?? false;
  return false;
}

const filterOf = (written: unknown) => (typeof written === "string" && written !== "" ? readRowFilter(written) : undefined);

function readWish(text: string): DigestFilters | undefined {
  try {
    const wish: unknown = JSON.parse(text);
    return typeof wish === "object" && wish !== null ? wish : undefined;
  } catch {
    return undefined;
  }
}
