// Decides whether a call can be the retry of an earlier equal call. Connections and earlier calls decide first, and
// time only if they do not.

import { isSameRequest, type ObservedCall } from "./observed-call.ts";

/**
 * `parallel`: the call was sent before the client could know the first response. `unclear`: another worker or program
 * may have sent the call.
 */
export type Evidence = "retry" | "unclear" | "parallel";

/**
 * If equal calls run in parallel, a call within this many milliseconds of a response may have been sent before the
 * client read it.
 */
const KNOWN_AFTER = 250;

/** When the call began. The first call on a connection began when the client opened the connection. */
export const startOf = ({ connection, isFirst, arrived }: ObservedCall) => (isFirst ? connection.opened : arrived);

/** `recent` has the merchant's recent calls to the same address. */
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

/**
 * Whether the client closed the connection after the response and before the call, so that it had read the response.
 */
const wasClosed = ({ connection: { closed }, answered }: ObservedCall, call: ObservedCall) =>
  closed !== undefined && closed >= answered && closed <= startOf(call);

/**
 * Whether a second program may have sent `call`: the same read came on the connection of `call` too, or was answered on
 * a third connection before `before` began. Without such a read, the call is a retry even on another connection: a
 * client with a pool may take any of its connections.
 */
const isOtherReader = (before: ObservedCall, call: ObservedCall, others: readonly ObservedCall[]) =>
  others.some(
    ({ connection, answered }) =>
      connection === call.connection || (connection !== before.connection && answered < startOf(before)),
  );
