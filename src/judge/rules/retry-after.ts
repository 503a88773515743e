// Rules on waiting as long as Retry-After says.

import { judgeRetry, type Retry, type Rule } from "./rule.ts";

export const retryAfterHonoured: Rule = {
  id: "retry_after.honoured",
  severity: "error",
  demands: "The client waits at least as long as Retry-After says.",
  hint:
    "Read Retry-After (seconds or an HTTP date) from every 429 and 503, and sleep for that long before the retry. " +
    "Jitter may make the pause longer, never shorter.",
  onRetry(retry) {
    const { from, to, waited } = retry;
    const { requestedWait } = from;
    if (requestedWait === undefined || requestedWait.milliseconds === 0 || sleptMilliseconds(retry)) return undefined;
    const { milliseconds, tolerance } = requestedWait;
    const isEarly = milliseconds - waited > tolerance;
    const message =
      `${from.request} got a ${from.status} with ${describeWait(retry)}; its retry ${to.request} came after ` +
      `${Math.round(waited)} ms`;
    return {
      ...judgeRetry(retry, !isEarly, message),
      calls: [from, to],
      milliseconds: { requested: milliseconds, waited: Math.round(waited), tolerance },
    };
  },
};

const describeWait = ({ from: { requestedWait } }: Retry) =>
  requestedWait?.form === "date"
    ? `a Retry-After date ${requestedWait.milliseconds} ms ahead`
    : `Retry-After: ${(requestedWait?.milliseconds ?? 0) / 1_000} (${requestedWait?.milliseconds} ms)`;

/** With a shorter Retry-After of N seconds, a wait of N milliseconds cannot be distinguished from no wait. */
const MIN_SECONDS = 20;

/** Whether the client waited about N milliseconds when the response asked for N seconds. */
function sleptMilliseconds({ from: { requestedWait }, waited }: Retry): boolean {
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
    const message =
      `${from.request} asked for a wait of ${milliseconds / 1_000} s; its retry ${to.request} came after ` +
      `${Math.round(waited)} ms`;
    return {
      ...judgeRetry(retry, !mistaken, message),
      calls: [from, to],
      milliseconds: { requested: milliseconds, waited: Math.round(waited) },
    };
  },
};
