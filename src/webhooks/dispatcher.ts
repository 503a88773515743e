// Delivers what is owed: begins what is due, records how it went, and never lets one endpoint wait for another.

import { afterRealTime, type Clock, type DueWork } from "../kernel/clock.ts";
import { fail } from "../kernel/errors.ts";
import type { Behaviour } from "../schema/assumed.ts";
import type { Database } from "../store/sqlite/database.ts";
import type { Attempts } from "../store/webhooks/attempts.ts";
import type { DelayedDeliveries } from "../store/webhooks/delayed-deliveries.ts";
import { type Deliveries, ENDPOINT_KIND } from "../store/webhooks/deliveries.ts";
import type { Outbox } from "../store/webhooks/outbox.ts";
import { attemptId, createLedger, type LedgerNeeds } from "./attempt-recorder.ts";
import { createLanes } from "./endpoint-queues.ts";
import { createInterference } from "./faults/timing.ts";
import { createSender, type SenderOptions } from "./http/sender.ts";
import { abandon, begin, canBegin, type Listener, reload, type State, settled, tellWaiting } from "./in-flight.ts";
import { type Explanation, explainSignature } from "./signature-diagnosis.ts";

export interface Dispatcher extends DueWork {
  /** Delivers from then on, and unless it begins anew, takes up what the process before this one left. To be called once the sandbox listens. */
  start(options: { anew: boolean }): void;
  /** Resolves when nothing is due now and nothing is in flight, or after `within` real milliseconds. */
  drain(options: { within: number }): Promise<Drained>;
  /** Tells one endpoint once more of what a logged attempt was about. */
  replay(merchant: string, attempt: string): Promise<Replayed>;
  /** Tells every endpoint that wants its type once more of an event. */
  replayEvent(merchant: string, event: string): Promise<Replayed>;
  /**
   * To be called when what a request did is on disk, and before it is answered: events of it may be owed. Answers a promise
   * where a fault rule wants some of them to land first.
   */
  committed(request: string): Promise<void> | undefined;
  /** Finds out why a signature over a delivery to an endpoint does not match. */
  explain(merchant: string, endpoint: string, body: string, signature: string): Explanation;
  /** Puts an endpoint that was disabled back into service. */
  enable(merchant: string, endpoint: string): Promise<void>;
  /** Hears of each attempt once it is recorded; the returned function ends that. */
  listen(listener: Listener): () => void;
  /** To be called when rows were replaced behind the dispatcher's back: of one merchant, or of all. */
  reload(merchant?: string): void;
  /** Begins nothing more, waits for what is in flight, and cuts off what takes longer: the next start takes that up. */
  stop(within: number): Promise<void>;
}

export interface Drained {
  settled: boolean;
  /** Deliveries that wait for a later attempt. */
  pending: number;
  inFlight: number;
}

export interface Replayed {
  eventId: string;
  /** The ids under which the log will have them. */
  attempts: { id: string; endpointId: string }[];
}

export interface DispatcherNeeds extends LedgerNeeds, SenderOptions {
  clock: Clock;
  database: Database;
  outbox: Outbox;
  deliveries: Deliveries;
  attempts: Attempts;
  delayedDeliveries: DelayedDeliveries;
  /** Hears of defects of the sandbox itself. */
  report(error: unknown): void;
}

export function createDispatcher(needs: DispatcherNeeds): Dispatcher {
  const state: State & DispatcherNeeds = {
    ...needs,
    lanes: createLanes(needs.deliveries),
    ledger: createLedger(needs),
    sender: createSender(needs),
    interference: createInterference(needs),
    flights: new Set(),
    landings: [],
    listeners: new Set(),
    waiting: new Set(),
    look: undefined,
    taken: [],
    running: false,
  };
  const { clock, listeners } = state;
  const dispatcher: Dispatcher = {
    nextDue: () => (canBegin(state) ? state.lanes.soonest() : null),
    run: () => begin(state),
    settled: () => settled(state),
    start({ anew }) {
      state.running = true;
      clock.watch(dispatcher);
      state.outbox.onPending(() => begin(state));
      if (!anew) dispatcher.reload();
    },
    drain: ({ within }) => drain(state, within),
    replay: (merchant, attempt) => replay(state, merchant, attempt),
    replayEvent: (merchant, event) => oweAgain(state, merchant, event),
    committed(request) {
      clock.wake();
      return state.running && state.interference.isPresent() ? beforeAnswer(state, request) : undefined;
    },
    explain: (merchant, endpoint, body, signature) => explain(state, merchant, endpoint, body, signature),
    enable: (merchant, endpoint) => enable(state, merchant, endpoint),
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    reload(merchant) {
      reload(state, merchant);
      clock.wake();
    },
    stop: (within) => stop(state, within),
  };
  return dispatcher;
}

async function drain(state: State, within: number): Promise<Drained> {
  const { clock, lanes, flights, deliveries } = state;
  const isIdle = () => !state.look && flights.size === 0 && (lanes.soonest() ?? Infinity) > clock.now();
  const patience = afterAtMost(within);
  while (state.running && !patience.over() && !isIdle()) await Promise.race([settled(state), patience.expired]);
  patience.cancel();
  return { settled: isIdle(), pending: deliveries.pending(), inFlight: flights.size };
}

/** What the request made is decided now, for what is to land before the answer cannot be left until it is due. */
function beforeAnswer(state: State & DispatcherNeeds, request: string): Promise<void> | undefined {
  const { database, interference, lanes, clock } = state;
  try {
    for (const owed of database.commitNow(() => interference.decideFor(request))) lanes.owe(owed);
  } catch (error) {
    state.report(error);
  }
  if (!interference.isAwaited(request)) return undefined;
  clock.wake();
  return awaitLandings(state, request);
}

/** Waits no longer than an attempt may take: a receiver that calls back before it answers would wait for itself. */
async function awaitLandings(state: State & DispatcherNeeds, request: string): Promise<void> {
  const { interference, waiting, timeout } = state;
  const patience = afterAtMost(timeout);
  const nextLanding = () => new Promise<void>((resolve) => void waiting.add(resolve));
  while (state.running && !patience.over() && interference.isAwaited(request)) await Promise.race([nextLanding(), patience.expired]);
  patience.cancel();
}

/** A promise that resolves after real time, and that can be let go. */
function afterAtMost(milliseconds: number) {
  let over = false;
  let cancel = () => {};
  const expired = new Promise<void>((resolve) => {
    cancel = afterRealTime(milliseconds, () => {
      over = true;
      resolve();
    });
  });
  return { expired, over: () => over, cancel: () => cancel() };
}

async function replay(state: DispatcherNeeds, merchant: string, id: string): Promise<Replayed> {
  const about = state.attempts.find(merchant, id) ?? fail("resource_not_found", `No such webhook_delivery: ${id}.`);
  if (!state.deliveries.receiver(merchant, about.endpointId))
    fail("invalid_state", `The endpoint ${about.endpointId} is deleted or disabled: nothing is delivered to it.`);
  return oweAgain(state, merchant, about.eventId, about.endpointId);
}

async function oweAgain(state: DispatcherNeeds, merchant: string, eventId: string, endpoint?: string): Promise<Replayed> {
  const replays = await state.database.commit(() => state.outbox.replay(merchant, eventId, endpoint));
  if (!replays) fail("resource_not_found", `No such event: ${eventId}.`);
  state.clock.wake();
  const attempts = replays.map(({ endpoint: endpointId, number }) => ({
    id: attemptId(state.random, { merchant, endpoint: endpointId, eventId, replay: number, copy: 0 }, 1),
    endpointId,
  }));
  return { eventId, attempts };
}

function explain({ deliveries }: DispatcherNeeds, merchant: string, endpoint: string, body: string, signature: string): Explanation {
  const secrets = deliveries.secrets(merchant);
  const own = secrets.find((found) => found.endpoint === endpoint) ?? noSuchEndpoint(endpoint);
  const event = /"id"\s*:\s*"(evt_\w+)"/.exec(body)?.[1];
  const sent = event === undefined ? undefined : deliveries.bodyOf(merchant, event);
  return explainSignature({ ...own, body, signature, others: secrets.filter((other) => other !== own), sent });
}

const noSuchEndpoint = (endpoint: string) => fail("resource_not_found", `No such ${ENDPOINT_KIND}: ${endpoint}.`);

async function enable(state: DispatcherNeeds, merchant: string, endpoint: string): Promise<void> {
  const found = await state.database.commit(() => state.deliveries.enable(merchant, endpoint));
  if (!found) noSuchEndpoint(endpoint);
}

async function stop(state: State, within: number): Promise<void> {
  state.running = false;
  tellWaiting(state);
  await state.look;
  const patience = afterAtMost(within);
  await Promise.race([Promise.all([...state.flights].map(({ landed }) => landed)), patience.expired]);
  patience.cancel();
  for (const flight of [...state.flights]) abandon(state, flight);
  state.sender.close();
}

export const behaviours: Behaviour[] = [
  {
    id: "webhooks.guarantee",
    fact: "Every event reaches every endpoint that wants it at least once, in no promised order; a copy carries the same id and the same bytes.",
    why: "The document promises an id that is the same at every retry, which is what at-least-once delivery needs.",
  },
  {
    id: "webhooks.success",
    fact: "2xx within 10 seconds is success, and nothing else is; redirects are not followed; 410 disables the endpoint.",
    why: "The document does not say what a receiver answers; these are the strictest rules among comparable senders.",
    setting: "--webhook-timeout",
  },
  {
    id: "webhooks.log",
    fact: "The log keeps the newest 10,000 events, deliveries and attempts of all merchants together, and everything that is pending.",
    why: "The document does not say how long attempts stay in the log; a sandbox that runs for weeks must not grow without end.",
  },
  {
    id: "webhooks.replay",
    fact: "A replay sends the same event once more to the endpoint's present address with its present secret, and is not retried.",
    why: "The document mentions replays and does not describe them.",
  },
];
