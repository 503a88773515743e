// retry_after.honoured: a client does not retry before the time that Retry-After names.

import { sleptMilliseconds } from "./retry-after-unit.ts";
import { otherStory, type Retry, type Rule } from "./rule.ts";

export const retryAfterHonoured: Rule = {
  id: "retry_after.honoured",
  severity: "error",
  demands: "The client waits at least as long as Retry-After says.",
  hint: "Read Retry-After (seconds or an HTTP date) from every 429 and 503, and sleep for that long before the retry. Jitter may make the pause longer, never shorter.",
  onRetry(retry) {
    const { from, to, waited, isCertain } = retry;
    const { requestedWait } = from;
    if (requestedWait === undefined || requestedWait.milliseconds === 0 || sleptMilliseconds(retry)) return undefined;
    const { milliseconds, tolerance } = requestedWait;
    const isEarly = milliseconds - waited > tolerance;
    return {
      verdict: !isEarly ? "pass" : isCertain ? "fail" : "inconclusive",
      says: `${from.request} got a ${from.status} with ${describeWait(retry)}; its retry ${to.request} came after ${Math.round(waited)} ms${isEarly && !isCertain ? otherStory(retry) : ""}.`,
      calls: [from, to],
      milliseconds: { told: milliseconds, waited: Math.round(waited), tolerance },
    };
  },
};

const describeWait = ({ from: { requestedWait } }: Retry) =>
  requestedWait?.form === "date"
    ? `a Retry-After date ${requestedWait.milliseconds} ms ahead`
    : `Retry-After: ${(requestedWait?.milliseconds ?? 0) / 1_000} (${requestedWait?.milliseconds} ms)`;
