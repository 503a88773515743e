// One lane for each endpoint that is owed something: what keeps a slow endpoint's deliveries from standing in another's way.

import type { Deliveries, PendingEndpoint } from "../store/webhooks/deliveries.ts";

export interface Lane {
  readonly merchant: string;
  readonly endpoint: string;
  /** When the soonest of what waits is due; null when nothing waits. Never later than the truth. */
  due: number | null;
  inFlight: number;
  /** Whether the receiver's last word was an answer, of whatever status. */
  answers: boolean;
}

export interface Lanes {
  /** Reads what is owed anew. */
  load(): void;
  /** When the soonest delivery that could be begun is due; null when none could. */
  soonest(): number | null;
  /** The lanes with something due and room for it, the one that was served longest ago first. */
  ready(now: number): Lane[];
  room(lane: Lane): number;
  /** Something that an endpoint is owed is due sooner than its lane knows. */
  owe(owed: PendingEndpoint): void;
  /** An attempt of the lane takes up room in it. */
  took(lane: Lane): void;
  /** What could be begun of the lane is: what is still owed to it is looked up again, and the others come first. */
  served(lane: Lane): void;
  /** An attempt of the lane is over, or was not made: there is room for another. */
  freed(lane: Lane, answered: boolean): void;
  /** What came of the attempt is recorded; `due` is when its delivery is tried again, if it is. */
  recorded(lane: Lane, due: number | null): void;
}

/** An endpoint has to answer before it is sent more than one at a time: a dead one then holds one connection, not many. */
const AT_FIRST = 1;
const AT_MOST = 64;

const nameOf = ({ merchant, endpoint }: { merchant: string; endpoint: string }) => `${merchant} ${endpoint}`;
const room = ({ inFlight, answers }: Lane) => (answers ? AT_MOST : AT_FIRST) - inFlight;
/** When the lane can begin something: never as long as it is full. */
const canBegin = (lane: Lane) => (lane.due !== null && room(lane) > 0 ? lane.due : Infinity);

export function createLanes(deliveries: Deliveries): Lanes {
  const lanes = new Map<string, Lane>();
  let newest = 0;
  // Only the lane itself: one that was let go may have a successor of its name, which is owed something.
  const settle = (lane: Lane) => {
    if (lane.due === null && lane.inFlight === 0 && lanes.get(nameOf(lane)) === lane) lanes.delete(nameOf(lane));
  };
  // Deliveries are written by whoever emits an event; each look begins with those that came since the last one.
  const notice = () => {
    const added = deliveries.pendingEndpointsSince(newest);
    newest = added.newest;
    for (const owed of added.endpoints) owe(lanes, owed);
  };
  return {
    room,
    owe: (owed) => owe(lanes, owed),
    load() {
      const backlog = deliveries.pendingEndpoints();
      for (const lane of lanes.values()) lane.due = null;
      newest = backlog.newest;
      for (const owed of backlog.endpoints) owe(lanes, owed);
      for (const lane of lanes.values()) settle(lane);
    },
    soonest() {
      notice();
      let soonest = Infinity;
      for (const lane of lanes.values()) soonest = Math.min(soonest, canBegin(lane));
      return soonest === Infinity ? null : soonest;
    },
    ready(now) {
      notice();
      return [...lanes.values()].filter((lane) => canBegin(lane) <= now);
    },
    took(lane) {
      lane.inFlight++;
    },
    served(lane) {
      lane.due = deliveries.soonest(lane.merchant, lane.endpoint);
      lanes.delete(nameOf(lane));
      lanes.set(nameOf(lane), lane);
      settle(lane);
    },
    freed(lane, answered) {
      lane.inFlight--;
      lane.answers = answered;
    },
    recorded(lane, due) {
      if (due !== null) owe(lanes, { ...lane, due });
      settle(lane);
    },
  };
}

/** `answers` is kept of a lane that was let go a moment before. */
function owe(lanes: Map<string, Lane>, { merchant, endpoint, due, answers = false }: PendingEndpoint & { answers?: boolean }): void {
  const name = nameOf({ merchant, endpoint });
  const lane = lanes.get(name) ?? { merchant, endpoint, due: null, inFlight: 0, answers };
  lane.due = Math.min(lane.due ?? due, due);
  lanes.set(name, lane);
}
