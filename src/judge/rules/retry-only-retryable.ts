// retry.only_retryable: a client does not repeat a rejected request unchanged again and again.

import type { ObservedCall } from "../observed-call.ts";
import { MAX_EQUAL_REJECTIONS, type Rule } from "./rule.ts";

export const retryOnlyRetryable: Rule = {
  id: "retry.only_retryable",
  severity: "warning",
  demands: `The client does not send the same request ${MAX_EQUAL_REJECTIONS} times if it gets the same 4xx each time.`,
  hint: "Retry only 429, 5xx and broken connections. After any other error, correct the request, the API key or the id first.",
  onRejection(calls) {
    const [first, last] = [calls[0] as ObservedCall, calls.at(-1) as ObservedCall];
    if (calls.length === 1) return { verdict: "pass", says: `${first.request} got a ${first.status} and was not repeated.`, calls };
    return {
      verdict: "fail",
      says: `${first.request} got a ${first.status} and was repeated unchanged ${calls.length - 1} times, last as ${last.request}.`,
      calls,
      milliseconds: { within: Math.round(last.arrived - first.answered) },
    };
  },
};
