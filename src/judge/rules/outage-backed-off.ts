// outage.backed_off: a client sends fewer calls while every call fails.

import type { ObservedCall } from "../observed-call.ts";
import type { Rule } from "./rule.ts";

export const outageBackedOff: Rule = {
  id: "outage.backed_off",
  severity: "warning",
  provenBy: "time",
  demands: "While every call fails with a 5xx or a broken connection, each worker of the client sends at most 20 calls per second.",
  hint: "Wait longer after each failure, or use a circuit breaker: after some failures in a row, send nothing for some seconds, then one call to try.",
  onOutage(failed, limit) {
    const [first, last] = [failed[0] as ObservedCall, failed.at(-1) as ObservedCall];
    return {
      verdict: "fail",
      says: `All ${failed.length} calls from ${first.request} to ${last.request} failed within a second; the client may send ${limit}.`,
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
