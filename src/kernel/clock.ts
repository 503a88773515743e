// The sandbox clock, which can be frozen, set and advanced, and its one alarm, which starts work when it falls due.
// Only this file uses Date and timers. Timeouts and injected latency always use real time; their functions say so in their names.

export type ClockMode = "real" | "frozen" | "offset";

/** Work with due times, such as retries and expiries. The due times are data, never timers, so that a restart loses none. */
export interface DueWork {
  /** When `run` next has work to start, in sandbox milliseconds; null when no work is waiting. Started work no longer counts. */
  nextDue(): number | null;
  /** Starts all work due by `now`. Asynchronous work continues on its own, and wakes the clock when it schedules more. */
  run(now: number): void;
  /** Resolves when all due or started work has settled; left out where `run` is synchronous. */
  settled?(): Promise<void>;
}

export interface Clock {
  readonly mode: ClockMode;
  /** Sandbox time in milliseconds since the epoch. */
  now(): number;
  /** Sandbox time in whole seconds since the epoch: the unit of every `created`. */
  seconds(): number;
  set(mode: ClockMode, now?: number): void;
  /** Moves time forward to `until`: work runs at its own due time, in order, each settled before the next. */
  advance(until: number): Promise<void>;
  /** Adds work, from the next wake on. */
  watch(work: DueWork): void;
  /** Checks the due times again; call it after any change that may have brought one forward. */
  wake(): void;
  stop(): void;
}

const MAX_TIMER = 2 ** 31 - 1;

export function createClock(frozenAt?: number): Clock {
  const time = createTime(frozenAt);
  const alarm = createAlarm(time);
  let lastAdvance: Promise<void> = Promise.resolve();
  // Work that is due or started belongs to the present: it settles before time moves on.
  const play = async (until: number) => {
    await alarm.settle();
    for (let due = alarm.earliest(); due <= until; due = alarm.earliest()) {
      if (due > time.now()) time.moveTo(due);
      await alarm.settle();
    }
    if (until > time.now()) time.moveTo(until);
    alarm.arm();
  };
  return {
    get mode() {
      return time.mode();
    },
    now: time.now,
    seconds: () => Math.floor(time.now() / 1000),
    set(mode, now) {
      time.set(mode, now ?? time.now());
      alarm.arm();
    },
    // Concurrent calls run one after another.
    advance(until) {
      const advanced = lastAdvance.then(() => play(until));
      lastAdvance = advanced.catch(() => {});
      return advanced;
    },
    watch(work) {
      alarm.watched.push(work);
    },
    wake: alarm.wake,
    stop: alarm.stop,
  };
}

/** The present time: the machine's, the machine's with an offset, or a frozen one. */
function createTime(frozenAt: number | undefined) {
  let mode: ClockMode = frozenAt === undefined ? "real" : "frozen";
  let frozen = frozenAt ?? 0;
  let offset = 0;
  const set = (next: ClockMode, now: number) => {
    mode = next;
    frozen = now;
    offset = next === "offset" ? now - Date.now() : 0;
  };
  return {
    mode: () => mode,
    now: () => (mode === "frozen" ? frozen : Date.now() + offset),
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
  // Work may cause other work, so this repeats until a round in which nothing was due.
  const settle = async () => {
    let isIdle: boolean;
    do {
      isIdle = earliest() > time.now();
      runDue();
      await Promise.all(watched.map((work) => work.settled?.()));
    } while (!isIdle || earliest() <= time.now());
  };

  const ring = () => {
    ringing = false;
    if (stopped) return;
    runDue();
    arm();
  };
  // Work that is due already starts at the end of this turn of the event loop; a timer would add a millisecond.
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
 * Clears an unreferenced timer without leaking memory. Node keeps one list per timer duration, and frees the list of unreferenced timers only
 * when it expires: expiries a day ahead would leave one list per millisecond. A referenced timer's list is freed when it is cleared.
 */
const clearTimer = (timer: NodeJS.Timeout | undefined) => clearTimeout(timer?.ref());

/** Runs the work once, after pending promise callbacks, for all calls made until then. */
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

/** Starts a stopwatch on the monotonic clock; calling the result returns the milliseconds since then. */
export function stopwatch(): () => number {
  const started = performance.now();
  return () => performance.now() - started;
}

/** Real milliseconds since the process started: a stopwatch without an allocation. */
export const realNow = () => performance.now();

/** Calls back after real time, regardless of the sandbox clock; the returned function cancels. */
export function afterRealTime(milliseconds: number, callback: () => void): () => void {
  const timer = setTimeout(callback, milliseconds);
  return () => clearTimeout(timer);
}

/** Resolves after real time, for injected latency and for commands that poll. */
export const realDelay = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));

/** Blocks the thread, including its event loop: only for the last output of a process, which must not be interrupted. */
export const blockThread = (milliseconds: number) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);

/** Measures how late the event loop runs its timers: durations measured meanwhile are no more accurate than this lag. */
export interface EventLoopLag {
  /** Measures at least until this real time. */
  watch(until: number): void;
  /** The longest lag between two real times, in milliseconds. */
  worst(from: number, to: number): number;
}

const SAMPLE_INTERVAL = 25;
const MAX_SAMPLES = 500;
/** Milliseconds by which any timer may be late. */
const TOLERANCE = 2;

export function createEventLoopLag(): EventLoopLag {
  const samples: { due: number; lag: number }[] = [];
  let until = 0;
  let due: number | undefined;
  const sample = () => {
    const lag = realNow() - (due ?? realNow());
    if (lag > TOLERANCE) samples.push({ due: due ?? 0, lag });
    if (samples.length > MAX_SAMPLES) samples.shift();
    due = undefined;
    schedule();
  };
  const schedule = () => {
    const now = realNow();
    if (due !== undefined || now >= until) return;
    due = now + SAMPLE_INTERVAL;
    setTimeout(sample, SAMPLE_INTERVAL).unref();
  };
  return {
    watch(moment) {
      until = Math.max(until, Math.min(moment, realNow() + MAX_TIMER));
      schedule();
    },
    worst(from, to) {
      // A sample that is overdue because this turn of the event loop still runs counts too.
      const pending = due === undefined ? [] : [{ due, lag: realNow() - due }];
      const between = [...samples, ...pending].filter((one) => one.due <= to && one.due + one.lag >= from);
      return Math.max(0, ...between.map(({ lag }) => lag));
    },
  };
}

/** Calls back at the end of this turn of the event loop: after promise callbacks, before timers. */
export const afterThisTurn = (callback: () => void) => void setImmediate(callback);

/** Calls back after pending promise callbacks, before the end of this turn of the event loop. */
export const afterPromises = (callback: () => void) => process.nextTick(callback);

/** A time in the format of the HTTP `Date` header. */
export function httpDate(milliseconds: number): string {
  const second = Math.floor(milliseconds / 1_000);
  if (second !== lastDate.second) lastDate = { second, text: new Date(milliseconds).toUTCString() };
  return lastDate.text;
}

/** Many responses are sent within one second. */
let lastDate = { second: Number.NaN, text: "" };

/** Parses an HTTP date in any of the three formats that recipients must accept; undefined when it is not one. */
export function readHttpDate(text: string): number | undefined {
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text)) return undefined;
  const time = Date.parse(text.endsWith(" GMT") ? text : `${text} GMT`);
  return Number.isNaN(time) ? undefined : time;
}

export const isoTime = (milliseconds: number) => new Date(milliseconds).toISOString();

/** The latest time that RFC 3339 can express. */
export const LATEST_TIME = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Parses an RFC 3339 time from 1970 to 9999 as milliseconds; undefined when it is not one (no `created` is negative). */
export function parseTime(text: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/.test(text)) return undefined;
  const time = Date.parse(text);
  return time >= 0 && time <= LATEST_TIME ? time : undefined;
}
