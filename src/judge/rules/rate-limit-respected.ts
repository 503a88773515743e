// rate_limit.respected: a client that is rate-limited does not go on with other calls to the same path, such as with another query.

import type { Rule } from "./rule.ts";

export const rateLimitRespected: Rule = {
  id: "rate_limit.respected",
  severity: "error",
  demands: "After a 429, the client stops calling the path until the wait that Retry-After asks for is over, whatever the query.",
  hint: "Share one limiter among all calls with the same API key, and pause it for as long as Retry-After says.",
  onCallsWhileLimited(limited, after) {
    return {
      verdict: "fail",
      says: `${limited.request} got a ${limited.status} with a wait of ${limited.requestedWait?.milliseconds} ms; meanwhile the client sent ${after.length} other calls to ${limited.path}.`,
      calls: [limited, ...after],
      milliseconds: { told: limited.requestedWait?.milliseconds ?? 0 },
    };
  },
  onLimitRespected(limited, after, back) {
    const wait = limited.requestedWait?.milliseconds ?? 0;
    const meanwhile = after.length === 0 ? "no call" : `${after.length} call${after.length === 1 ? "" : "s"}`;
    return {
      verdict: "pass",
      says: `${limited.request} got a ${limited.status} with a wait of ${wait} ms; until ${back.request} the client sent ${meanwhile} to ${limited.path}.`,
      calls: [limited, ...after, back],
      milliseconds: { told: wait },
    };
  },
};
