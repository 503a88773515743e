// retry_after.honoured: nobody comes back before the time that Retry-After named.

import { tookSecondsForMilliseconds } from "./retry-after-unit.ts";
import { type Retry, type Rule, rounded } from "./rule.ts";

export const retryAfterHonoured: Rule = {
  id: "retry_after.honoured",
  severity: "error",
  demands: "After an answer with Retry-After, wait at least that long before the same call again.",
  hint: "Read Retry-After from every 429 and 503 (seconds, or an HTTP date) and sleep for that time before the retry; add jitter on top, never below.",
  retried(retry) {
    const { from, to, waited } = retry;
    const { told } = from;
    if (told === undefined || told.milliseconds === 0 || tookSecondsForMilliseconds(retry)) return undefined;
    const early = told.milliseconds - waited > told.tolerance;
    return {
      verdict: early ? "fail" : "pass",
      says: `${from.request} was answered ${from.status} with ${named(retry)}; ${to.request} came after ${rounded(waited)} ms.`,
      calls: [from, to],
      milliseconds: { told: told.milliseconds, waited: rounded(waited), tolerance: told.tolerance },
    };
  },
};

const named = ({ from: { told } }: Retry) =>
  told?.form === "date"
    ? `a Retry-After date ${told.milliseconds} ms ahead`
    : `Retry-After: ${(told?.milliseconds ?? 0) / 1_000} (${told?.milliseconds} ms)`;
