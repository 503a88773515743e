// The sandbox clock, which can be frozen, set and advanced, and its one alarm, which starts work when it falls due.
// Only this file uses Date and timers. Timeouts and injected latency always use real time, through functions with
// `real` in their names.

import { notify } from "./listeners.ts";
import { withResolvers } from "./with-resolvers.ts";

export type ClockMode = "real" | "frozen" | "offset";

/**
 * Work with due times, such as retries and expiries. The due times are data, never timers, so that a restart does not
 * lose them.
 */
export interface DueWork {
  /**
   * When `run` next has work to start, in sandbox milliseconds; null when no work is waiting. Work that has started
   * does not count.
   */
  nextDue(): number | null;
  /**
   * Starts all work due by `now`. Asynchronous work continues on its own, and wakes the clock when it schedules more.
   */
  run(now: number): void;
  /** Resolves when all due or started work has settled; left out where `run` is synchronous. */
  settled?(): Promise<void>;
}

export type Clock = ReturnType<typeof createClock>;

/** Node's longest timer delay, 24.8 days: a longer one overflows and fires at once. */
const MAX_TIMER = 2 ** 31 - 1;
/** Real milliseconds for which failed work pauses. */
const PAUSE_AFTER_FAILURE = 1_000;

export function createClock(frozenAt?: number) {
  const time = createTime(frozenAt);
  const alarm = createAlarm(time);
  let lastAdvance: Promise<unknown> = Promise.resolve();
  const advances = new Set<Advance>();
  let running: Advance | undefined;
  const failureListeners = new Set<(error: unknown) => void>();
  let isEnded = false;
  // Work that is due or has started settles before time moves on.
  const play = async (until: number, advance: Advance) => {
    const settle = () => Promise.race([alarm.settle(() => advance.outcome !== undefined), advance.ended]);
    running = advance;
    await settle();
    while (advance.outcome === undefined) {
      const due = alarm.earliest();
      if (due > until) break;
      if (due > time.now()) time.moveTo(due);
      await settle();
    }
    if (advance.outcome !== undefined) return;
    if (until > time.now()) time.moveTo(until);
    alarm.arm();
    advance.end("complete");
  };
  return {
    get mode() {
      return time.mode();
    },
    ...time.shown,
    /** Sandbox time in whole seconds since the epoch: the unit of every `created`. */
    seconds: () => Math.floor(time.now() / 1000),
    /** Sets the time, and ends the running advance. */
    set(mode: ClockMode, now?: number) {
      running?.end("set");
      time.set(mode, now ?? time.now());
      alarm.arm();
    },
    /**
     * Moves time forward. Due work runs in order, each at its own due time, and settles before the next starts.
     * Concurrent advances run one after another; `begin` is called when the earlier ones have ended, and returns the
     * time to move to. An advance that does not complete leaves the time where it is, and does not wait for work that
     * has started.
     */
    async advance(begin: () => number, gone?: AbortSignal): Promise<AdvanceOutcome> {
      const advance = openAdvance();
      if (isEnded) advance.end("closing");
      gone?.addEventListener("abort", () => advance.end("gone"));
      advances.add(advance);
      const played = lastAdvance.then(() => (advance.outcome === undefined ? play(begin(), advance) : undefined));
      lastAdvance = played
        .catch(() => {})
        .finally(() => {
          advances.delete(advance);
          if (running === advance) running = undefined;
        });
      await Promise.race([played, advance.ended]);
      return advance.outcome ?? "complete";
    },
    isAdvancing: () => advances.size > 0,
    /** Ends all advances, also those in the queue, without waiting for work that has started. */
    endAdvances() {
      isEnded = true;
      for (const advance of advances) advance.end("closing");
    },
    /** Adds work. Its due times count from the next wake. */
    watch(work: DueWork) {
      alarm.watched.push(pauseOnFailure(work, (error) => notify(failureListeners, error), alarm.wake));
    },
    /**
     * Calls the listener with each error that watched work throws. The failed work pauses for a second; other work is
     * unaffected.
     */
    onFailure: (listener: (error: unknown) => void) => void failureListeners.add(listener),
    /** Checks the due times again; call it after any change that may have brought one forward. */
    wake: alarm.wake,
    stop: alarm.stop,
  };
}

/** Why an advance ended: it reached its time, the clock was set, its client disconnected, or the sandbox is closing. */
export type AdvanceOutcome = "complete" | "set" | "gone" | "closing";

type Advance = ReturnType<typeof openAdvance>;

function openAdvance() {
  const { promise: ended, resolve } = withResolvers();
  const advance = {
    outcome: undefined as AdvanceOutcome | undefined,
    ended,
    /** Only the first outcome counts. */
    end(outcome: AdvanceOutcome) {
      advance.outcome ??= outcome;
      resolve();
    },
  };
  return advance;
}

/** The current time: this machine's, this machine's plus an offset, or a frozen time. */
function createTime(frozenAt: number | undefined) {
  let mode: ClockMode = frozenAt === undefined ? "real" : "frozen";
  let frozen = frozenAt ?? 0;
  let offset = 0;
  const set = (next: ClockMode, now: number) => {
    mode = next;
    frozen = now;
    offset = next === "offset" ? now - Date.now() : 0;
  };
  const now = () => within(mode === "frozen" ? frozen : Date.now() + offset);
  return {
    mode: () => mode,
    shown: {
      /** Sandbox time in milliseconds since the epoch. */
      now,
      /** The state that `resume` needs in a later process; null for the time of this machine. */
      position: () => (mode === "real" ? null : { mode, milliseconds: mode === "frozen" ? frozen : offset }),
      resume(position: { mode: ClockMode; milliseconds: number }) {
        mode = position.mode;
        frozen = position.milliseconds;
        offset = position.milliseconds;
      },
    },
    now,
    set,
    moveTo: (now: number) => set(mode === "frozen" ? "frozen" : "offset", now),
  };
}

/** The one alarm: it rings at the earliest due time, and starts all work that is due by then. */
function createAlarm(time: ReturnType<typeof createTime>) {
  const watched: DueWork[] = [];
  let timer: NodeJS.Timeout | undefined;
  let ringing = false;
  let stopped = false;

  const earliest = () => watched.reduce((soonest, work) => Math.min(soonest, work.nextDue() ?? Infinity), Infinity);
  const runDue = () => {
    for (const work of watched) if ((work.nextDue() ?? Infinity) <= time.now()) work.run(time.now());
  };
  // Work may schedule more work, so this repeats until a round in which nothing was due.
  const settle = async (isEnded: () => boolean) => {
    let isIdle: boolean;
    do {
      isIdle = earliest() > time.now();
      runDue();
      await Promise.all(watched.map((work) => work.settled?.()));
    } while (!isEnded() && (!isIdle || earliest() <= time.now()));
  };

  const ring = () => {
    ringing = false;
    if (stopped) return;
    runDue();
    arm();
  };
  // Overdue work starts at the end of this turn of the event loop, because a timer would add a millisecond.
  const arm = () => {
    clearTimer(timer);
    if (stopped || ringing || watched.length === 0) return;
    const wait = earliest() - time.now();
    if (wait <= 0) {
      ringing = true;
      afterThisTurn(ring);
      return;
    }
    if (time.mode() === "frozen" || wait === Infinity) return;
    timer = setTimeout(ring, Math.min(wait, MAX_TIMER));
    timer.unref();
  };
  const stop = () => {
    stopped = true;
    clearTimer(timer);
  };
  // Requests that share a commit are answered together and each wakes the clock, so their wakes are combined.
  return { watched, earliest, settle, arm, wake: coalesce(arm), stop };
}

/**
 * Reports the errors of work, because an error thrown from a timer would end the process. Failed work pauses, so that
 * it does not fail in a loop; `resume` is called when the pause is over.
 */
function pauseOnFailure(work: DueWork, report: (error: unknown) => void, resume: () => void): DueWork {
  let pausedUntil = 0;
  const attempt = <Result>(use: () => Result): Result | null => {
    if (pausedUntil > 0 && realNow() < pausedUntil) return null;
    try {
      return use();
    } catch (error) {
      pausedUntil = realNow() + PAUSE_AFTER_FAILURE;
      afterRealTimeIfRunning(PAUSE_AFTER_FAILURE, resume);
      report(error);
      return null;
    }
  };
  const nextDue = () => work.nextDue();
  return {
    nextDue: () => attempt(nextDue),
    run: (now) => void attempt(() => work.run(now)),
    settled: async () => work.settled?.(),
  };
}

/**
 * Clears an unreferenced timer without leaking memory. Node keeps one list per timer duration, and frees the list of
 * unreferenced timers only when it expires: expiries a day ahead would leave one list per millisecond. A referenced
 * timer's list is freed when it is cleared.
 */
const clearTimer = (timer: NodeJS.Timeout | undefined) => clearTimeout(timer?.ref());

/** Combines calls: the work runs once for all calls made before pending promise callbacks have run. */
function coalesce(work: () => void): () => void {
  let isScheduled = false;
  const run = () => {
    isScheduled = false;
    work();
  };
  return () => {
    if (!isScheduled) afterPromises(run);
    isScheduled = true;
  };
}

/** Starts a stopwatch on the monotonic clock. The returned function gives the milliseconds since the start. */
export function stopwatch(): () => number {
  const started = performance.now();
  return () => performance.now() - started;
}

/** Real milliseconds since the process started: a stopwatch without an allocation. */
export const realNow = () => performance.now();

/** This machine's time at the start of the process, in Unix milliseconds. Read again after a sleep of the machine. */
let processStart = performance.timeOrigin;
const MOST_DRIFT = 100;

/** A time in real milliseconds as Unix nanoseconds: a text, because a number cannot hold them. */
export function unixNanoseconds(real: number): string {
  const start = Date.now() - performance.now();
  if (Math.abs(start - processStart) > MOST_DRIFT) processStart = start;
  return `${Math.round((processStart + real) * 1_000)}000`;
}

/** Calls back after real time, regardless of the sandbox clock; the returned function cancels. */
export function afterRealTime(milliseconds: number, callback: () => void): () => void {
  let timer: NodeJS.Timeout;
  // Chains timers when the delay exceeds the maximum of one timer.
  const start = (rest: number) => {
    timer = rest > MAX_TIMER ? setTimeout(() => start(rest - MAX_TIMER), MAX_TIMER) : setTimeout(callback, rest);
  };
  start(milliseconds);
  return () => clearTimeout(timer);
}

/** Like `afterRealTime`, but does not keep the process alive. */
export function afterRealTimeIfRunning(milliseconds: number, callback: () => void): () => void {
  const timer = setTimeout(callback, Math.min(milliseconds, MAX_TIMER)).unref();
  return () => clearTimer(timer);
}

/** Resolves after real time, for injected latency and for commands that poll. */
export const realDelay = (milliseconds: number) =>
  new Promise<void>((resolve) => void afterRealTime(milliseconds, resolve));

/** Blocks the thread and its event loop. Used only for the last output of a process, which must not be interrupted. */
export const blockThread = (milliseconds: number) =>
  void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);

/** Calls back at the end of this turn of the event loop: after promise callbacks, before timers. */
export const afterThisTurn = (callback: () => void) => void setImmediate(callback);

/** Resolves at the end of this turn of the event loop. */
export const nextTurn = () => new Promise<void>(afterThisTurn);

/** Calls back after pending promise callbacks, before the end of this turn of the event loop. */
export const afterPromises = (callback: () => void) => process.nextTick(callback);

/** A time in the format of the HTTP `Date` header. */
export function httpDate(milliseconds: number): string {
  const second = Math.floor(milliseconds / 1_000);
  if (second !== lastDate.second) lastDate = { second, text: new Date(milliseconds).toUTCString() };
  return lastDate.text;
}

/** Cached, because many responses are sent within one second. */
let lastDate = { second: Number.NaN, text: "" };

/** Parses an HTTP date in any of the three formats that recipients must accept; undefined when it is not one. */
export function readHttpDate(text: string): number | undefined {
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text)) return undefined;
  const time = Date.parse(text.endsWith(" GMT") ? text : `${text} GMT`);
  return Number.isNaN(time) ? undefined : time;
}

/** This machine's time, for logs of traffic from other services. */
export const machineTime = () => isoTime(Date.now());

const FAR_APART = 60_000;

/** Whether a time is so far from this machine's time that a receiver may reject events of that time as too old. */
export const isFarFromMachine = (milliseconds: number) => Math.abs(milliseconds - Date.now()) >= FAR_APART;

const UNITS = { d: 86_400_000, h: 3_600_000, min: 60_000, s: 1_000 };

/** The time of a sandbox clock, such as `2026-12-23T12:00:00.000Z, 30 d ahead of this machine`. */
export function describeClock({ mode, now }: { mode: ClockMode; now: string }): string {
  if (mode !== "offset") return `${now} (${mode})`;
  const offset = Date.parse(now) - Date.now();
  // Rounded to seconds, because the reply took some milliseconds to arrive.
  const distance = Math.round(Math.abs(offset) / 1_000) * 1_000;
  const [unit = "s", size = 1_000] = Object.entries(UNITS).find(([, milliseconds]) => distance >= milliseconds) ?? [];
  const difference = Math.round((distance / size) * 10) / 10;
  return `${now}, ${difference} ${unit} ${offset < 0 ? "behind" : "ahead of"} this machine`;
}

/** Parses a time written by another program, in any format that JavaScript accepts; NaN if it is invalid. */
export const readAnyTime = (text: unknown): number => (typeof text === "string" ? Date.parse(text) : Number.NaN);

/** Formats a time. A time before 1970 or after 9999 becomes the first or the last time of that range. */
export const isoTime = (milliseconds: number) => new Date(within(milliseconds)).toISOString();

/** The latest time that RFC 3339 can express. */
export const LATEST_TIME = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Keeps a time within the range of a date: from 1970 to the end of the year 9999. */
const within = (milliseconds: number) => Math.min(Math.max(milliseconds, 0), LATEST_TIME);

/**
 * Parses an RFC 3339 time from 1970 to 9999 as milliseconds; undefined when it is not one (no `created` is negative).
 */
export function parseTime(text: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/.test(text)) return undefined;
  const [year, month, day] = text.slice(0, 10).split("-").map(Number) as [number, number, number];
  // Date.parse reads 2026-02-30 as 2 March.
  if (new Date(Date.UTC(year, month - 1, day)).getUTCDate() !== day) return undefined;
  const time = Date.parse(text);
  return time >= 0 && time <= LATEST_TIME ? time : undefined;
}
