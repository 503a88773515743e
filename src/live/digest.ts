// A digest of the live stream: as many items as a screen can show, the newest of each kind, those that match the client's filters, and all failed verdicts.

import type { CompleteFor, DigestFilters, LiveItem } from "../contracts/live-messages.ts";
import { attemptFacts, requestFacts } from "../contracts/live-rows.ts";
import { type RowFilter, readRowFilter } from "../contracts/row-filter.ts";

export interface Digest {
  /** Reads filters that the client sent as JSON; ignores any other text. */
  setFilters(text: string): void;
  /** The items that the client gets, in order, and the filters of which they have every match. */
  select(items: readonly LiveItem[]): Selection;
}

interface Selection {
  items: LiveItem[];
  completeFor: CompleteFor;
}

/** Items of each kind: in a second they fill the tallest screen several times over. */
const MAX_PER_KIND = 60;

/** Each filter with its text. */
type Filters = { [Kind in "request" | "attempt"]?: { text: string; matches: RowFilter } | undefined };

export function createDigest(): Digest {
  let filters: Filters = {};
  return {
    setFilters(text) {
      const sent = parseFilters(text);
      if (sent) filters = { request: filterOf(sent.requests), attempt: filterOf(sent.deliveries) };
    },
    select: (items) => select(items, filters),
  };
}

function select(items: readonly LiveItem[], filters: Filters): Selection {
  const counts = new Map<string, number>();
  const completeFor: CompleteFor = { verdict: "is:failed" };
  if (filters.request) completeFor.request = filters.request.text;
  if (filters.attempt) completeFor.attempt = filters.attempt.text;
  const selected: LiveItem[] = [];
  const hasRoom = (group: string) => {
    const count = (counts.get(group) ?? 0) + 1;
    counts.set(group, count);
    return count <= MAX_PER_KIND;
  };
  for (let index = items.length - 1; index >= 0; index--) {
    const item = items[index] as LiveItem;
    const isNew = hasRoom(item.kind);
    const isMatch = matches(filters, item);
    const isKept = isMatch && hasRoom(`matching ${item.kind}`);
    if (isNew || isKept || isAlwaysSent(item)) selected.push(item);
    else if (isMatch) delete completeFor[item.kind as "request" | "attempt"];
  }
  return { items: selected.reverse(), completeFor };
}

/** A client without one of these would show what is no longer there, or that all is well. */
const isAlwaysSent = (item: LiveItem) => item.kind === "reset" || (item.kind === "verdict" && item.verdict.verdict === "fail");

function matches({ request, attempt }: Filters, item: LiveItem): boolean {
  if (item.kind === "request") return request?.matches(requestFacts(item.request)) ?? false;
  if (item.kind === "attempt") return attempt?.matches(attemptFacts(item.attempt)) ?? false;
  return false;
}

const filterOf = (text: unknown) => (typeof text === "string" && text.trim() !== "" ? { text, matches: readRowFilter(text) } : undefined);

function parseFilters(text: string): DigestFilters | undefined {
  try {
    const filters: unknown = JSON.parse(text);
    return typeof filters === "object" && filters !== null ? filters : undefined;
  } catch {
    return undefined;
  }
}
