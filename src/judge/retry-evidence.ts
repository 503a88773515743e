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

/** `recent` holds earlier calls to the same path. */
export function evidenceOf(before: ObservedCall, call: ObservedCall, recent: readonly ObservedCall[]): Evidence {
  const { answered } = before;
  if (startOf(call) < answered) return "parallel";
  const others = recent.filter((other) => other.request !== call.request && isSameRequest(other, before));
  if (others.some((other) => startOf(other) <= answered && other.answered >= startOf(before))) {
    const isKnown = wasClosed(before, call) || call.arrived - answered >= KNOWN_AFTER;
    return isKnown ? "unclear" : "parallel";
  }
  if (call.connection === before.connection) return "retry";
  if (call.userAgent !== before.userAgent) return "unclear";
  return !before.isWrite && isOtherReader(before, call, others) ? "unclear" : "retry";
}

/** Whether the client closed the connection between the response and the call, so it had read the response. */
const wasClosed = ({ connection: { closed }, answered }: ObservedCall, call: ObservedCall) =>
  closed !== undefined && closed >= answered && closed <= startOf(call);

/**
 * Whether a second program may have sent this read: the same read came before on the connection of the call, or on a
 * third connection. Without such calls it is a retry, also on another connection: a client with a pool may take any of
 * its connections.
 */
const isOtherReader = (before: ObservedCall, call: ObservedCall, others: readonly ObservedCall[]) =>
  others.some(
    ({ connection, answered }) =>
      connection === call.connection || (connection !== before.connection && answered < startOf(before)),
  );
