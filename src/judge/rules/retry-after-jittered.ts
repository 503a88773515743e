// retry_after.jittered: calls that were told to wait until the same time do not all return at that time.

import type { Returned, Rule } from "./rule.ts";

/** Most of a herd returns within this many milliseconds; the rest may be late. */
const TOGETHER = 30;
const MOST = 0.8;

export const retryAfterJittered: Rule = {
  id: "retry_after.jittered",
  severity: "warning",
  provenBy: "time",
  demands: "Calls that wait for the same Retry-After return at different times.",
  hint: "Add a random part to each wait, such as up to a tenth of it: otherwise all workers return at once and meet the limit again.",
  onReturn(sample, { before, total }) {
    const inOrder = [...sample].sort((one, other) => one.call.arrived - other.call.arrived);
    const [first, last] = [inOrder[0], inOrder[Math.ceil(MOST * inOrder.length) - 1]] as [Returned, Returned];
    const spread = last.call.arrived - first.call.arrived;
    const busy = Math.max(total, last.busy - first.busy);
    // Calls that arrive while the event loop is blocked wait for it, and so come together; lag after the first arrival spreads them.
    const verdict = spread + before <= TOGETHER ? "fail" : spread <= TOGETHER + busy ? "inconclusive" : "pass";
    return {
      verdict,
      says: `Most of ${sample.length} calls that waited for the same Retry-After returned within ${Math.round(spread)} ms${
        verdict === "inconclusive" ? `, but this machine was busy for ${Math.round(busy)} ms: they may have come together or apart` : ""
      }.`,
      calls: inOrder.map(({ call }) => call),
      milliseconds: { spread: Math.round(spread), together: TOGETHER, late: Math.round(busy) },
    };
  },
};
