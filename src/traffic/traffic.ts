// Background traffic: at most one run for each merchant, carried out in steps that fall due on the clock.

import type { LifeChange } from "../contracts/life.ts";
import type { AnyRecord } from "../contracts/resource.ts";
import type { TrafficOptions, TrafficState } from "../contracts/traffic.ts";
import { businessDayFrom, dayAt, timeOfDay } from "../kernel/calendar.ts";
import { type Clock, parseTime } from "../kernel/clock.ts";
import { ApiError, SandboxError } from "../kernel/errors.ts";
import { drawsOf } from "../kernel/random.ts";
import type { Life } from "../life/life.ts";
import type { Stores } from "../store/stores.ts";
import { countryOf, HOURS, kinds, type StepContext } from "./kinds.ts";
import { type Progress, plan, resourceOf, runStep, type StepDependencies } from "./step.ts";
import { kindsInTurn, parseTrafficOptions, type TrafficPlan } from "./traffic-options.ts";

interface TrafficDependencies
  extends Pick<Stores, "createOperationContext" | "tenants" | "counters">,
    StepDependencies {
  clock: Clock;
  life: Life;
  /** Reports a defect of the sandbox itself. */
  report(error: unknown): void;
}

interface TrafficRun extends TrafficPlan, Progress {
  merchant: string;
  schedule: ReturnType<typeof createStepSchedule>;
  status: TrafficState["status"];
  startedAt: number;
  byKind: Map<string, number>;
}

export type Traffic = ReturnType<typeof createTraffic>;

export function createTraffic(deps: TrafficDependencies) {
  const { clock } = deps;
  const runs = new Map<string, TrafficRun>();
  const inFlight = new Set<Promise<void>>();
  const running = () => [...runs.values()].filter(({ status }) => status === "running");
  const track = (work: Promise<void>) => {
    inFlight.add(work);
    void work.finally(() => inFlight.delete(work)).finally(clock.wake);
  };
  const stop = (merchant?: string) => {
    const stopped = running().filter((run) => merchant === undefined || run.merchant === merchant);
    for (const run of stopped) run.status = "stopped";
    return stopped.map((run) => stateOf(run, clock.now()));
  };
  const work = {
    /** Starts traffic for a merchant and replaces its current traffic. */
    start(options: TrafficOptions) {
      const run = createRun(deps, options);
      takeOver(deps, run);
      runs.set(run.merchant, run);
      clock.wake();
      return stateOf(run, clock.now());
    },
    /** Stops one merchant's traffic (default: all), and returns the stopped traffic. */
    stop,
    /** The latest traffic of each merchant, running or not. */
    list: () => [...runs.values()].map((run) => stateOf(run, clock.now())),
    /** Stops and removes the runs of a merchant, or of all. */
    forget(merchant?: string) {
      stop(merchant);
      for (const name of runs.keys()) if (merchant === undefined || name === merchant) runs.delete(name);
    },
    nextDue() {
      const dues = running().flatMap(({ schedule }) => schedule.due(clock.now()) ?? []);
      return dues.length === 0 ? null : Math.min(...dues);
    },
    run(now: number) {
      for (const run of running())
        for (let due = run.schedule.due(now); due !== null && due <= now; due = run.schedule.due(now))
          track(runDueStep(deps, run, due, now));
    },
    settled: async () => void (await Promise.all(inFlight)),
  };
  clock.watch(work);
  deps.life.listen((change) => {
    const run = runs.get(change.merchant);
    if (run?.status === "running") followLife(deps, run, change);
  });
  return work;
}

function createRun(deps: TrafficDependencies, options: TrafficOptions): TrafficRun {
  const { database, clock, random, counters } = deps;
  const merchant = deps.tenants.requireOrFirst(options.merchant);
  const startedAt = clock.now();
  const { own } = deps.createOperationContext(merchant, clock.seconds(), undefined);
  const of = (kind: string) => own(resourceOf(deps, kind));
  const plan = parseTrafficOptions(options, { merchant, has: (kind) => of(kind).newest() !== undefined });
  // Each run of a merchant has another number, so that it draws different random values.
  const name = ["traffic", merchant, database.transaction(() => counters.next(merchant, "traffic"))];
  const chance = (slot: number) => random.fraction(...name, slot, "when");
  const schedule = createStepSchedule({ length: plan.gap, count: plan.count, chance }, startedAt);
  const progress = { name, backlog: new Map(), awaiting: new Map() };
  return { ...plan, ...progress, merchant, schedule, status: "running", startedAt, byKind: new Map() };
}

/** Takes over the payments and taxes that are pending when traffic starts: nothing else would settle them. */
function takeOver(deps: TrafficDependencies, run: TrafficRun): void {
  for (const kind of Object.keys(run.mix).filter((name) => kinds[name]?.takesOver)) {
    const step = stepOf(deps, run, run.startedAt, kind);
    for (const record of step.newest(kind, 100)) if (record.status === "pending") plan(deps, run, kind, record, step);
  }
}

function stepOf(deps: TrafficDependencies, run: TrafficRun, time: number, of: string | number): StepContext {
  const { random, createOperationContext } = deps;
  const caller = createOperationContext(run.merchant, Math.floor(time / 1_000), undefined);
  const own: StepContext["own"] = (kind) => caller.own(resourceOf(deps, kind));
  const merchant = () => own("merchant").require(run.merchant) as unknown as AnyRecord;
  return {
    ...drawsOf(random, ...run.name, of),
    caller,
    today: dayAt(countryOf({ merchant }), time),
    own,
    newest: (kind, count) => own(kind).newestOf(count) as unknown as AnyRecord[],
    merchant,
  };
}

/** Runs one step as of its due time; resolves after the commit. */
async function runDueStep(deps: TrafficDependencies, run: TrafficRun, due: number, now: number): Promise<void> {
  const { database, report } = deps;
  const { schedule, byKind } = run;
  const { slot } = schedule;
  schedule.step(now);
  if (schedule.due(now) === null) run.status = "done";
  try {
    await database.groupCommit(() => {
      if (run.status === "stopped" || run.status === "failed") return;
      const step = stepOf(deps, run, due, slot);
      for (const kind of inHours(run, due, step)) {
        if (!runStep(deps, run, kind, step)) continue;
        byKind.set(kind, (byKind.get(kind) ?? 0) + 1);
        break;
      }
    });
  } catch (error) {
    // This step is skipped: another program locks the database, the sandbox is closing, or too many deliveries are
    // pending.
    if (error instanceof SandboxError || (error instanceof ApiError && error.code === "sandbox_unavailable")) return;
    run.status = "failed";
    report(error);
  }
}

/** Milliseconds. Traffic with a shorter time between two actions tests a load, and keeps no hours. */
const BUSINESS_GAP = 300_000;

/** The kinds whose hours include the time of the step. Kinds with a record that is due come first. */
function inHours({ mix, gap }: TrafficRun, time: number, step: StepContext): readonly string[] {
  const inTurn = kindsInTurn(mix, step.chance);
  if (gap < BUSINESS_GAP) return inTurn;
  const country = countryOf(step);
  const isOpen = (kind: string) => {
    const hours = kinds[kind]?.hours;
    if (hours === undefined) return true;
    const [from = 0, to = 0] = [HOURS[hours].from, HOURS[hours].to].map((hour) => timeOfDay(country, step.today, hour));
    return time >= from && time < to && (hours === "trade" || businessDayFrom(step.today) === step.today);
  };
  const open = inTurn.filter(isOpen);
  const due = new Set(open.filter((kind) => kinds[kind]?.submits?.due(step) !== undefined));
  return [...due, ...open.filter((kind) => !due.has(kind))];
}

/** Continues a record of traffic after time took it to its next state. */
function followLife(deps: TrafficDependencies, run: TrafficRun, { id, kind, from, to, at }: LifeChange): void {
  if (from === null || run.awaiting.get(id) !== from) return;
  run.awaiting.delete(id);
  const step = stepOf(deps, run, parseTime(at) ?? 0, id);
  const record = step.own(kind).find(id) as AnyRecord | undefined;
  if (record?.status === to) plan(deps, run, kind, record, step);
}

function stateOf(run: TrafficRun, now: number): TrafficState {
  const { merchant, rate, mix, status, startedAt, byKind, schedule } = run;
  return {
    merchant,
    rate,
    for: run.for,
    mix: { ...mix },
    status,
    happened: [...byKind.values()].reduce((sum, count) => sum + count, 0),
    byKind: Object.fromEntries(byKind),
    startedAt,
    nextAt: status === "running" ? schedule.due(now) : null,
  };
}

interface SlotOptions {
  /** Milliseconds, possibly a fraction. */
  length: number;
  /** Infinity: without end. */
  count: number;
  /** The position of the step in its slot, in [0, 1). */
  chance(slot: number): number;
}

/** Up to this many missed steps are made up for on a busy machine; more mean that the clock was set forward. */
const MAX_CATCH_UP = 100;

export function createStepSchedule({ length, count, chance }: SlotOptions, start: number) {
  let slot = 0;
  let anchor = start;
  const draw = () => Math.floor(anchor + (slot + chance(slot)) * length);
  let due = draw();
  /** Moves the slots along with a clock that was set. */
  const move = (now: number) => {
    anchor = now - slot * length;
    due = draw();
  };
  return {
    /** The index of the next slot, from 0. */
    get slot() {
      return slot;
    },
    /** When the next step is due, in sandbox milliseconds; null after the last slot. */
    due(now: number) {
      if (slot >= count) return null;
      // A due time beyond the end of the next slot means that the clock was set back.
      if (due - now > 2 * length) move(now);
      return due;
    },
    /** Moves on to the next slot. */
    step(now: number) {
      const missed = (now - due) / length;
      slot += 1;
      if (missed > MAX_CATCH_UP) move(now);
      else due = draw();
    },
  };
}
