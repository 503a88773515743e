// retry_after.unit: Retry-After counts seconds, and is not slept as milliseconds.

import { type Retry, type Rule, rounded } from "./rule.ts";

/** A shorter wait in milliseconds cannot be told from no wait at all. */
const LEAST_SECONDS = 20;

/** Whether the wait was N milliseconds, or hardly more, where N seconds were asked for. */
export function tookSecondsForMilliseconds({ from: { told }, waited }: Retry): boolean {
  if (told?.form !== "seconds") return false;
  const seconds = told.milliseconds / 1_000;
  return seconds >= LEAST_SECONDS && waited >= seconds - 2 && waited <= seconds * 1.5 + 15;
}

export const retryAfterUnit: Rule = {
  id: "retry_after.unit",
  severity: "error",
  demands: "Take the number in Retry-After for seconds.",
  hint: "Multiply Retry-After by 1000 before handing it to a timer that counts milliseconds.",
  retried(retry) {
    const { from, to, waited } = retry;
    const { told } = from;
    if (told?.form !== "seconds" || told.milliseconds === 0) return undefined;
    const mistaken = tookSecondsForMilliseconds(retry);
    if (!mistaken && told.milliseconds - waited > told.tolerance) return undefined;
    const seconds = told.milliseconds / 1_000;
    return {
      verdict: mistaken ? "fail" : "pass",
      says: `${from.request} asked for ${seconds} s; ${to.request} came after ${rounded(waited)} ms.`,
      calls: [from, to],
      milliseconds: { told: told.milliseconds, waited: rounded(waited) },
    };
  },
};
