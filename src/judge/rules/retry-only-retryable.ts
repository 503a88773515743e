// retry.only_retryable: what was refused for what it is, is not sent again as it is.

import type { Rule } from "./rule.ts";

export const retryOnlyRetryable: Rule = {
  id: "retry.only_retryable",
  severity: "warning",
  demands: "Never repeat a call that was answered 400, 401, 403, 404 or 422 without changing it.",
  hint: "Retry 429, 5xx and broken connections only. The other answers say what must be mended first: the request, the key or the id.",
  refused(call, repeat) {
    if (!repeat) return { verdict: "pass", says: `${call.request} was answered ${call.status}, and was not repeated.`, calls: [call] };
    return {
      verdict: "fail",
      says: `${call.request} was answered ${call.status}; ${repeat.request} sent the very same again.`,
      calls: [call, repeat],
      milliseconds: { waited: Math.round(repeat.arrived - call.answered) },
    };
  },
};
