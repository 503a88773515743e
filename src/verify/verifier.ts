// Waits until all expectations of a test hold at the same time, or until waiting cannot change the result any more.

import type { Expectations, Verification } from "../contracts/expectations.ts";
import { afterRealTime, realDelay, stopwatch } from "../kernel/clock.ts";
import { afterRestart, type Baseline, sourcesSince, takeBaseline } from "./baseline.ts";
import type { CheckResult } from "./check-result.ts";
import { type PlannedCheck, planChecks, readWait, type VerificationSources } from "./plan-checks.ts";

export type Verifier = ReturnType<typeof createVerifier>;

interface VerifierOptions extends VerificationSources {
  /** Calls back after each request and each delivery attempt; the returned function ends that. */
  listen(changed: () => void): () => void;
}

/** Records, verdicts and fault counts change without an event, so they are polled, in real milliseconds. */
const POLL_INTERVAL = 50;
/** After each check, pause this many times as long as it took, so that a flood of requests is not slowed down. */
const REST_FACTOR = 4;

export function createVerifier(options: VerifierOptions) {
  const waiting = new Set<Signal>();
  let stopped = false;
  return {
    async verify(expectations: Expectations): Promise<Verification> {
      const planned = planChecks(options, expectations);
      const within = expectations.within === undefined ? 0 : readWait(expectations.within, "within");
      const deadline = Math.max(within, ...planned.map(({ atLeast }) => atLeast));
      const elapsed = stopwatch();
      const signal = createSignal(options.listen);
      waiting.add(signal);
      try {
        for (;;) {
          const waited = elapsed();
          const results = planned.map(({ check }) => check(waited));
          if (stopped || waited >= deadline || results.every(({ open }) => !open)) return conclude(planned, results, waited);
          await signal.wait(timeToNextCheck(planned, waited, deadline), (elapsed() - waited) * REST_FACTOR);
        }
      } finally {
        waiting.delete(signal);
        signal.close();
      }
    },
    /** Records the current state of everything that these expectations depend on. */
    takeBaseline: (expectations: Expectations) => takeBaseline(options, expectations),
    /** Checks once, without waiting, what changed since the baseline. Scenarios and fault rules need not be armed yet. */
    since(baseline: Baseline, expectations: Expectations) {
      const planned = planChecks(sourcesSince(options, baseline), expectations);
      const results = planned.map(({ check }) => check(0));
      return conclude(planned, results, 0);
    },
    /** Converts a baseline that an earlier process took. */
    resume: (baseline: Baseline) => afterRestart(baseline, options),
    /** Ends all waiting, with the results at that time. */
    stop() {
      stopped = true;
      for (const signal of waiting) signal.notify();
    },
  };
}

/** Until the deadline or the end of a `never.for`, whichever is sooner; until the next poll if a check depends on polling. */
function timeToNextCheck(planned: readonly PlannedCheck[], waited: number, deadline: number): number {
  const ends = planned.map(({ atLeast }) => atLeast).filter((end) => end > waited);
  const soonest = Math.min(deadline, ...ends) - waited;
  return planned.every(({ isEventDriven }) => isEventDriven) ? soonest : Math.min(soonest, POLL_INTERVAL);
}

type Signal = ReturnType<typeof createSignal>;

function createSignal(listen: VerifierOptions["listen"]) {
  let wake: (() => void) | undefined;
  let isNotified = false;
  const notify = () => {
    isNotified = true;
    wake?.();
  };
  const close = listen(notify);
  return {
    notify,
    close,
    /** Resolves after `rest` once it was notified, or after `timeout`; both in real milliseconds. */
    async wait(timeout: number, rest: number): Promise<void> {
      await realDelay(Math.min(rest, timeout));
      await new Promise<void>((resolve) => {
        const cancel = afterRealTime(isNotified ? 0 : Math.ceil(timeout), resolve);
        wake = () => {
          cancel();
          resolve();
        };
      });
      isNotified = false;
    },
  };
}

function conclude(planned: readonly PlannedCheck[], checked: readonly CheckResult[], waited: number): Verification {
  const results = checked.map(({ open: _, ...result }, index) => ({ expectation: (planned[index] as PlannedCheck).kind, ...result }));
  const worst = (["fail", "inconclusive"] as const).find((verdict) => results.some((result) => result.verdict === verdict));
  return { verdict: worst ?? "pass", waited: Math.round(waited), results };
}
