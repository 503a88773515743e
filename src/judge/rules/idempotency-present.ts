// idempotency.present: a write that the client retries carries an Idempotency-Key from its first try on.

import { firstCall, otherStory, type Rule } from "./rule.ts";

/** Without an effect, this many tries show that further calls are retries and not new orders. */
const MAX_TRIES = 3;

export const idempotencyPresent: Rule = {
  id: "idempotency.present",
  severity: "error",
  demands: "The client sends Idempotency-Key with every POST and PATCH that it may retry.",
  hint: "Create one key (a UUID) per user action before the first try, and send it with every try.",
  onRetry(retry) {
    const { chain, to, isCertain } = retry;
    const call = firstCall(chain);
    if (!call.isWrite || !call.acceptsKey) return undefined;
    const says = (how: string) => `${call.request} was sent ${how} Idempotency-Key and retried as ${to.request}`;
    if (call.key !== undefined) return { verdict: "pass", says: `${says("with")}.`, calls: [call, to] };
    const tried = chain.calls.slice(0, -1);
    // A 429 says that nothing happened, so a retry without a key is safe.
    if (tried.every(({ failure }) => failure === "rate_limited")) return undefined;
    const isProven = isCertain && (tried.some(({ tookEffect }) => tookEffect) || tried.length >= MAX_TRIES);
    return isProven
      ? { verdict: "fail", says: `${says("without")}.`, calls: [call, to] }
      : { verdict: "inconclusive", isOpen: true, says: `${says("without")}${otherStory(retry)}.`, calls: [call, to] };
  },
};
