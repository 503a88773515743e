// What is in the air: due deliveries are written down as being sent, sent, and recorded when they land.

import { type Clock, realDelay } from "../kernel/clock.ts";
import type { AttemptMessage } from "../kernel/messages.ts";
import type { Database } from "../store/database.ts";
import type { Deliveries } from "../store/deliveries.ts";
import type { Lane, Lanes } from "./lanes.ts";
import type { Attempt, Ledger } from "./ledger.ts";
import type { Outcome } from "./outcome.ts";
import type { Sender } from "./sender.ts";

export type Listener = (attempt: AttemptMessage) => void;

/** An attempt that is written down as being sent. */
interface Taken {
  readonly attempt: Attempt;
  readonly lane: Lane;
}

/** An attempt on its way. */
interface Flight extends Taken {
  abort(): void;
  /** Nobody wants to know its outcome any more. */
  abandoned: boolean;
  landed: Promise<void>;
}

/** All that the functions below share. */
export interface State {
  readonly clock: Clock;
  readonly database: Database;
  readonly deliveries: Deliveries;
  report(error: unknown): void;
  readonly lanes: Lanes;
  readonly ledger: Ledger;
  readonly sender: Sender;
  readonly flights: Set<Flight>;
  readonly listeners: Set<Listener>;
  /** The look for what is due that is under way. */
  look: Promise<void> | undefined;
  /** Raised by each reload: what was found due before it is not sent after it. */
  era: number;
  running: boolean;
}

/** Even a sandbox full of dead endpoints holds no more connections than this. */
const MOST_IN_FLIGHT = 1_024;
/** How many attempts one look begins: a flood of events leaves the event loop free between them. */
const MOST_AT_ONCE = 64;
/** Real milliseconds before the next look when the file could not be written. */
const PAUSE_AFTER_DEFECT = 1_000;

export const canBegin = ({ running, look, flights }: State) => running && !look && flights.size < MOST_IN_FLIGHT;

/** Looks for what is due. All of it is written down as being sent in one commit, and sent when that is on disk. */
export function begin(state: State): void {
  if (!canBegin(state)) return;
  const taken: Taken[] = [];
  let era = state.era;
  const take = () => {
    era = state.era;
    takeDue(state, taken);
  };
  const launchAll = () => {
    for (const one of taken) {
      if (era === state.era) launch(state, one);
      else state.lanes.landed(one.lane, false, null);
    }
  };
  state.look = state.database
    .commit(take)
    .then(launchAll, (error: unknown) => giveBack(state, taken, error))
    .finally(() => {
      state.look = undefined;
      state.clock.wake();
    });
}

function takeDue({ running, clock, lanes, ledger, deliveries, flights }: State, taken: Taken[]): void {
  if (!running) return;
  const now = clock.now();
  const most = Math.min(MOST_AT_ONCE, MOST_IN_FLIGHT - flights.size);
  for (const lane of lanes.ready(now)) {
    if (taken.length >= most) return;
    const receiver = deliveries.receiver(lane.merchant, lane.endpoint);
    const due = deliveries.due(lane.merchant, lane.endpoint, now, Math.min(lanes.room(lane), most - taken.length));
    for (const delivery of due) {
      if (receiver) taken.push({ lane, attempt: ledger.begin(delivery, receiver) });
      else deliveries.end(delivery.sequence, "cancelled");
    }
    lanes.served(lane, receiver ? due.length : 0);
  }
}

/** The commit was undone: what it took is owed as before. The next look waits, for a full disk does not empty itself at once. */
async function giveBack(state: State, taken: Taken[], error: unknown): Promise<void> {
  for (const { lane } of taken) state.lanes.landed(lane, false, null);
  if (!state.running) return;
  state.report(error);
  state.lanes.load();
  await realDelay(PAUSE_AFTER_DEFECT);
}

function launch(state: State, { attempt, lane }: Taken): void {
  const { outcome, abort } = state.sender.send(attempt.plan);
  const flight: Flight = { attempt, lane, abort, abandoned: false, landed: Promise.resolve() };
  state.flights.add(flight);
  flight.landed = land(state, flight, outcome);
}

/** Records what came of an attempt, then tells of it. One that cannot be recorded is taken up by the next start, as after a crash. */
async function land(state: State, flight: Flight, outcome: Promise<Outcome>): Promise<void> {
  const { database, ledger, lanes, flights, listeners, clock } = state;
  const went = await outcome;
  if (flight.abandoned) return;
  const concluded = await database
    .commit(() => (flight.abandoned ? undefined : ledger.conclude(flight.attempt, went)))
    .catch((error: unknown) => (state.running ? state.report(error) : undefined));
  if (flight.abandoned) return;
  flights.delete(flight);
  lanes.landed(flight.lane, went.responseStatus !== null, concluded?.nextDue ?? null);
  clock.wake();
  if (concluded) for (const listener of listeners) listener(concluded.told);
}

export async function settled(state: State): Promise<void> {
  const { clock, lanes, flights } = state;
  const horizon = clock.now();
  const present = new Set(flights);
  const isAwaited = (flight: Flight) =>
    present.has(flight) || flight.attempt.delivery.due <= horizon || (flight.lane.due ?? Infinity) <= horizon;
  while (state.running) {
    if (canBegin(state) && (lanes.soonest() ?? Infinity) <= horizon) begin(state);
    const awaited = [state.look, ...[...flights].filter(isAwaited).map(({ landed }) => landed)].filter((one) => one !== undefined);
    if (awaited.length === 0) return;
    await Promise.all(awaited);
  }
}

export function reload(state: State, merchant?: string): void {
  const { flights, ledger, lanes, database } = state;
  state.era++;
  for (const flight of [...flights]) {
    if (merchant === undefined || flight.attempt.delivery.merchant === merchant) abandon(state, flight);
  }
  const underWay = new Set([...flights].map(({ attempt }) => attempt.delivery.sequence));
  database.commitNow(() => ledger.recover((delivery) => underWay.has(delivery)));
  lanes.load();
}

export function abandon({ flights, lanes }: State, flight: Flight): void {
  flight.abandoned = true;
  flights.delete(flight);
  lanes.landed(flight.lane, false, null);
  flight.abort();
}
