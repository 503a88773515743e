// What is in the air: due deliveries are written down as being sent, sent, and recorded when they land.

import type { AttemptMessage } from "../contracts/live-messages.ts";
import { afterPromises, type Clock, realDelay } from "../kernel/clock.ts";
import { SandboxError } from "../kernel/errors.ts";
import type { Database } from "../store/sqlite/database.ts";
import type { Deliveries, Delivery, Receiver } from "../store/webhooks/deliveries.ts";
import type { Attempt, Concluded, Ledger } from "./attempt-recorder.ts";
import type { Lane, Lanes } from "./endpoint-queues.ts";
import type { Interference } from "./faults/timing.ts";
import type { Outcome } from "./http/outcome.ts";
import type { Sender } from "./http/sender.ts";

export type Listener = (attempt: AttemptMessage) => void;

/** An attempt that is written down as being sent. */
interface Taken {
  readonly attempt: Attempt;
  readonly lane: Lane;
}

/** A delivery that is due, and where it goes. */
interface Found {
  readonly lane: Lane;
  readonly delivery: Delivery;
  readonly receiver: Receiver;
}

/** An attempt on its way. */
interface Flight extends Taken {
  abort(): void;
  /** Nobody wants to know its outcome any more. */
  abandoned: boolean;
  /** Its place in the lane is another's. */
  freed: boolean;
  /** Resolves when its outcome is recorded, or never will be. */
  landed: Promise<void>;
  over(): void;
}

/** An attempt that came down, and is not recorded yet. */
interface Landing {
  readonly flight: Flight;
  readonly went: Outcome;
  /** Undefined until it is recorded, and when it is gone from the file. */
  concluded: Concluded | undefined;
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
  readonly interference: Interference;
  readonly flights: Set<Flight>;
  /** Those that came down in this turn of the event loop: they are recorded together. */
  landings: Landing[];
  readonly listeners: Set<Listener>;
  /** Called, and forgotten, whenever something has landed or will not. */
  readonly waiting: Set<() => void>;
  /** The look for what is due that is under way. */
  look: Promise<void> | undefined;
  /** What it found, until that is sent. */
  taken: Taken[];
  running: boolean;
}

/** Even a sandbox full of dead endpoints holds no more connections than this. */
const MOST_IN_FLIGHT = 1_024;
/** How many attempts one look begins: a flood of events leaves the event loop free between them. */
const MOST_AT_ONCE = 64;
/** Real milliseconds before the next look when the file could not be written. */
const PAUSE_AFTER_DEFECT = 1_000;

export const canBegin = ({ running, look, flights }: State) => running && !look && flights.size < MOST_IN_FLIGHT;

/**
 * Looks for what is due. All of it is written down as being sent in one commit, and sent when that is in the file. Where the machine dies
 * before the disk has it, an attempt is made again: deliveries come at least once anyway.
 */
export function begin(state: State): void {
  if (!canBegin(state)) return;
  state.look = state.database
    .commit(() => takeDue(state), "relaxed")
    // Whoever waited for the same commit, such as the call that made the event, is answered first.
    .then(() => new Promise<void>(afterPromises))
    .then(
      () => launchTaken(state),
      (error: unknown) => giveBack(state, error),
    )
    .finally(() => {
      state.look = undefined;
      state.clock.wake();
      tellWaiting(state);
    });
}

function takeDue(state: State): void {
  const { running, clock, lanes, deliveries, flights, interference } = state;
  if (!running) return;
  const now = clock.now();
  if (interference.isPresent()) for (const owed of interference.decide()) lanes.owe(owed);
  const most = Math.min(MOST_AT_ONCE, MOST_IN_FLIGHT - flights.size);
  const found: Found[] = [];
  const looked: Lane[] = [];
  for (const lane of lanes.ready(now)) {
    if (found.length >= most) break;
    const receiver = deliveries.receiver(lane.merchant, lane.endpoint);
    for (const delivery of deliveries.due(lane.merchant, lane.endpoint, now, Math.min(lanes.room(lane), most - found.length))) {
      if (receiver) found.push({ lane, delivery, receiver });
      else deliveries.finish(delivery.sequence, "cancelled");
    }
    looked.push(lane);
  }
  // As they fell due, whatever lane they stand in: which lane comes first is a matter of who answered when.
  found.sort(({ delivery: one }, { delivery: other }) => one.due - other.due || one.sequence - other.sequence);
  for (const one of found) take(state, one);
  for (const lane of looked) lanes.served(lane);
}

/** A delivery, with what is to go out in the same moment. */
function take({ ledger, lanes, taken, interference }: State, { lane, delivery, receiver }: Found): void {
  const begin = (one: Delivery) => {
    taken.push({ lane, attempt: ledger.begin(one, receiver) });
    lanes.took(lane);
  };
  begin(delivery);
  if (delivery.decided !== null) interference.copies(delivery).forEach(begin);
}

/** The commit was undone: what it took is owed as before. The next look waits, for a full disk does not empty itself at once. */
async function giveBack(state: State, error: unknown): Promise<void> {
  dropTaken(state);
  if (!state.running) return;
  state.report(error);
  state.lanes.load();
  await realDelay(PAUSE_AFTER_DEFECT);
}

function launchTaken(state: State): void {
  for (const one of state.taken.splice(0)) launch(state, one);
}

/** Lets go what was found due and is not sent yet, of one merchant or of all. */
function dropTaken(state: State, merchant?: string): void {
  for (const one of state.taken.splice(0)) {
    if (isOf(merchant, one)) release(state, one);
    else state.taken.push(one);
  }
}

const isOf = (merchant: string | undefined, { attempt }: Taken) => merchant === undefined || attempt.delivery.merchant === merchant;

/** Gives up the place of an attempt that is not made, or not awaited. */
function release({ lanes }: State, { lane }: Taken): void {
  lanes.freed(lane, false);
  lanes.recorded(lane, null);
}

function launch(state: State, { attempt, lane }: Taken): void {
  const { outcome, abort } = state.sender.send(attempt.plan);
  let over = () => {};
  const landed = new Promise<void>((resolve) => {
    over = resolve;
  });
  const flight: Flight = { attempt, lane, abort, abandoned: false, freed: false, landed, over };
  state.flights.add(flight);
  void outcome.then((went) => (flight.abandoned ? over() : land(state, flight, went)));
}

function land(state: State, flight: Flight, went: Outcome): void {
  const { lanes, clock, landings } = state;
  const { lane } = flight;
  lanes.freed(lane, went.errorCode === "dropped" ? lane.answers : went.responseStatus !== null);
  flight.freed = true;
  if (landings.push({ flight, went, concluded: undefined }) === 1) void record(state, landings);
  // What the lane has waiting is written down in the same commit.
  if ((lane.due ?? Infinity) <= clock.now()) begin(state);
}

/** Records what came of attempts, then tells of it. */
async function record(state: State, landings: Landing[]): Promise<void> {
  const { database, lanes, flights, listeners, clock } = state;
  const work = () => {
    state.landings = [];
    for (const landing of landings) concludeOne(state, landing);
  };
  await database.commit(work, "relaxed").catch(() => recordEach(state, landings));
  const recorded = landings.filter(({ flight }) => !flight.abandoned);
  for (const { flight, concluded } of recorded) {
    flights.delete(flight);
    lanes.recorded(flight.lane, concluded?.nextDue ?? null);
  }
  clock.wake();
  for (const { concluded } of recorded) if (concluded) for (const listener of listeners) listener(concluded.told);
  tellWaiting(state);
  for (const { flight } of landings) flight.over();
}

/** One that cannot be recorded keeps no other from it. */
async function recordEach(state: State, landings: Landing[]): Promise<void> {
  if (state.landings === landings) state.landings = [];
  await Promise.all(landings.map((landing) => recordAlone(state, landing)));
}

/** As long as the file cannot be written, it is tried again. What is not recorded at the end is taken up by the next start, as after a crash. */
async function recordAlone(state: State, landing: Landing): Promise<void> {
  while (!landing.flight.abandoned) {
    try {
      return await state.database.commit(() => concludeOne(state, landing), "relaxed");
    } catch (error) {
      landing.concluded = undefined;
      if (!state.running) return;
      state.report(error);
      if (!(error instanceof SandboxError)) return;
    }
    await realDelay(PAUSE_AFTER_DEFECT);
  }
}

function concludeOne(state: State, landing: Landing): void {
  const { flight, went } = landing;
  landing.concluded = undefined;
  if (!flight.abandoned) landing.concluded = conclude(state, flight.attempt, went);
}

function conclude({ ledger, lanes, interference }: State, attempt: Attempt, went: Outcome): Concluded | undefined {
  const concluded = ledger.conclude(attempt, went);
  for (const owed of interference.landed(attempt.delivery, went.errorCode === null)) lanes.owe(owed);
  return concluded;
}

export function tellWaiting({ waiting }: State): void {
  const told = [...waiting];
  waiting.clear();
  for (const tell of told) tell();
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
  const { flights, taken, ledger, lanes, database } = state;
  dropTaken(state, merchant);
  for (const flight of [...flights]) if (isOf(merchant, flight)) abandon(state, flight);
  const underWay = new Set([...flights, ...taken].map(({ attempt }) => attempt.delivery.sequence));
  database.commitNow(() => ledger.recover((delivery) => underWay.has(delivery)));
  state.interference.load();
  lanes.load();
  tellWaiting(state);
}

export function abandon(state: State, flight: Flight): void {
  flight.abandoned = true;
  state.flights.delete(flight);
  if (flight.freed) state.lanes.recorded(flight.lane, null);
  else release(state, flight);
  flight.abort();
}
