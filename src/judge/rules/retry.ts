// Rules on retries: whether a client sends a call again, how often, and after which pauses.

import { arrivalOf, type ObservedCall, responseOf, waitBetween } from "../observed-call.ts";
import { type Finding, firstCall, MAX_EQUAL_REJECTIONS, type RetryChain, type Rule } from "./rule.ts";

/**
 * Whether a client should retry. Writes without an Idempotency-Key cannot be retried safely, and abandoned calls need
 * no retry.
 */
const needsRetry = (chain: RetryChain) => {
  const { failure, isWrite, acceptsKey, key } = firstCall(chain);
  return failure !== "abandoned" && (!isWrite || (acceptsKey && key !== undefined));
};

function failed(chain: RetryChain): string {
  const { request, failure, status } = firstCall(chain);
  if (failure === "rate_limited" || failure === "unavailable") return `${request} got a ${status}`;
  if (failure === "lost") return `${request} lost its response`;
  return `${request} ${failure === "abandoned" ? "was abandoned" : "failed"}`;
}

/** An inconclusive finding: an equal call may be the retry, or come from another worker or program with the API key. */
const unclear = (chain: RetryChain): Finding => ({
  verdict: "inconclusive",
  message:
    `${failed(chain)}; ${chain.lookalikes[0]?.request} may be its retry, or an equal call of another worker with the ` +
    "same API key.",
  calls: [...chain.calls, ...chain.lookalikes],
  isOpen: true,
});

export const retryHappened: Rule = {
  id: "retry.happened",
  severity: "warning",
  demands:
    "The client retries a call that got a 408, 429, 500, 502, 503 or 504, or a 409 for an Idempotency-Key still in " +
    "use, and a call whose connection broke.",
  hint:
    "Retry such calls a few times before you report a failure. A write can only be retried with its " +
    "Idempotency-Key.",
  onRetry({ chain, from, to, isCertain }) {
    if (from !== firstCall(chain) || from.failure === "abandoned") return undefined;
    // Without a key, an equal write may be another order, unless the first one took effect.
    if (!needsRetry(chain) && !(isCertain && from.tookEffect)) return undefined;
    return { verdict: "pass", message: `${failed(chain)} and was retried as ${to.request}.`, calls: [from, to] };
  },
  onChainEnd(chain, gaveUp) {
    if (!needsRetry(chain) || !gaveUp || chain.calls.length > 1) return undefined;
    if (chain.lookalikes.length > 0) return unclear(chain);
    return {
      verdict: "fail",
      isOpen: true,
      message: `${failed(chain)} and was not retried in time.`,
      calls: chain.calls,
    };
  },
  whilePending(chain, waited) {
    if (!needsRetry(chain) || chain.calls.length > 1) return undefined;
    if (chain.lookalikes.length > 0) return unclear(chain);
    return {
      verdict: "inconclusive",
      isOpen: true,
      message:
        `${failed(chain)}, and in the ${Math.round(waited)} ms since then no call from the client shows whether it ` +
        "retries.",
      calls: chain.calls,
      milliseconds: { since: Math.round(waited) },
    };
  },
};

/**
 * With pauses that double from half a second, the tenth try comes after more than four minutes. By then, the user has
 * stopped waiting.
 */
const MAX_CALLS = 10;

const tries = (calls: readonly ObservedCall[]) =>
  `${calls[0]?.request} was sent ${calls.length} times; the limit is ${MAX_CALLS}.`;

/** If pauses double with a jitter of 50 %, each differs from the previous one by less than this factor. */
const JUMP = 6;
/** A client that backs off waits at least this many times as long before its last try as before its second. */
const BACKED_OFF = 2.5;

/**
 * Whether a new call may begin after the pause at this index, because the client gave up the previous one or because
 * another caller begins. The signs are a pause that is much longer or shorter than the one before, or pauses that have
 * grown since `start` and then fall back.
 */
function mayEnd(pauses: readonly number[], start: number, at: number): boolean {
  if (at === 0) return false;
  const pauseAt = (index: number) => pauses[index] ?? Infinity;
  const [last, pause] = [pauseAt(at - 1), pauseAt(at)];
  const longer = Math.max(last, pause);
  if (longer >= MIN_PAUSE && longer >= JUMP * Math.min(last, pause)) return true;
  const hasBackedOff = at > start && last >= BACKED_OFF * Math.max(pauseAt(start), MIN_PAUSE);
  return hasBackedOff && last >= BACKED_OFF * Math.min(pause, pauseAt(at + 1));
}

/**
 * A client that waits for each response keeps its connection. It returns to an earlier connection at most this often.
 */
const MAX_RETURNS = 1;

/** Whether the calls alternate between connections, like the calls of several callers. */
function alternate(calls: readonly ObservedCall[]): boolean {
  const numbers = calls.map(({ connection }) => connection.number);
  const returns = numbers.filter((number, at) => number !== numbers[at - 1] && numbers.indexOf(number) < at);
  return returns.length > MAX_RETURNS;
}

/**
 * The newest calls that are certainly tries of one call: all calls if they share a key, otherwise the calls since the
 * last pause at which a new call may begin. Empty if these calls alternate between connections.
 */
function triesOfOneCall(calls: readonly ObservedCall[]): readonly ObservedCall[] {
  const [first, ...retries] = calls as [ObservedCall, ...ObservedCall[]];
  if (first.key !== undefined && retries.every(({ key }) => key === first.key)) return calls;
  const pauses = retries.map((call, index) => waitBetween(responseOf(calls[index] as ObservedCall), arrivalOf(call)));
  let start = 0;
  for (const at of pauses.keys()) if (mayEnd(pauses, start, at)) start = at + 1;
  const since = calls.slice(start);
  return alternate(since) ? [] : since;
}

/**
 * Equal calls without a key may be tries of one call, or several calls that the client gave up after some tries each.
 * The rule fails if all calls have the same Idempotency-Key, or if the pauses between 11 calls look like one loop:
 * constant, growing, or random within narrow limits. It is inconclusive if a new call may begin among them, if the
 * calls alternate between connections, or if another caller sent the same call in the meantime.
 */
export const retryBounded: Rule = {
  id: "retry.bounded",
  severity: "error",
  demands: `The client sends a call at most ${MAX_CALLS} times.`,
  hint: "Limit the number of tries or set a deadline, and report the failure to the caller once it is reached.",
  onRetry({ chain }) {
    const { isShared = false, calls } = chain;
    if (calls.length <= MAX_CALLS) return undefined;
    const proven = triesOfOneCall(calls);
    if (!isShared && proven.length === MAX_CALLS + 1) return { verdict: "fail", message: tries(proven), calls: proven };
    if (calls.length > MAX_CALLS + 1) return undefined;
    const doubt =
      isShared || alternate(calls)
        ? "Several callers may share the API key and make this call."
        : "The pauses do not fit one loop: the client may have given up in between and made the call again.";
    return { verdict: "inconclusive", message: `${tries(calls)} ${doubt}`, calls, isOpen: !isShared };
  },
  onChainEnd({ calls }) {
    if (calls.length === 1 || calls.length > MAX_CALLS) return undefined;
    return { verdict: "pass", message: tries(calls), calls: [calls[0] as ObservedCall, ...calls.slice(-1)] };
  },
};

export const retryOnlyRetryable: Rule = {
  id: "retry.only_retryable",
  severity: "warning",
  demands: `The client does not send the same request ${MAX_EQUAL_REJECTIONS} times if it gets the same 4xx each time.`,
  hint:
    "Retry only 408, 429, 500, 502, 503, 504, broken connections, and a 409 for an Idempotency-Key still in use. " +
    "After any other error, correct the request, the API key or the id first.",
  onRejection(calls) {
    const [first, last] = [calls[0] as ObservedCall, calls.at(-1) as ObservedCall];
    if (calls.length === 1)
      return { verdict: "pass", message: `${first.request} got a ${first.status} and was not repeated.`, calls };
    return {
      verdict: "fail",
      message:
        `${first.request} got a ${first.status} and was repeated unchanged ${calls.length - 1} times, last as ` +
        `${last.request}.`,
      calls,
      milliseconds: { within: Math.round(last.arrived - first.answered) },
    };
  },
};

/**
 * Pauses are equal if the longest is at most `within` times the shortest. A pause shorter than `noise` milliseconds
 * counts as `noise`. Two pauses prove nothing. A client with full jitter can draw equal pauses by chance; with these
 * limits, that happens in less than one call in 5,000 if the first pause is drawn from 0 to 100 ms or more. The limits
 * are tight because a busy machine adds the same delay to every pause.
 */
const EQUAL: Record<number, { within: number; noise: number }> = {
  3: { within: 1.03, noise: 10 },
  4: { within: 1.05, noise: 15 },
};
const EQUAL_FIVE_OR_MORE = { within: 1.2, noise: 30 };

function areEqual(waits: readonly number[]): boolean {
  if (waits.length < 3) return false;
  const { within, noise } = EQUAL[waits.length] ?? EQUAL_FIVE_OR_MORE;
  const pauses = waits.map((wait) => Math.max(wait, noise));
  return Math.max(...pauses) <= within * Math.min(...pauses);
}

/** The last pause of a client that backs off is this many times as long as the first, or as MIN_PAUSE milliseconds. */
const GROWTH = 1.5;
const MIN_PAUSE = 30;

const hasGrown = (waits: readonly number[]) => (waits.at(-1) ?? 0) >= GROWTH * Math.max(waits[0] ?? 0, MIN_PAUSE);

export const retryBackoffGrows: Rule = {
  id: "retry.backoff_grows",
  severity: "warning",
  confirmedBy: "time",
  demands: "Without a Retry-After, the client waits longer before each further retry.",
  hint:
    "Double the pause with each try (0.5 s, 1 s, 2 s, …) up to a maximum: an overloaded service recovers only when " +
    "it gets fewer requests.",
  onChainEnd({ calls, ownWaits, isShared = false }) {
    // If several callers sent the calls, the pauses between them show nothing about one client.
    if (ownWaits.length < 2 || isShared) return undefined;
    const isFlat = areEqual(ownWaits);
    if (!isFlat && !hasGrown(ownWaits)) return undefined;
    const pauses = ownWaits.map((wait) => `${Math.round(wait)} ms`).join(", ");
    return {
      verdict: isFlat ? "fail" : "pass",
      message: `The pauses before the retries of ${calls[0]?.request} were ${pauses}.`,
      calls,
      milliseconds: Object.fromEntries(ownWaits.map((wait, index) => [`pause${index + 1}`, Math.round(wait)])),
    };
  },
};
