// retry_after.unit: a client takes Retry-After as seconds, not milliseconds.

import { otherStory, type Retry, type Rule } from "./rule.ts";

/** Below this, N milliseconds cannot be distinguished from no wait at all. */
const MIN_SECONDS = 20;

/** Whether the client waited about N milliseconds where the response asked for N seconds. */
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
    const { from, to, waited, isCertain } = retry;
    const { requestedWait } = from;
    if (requestedWait?.form !== "seconds" || requestedWait.milliseconds === 0) return undefined;
    const mistaken = sleptMilliseconds(retry);
    const { milliseconds, tolerance } = requestedWait;
    if (!mistaken && milliseconds - waited > tolerance) return undefined;
    return {
      verdict: !mistaken ? "pass" : isCertain ? "fail" : "inconclusive",
      says: `${from.request} asked for a wait of ${milliseconds / 1_000} s; its retry ${to.request} came after ${Math.round(waited)} ms${mistaken && !isCertain ? otherStory(retry) : ""}.`,
      calls: [from, to],
      milliseconds: { told: milliseconds, waited: Math.round(waited) },
    };
  },
};
