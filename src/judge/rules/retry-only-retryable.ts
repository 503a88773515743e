// retry.only_retryable: a client does not repeat a rejected request unchanged.

import type { Rule } from "./rule.ts";

export const retryOnlyRetryable: Rule = {
  id: "retry.only_retryable",
  severity: "warning",
  demands: "The client does not repeat a call that got a 400, 401, 403, 404 or 422 without changing it.",
  hint: "Retry only 429, 5xx and broken connections. After any other error, correct the request, the API key or the id first.",
  onRejection(call, repeat) {
    if (!repeat) return { verdict: "pass", says: `${call.request} got a ${call.status} and was not repeated.`, calls: [call] };
    return {
      verdict: "fail",
      says: `${call.request} got a ${call.status}; ${repeat.request} repeated it unchanged.`,
      calls: [call, repeat],
      milliseconds: { waited: Math.round(repeat.arrived - call.answered) },
    };
  },
};
