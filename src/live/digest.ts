// A digest of the live stream has only as many items as a screen can show: the newest of each kind, the matches of the
// client's filters, and all failed verdicts.

import { attemptFacts, type RowFilter, readRowFilter, requestFacts } from "../client/row-filter.ts";
import type { CompleteFor, DigestFilters, LiveEvent, LiveItem, LiveMessage } from "../contracts/live-messages.ts";
import type { VerdictMessage } from "../contracts/verdict.ts";
import { tryParseJson } from "../kernel/attempt.ts";
import { setBounded } from "../kernel/bounded-cache.ts";
import type { StoredCounts } from "../store/request-log/run-summary.ts";

const MAX_REMOVED = 1_000;

/** Counts requests and attempts. `stored` reads the counts from the database, including the event being published. */
export function createMadeCounts(stored: () => StoredCounts) {
  // Read at the first event or query, so that an idle sandbox reads nothing.
  let counts: StoredCounts | undefined;
  /**
   * The counts of the merchants that were removed last. A new merchant with the same id publishes a reset, which
   * subtracts them.
   */
  const removed = new Map<string, { requests: number; attempts: number }>();
  const add = (byMerchant: Map<string, number>, merchant: string) =>
    void byMerchant.set(merchant, (byMerchant.get(merchant) ?? 0) + 1);
  const addTo = ({ requests, attempts, lastAttempt }: StoredCounts, event: LiveEvent) => {
    if (event.kind === "request") add(requests, event.request.merchant ?? "");
    // Attempts are written together and then published one by one, so the stored counts may already include this one.
    else if (event.kind === "attempt" && event.attempt.sequence > lastAttempt) add(attempts, event.attempt.merchant);
    else if (event.kind === "reset" && event.merchant !== null) erase({ requests, attempts }, event.merchant);
    // The merchant's counts are added to those without a merchant. Otherwise the maps would grow with each removed
    // merchant.
    else if (event.kind === "removal") {
      const { merchant } = event;
      const gone = { requests: moveCount(requests, merchant), attempts: moveCount(attempts, merchant) };
      setBounded(removed, merchant, gone, MAX_REMOVED);
    }
  };
  const erase = (all: Pick<StoredCounts, "requests" | "attempts">, merchant: string) => {
    for (const table of ["requests", "attempts"] as const) {
      all[table].delete(merchant);
      all[table].set("", (all[table].get("") ?? 0) - (removed.get(merchant)?.[table] ?? 0));
    }
    removed.delete(merchant);
  };
  return {
    add(event: LiveEvent) {
      if (event.kind === "reset" && event.merchant === null) {
        counts = undefined;
        removed.clear();
      } else if (counts) addTo(counts, event);
      else if (event.kind === "request" || event.kind === "attempt") counts = stored();
    },
    made() {
      counts ??= stored();
      return { requests: sum(counts.requests), attempts: sum(counts.attempts) };
    },
  };
}

/** Moves the count of a merchant to the count without a merchant, and returns it. */
function moveCount(counts: Map<string, number>, merchant: string): number {
  const moved = counts.get(merchant) ?? 0;
  counts.set("", (counts.get("") ?? 0) + moved);
  counts.delete(merchant);
  return moved;
}

const sum = (byMerchant: ReadonlyMap<string, number>) =>
  [...byMerchant.values()].reduce((total, one) => total + one, 0);

export type EventBuffer = ReturnType<typeof createEventBuffer>;

/** The newest events, for clients that read slowly or reconnect. */
export function createEventBuffer(capacity: number) {
  let events: LiveEvent[] = [];
  /** The number of each event within its kind. */
  let nths: number[] = [];
  let newest = 0;
  let lasting: LastingItem[] = [];
  const markRevised = createRevisionMarker(capacity);
  const kinds: Partial<Record<LiveItem["kind"], number>> = {};
  const oldest = () => newest - events.length + 1;
  // Items are created when they are sent, because most events are never sent to a client.
  const itemAt = (index: number) => ({ seq: oldest() + index, nth: nths[index], ...events[index] }) as LiveItem;
  return {
    /** The number of the newest event. */
    newest: () => newest,
    push(event: LiveEvent) {
      const nth = (kinds[event.kind] ?? 0) + 1;
      kinds[event.kind] = nth;
      newest++;
      events.push(event);
      nths.push(nth);
      const item = { seq: newest, nth, ...event } as LiveItem;
      markRevised(event);
      if (isLasting(item)) lasting = [...lasting.filter((one) => !replaces(item, one)), item].slice(-capacity);
      if (events.length <= 2 * capacity) return;
      // Dropping half of the events at a time spreads the cost of moving them over as many pushes.
      events = events.slice(-capacity);
      nths = nths.slice(-capacity);
    },
    /**
     * The resets, removals and cancellations that a client has missed and that the buffer has dropped. Leaves out each
     * item that a later one makes redundant.
     */
    missed: (seen: number): LiveItem[] => lasting.filter(({ seq }) => seq > seen && seq < oldest()),
    /** The next messages for a client that has seen everything up to `seen`, with at most `limit` events. */
    since(seen: number, limit = Infinity): LiveMessage[] {
      const first = Math.max(0, seen + 1 - oldest());
      const items: LiveItem[] = [];
      for (let index = first; index < Math.min(events.length, first + limit); index++) items.push(itemAt(index));
      const gap: LiveMessage[] = seen + 1 < oldest() ? [{ type: "gap", from: seen + 1, to: oldest() - 1 }] : [];
      return items.length > 0 ? [...gap, { type: "batch", items }] : gap;
    },
  };
}

/**
 * The most items of each kind, and the most matches of each filter, in a digest. The digests of one second still fill
 * the tallest screen several times.
 */
const MAX_PER_KIND = 60;

/** Each filter with its text. */
export type Filters = { [Kind in "request" | "attempt"]?: { text: string; matches: RowFilter } | undefined };

/** Reads filters that a client sent as JSON; undefined for any other text. */
export function readFilters(text: string): Filters | undefined {
  const sent = tryParseJson(text);
  if (typeof sent !== "object" || sent === null) return undefined;
  const { requests, deliveries }: DigestFilters = sent;
  return { request: filterOf(requests), attempt: filterOf(deliveries) };
}

/** Selects the items of a digest, in order. `completeFor` names the filters of which no match was left out. */
export function selectItems(items: readonly LiveItem[], filters: Filters) {
  const counts = new Map<string, number>();
  const completeFor: CompleteFor = { verdict: "is:failed" };
  if (filters.request) completeFor.request = filters.request.text;
  if (filters.attempt) completeFor.attempt = filters.attempt.text;
  const selected: LiveItem[] = [];
  const verdictIds = new Set<string>();
  const hasRoom = (group: string) => {
    const count = (counts.get(group) ?? 0) + 1;
    counts.set(group, count);
    return count <= MAX_PER_KIND;
  };
  for (let index = items.length - 1; index >= 0; index--) {
    const item = items[index] as LiveItem;
    if (item.kind === "verdict" && isOutdated(verdictIds, item.verdict)) continue;
    const isNew = hasRoom(item.kind);
    const isMatch = matches(filters, item);
    const isKept = isMatch && hasRoom(`matching ${item.kind}`);
    if (isNew || isKept || isAlwaysSent(item)) selected.push(item);
    else if (isMatch) delete completeFor[item.kind as "request" | "attempt"];
  }
  return { items: selected.reverse(), completeFor };
}

/** Items that every client must get. Without them, it would show deleted rows, or attempts that are no longer made. */
type LastingItem = LiveItem & { kind: "reset" | "removal" | "cancellation" };

const isLasting = (item: LiveItem): item is LastingItem => ["reset", "removal", "cancellation"].includes(item.kind);

/**
 * Whether an item makes an earlier one redundant. A removed merchant keeps its rows, so a removal does not replace a
 * reset.
 */
const replaces = (item: LastingItem, one: LastingItem) =>
  (item.merchant === null || item.merchant === one.merchant) &&
  (item.kind === "reset" ||
    (one.kind !== "reset" &&
      (item.kind === "removal" || (one.kind === "cancellation" && one.endpoint === item.endpoint))));

/** Failed verdicts and their revisions are always sent, so that a client shows each failure unless it was revised. */
const isAlwaysSent = (item: LiveItem) =>
  isLasting(item) || (item.kind === "verdict" && (item.verdict.verdict === "fail" || revised.has(item.verdict)));

/** Whether a newer version of the verdict was met before. */
function isOutdated(met: Set<string>, { id }: VerdictMessage): boolean {
  if (id === null) return false;
  if (met.has(id)) return true;
  met.add(id);
  return false;
}

/** Verdicts that replace a failure of the same id. */
const revised = new WeakSet<VerdictMessage>();

/** Adds to `revised` each verdict that replaces one of the newest `capacity` failures. */
function createRevisionMarker(capacity: number): (event: LiveEvent) => void {
  const failed = new Set<string>();
  return (event) => {
    // Ids start again after a reset.
    if (event.kind === "reset" && event.merchant === null) failed.clear();
    if (event.kind !== "verdict" || event.verdict.id === null) return;
    const { id, verdict } = event.verdict;
    const hadFailed = failed.delete(id);
    if (verdict === "fail") failed.add(id);
    else if (hadFailed) revised.add(event.verdict);
    const [oldest] = failed;
    if (oldest !== undefined && failed.size > capacity) failed.delete(oldest);
  };
}

function matches({ request, attempt }: Filters, item: LiveItem): boolean {
  if (item.kind === "request") return request?.matches(requestFacts(item.request)) ?? false;
  if (item.kind === "attempt") return attempt?.matches(attemptFacts(item.attempt)) ?? false;
  return false;
}

const filterOf = (text: unknown) =>
  typeof text === "string" && text.trim() !== "" ? { text, matches: readRowFilter(text) } : undefined;
