// Background traffic: at most one run for each merchant, carried out in steps that fall due on the clock.

import type { Traffic, TrafficOptions, TrafficState } from "../contracts/traffic.ts";
import type { Clock, DueWork } from "../kernel/clock.ts";
import { didYouMean } from "../kernel/did-you-mean.ts";
import { fail, SandboxError } from "../kernel/errors.ts";
import type { Random } from "../kernel/random.ts";
import type { Stores } from "../store/stores.ts";
import { type ApiDefinitions, type Backlog, resourceOf, runStep } from "./step.ts";
import { createStepContext, type MerchantData, readMerchantData, type TrafficRecord } from "./step-context.ts";
import { createStepSchedule, type StepSchedule } from "./step-schedule.ts";
import { drawKind, parseTrafficOptions, type TrafficPlan } from "./traffic-options.ts";

interface TrafficDependencies extends Pick<Stores, "database" | "createOperationContext" | "counters" | "tenants">, ApiDefinitions {
  clock: Clock;
  random: Random;
  /** Reports a defect of the sandbox itself. */
  report(error: unknown): void;
}

interface TrafficRun extends TrafficPlan {
  merchant: string;
  /** The number of this run for its merchant, so that each run draws different random values. */
  number: number;
  schedule: StepSchedule;
  merchantData: MerchantData;
  backlog: Backlog;
  status: TrafficState["status"];
  startedAt: number;
  byKind: Map<string, number>;
}

export interface TrafficWork extends Traffic, DueWork {
  /** Stops and removes the runs of a merchant, or of all. */
  forget(merchant?: string): void;
}

export function createTraffic(deps: TrafficDependencies): TrafficWork {
  const { clock } = deps;
  const runs = new Map<string, TrafficRun>();
  const inFlight = new Set<Promise<void>>();
  const running = () => [...runs.values()].filter(({ status }) => status === "running");
  const track = (work: Promise<void>) => {
    inFlight.add(work);
    void work.finally(() => inFlight.delete(work)).finally(clock.wake);
  };
  const work: TrafficWork = {
    start(options) {
      const run = createRun(deps, options);
      runs.set(run.merchant, run);
      clock.wake();
      return stateOf(run, clock.now());
    },
    stop(merchant) {
      const stopped = running().filter((run) => merchant === undefined || run.merchant === merchant);
      for (const run of stopped) run.status = "stopped";
      return stopped.map((run) => stateOf(run, clock.now()));
    },
    list: () => [...runs.values()].map((run) => stateOf(run, clock.now())),
    forget(merchant) {
      work.stop(merchant);
      for (const name of runs.keys()) if (merchant === undefined || name === merchant) runs.delete(name);
    },
    nextDue: () => (runs.size === 0 ? null : earliestDue(running(), clock.now())),
    run(now) {
      for (const run of running())
        for (let due = run.schedule.due(now); due !== null && due <= now; due = run.schedule.due(now))
          track(runDueStep(deps, run, due, now));
    },
    settled: async () => void (await Promise.all(inFlight)),
  };
  clock.watch(work);
  return work;
}

function createRun(deps: TrafficDependencies, options: TrafficOptions): TrafficRun {
  const { database, clock, random, counters } = deps;
  const plan = parseTrafficOptions(options);
  const merchant = findMerchant(deps, options.merchant);
  const number = database.transaction(() => counters.next(merchant, "traffic"));
  const startedAt = clock.now();
  const chance = (slot: number) => random.fraction("traffic", merchant, number, slot, "when");
  const schedule = createStepSchedule({ length: plan.gap, count: plan.count, chance }, startedAt);
  const merchantData = loadMerchantData(deps, merchant);
  return { ...plan, merchant, number, schedule, merchantData, backlog: new Map(), status: "running", startedAt, byKind: new Map() };
}

function findMerchant({ tenants }: TrafficDependencies, id: string | undefined): string {
  const known = tenants.list().map((merchant) => merchant.id);
  const [first = fail("resource_not_found", "This sandbox has no merchant to generate traffic for.")] = known;
  if (id === undefined) return first;
  if (known.includes(id)) return id;
  return fail("resource_not_found", `There is no merchant ${id}.${didYouMean(id, known) || " GET /_sandbox lists them."}`);
}

function loadMerchantData(deps: TrafficDependencies, merchant: string): MerchantData {
  const { own } = deps.createOperationContext(merchant, deps.clock.seconds(), undefined);
  const of = (kind: string) => own(resourceOf(deps, kind));
  return readMerchantData((kind, limit) => of(kind).newestOf(limit) as TrafficRecord[], of("merchant").require(merchant) as TrafficRecord);
}

/** Runs one step as of its due time; resolves after the commit. */
async function runDueStep(deps: TrafficDependencies, run: TrafficRun, due: number, now: number): Promise<void> {
  const { database, createOperationContext, random, report } = deps;
  const { merchant, mix, merchantData, backlog, schedule, byKind } = run;
  const step = createStepContext(merchantData, random, [merchant, run.number, schedule.slot], due);
  const kind = drawKind(mix, step.chance("kind"));
  schedule.step(now);
  if (schedule.due(now) === null) run.status = "done";
  try {
    await database.groupCommit(() => {
      if (isStopped(run)) return;
      runStep(deps, backlog, kind, step, createOperationContext(merchant, step.now, undefined));
      byKind.set(kind, (byKind.get(kind) ?? 0) + 1);
    });
  } catch (error) {
    // The database is locked by another program, or the sandbox is closing: this step is skipped.
    if (error instanceof SandboxError) return;
    run.status = "failed";
    report(error);
  }
}

const isStopped = ({ status }: TrafficRun) => status === "stopped" || status === "failed";

function earliestDue(runs: readonly TrafficRun[], now: number): number | null {
  const dues = runs.map(({ schedule }) => schedule.due(now) ?? Infinity);
  const first = Math.min(...dues);
  return first === Infinity ? null : first;
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
