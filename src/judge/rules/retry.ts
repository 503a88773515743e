// Rules on retries: whether a client sends a call again, how often, and after which pauses.

import type { ObservedCall } from "../observed-call.ts";
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
  return `${request} ${failure === "lost" ? "lost its response" : failure === "abandoned" ? "was abandoned" : "failed"}`;
}

/** Inconclusive: equal calls may be the chain's retry, or calls of another worker or program that shares the key. */
const unclear = (chain: RetryChain): Finding => ({
  verdict: "inconclusive",
  says: `${failed(chain)}; ${chain.lookalikes[0]?.request} may be its retry, or an equal call of another worker with the same API key.`,
  calls: [...chain.calls, ...chain.lookalikes],
});

export const retryHappened: Rule = {
  id: "retry.happened",
  severity: "warning",
  demands:
    "The client retries a call that got a 408, 429, 500, 502, 503 or 504, or a 409 for an Idempotency-Key still in use, and a call whose connection broke.",
  hint: "Retry such calls a few times before you report a failure. A write can only be retried with its Idempotency-Key.",
  onRetry({ chain, from, to }) {
    if (!needsRetry(chain) || from !== firstCall(chain)) return undefined;
    return { verdict: "pass", says: `${failed(chain)} and was retried as ${to.request}.`, calls: [from, to] };
  },
  onChainEnd(chain, gaveUp) {
    if (!needsRetry(chain) || !gaveUp || chain.calls.length > 1) return undefined;
    if (chain.lookalikes.length > 0) return unclear(chain);
    return { verdict: "fail", says: `${failed(chain)} and was not retried in time.`, calls: chain.calls };
  },
  whilePending(chain, waited) {
    if (!needsRetry(chain) || chain.calls.length > 1) return undefined;
    if (chain.lookalikes.length > 0) return unclear(chain);
    return {
      verdict: "inconclusive",
      says: `${failed(chain)}, and in the ${Math.round(waited)} ms since then no call from the client shows whether it retries.`,
      calls: chain.calls,
      milliseconds: { since: Math.round(waited) },
    };
  },
};

/**
 * With pauses that double from half a second, the tenth try comes after more than four minutes, when its user has
 * stopped waiting.
 */
const MAX_CALLS = 10;

const tries = (chain: RetryChain) =>
  `${firstCall(chain).request} was sent ${chain.calls.length} times; the limit is ${MAX_CALLS}.`;

export const retryBounded: Rule = {
  id: "retry.bounded",
  severity: "error",
  demands: `The client sends a call at most ${MAX_CALLS} times.`,
  hint: "Limit the number of tries or set a deadline, and report the failure to the caller once it is reached.",
  onRetry({ chain }) {
    if (chain.calls.length !== MAX_CALLS + 1) return undefined;
    return { verdict: "fail", says: tries(chain), calls: chain.calls };
  },
  onChainEnd(chain) {
    if (chain.calls.length === 1 || chain.calls.length > MAX_CALLS) return undefined;
    return { verdict: "pass", says: tries(chain), calls: [firstCall(chain), ...chain.calls.slice(-1)] };
  },
};

export const retryOnlyRetryable: Rule = {
  id: "retry.only_retryable",
  severity: "warning",
  demands: `The client does not send the same request ${MAX_EQUAL_REJECTIONS} times if it gets the same 4xx each time.`,
  hint: "Retry only 408, 429, 500, 502, 503, 504, broken connections, and a 409 for an Idempotency-Key still in use. After any other error, correct the request, the API key or the id first.",
  onRejection(calls) {
    const [first, last] = [calls[0] as ObservedCall, calls.at(-1) as ObservedCall];
    if (calls.length === 1)
      return { verdict: "pass", says: `${first.request} got a ${first.status} and was not repeated.`, calls };
    return {
      verdict: "fail",
      says: `${first.request} got a ${first.status} and was repeated unchanged ${calls.length - 1} times, last as ${last.request}.`,
      calls,
      milliseconds: { within: Math.round(last.arrived - first.answered) },
    };
  },
};

/** Milliseconds. Shorter pauses count as none, because they could be noise of the machine. */
const MIN_PAUSE = 30;

/** The last pause must be this many times as long as the first. */
const GROWTH = 1.5;

/**
 * Whether the pauses clearly do not grow. With full jitter, a single pause may be shorter than the one before, so
 * pauses are flat only if two have no length, if three are within 25 % of each other, or if four or more are within a
 * factor of two and their average does not grow.
 */
function isFlat(waits: readonly number[]): boolean {
  const pauses = waits.map((wait) => Math.max(wait, MIN_PAUSE));
  const spread = Math.max(...pauses) / Math.min(...pauses);
  if (waits.length === 2) return Math.max(...waits) <= MIN_PAUSE;
  if (waits.length === 3) return spread <= 1.25;
  const middle = Math.floor(pauses.length / 2);
  return waits.length > 3 && spread <= 2 && mean(pauses.slice(-middle)) <= 1.25 * mean(pauses.slice(0, middle));
}

/** Pauses within this factor of each other are equal, unless lag makes up more than `MAX_LAG_OF_ONE` of one pause. */
const EQUAL = 1.25;
const MAX_LAG_OF_ONE = 0.4;

/** Whether lag may hide growing pauses. It makes pauses longer and so more alike, but only much lag hides growth. */
function mayHaveGrown(waits: readonly number[], lags: readonly number[]): boolean {
  const isLate = waits.some((wait, index) => (lags[index] ?? 0) > MAX_LAG_OF_ONE * wait);
  const areEqual = Math.max(...waits) <= EQUAL * Math.min(...waits);
  return (isLate || !areEqual) && !isFlat(withoutLag(waits, lags));
}

const withoutLag = (waits: readonly number[], lags: readonly number[]) =>
  waits.map((wait, index) => wait - (lags[index] ?? 0));

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

const hasGrown = (waits: readonly number[]) => (waits.at(-1) ?? 0) >= GROWTH * Math.max(waits[0] ?? 0, MIN_PAUSE);

/** Whether the client's own pauses before the retries of this call have grown, or are too few to show it. */
export const backsOff = ({ ownWaits }: RetryChain) => ownWaits.length < 2 || (!isFlat(ownWaits) && hasGrown(ownWaits));

export const retryBackoffGrows: Rule = {
  id: "retry.backoff_grows",
  severity: "warning",
  confirmedBy: "time",
  demands: "Without a Retry-After, the client waits longer before each further retry.",
  hint: "Double the pause with each try (0.5 s, 1 s, 2 s, …) up to a maximum: an overloaded service recovers only when it gets fewer requests.",
  onChainEnd({ calls, ownWaits, lags }) {
    if (ownWaits.length < 2) return undefined;
    const flat = isFlat(ownWaits);
    if (!flat && !hasGrown(ownWaits)) return undefined;
    const isBlurred = flat ? mayHaveGrown(ownWaits, lags) : isFlat(withoutLag(ownWaits, lags));
    const pauses = ownWaits.map((wait) => `${Math.round(wait)} ms`).join(", ");
    return {
      verdict: isBlurred ? "inconclusive" : flat ? "fail" : "pass",
      says: `The pauses before the retries of ${calls[0]?.request} were ${pauses}${
        isBlurred
          ? `, but this machine lagged for ${lags.map((lag) => `${Math.round(lag)} ms`).join(", ")} of them: the client may have chosen equal pauses or growing ones`
          : ""
      }.`,
      calls,
      milliseconds: Object.fromEntries(ownWaits.map((wait, index) => [`pause${index + 1}`, Math.round(wait)])),
    };
  },
};

/** How much timers vary equal pauses: fixed milliseconds plus a share of the pause. */
const NOISE = 8;
const NOISE_SHARE = 0.01;
/** Pauses that look equal prove nothing if lag exceeds both these milliseconds and this share of the pause. */
const MAX_LAG = 30;
const MAX_LAG_SHARE = 0.1;

const sorted = (values: number[]) => values.sort((one, other) => one - other);
const medianOf = (values: readonly number[]) => values[Math.ceil(values.length / 2) - 1] ?? 0;

export const retryJittered: Rule = {
  id: "retry.jittered",
  severity: "warning",
  confirmedBy: "time",
  demands: "Without a Retry-After, the client draws each pause at random around its mean.",
  hint: "Multiply each pause by a random factor, or draw it from the range 0 to the pause: otherwise all clients that failed together retry together.",
  onPauseSample(sample) {
    const waits = sorted(sample.map(({ waited }) => waited));
    // A busy machine makes pauses longer, never shorter, so the shorter half of equal pauses stays close together.
    const low = waits[0] ?? 0;
    const middle = medianOf(waits);
    const noise = NOISE + NOISE_SHARE * middle;
    const lags = sorted(sample.map(({ lag }) => lag));
    const worstLag = lags.at(-1) ?? 0;
    const isNone = middle < MIN_PAUSE;
    const isEqual = isNone || middle - low <= noise;
    // Lag cannot shorten a pause, so missing pauses are always conclusive. Lag can make pauses equal only if it affects
    // most of them.
    const isPunctual = medianOf(lags) <= Math.max(MAX_LAG, MAX_LAG_SHARE * middle);
    const isConclusive = isNone || (isEqual ? isPunctual : middle - low > noise + worstLag);
    return {
      verdict: !isConclusive ? "inconclusive" : isEqual ? "fail" : "pass",
      says: `The shorter half of the pauses before ${waits.length} first retries lay between ${Math.round(low)} and ${Math.round(middle)} ms${
        isConclusive
          ? isEqual
            ? ": they were not random"
            : ""
          : `, but this machine lagged by up to ${Math.round(worstLag)} ms, which hides the pauses that the client chose`
      }.`,
      calls: sample.map(({ call }) => call),
      milliseconds: {
        low: Math.round(low),
        middle: Math.round(middle),
        noise: Math.round(noise),
        late: Math.round(worstLag),
      },
    };
  },
};
