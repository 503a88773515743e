// Decides whether a call can be the retry of an earlier equal call: by connections and earlier calls first, by time
// only last.

import { isSameRequest, type ObservedCall } from "./observed-call.ts";

/**
 * `parallel`: sent before the client could know the first response. `unclear`: another worker or program may have sent
 * it.
 */
export type Evidence = "retry" | "unclear" | "parallel";

/**
 * If equal calls run in parallel, a call within this many milliseconds of a response may have been sent before the
 * client read it.
 */
const KNOWN_AFTER = 250;

/** The earliest time at which the call was certainly in flight. A client opens a connection for its first call. */
export const startOf = ({ connection, isFirst, arrived }: ObservedCall) => (isFirst ? connection.opened : arrived);

/**
 * `recent` returns earlier calls to the same path, oldest first; `lag` returns the event loop lag between two times.
 */
export function evidenceOf(
  before: ObservedCall,
  call: ObservedCall,
  recent: readonly ObservedCall[],
  lag: (from: number, to: number) => number,
): Evidence {
  const { answered } = before;
  if (startOf(call) < answered) return "parallel";
  const others = recent.filter((other) => other.request !== call.request && isSameRequest(other, before));
  if (others.some((other) => startOf(other) <= answered && other.answered >= startOf(before))) {
    const isKnown = wasClosed(before, call) || call.arrived - answered >= KNOWN_AFTER + lag(answered, call.arrived);
    return isKnown ? "unclear" : "parallel";
  }
  if (call.connection === before.connection) return "retry";
  if (call.userAgent !== before.userAgent) return "unclear";
  return !before.isWrite && isOtherPoller(before, call, others) ? "unclear" : "retry";
}

/** Whether the client closed the connection between the response and the call, so it had read the response. */
const wasClosed = ({ connection: { closed }, answered }: ObservedCall, call: ObservedCall) =>
  closed !== undefined && closed >= answered && closed <= startOf(call);

/**
 * A busy machine lengthens the gaps between polls: a call is in their rhythm from this share of the shortest gap on.
 */
const RHYTHM = 1 / 8;

/**
 * Whether a read may come from a second program that polls: on a connection that carried the same read before, or in
 * the rhythm of earlier polls. Without such polls it is a retry, also on another connection: a client with a pool may
 * take any of its connections.
 */
function isOtherPoller(before: ObservedCall, call: ObservedCall, others: readonly ObservedCall[]): boolean {
  if (others.some(({ connection }) => connection === call.connection)) return true;
  const earlier = others.filter((other) => other.answered < startOf(before) && other.connection !== before.connection);
  if (earlier.length === 0) return false;
  const gaps = [...earlier.slice(1), before].map(
    (next, index) => next.arrived - (earlier[index] as ObservedCall).answered,
  );
  return call.arrived - before.answered >= RHYTHM * Math.min(...gaps);
}
