// Counts what a receiver does, with a function or a command of the caller, for audits and expectations. The sandbox
// gets only the numbers.

import type {
  AuditResult,
  ControlApi,
  Expectation,
  SandboxAuditInput,
  SandboxVerifyInput,
  SandboxVerifyReply,
  StartedAudit,
} from "../../generated/control-api.ts";
import { ACTS_ONCE } from "../contracts/verdict.ts";
import { realDelay, stopwatch } from "../kernel/clock.ts";
import { tryParseDuration } from "../kernel/duration.ts";
import { usageError } from "../kernel/errors.ts";

/** How often the receiver has acted so far, such as the number of rows in a table. */
export type CountEffects = () => number | Promise<number>;

export interface AuditOptions extends SandboxAuditInput {
  /** Called before and after each probe. Without it, whether the receiver acts once is not checked. */
  effects?: CountEffects | undefined;
  /** Restarts the receiver, and resolves once it listens again (default: no restart is tried). */
  restart?: (() => unknown) | undefined;
}

type EffectsExpectation = NonNullable<Expectation["effects"]>;

/** An expectation whose count of effects may be a function, which is called again while `verify` waits. */
export type CountedExpectation = Omit<Expectation, "effects"> & {
  effects?: Omit<EffectsExpectation, "made"> & { made: number | CountEffects };
};

export interface VerifyOptions extends Omit<SandboxVerifyInput, "all"> {
  all: CountedExpectation[];
}

/** The control API, in which a function may stand for a number that only the caller knows. */
export interface SandboxApi extends Omit<ControlApi, "audit" | "verify"> {
  /**
   * Tests a webhook receiver with genuine, repeated, malformed and forged events. With `effects`, it also checks that
   * the receiver acts once on each event, however often and in whatever way it arrives.
   *
   * @example
   * const { verdict } = await sandbox.audit({ url, secret, effects: () => orders.count() });
   */
  audit(given: AuditOptions): Promise<AuditResult>;
  /**
   * Checks expectations on the run, and waits up to `within` for all of them to hold.
   *
   * @example
   * const before = await orders.count();
   * await sandbox.verify({ all: [{ effects: { made: async () => (await orders.count()) - before } }] });
   */
  verify(given: VerifyOptions): Promise<SandboxVerifyReply>;
}

export const withEffects = (control: ControlApi): SandboxApi => ({
  ...control,
  audit: ({ effects, restart, ...given }) =>
    effects === undefined ? control.audit(given) : auditCounting(control, given, effects, restart),
  verify: (given) => verifyCounting(control, given),
});

/** Runs an audit in steps, and counts the effects after each. */
async function auditCounting(
  control: Pick<ControlApi, "audits">,
  given: SandboxAuditInput,
  effects: CountEffects,
  restart?: () => unknown,
): Promise<AuditResult> {
  const count = async () => checkCount(await effects());
  const canRestart = restart !== undefined;
  let state = await control.audits.start({ ...given, effects: await count(), canRestart });
  while (state.result === null) {
    const { id, next } = state;
    if (next?.do === "restart") await restart?.();
    if (next?.do === "wait and count") await realDelay(LATE);
    state = await control.audits.resume({ id, effects: await settledCount(count, next) });
  }
  return state.result;
}

function checkCount(count: unknown): number {
  if (Number.isSafeInteger(count) && (count as number) >= 0) return count as number;
  usageError(`effects must return how often the receiver has acted, a whole number; received ${String(count)}.`);
}

/** Real milliseconds for which a receiver may go on working after it has responded. */
const WORK_TIME = 5_000;
/** Real milliseconds without a change after which the count is taken as final. */
const QUIET = 200;
/** Real milliseconds to wait for late work at the end of an audit. */
const LATE = 1_000;
const POLL_INTERVAL = 25;

/** Reads the count until it has the expected value for a while, exceeds it, or has not changed for long. */
async function settledCount(count: () => Promise<number>, next: StartedAudit["next"]): Promise<number> {
  const { atLeast, atMost } = { atLeast: next?.atLeast ?? 0, atMost: next?.atMost ?? Infinity };
  let last = await count();
  if (next?.do !== "count") return last;
  let unchanged = stopwatch();
  while (last <= atMost && unchanged() < (last < atLeast ? WORK_TIME : QUIET)) {
    await realDelay(POLL_INTERVAL);
    const now = await count();
    if (now !== last) unchanged = stopwatch();
    last = now;
  }
  return last;
}

/**
 * Counts effects and passes the count to an armed scenario, until the count no longer changes or the time is over.
 * Waits longer while an effect is missing.
 */
export async function countInScenario(
  control: Pick<ControlApi, "scenarios">,
  armed: { name: string; merchant?: string },
  effects: CountEffects,
): Promise<void> {
  const elapsed = stopwatch();
  let unchanged = stopwatch();
  let before: number | undefined;
  for (;;) {
    const now = checkCount(await effects());
    if (now !== before) unchanged = stopwatch();
    before = now;
    const { expectations } = await control.scenarios.count({ ...armed, effects: now });
    // An event that has no effect yet may still get one; too many effects are final.
    const isMissing = expectations.some(
      ({ rule, verdict, message }) => rule === ACTS_ONCE && verdict === "fail" && /lost/.test(message),
    );
    const quietTime = isMissing ? WORK_TIME : QUIET;
    if (unchanged() >= quietTime || elapsed() >= 2 * WORK_TIME) return;
    await realDelay(POLL_INTERVAL);
  }
}

/** Real milliseconds of one wait, after which functions are called again. */
const ROUND = 250;

/** Verifies with the present counts, again and again while the expectations do not hold and time remains. */
async function verifyCounting(control: ControlApi, given: VerifyOptions): Promise<SandboxVerifyReply> {
  const isFixed = given.all.every?.(({ effects }) => typeof effects?.made !== "function");
  // The control API rejects malformed input.
  if (isFixed !== false) return control.verify(given as SandboxVerifyInput);
  const within = given.within === undefined ? 0 : (tryParseDuration(given.within) ?? 0);
  const elapsed = stopwatch();
  for (;;) {
    const left = Math.max(0, within - elapsed());
    const all = await Promise.all(given.all.map(withCount));
    const wait =
      given.within === undefined ? {} : { within: left > 0 ? `${Math.ceil(Math.min(ROUND, left))}ms` : "0s" };
    const found = await control.verify({ ...given, ...wait, all });
    if (found.verdict === "pass" || elapsed() >= within) return { ...found, waited: Math.round(elapsed()) };
  }
}

async function withCount({ effects, ...expectation }: CountedExpectation): Promise<Expectation> {
  if (effects === undefined) return expectation;
  const { made } = effects;
  return {
    ...expectation,
    effects: { ...effects, made: typeof made === "function" ? checkCount(await made()) : made },
  };
}
