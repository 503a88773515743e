// Rules on waiting: after Retry-After, a rate limit or an outage.

import type { ObservedCall } from "../observed-call.ts";
import { judgeRetry, type Retry, type Returned, type Rule } from "./rule.ts";

export const retryAfterHonoured: Rule = {
  id: "retry_after.honoured",
  severity: "error",
  demands: "The client waits at least as long as Retry-After says.",
  hint: "Read Retry-After (seconds or an HTTP date) from every 429 and 503, and sleep for that long before the retry. Jitter may make the pause longer, never shorter.",
  onRetry(retry) {
    const { from, to, waited } = retry;
    const { requestedWait } = from;
    if (requestedWait === undefined || requestedWait.milliseconds === 0 || sleptMilliseconds(retry)) return undefined;
    const { milliseconds, tolerance } = requestedWait;
    const isEarly = milliseconds - waited > tolerance;
    const says = `${from.request} got a ${from.status} with ${describeWait(retry)}; its retry ${to.request} came after ${Math.round(waited)} ms`;
    return {
      ...judgeRetry(retry, !isEarly, says),
      calls: [from, to],
      milliseconds: { requested: milliseconds, waited: Math.round(waited), tolerance },
    };
  },
};

const describeWait = ({ from: { requestedWait } }: Retry) =>
  requestedWait?.form === "date"
    ? `a Retry-After date ${requestedWait.milliseconds} ms ahead`
    : `Retry-After: ${(requestedWait?.milliseconds ?? 0) / 1_000} (${requestedWait?.milliseconds} ms)`;

/** For a shorter Retry-After of N seconds, a wait of N milliseconds cannot be distinguished from no wait. */
const MIN_SECONDS = 20;

/** Whether the client waited about N milliseconds when the response asked for N seconds. */
export function sleptMilliseconds({ from: { requestedWait }, waited }: Retry): boolean {
  if (requestedWait?.form !== "seconds") return false;
  const seconds = requestedWait.milliseconds / 1_000;
  return seconds >= MIN_SECONDS && waited >= seconds - 2 && waited <= seconds * 1.5 + 15;
}

export const retryAfterUnit: Rule = {
  id: "retry_after.unit",
  severity: "error",
  demands: "The client reads the number in Retry-After as seconds.",
  hint: "Multiply Retry-After by 1000 before you pass it to a timer that expects milliseconds.",
  onRetry(retry) {
    const { from, to, waited } = retry;
    const { requestedWait } = from;
    if (requestedWait?.form !== "seconds" || requestedWait.milliseconds === 0) return undefined;
    const mistaken = sleptMilliseconds(retry);
    const { milliseconds, tolerance } = requestedWait;
    if (!mistaken && milliseconds - waited > tolerance) return undefined;
    const says = `${from.request} asked for a wait of ${milliseconds / 1_000} s; its retry ${to.request} came after ${Math.round(waited)} ms`;
    return {
      ...judgeRetry(retry, !mistaken, says),
      calls: [from, to],
      milliseconds: { requested: milliseconds, waited: Math.round(waited) },
    };
  },
};

/** The retries form a herd if most of them arrive within this many milliseconds. */
const TOGETHER = 30;
const MOST = 0.8;
/**
 * From this share on, busy time may have been all the time: waits for a processor that other programs use count as
 * idle.
 */
const MOSTLY_BUSY = 0.75;

export const retryAfterJittered: Rule = {
  id: "retry_after.jittered",
  severity: "warning",
  confirmedBy: "time",
  demands: "Calls that wait for the same Retry-After are retried at different times.",
  hint: "Add a random part to each wait, such as up to a tenth of it: otherwise all workers retry at once and meet the limit again.",
  onReturn(sample, { before, total }) {
    const inOrder = [...sample].sort((one, other) => one.call.arrived - other.call.arrived);
    const [first, last] = [inOrder[0], inOrder[Math.ceil(MOST * inOrder.length) - 1]] as [Returned, Returned];
    const spread = last.call.arrived - first.call.arrived;
    const busy = Math.max(total, last.busy - first.busy);
    // Lag before the first arrival makes calls arrive together, because they wait for the event loop. Later lag spreads
    // them.
    const verdict =
      spread + before <= TOGETHER
        ? "fail"
        : spread <= Math.max(TOGETHER + busy, busy / MOSTLY_BUSY)
          ? "inconclusive"
          : "pass";
    return {
      verdict,
      says: `Most of ${sample.length} calls that waited for the same Retry-After were retried within ${Math.round(spread)} ms${
        verdict === "inconclusive"
          ? `, but this machine was busy for ${Math.round(busy)} ms: they may have come together or apart`
          : verdict === "fail"
            ? `; up to ${TOGETHER} ms counts as the same time`
            : ""
      }.`,
      calls: inOrder.map(({ call }) => call),
      milliseconds: { spread: Math.round(spread), together: TOGETHER, late: Math.round(busy) },
    };
  },
};

export const rateLimitRespected: Rule = {
  id: "rate_limit.respected",
  severity: "error",
  demands:
    "After a 429, the client stops calling the path until the wait that Retry-After asks for is over, whatever the query.",
  hint: "Share one limiter among all calls with the same API key, and pause it for as long as Retry-After says.",
  onCallsWhileLimited(limited, after) {
    return {
      verdict: "fail",
      says: `${limited.request} got a ${limited.status} with a wait of ${limited.requestedWait?.milliseconds} ms; meanwhile the client sent ${after.length} other calls to ${limited.path}.`,
      calls: [limited, ...after],
      milliseconds: { requested: limited.requestedWait?.milliseconds ?? 0 },
    };
  },
  onLimitRespected(limited, after, back) {
    const wait = limited.requestedWait?.milliseconds ?? 0;
    const meanwhile = after.length === 0 ? "no call" : `${after.length} call${after.length === 1 ? "" : "s"}`;
    const reason = after.length === 0 ? "" : ", at most one per worker, which may not have known of the limit";
    return {
      verdict: "pass",
      says: `${limited.request} got a ${limited.status} with a wait of ${wait} ms; until ${back.request} the client sent ${meanwhile} to ${limited.path}${reason}.`,
      calls: [limited, ...after, back],
      milliseconds: { requested: wait },
    };
  },
};

/** Judges the total of calls; retry.backoff_grows judges the retries of one call. */
export const outageBackedOff: Rule = {
  id: "outage.backed_off",
  severity: "warning",
  confirmedBy: "time",
  demands:
    "While every call fails with a 5xx or a broken connection, each worker of the client sends at most 20 calls per second.",
  hint: "Wait longer after each failure, or use a circuit breaker: after some failures in a row, send nothing for some seconds, then one call to try.",
  onOutage(failed, limit) {
    const [first, last] = [failed[0] as ObservedCall, failed.at(-1) as ObservedCall];
    return {
      verdict: "fail",
      says: `All ${failed.length} calls from ${first.request} to ${last.request} failed within a second; the limit is ${limit} calls per second.`,
      calls: failed,
      milliseconds: { within: Math.round(last.arrived - first.arrived) },
    };
  },
  onOutageOver({ first, calls, most }, back) {
    return {
      verdict: "pass",
      says: `${calls} calls in a row failed from ${first.request} on, at most ${most} within a second; ${back.request} succeeded.`,
      calls: [first, back],
      milliseconds: { within: Math.round(back.arrived - first.arrived) },
    };
  },
};
