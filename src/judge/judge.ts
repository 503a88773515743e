// The judge: hears of requests, faults and deliveries, lets the rules look at them, and answers what they found. Never in the way:
// a request that nothing depends on costs a look-up, and everything else is thought about after the answer.

import type { Firing } from "../contracts/fault.ts";
import type { AttemptMessage } from "../contracts/live-messages.ts";
import { type JudgeResults, matchesRule, type VerdictMessage } from "../contracts/verdict.ts";
import { afterThisTurn, createEventLoopLag, type EventLoopLag, realNow } from "../kernel/clock.ts";
import { once } from "../kernel/once.ts";
import type { LoggedRequest } from "../store/journal/request-log.ts";
import { createFirings, type Firings } from "./firings.ts";
import { openPlace, openVerdicts, type Place } from "./merchant-tracker.ts";
import { describeCall, isTrouble, isUnanswered, type OperationFacts } from "./observed-call.ts";
import { createWrites, type Writes } from "./recent-writes.ts";
import { rules } from "./rules/index.ts";
import { type Book, describeVerdict, fitsFilter, openBook } from "./verdict-log.ts";

export interface Judge extends JudgeResults {
  /** A request was answered. */
  request(entry: LoggedRequest): void;
  /** A fault rule fired; to be told before the request or attempt that it touched has ended. */
  fired(firing: Firing): void;
  /** A delivery attempt ended. */
  attempt(attempt: AttemptMessage): void;
}

interface Needs {
  operations: readonly OperationFacts[];
  /** What their paths begin with. */
  prefix: string;
  /** Hears of each verdict. */
  told(verdict: VerdictMessage): void;
}

interface State {
  readonly book: Book;
  readonly firings: Firings;
  readonly writes: Writes;
  readonly lateness: EventLoopLag;
  /** By merchant; requests without one share a place. */
  readonly places: Map<string, Place>;
  operationOf(entry: LoggedRequest): OperationFacts | undefined;
  /** What was heard and not yet looked at. */
  queue: LoggedRequest[];
}

const MOST_PLACES = 500;

export function createJudge({ operations, prefix, told }: Needs): Judge {
  const state: State = {
    book: openBook(told),
    firings: createFirings(),
    writes: createWrites(),
    lateness: createEventLoopLag(),
    places: new Map(),
    operationOf: operationFinder(operations, prefix),
    queue: [],
  };
  const { firings, writes } = state;
  const look = () => catchUp(state);
  return {
    rules,
    request(entry) {
      writes.note(entry);
      if (state.queue.length === 0 && isOfNoConcern(state, entry)) return;
      if (state.queue.push(entry) === 1) afterThisTurn(look);
    },
    fired: firings.note,
    attempt(attempt) {
      catchUp(state);
      hearAttempt(state, attempt);
    },
    verdicts(filter = {}) {
      catchUp(state);
      return conclude(state).filter((found) => fitsFilter(filter, found));
    },
    forget(merchant) {
      catchUp(state);
      for (const part of [state.book, firings, writes]) part.forget(merchant);
      if (merchant === undefined) state.places.clear();
      else state.places.delete(merchant);
    },
  };
}

function isOfNoConcern({ places, firings }: State, entry: LoggedRequest): boolean {
  if (isTrouble(entry.status) || firings.has(entry.id) || isUnanswered(entry)) return false;
  const place = places.get(entry.merchant ?? "");
  return place === undefined || (place.lane.isIdle() && !place.receivers.isWatching(entry.arrived));
}

function catchUp(state: State): void {
  const entries = state.queue;
  state.queue = [];
  for (const entry of entries) hearRequest(state, entry);
}

function hearRequest(state: State, entry: LoggedRequest): void {
  const { lane, receivers } = placeOf(state, entry.merchant ?? "");
  const call = describe(state, entry);
  receivers.settle(call.arrived);
  if (call.writes) receivers.wrote(call);
  lane.hear(call);
}

function hearAttempt(state: State, attempt: AttemptMessage): void {
  const { receivers } = placeOf(state, attempt.merchant);
  const now = realNow();
  const from = now - (attempt.durationMs ?? 0);
  const wrote = state.writes.since(attempt.merchant, from).map((entry) => describe(state, entry));
  receivers.settle(now);
  receivers.hear(attempt, state.firings.ofAttempt(attempt.id), from, now, wrote);
}

const describe = ({ firings, operationOf }: State, entry: LoggedRequest) =>
  describeCall(entry, firings.ofRequest(entry.id), operationOf(entry));

/** When there are too many, the one that came first goes, unless one has nothing to remember. */
function placeOf({ places, book, lateness }: State, merchant: string): Place {
  const known = places.get(merchant);
  if (known) return known;
  if (places.size >= MOST_PLACES) {
    const empty = [...places].find(([, { lane, receivers }]) => lane.isIdle() && receivers.isEmpty());
    places.delete(empty?.[0] ?? ([...places.keys()][0] as string));
  }
  const made = openPlace(book.add, lateness);
  places.set(merchant, made);
  return made;
}

/** Everything that was found, and what there is to say of the rest. */
function conclude({ places, book, firings }: State): VerdictMessage[] {
  const now = realNow();
  for (const { lane, receivers } of places.values()) {
    lane.settle(now);
    receivers.settle(now);
  }
  const found = [...book.kept(), ...[...places.values()].flatMap((place) => openVerdicts(place, now))];
  return [...found, ...untold(firings, found)];
}

/** What a fault was meant to bring out, and did not. */
function untold(firings: Firings, found: readonly VerdictMessage[]): VerdictMessage[] {
  return firings.expectations().flatMap(({ firing, pattern }) => {
    const rule = rules.find(({ id }) => matchesRule(pattern, id));
    if (!rule || found.some((verdict) => verdict.fault === firing.ruleId && matchesRule(pattern, verdict.rule))) return [];
    const says = `The fault ${firing.name ?? firing.ruleId} struck ${firing.requestId ?? firing.attemptId}, and nothing that followed could tell.`;
    const about = { merchant: firing.merchant ?? undefined, operation: undefined, at: firing.at, fault: firing.ruleId };
    return [describeVerdict(rule, { verdict: "inconclusive", says }, about, null)];
  });
}

/** Which operation an entry is a call of; calls that were put off before they were routed are found by their path. */
function operationFinder(operations: readonly OperationFacts[], prefix: string) {
  const byId = new Map(operations.map((operation) => [operation.id, operation]));
  const patterns = once(() =>
    operations.map((operation) => ({
      operation,
      pattern: new RegExp(`^${prefix}${operation.path.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
    })),
  );
  return ({ operation, method, path }: LoggedRequest): OperationFacts | undefined =>
    operation === undefined
      ? patterns().find(({ operation: { method: verb }, pattern }) => verb === method && pattern.test(path))?.operation
      : byId.get(operation);
}
