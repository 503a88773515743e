// Waits until all expectations of a test hold at the same time, or until waiting can no longer change the result.

import type { ExpectationOf, Expectations, Verification } from "../contracts/expectations.ts";
import { afterRealTime, realDelay, stopwatch } from "../kernel/clock.ts";
import { fail } from "../kernel/errors.ts";
import { withResolvers } from "../kernel/with-resolvers.ts";
import { afterRestart, type Baseline, sourcesSince, takeBaseline } from "./baseline.ts";
import type { CheckResult } from "./check-result.ts";
import { type PlannedCheck, planChecks, readWait, type VerificationSources } from "./plan-checks.ts";

export type Verifier = ReturnType<typeof createVerifier>;

interface VerifierOptions extends VerificationSources {
  /** Calls `changed` after each request and each delivery attempt. Returns a function that removes the listener. */
  listen(changed: () => void): () => void;
  /** Called with each result of an expectation of effects. */
  onEffects(expectation: ExpectationOf<"effects">, merchant: string | undefined, result: CheckResult): void;
}

/** Real milliseconds between two polls. Records, verdicts and fault counts change without an event. */
const POLL_INTERVAL = 50;
/**
 * After a check of a waiting verification, no other check runs for this many times its duration, so that checks do not
 * slow down a flood of requests.
 */
const REST_FACTOR = 4;
const MAX_WAITING = 500;
/**
 * Real milliseconds to wait beyond `within` until a result settles: the longest delivery, and the time to act on it.
 */
const SETTLED_WITHIN = 15_000;

export function createVerifier(options: VerifierOptions) {
  const waiting = new Set<ReturnType<typeof createSignal>>();
  const paced = createPace();
  let stopped = false;
  return {
    async verify(expectations: Expectations, gone?: AbortSignal): Promise<Verification> {
      const planned = planChecks(options, expectations);
      const within = expectations.within === undefined ? 0 : readWait(expectations.within, "within");
      const deadline = Math.max(within, ...planned.map(({ atLeast }) => atLeast));
      const elapsed = stopwatch();
      const check = () => {
        const waited = elapsed();
        return { waited, results: planned.map((one) => one.check(waited)) };
      };
      let { waited, results } = check();
      const concluded = () => {
        for (const [index, { effects }] of expectations.all.entries())
          if (effects) options.onEffects(effects, expectations.merchant, results[index] as CheckResult);
        return conclude(planned, results, waited);
      };
      const lastsUntil = () => deadline + (results.some(({ settles }) => settles) ? SETTLED_WITHIN : 0);
      const isOver = () => stopped || gone?.aborted || waited >= lastsUntil() || results.every(({ open }) => !open);
      if (isOver()) return concluded();
      if (waiting.size >= MAX_WAITING)
        fail(
          "sandbox_unavailable",
          `${MAX_WAITING} verifications are waiting, which is the maximum. Run fewer at once.`,
        );
      const signal = createSignal(options.listen);
      waiting.add(signal);
      gone?.addEventListener("abort", signal.notify);
      try {
        while (!isOver()) {
          await signal.wait(timeToNextCheck(planned, waited, deadline));
          ({ waited, results } = await paced(check));
        }
        return concluded();
      } finally {
        waiting.delete(signal);
        signal.close();
      }
    },
    /** Records the current state of everything that these expectations depend on. */
    takeBaseline: (expectations: Expectations) => takeBaseline(options, expectations),
    /**
     * Checks the changes since the baseline once, without waiting. The expectations may name scenarios and fault rules
     * that are not armed yet.
     */
    since(baseline: Baseline, expectations: Expectations) {
      const planned = planChecks(sourcesSince(options, baseline), expectations);
      const results = planned.map(({ check }) => check(0));
      return conclude(planned, results, 0);
    },
    resume: (baseline: Baseline) => afterRestart(baseline, options),
    /** Ends all waiting verifications with their current results. */
    stop() {
      stopped = true;
      for (const signal of waiting) signal.notify();
    },
  };
}

/**
 * Runs checks one after another. Each check adds to a pause. Once the pause is a millisecond or longer, the next check
 * waits for it.
 */
function createPace() {
  let last: Promise<unknown> = Promise.resolve();
  let rest = 0;
  const run = async <Result>(check: () => Result): Promise<Result> => {
    if (rest >= 1) {
      const pause = rest;
      rest = 0;
      await realDelay(pause);
    }
    const elapsed = stopwatch();
    const result = check();
    rest += elapsed() * REST_FACTOR;
    return result;
  };
  return <Result>(check: () => Result): Promise<Result> => {
    const checked = last.then(() => run(check));
    last = checked.catch(() => {});
    return checked;
  };
}

/**
 * The time until the deadline, the end of a `never.for` or, if a check depends on polling, the next poll: whichever
 * comes first.
 */
function timeToNextCheck(planned: readonly PlannedCheck[], waited: number, deadline: number): number {
  const ends = planned.map(({ atLeast }) => atLeast).filter((end) => end > waited);
  const next = Math.min(deadline, ...ends) - waited;
  const soonest = next > 0 ? next : POLL_INTERVAL;
  return planned.every(({ isEventDriven }) => isEventDriven) ? soonest : Math.min(soonest, POLL_INTERVAL);
}

function createSignal(listen: VerifierOptions["listen"]) {
  let changed = withResolvers();
  const notify = () => changed.resolve();
  const close = listen(notify);
  return {
    notify,
    close,
    /** Resolves when it is notified, or after `timeout` real milliseconds. */
    async wait(timeout: number): Promise<void> {
      const cancel = afterRealTime(Math.ceil(timeout), notify);
      await changed.promise;
      cancel();
      changed = withResolvers();
    },
  };
}

function conclude(planned: readonly PlannedCheck[], checked: readonly CheckResult[], waited: number): Verification {
  const results = checked.map(({ open: _, settles: __, counted: ___, ...result }, index) => ({
    expectation: (planned[index] as PlannedCheck).kind,
    ...result,
  }));
  const worst = (["fail", "inconclusive"] as const).find((verdict) =>
    results.some((result) => result.verdict === verdict),
  );
  return { verdict: worst ?? "pass", waited: Math.round(waited), results };
}
