// Rules on Idempotency-Keys and on the effects of calls.

import { firstCall, judgeRetry, otherStory, type Rule } from "./rule.ts";

/** After this many equal calls that took no effect, further calls count as retries and not as new orders. */
const MAX_TRIES = 3;

export const idempotencyPresent: Rule = {
  id: "idempotency.present",
  severity: "error",
  demands:
    "The client sends an Idempotency-Key with every POST and PATCH that accepts one and that it may retry. A retry " +
    "after a 429 needs no key.",
  hint: "Create one key (a UUID) per user action before the first try, and send it with every try.",
  onRetry(retry) {
    const { chain, to, isCertain } = retry;
    const call = firstCall(chain);
    if (!call.isWrite || !call.acceptsKey) return undefined;
    const says = (how: string) => `${call.request} was sent ${how} Idempotency-Key and retried as ${to.request}`;
    // If the retry drops the key, the rule idempotency.key_reused reports that.
    if (call.key !== undefined)
      return to.key === undefined ? undefined : { verdict: "pass", message: `${says("with")}.`, calls: [call, to] };
    const tried = chain.calls.slice(0, -1);
    if (tried.every(({ failure }) => failure === "rate_limited"))
      return {
        verdict: "pass",
        isOpen: true,
        message: `${says("without")}, which is safe: a 429 means that nothing happened.`,
        calls: [call, to],
      };
    const isProven = isCertain && (tried.some(({ tookEffect }) => tookEffect) || tried.length >= MAX_TRIES);
    return isProven
      ? { verdict: "fail", message: `${says("without")}.`, calls: [call, to] }
      : {
          verdict: "inconclusive",
          isOpen: true,
          message: `${says("without")}${otherStory(retry)}.`,
          calls: [call, to],
        };
  },
};

export const idempotencyBodyStable: Rule = {
  id: "idempotency.body_stable",
  severity: "error",
  demands: "The client retries a write with the body of its first try.",
  hint: "Build the body once, outside the retry loop, without new timestamps, counters or random values in each try.",
  onRetry({ from, to }) {
    if (!from.isWrite || from.key === undefined || to.key !== from.key || !from.hasBody || !to.hasBody)
      return undefined;
    const same = from.fingerprint() === to.fingerprint();
    return {
      verdict: same ? "pass" : "fail",
      message:
        `${to.request} retried ${from.request} under the same Idempotency-Key with ` +
        `${same ? "the same" : "a different"} body.`,
      calls: [from, to],
    };
  },
};

export const idempotencyKeyReused: Rule = {
  id: "idempotency.key_reused",
  severity: "error",
  demands: "The client retries a write under the Idempotency-Key of its first try.",
  hint:
    "Create the key outside the retry loop: with a new key for each try, the service treats each try as a new " +
    "operation.",
  onRetry(retry) {
    const { from, to, isCertain } = retry;
    if (!from.isWrite || !from.acceptsKey || from.key === undefined) return undefined;
    const same = to.key === from.key;
    const how = to.key === undefined ? "without a key" : `under ${same ? "the same" : "another"} Idempotency-Key`;
    return {
      ...judgeRetry(retry, same, `${to.request} retried ${from.request} ${how}`),
      isOpen: !same && !isCertain,
      calls: [from, to],
    };
  },
};

export const effectSingle: Rule = {
  id: "effect.single",
  severity: "error",
  confirmedBy: "database",
  demands: "Each write takes effect once, however often the client sends it.",
  hint:
    "Retry under the same Idempotency-Key. Where an operation accepts no key, such as those under /webhooks, list " +
    "the existing records before you retry.",
  onRetry(retry) {
    const { chain, to, isCertain } = retry;
    const done = chain.calls.find((call) => call !== to && call.tookEffect);
    if (!done || (to.failure !== undefined && !to.tookEffect)) return undefined;
    const again = to.tookEffect ? "took effect again" : "changed nothing";
    const message = `${done.request} took effect, but its response was lost; ${to.request} retried it and ${again}`;
    return {
      ...judgeRetry(retry, !to.tookEffect, message),
      isOpen: to.tookEffect && !isCertain,
      calls: [done, to],
    };
  },
};
