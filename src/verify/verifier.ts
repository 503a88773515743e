// Waits until everything that a test expects holds at one moment, or until there is nothing more to wait for.

import { type ExpectationKind, type Expectations, VERDICTS, type Verdict } from "../contracts/expectations.ts";
import { afterRealTime, realDelay, stopwatch } from "../kernel/clock.ts";
import { afterRestart, type Mark, markOf, sourcesSince } from "./baseline.ts";
import type { Look } from "./check-result.ts";
import { type Planned, plan, type Sources, span } from "./plan.ts";

export interface Verified {
  verdict: Verdict;
  /** Real milliseconds. */
  waited: number;
  /** One for each expectation, in order. */
  results: Result[];
}

export interface Result extends Omit<Look, "open"> {
  expectation: ExpectationKind;
}

export interface Verifier {
  verify(expectations: Expectations): Promise<Verified>;
  /** How everything that these look at stands now: what `since` leaves out. */
  mark(expectations: Expectations): Mark;
  /** One look, without waiting, at nothing but what came since. What is named need not be armed yet. */
  since(mark: Mark, expectations: Expectations): Verified;
  /** A mark that an earlier process made, as it counts in this one. */
  resume(mark: Mark): Mark;
  /** Ends all waiting at once, with what is known then. */
  stop(): void;
}

interface Needs extends Sources {
  /** Calls back whenever a request was answered or a delivery attempt ended; the returned function ends that. */
  listen(happened: () => void): () => void;
}

/** Records, verdicts and faults change without a word: they are looked at this often, in real milliseconds. */
const LOOK_EVERY = 50;
/** After each look, so many times as long as it took is left to others: a flood of requests is not held up by who watches it. */
const REST = 4;

export function createVerifier(needs: Needs): Verifier {
  const waits = new Set<Bell>();
  let stopped = false;
  return {
    async verify(expectations) {
      const planned = plan(needs, expectations);
      const within = expectations.within === undefined ? 0 : span(expectations.within, "within");
      const deadline = Math.max(within, ...planned.map(({ atLeast }) => atLeast));
      const elapsed = stopwatch();
      const bell = openBell(needs.listen);
      waits.add(bell);
      try {
        for (;;) {
          const waited = elapsed();
          const looks = planned.map(({ check }) => check(waited));
          if (stopped || waited >= deadline || looks.every(({ open }) => !open)) return conclude(planned, looks, waited);
          await bell.rung(nextLook(planned, waited, deadline), (elapsed() - waited) * REST);
        }
      } finally {
        waits.delete(bell);
        bell.close();
      }
    },
    mark: (expectations) => markOf(needs, expectations),
    since(mark, expectations) {
      const planned = plan(sourcesSince(needs, mark), expectations);
      const looks = planned.map(({ check }) => check(0));
      return conclude(planned, looks, 0);
    },
    resume: (mark) => afterRestart(mark, needs),
    stop() {
      stopped = true;
      for (const bell of waits) bell.ring();
    },
  };
}

/** How long to wait for the bell: until the deadline, or the end of a span in which nothing may come, whichever is sooner. */
function nextLook(planned: readonly Planned[], waited: number, deadline: number): number {
  const ends = planned.map(({ atLeast }) => atLeast).filter((end) => end > waited);
  const soonest = Math.min(deadline, ...ends) - waited;
  return planned.every(({ isHeard }) => isHeard) ? soonest : Math.min(soonest, LOOK_EVERY);
}

interface Bell {
  ring(): void;
  /** Resolves when it was rung, but not before `rest` is over, or after so many real milliseconds. */
  rung(within: number, rest: number): Promise<void>;
  close(): void;
}

function openBell(listen: Needs["listen"]): Bell {
  let wake: (() => void) | undefined;
  let isRung = false;
  const ring = () => {
    isRung = true;
    wake?.();
  };
  const close = listen(ring);
  return {
    ring,
    close,
    async rung(within, rest) {
      await realDelay(Math.min(rest, within));
      await new Promise<void>((resolve) => {
        const cancel = afterRealTime(isRung ? 0 : Math.ceil(within), resolve);
        wake = () => {
          cancel();
          resolve();
        };
      });
      isRung = false;
    },
  };
}

function conclude(planned: readonly Planned[], looks: readonly Look[], waited: number): Verified {
  const results = looks.map(({ open: _, ...look }, index) => ({ expectation: (planned[index] as Planned).kind, ...look }));
  const worst = (["fail", "inconclusive"] as const).find((verdict) => results.some((result) => result.verdict === verdict));
  return { verdict: worst ?? VERDICTS[0], waited: Math.round(waited), results };
}
