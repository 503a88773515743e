// What one merchant's clients owe: calls that failed and should come again, and calls that were refused and should not.

import { type Call, isSameAddress, isSameRequest } from "./observed-call.ts";
import { type Chain, first, type Pace, type Retry } from "./rules/rule.ts";

/** A call that failed and may come again. */
export interface Debt {
  readonly call: Call;
  readonly chain: Chain;
  /** Real milliseconds by which a client that retries would have done so. */
  readonly deadline: number;
  /** The same call under another key, or too early: a bad retry, unless a good one comes still. */
  suspect: Call | undefined;
  /** Whether a call came that may have been its retry, or one that was sent beside it: then it accuses nobody. */
  doubtful: boolean;
}

/** A call that was refused, until it is known whether it is repeated. */
interface Refusal {
  readonly call: Call;
  readonly until: number;
}

/** What happens in a lane, as the rules hear of it. */
export interface Ears {
  retried(retry: Retry): void;
  ended(chain: Chain, gaveUp: boolean): void;
  refused(call: Call, repeat: Call | undefined): void;
  /** A call failed, and was not told how long to wait. */
  owed(debt: Debt): void;
  /** A chain's first retry, after a failure that did not say how long to wait. */
  paced(pace: Omit<Pace, "late">): void;
  /** A debt that is let go because there are too many. */
  dropped(debt: Debt): void;
}

export interface Lane {
  hear(call: Call): void;
  /** Concludes what needs no more traffic to be concluded. */
  settle(now: number): void;
  readonly debts: readonly Debt[];
  isIdle(): boolean;
}

const MOST_DEBTS = 500;
const MOST_REFUSALS = 100;

/** How much longer than it was told a client may take before it counts as having given up; and how long where it was told nothing. */
const PATIENCE = { factor: 2, least: 2_000, untold: 10_000 };
/** A call that comes again later than this after it was refused is somebody's new idea. */
const REPEAT_WITHIN = 10_000;
/** A client knows of an answer once so much time has passed, whichever connection it uses next. */
const KNOWN_AFTER = 250;

export function openLane(ears: Ears): Lane {
  const debts: Debt[] = [];
  const refusals: Refusal[] = [];
  return {
    debts,
    isIdle: () => debts.length === 0 && refusals.length === 0,
    hear(call) {
      hearRefusals(refusals, call, ears);
      const debt = findDebt(debts, call);
      if (debt) removeFrom(debts, debt);
      doubt(debts, call, debt === undefined);
      settle(debts, call.arrived, call, ears);
      const chain = debt ? goOn(debt, call, ears) : { calls: [call], ownWaits: [] };
      if (call.failure) owe(debts, call, chain, ears);
      else if (debt) ears.ended(chain, false);
      if (!call.refused) return;
      if (refusals.length === MOST_REFUSALS) refusals.shift();
      refusals.push({ call, until: call.answered + REPEAT_WITHIN });
    },
    settle: (now) => settle(debts, now, undefined, ears),
  };
}

function owe(debts: Debt[], call: Call, chain: Chain, ears: Ears): void {
  const { told, answered } = call;
  const patience = told ? told.milliseconds * PATIENCE.factor + PATIENCE.least : PATIENCE.untold;
  if (debts.length === MOST_DEBTS) ears.dropped(debts.shift() as Debt);
  const debt = { call, chain, deadline: answered + patience, suspect: undefined, doubtful: false };
  debts.push(debt);
  if (!told) ears.owed(debt);
}

/**
 * The debt that a call pays: under the same key, else the same call without one. The oldest that is ripe comes first; one that is
 * not is paid at once only by the connection that was told to wait, and is under suspicion else.
 */
function findDebt(debts: readonly Debt[], call: Call): Debt | undefined {
  const ours = debts.filter((debt) => isSameAddress(debt.call, call) && debt.call.answered <= call.arrived);
  const keyed = ours.find((debt) => call.key !== undefined && debt.call.key === call.key);
  if (keyed) return keyed;
  const same = ours.filter((debt) => debt.call.key === undefined && isKnown(debt.call, call) && isSameRequest(debt.call, call));
  return same.find((debt) => isRipe(debt.call, call)) ?? same.find((debt) => debt.call.connection === call.connection);
}

const isRipe = ({ told, answered }: Call, call: Call) => !told || call.arrived - answered >= told.milliseconds - told.tolerance;

/**
 * Whether whoever sent a call could know how an earlier one was answered. Calls that are sent side by side go out on connections
 * of their own, which a busy machine takes up a little late: none of them is a retry of another.
 */
const isKnown = (before: Call, call: Call) => call.connection === before.connection || call.arrived - before.answered >= KNOWN_AFTER;

/**
 * The same call under another key, or too early, may be a new one, as like as two orders of the same thing: the deadline will tell.
 * And whichever of several equal debts a call pays, it may have been meant for another.
 */
function doubt(debts: readonly Debt[], call: Call, isUnpaid: boolean): void {
  for (const debt of debts) {
    if (debt.call.answered > call.arrived || !isSameRequest(debt.call, call)) continue;
    debt.doubtful = true;
    if (isUnpaid && isKnown(debt.call, call)) debt.suspect ??= call;
  }
}

function goOn({ call: from, chain }: Debt, to: Call, ears: Ears): Chain {
  const waited = to.arrived - from.answered;
  chain.calls.push(to);
  if (from.told === undefined) {
    chain.ownWaits.push(waited);
    if (first(chain) === from) ears.paced({ from, call: to, waited });
  }
  ears.retried({ chain, from, to, waited });
  return chain;
}

/** `alive` is a call that shows that its client is still at work. */
function settle(debts: Debt[], now: number, alive: Call | undefined, ears: Ears): void {
  for (const debt of debts.filter(({ deadline }) => deadline < now)) {
    const wentOn = alive?.caller === debt.call.caller;
    if (!debt.suspect && debt.chain.calls.length === 1 && !wentOn) continue;
    removeFrom(debts, debt);
    if (debt.suspect) goOn(debt, debt.suspect, ears);
    if (!debt.doubtful || debt.chain.calls.length > 1) ears.ended(debt.chain, debt.suspect === undefined);
  }
}

function hearRefusals(refusals: Refusal[], call: Call, ears: Ears): void {
  for (const refusal of refusals.filter(({ call: refused }) => refused.caller === call.caller && isKnown(refused, call))) {
    const { call: refused, until } = refusal;
    const inTime = call.arrived <= until;
    const same = inTime && refused.key === call.key && isSameRequest(refused, call);
    // Under a key the same call is the same whatever came between; without one, only the very next is taken for a repetition.
    if (!same && inTime && refused.key !== undefined) continue;
    removeFrom(refusals, refusal);
    ears.refused(refused, same ? call : undefined);
  }
}

function removeFrom<T>(list: T[], item: T): void {
  list.splice(list.indexOf(item), 1);
}
