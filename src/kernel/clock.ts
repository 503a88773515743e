// The one clock: what time the sandbox believes it is, and the one alarm that looks for what is due.
// Only this file touches Date and timers. What must stay real (a peer's patience) is named real below.

export type ClockMode = "real" | "frozen" | "offset";

/** Something that has work falling due: retries, expiries. It keeps its own due times as data, never as timers. */
export interface DueWork {
  /** When `run` next has something to begin, in sandbox milliseconds; null when nothing waits. What is under way waits no more. */
  nextDue(): number | null;
  /** Begins everything due by `now`. What takes longer goes on by itself, and wakes the clock when it brought something new. */
  run(now: number): void;
  /** Resolves when what is due or under way at this moment has settled; left out where nothing outlasts `run`. */
  settled?(): Promise<void>;
}

export interface Clock {
  readonly mode: ClockMode;
  /** Sandbox time in milliseconds since the epoch. */
  now(): number;
  /** Sandbox time in whole seconds since the epoch: the unit of every `created`. */
  seconds(): number;
  set(mode: ClockMode, now?: number): void;
  /** Plays the span up to `until`: each due piece of work at its own time, in order, each settled before the next. */
  advance(until: number): Promise<void>;
  /** Looks after this too, from the next time on that something wakes the clock. */
  watch(work: DueWork): void;
  /** Looks again at what is due: to be called after anything that may have brought a due time forward. */
  wake(): void;
  stop(): void;
}

const LONGEST_TIMER = 2 ** 31 - 1;

export function createClock(frozenAt?: number): Clock {
  const time = createTime(frozenAt);
  const alarm = createAlarm(time);
  let lastAdvance: Promise<void> = Promise.resolve();
  // What is due or under way belongs to the present: it settles before time moves on.
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
    // One at a time: two spans that were asked for together are played one after the other.
    advance(until) {
      const played = lastAdvance.then(() => play(until));
      lastAdvance = played.catch(() => {});
      return played;
    },
    watch(work) {
      alarm.watched.push(work);
    },
    wake: alarm.wake,
    stop: alarm.stop,
  };
}

/** What time it is: the machine's, the machine's with an offset, or one that stands still. */
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

/** The one alarm: it rings when the earliest piece of work falls due, and begins everything due by then. */
function createAlarm(time: ReturnType<typeof createTime>) {
  const watched: DueWork[] = [];
  let timer: NodeJS.Timeout | undefined;
  let ringing = false;
  let stopped = false;

  const earliest = () => watched.reduce((soonest, work) => Math.min(soonest, work.nextDue() ?? Infinity), Infinity);
  const runDue = () => {
    for (const work of watched) if ((work.nextDue() ?? Infinity) <= time.now()) work.run(time.now());
  };
  // What one work did may have given another something to do: so it ends with a round in which nothing was due.
  const settle = async () => {
    let rested: boolean;
    do {
      rested = earliest() > time.now();
      runDue();
      await Promise.all(watched.map((work) => work.settled?.()));
    } while (!rested || earliest() <= time.now());
  };

  const ring = () => {
    ringing = false;
    if (stopped) return;
    runDue();
    arm();
  };
  // What is due already is begun as soon as this turn of the event loop is over, without the millisecond that a timer costs.
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
    timer = setTimeout(ring, Math.min(wait, LONGEST_TIMER));
    timer.unref();
  };
  const stop = () => {
    stopped = true;
    clearTimer(timer);
  };
  // Calls that share a commit are answered together, and each wakes the clock: one look after all of them will do.
  return { watched, earliest, settle, arm, wake: onceForAll(arm), stop };
}

/**
 * Node keeps a list for each length of a timer until the last of them is cleared; but of timers that do not hold the process until their time
 * has come. Of what expires a day after each call that would be a list for each millisecond: so it holds it again, and then is cleared.
 */
const clearTimer = (timer: NodeJS.Timeout | undefined) => clearTimeout(timer?.ref());

/** Does the work once for all who ask for it before the promises that are settled by now have gone on. */
function onceForAll(work: () => void): () => void {
  let isAsked = false;
  const act = () => {
    isAsked = false;
    work();
  };
  return () => {
    if (!isAsked) afterPromises(act);
    isAsked = true;
  };
}

/** A stopwatch on the machine's own monotonic clock; reading it gives milliseconds since it was started. */
export function stopwatch(): () => number {
  const started = performance.now();
  return () => performance.now() - started;
}

/** Real milliseconds since the process started: for stopwatches that must not cost an allocation. */
export const realNow = () => performance.now();

/** Calls back after real time, whatever the sandbox clock says; the returned function cancels. */
export function afterRealTime(milliseconds: number, callback: () => void): () => void {
  const timer = setTimeout(callback, milliseconds);
  return () => clearTimeout(timer);
}

/** Resolves after real time has passed: an injected latency, a polling pause of a command. */
export const realDelay = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));

/** Stops this thread, event loop and all, for a moment: only for the last words of a process, which nothing may come between. */
export const blockThread = (milliseconds: number) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);

/** How late the event loop was, as real timers show it: what was measured meanwhile is no more exact than that. */
export interface EventLoopLag {
  /** Looks until this real moment; longer where somebody else asks for longer. */
  watch(until: number): void;
  /** The worst between two real moments, in milliseconds. */
  worst(from: number, to: number): number;
}

const LOOK_EVERY = 25;
const MOST_LATE = 500;

export function createEventLoopLag(): EventLoopLag {
  const late: { due: number; by: number }[] = [];
  let until = 0;
  let due: number | undefined;
  const look = () => {
    const by = realNow() - (due ?? realNow());
    // A millisecond or two is a timer's own way.
    if (by > 2) late.push({ due: due ?? 0, by });
    if (late.length > MOST_LATE) late.shift();
    due = undefined;
    next();
  };
  const next = () => {
    const now = realNow();
    if (due !== undefined || now >= until) return;
    due = now + LOOK_EVERY;
    setTimeout(look, LOOK_EVERY).unref();
  };
  return {
    watch(moment) {
      until = Math.max(until, Math.min(moment, realNow() + LONGEST_TIMER));
      next();
    },
    worst(from, to) {
      // One that should have come already and has not, because this turn still lasts, is late too.
      const open = due === undefined ? [] : [{ due, by: realNow() - due }];
      const meanwhile = [...late, ...open].filter((one) => one.due <= to && one.due + one.by >= from);
      return Math.max(0, ...meanwhile.map(({ by }) => by));
    },
  };
}

/** Calls back once the event loop has finished this turn: later than any promise, sooner than any time. */
export const afterThisTurn = (callback: () => void) => void setImmediate(callback);

/** Calls back once every promise that can go on has gone on: sooner than the end of the turn. */
export const afterPromises = (callback: () => void) => process.nextTick(callback);

/** The form that the HTTP `Date` header wants. */
export function httpDate(milliseconds: number): string {
  const second = Math.floor(milliseconds / 1_000);
  if (second !== dated.second) dated = { second, text: new Date(milliseconds).toUTCString() };
  return dated.text;
}

/** Many answers fall into one second. */
let dated = { second: Number.NaN, text: "" };

/** Reads an HTTP date in any of the three forms that receivers must take; undefined when it is none. */
export function readHttpDate(text: string): number | undefined {
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text)) return undefined;
  const time = Date.parse(text.endsWith(" GMT") ? text : `${text} GMT`);
  return Number.isNaN(time) ? undefined : time;
}

export const isoTime = (milliseconds: number) => new Date(milliseconds).toISOString();

/** The last moment that an RFC 3339 time can name; the first one here is the epoch, as no `created` is negative. */
export const LATEST_TIME = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Reads an RFC 3339 time from 1970 to 9999 as milliseconds; undefined when it is not one. */
export function parseTime(text: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/.test(text)) return undefined;
  const time = Date.parse(text);
  return time >= 0 && time <= LATEST_TIME ? time : undefined;
}
