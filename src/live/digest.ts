// A digest of the live stream: as many items as a screen can show, the newest of each kind and the newest that match the client's filters.

import type { DigestFilters, LiveItem } from "../contracts/live-messages.ts";
import { attemptFacts, requestFacts } from "../contracts/live-rows.ts";
import { type RowFilter, readRowFilter } from "../contracts/row-filter.ts";

export interface Digest {
  /** Reads filters that the client sent as JSON; ignores any other text. */
  setFilters(text: string): void;
  /** The items that the client gets, in order. */
  select(items: readonly LiveItem[]): LiveItem[];
}

/** Items of each kind: in a second they fill the tallest screen several times over. */
const MAX_PER_KIND = 60;

interface RowFilters {
  requests: RowFilter | undefined;
  deliveries: RowFilter | undefined;
}

export function createDigest(): Digest {
  let filters: RowFilters = { requests: undefined, deliveries: undefined };
  return {
    setFilters(text) {
      const sent = parseFilters(text);
      if (sent) filters = { requests: rowFilterOf(sent.requests), deliveries: rowFilterOf(sent.deliveries) };
    },
    select: (items) => newest(items, filters),
  };
}

function newest(items: readonly LiveItem[], filters: RowFilters): LiveItem[] {
  const counts = new Map<string, number>();
  const selected: LiveItem[] = [];
  const hasRoom = (group: string) => {
    const count = (counts.get(group) ?? 0) + 1;
    counts.set(group, count);
    return count <= MAX_PER_KIND;
  };
  for (let index = items.length - 1; index >= 0; index--) {
    const item = items[index] as LiveItem;
    const isNew = hasRoom(item.kind);
    const isMatch = matches(filters, item) && hasRoom(`matching ${item.kind}`);
    if (isNew || isMatch || item.kind === "reset") selected.push(item);
  }
  return selected.reverse();
}

function matches({ requests, deliveries }: RowFilters, item: LiveItem): boolean {
  if (item.kind === "request") return requests?.(requestFacts(item.request)) ?? false;
  if (item.kind === "attempt") return deliveries?.(attemptFacts(item.attempt)) ?? false;
  return false;
}

const rowFilterOf = (text: unknown) => (typeof text === "string" && text !== "" ? readRowFilter(text) : undefined);

function parseFilters(text: string): DigestFilters | undefined {
  try {
    const filters: unknown = JSON.parse(text);
    return typeof filters === "object" && filters !== null ? filters : undefined;
  } catch {
    return undefined;
  }
}
