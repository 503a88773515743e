// Background traffic: runs of plausible business, one for each merchant, as steps that fall due on the clock.

import type { Traffic, TrafficOptions, TrafficState } from "../contracts/traffic.ts";
import type { Clock, DueWork } from "../kernel/clock.ts";
import { didYouMean } from "../kernel/did-you-mean.ts";
import { fail, SandboxError } from "../kernel/errors.ts";
import type { Random } from "../kernel/random.ts";
import type { Stores } from "../store/stores.ts";
import { type Backlog, type Declared, happen, resourceOf } from "./activity.ts";
import { type Cast, openScene, readCast, type Some } from "./activity-context.ts";
import { createPace, type Pace } from "./pace.ts";
import { drawKind, type Plan, readPlan } from "./plan.ts";

interface Needs extends Pick<Stores, "database" | "createOperationContext" | "counters" | "tenants">, Declared {
  clock: Clock;
  random: Random;
  /** Reports a defect of the sandbox itself. */
  report(error: unknown): void;
}

interface Run extends Plan {
  merchant: string;
  /** Numbers the merchant's runs, so that each draws other random values. */
  number: number;
  pace: Pace;
  cast: Cast;
  backlog: Backlog;
  status: TrafficState["status"];
  startedAt: number;
  byKind: Map<string, number>;
}

export interface TrafficWork extends Traffic, DueWork {
  /** Stops and removes the runs of a merchant, or of all. */
  forget(merchant?: string): void;
}

export function createTraffic(needs: Needs): TrafficWork {
  const { clock } = needs;
  const runs = new Map<string, Run>();
  const underWay = new Set<Promise<void>>();
  const running = () => [...runs.values()].filter(({ status }) => status === "running");
  const begun = (work: Promise<void>) => {
    underWay.add(work);
    void work.finally(() => underWay.delete(work)).finally(clock.wake);
  };
  const work: TrafficWork = {
    start(wanted) {
      const run = openRun(needs, wanted);
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
    nextDue: () => (runs.size === 0 ? null : soonest(running(), clock.now())),
    run(now) {
      for (const run of running())
        for (let due = run.pace.due(now); due !== null && due <= now; due = run.pace.due(now)) begun(letHappen(needs, run, due, now));
    },
    settled: async () => void (await Promise.all(underWay)),
  };
  clock.watch(work);
  return work;
}

function openRun(needs: Needs, wanted: TrafficOptions): Run {
  const { database, clock, random, counters } = needs;
  const plan = readPlan(wanted);
  const merchant = knownMerchant(needs, wanted.merchant);
  const number = database.transaction(() => counters.next(merchant, "traffic"));
  const startedAt = clock.now();
  const chance = (slot: number) => random.fraction("traffic", merchant, number, slot, "when");
  const pace = createPace({ length: plan.gap, count: plan.count, chance }, startedAt);
  const cast = castOf(needs, merchant);
  return { ...plan, merchant, number, pace, cast, backlog: new Map(), status: "running", startedAt, byKind: new Map() };
}

function knownMerchant({ tenants }: Needs, wanted: string | undefined): string {
  const known = tenants.list().map(({ id }) => id);
  const [first = fail("resource_not_found", "This sandbox has no merchant to whom anything could happen.")] = known;
  if (wanted === undefined) return first;
  if (known.includes(wanted)) return wanted;
  return fail("resource_not_found", `There is no merchant ${wanted}.${didYouMean(wanted, known) || " GET /_sandbox lists them."}`);
}

function castOf(needs: Needs, merchant: string): Cast {
  const { own } = needs.createOperationContext(merchant, needs.clock.seconds(), undefined);
  const of = (kind: string) => own(resourceOf(needs, kind));
  return readCast((kind, limit) => of(kind).page({ limit }).data as Some[], of("merchant").require(merchant) as Some);
}

/** Runs one step at its due time. It is committed when this resolves. */
async function letHappen(needs: Needs, run: Run, due: number, now: number): Promise<void> {
  const { database, createOperationContext, random, report } = needs;
  const { merchant, mix, cast, backlog, pace, byKind } = run;
  const scene = openScene(cast, random, [merchant, run.number, pace.slot], due);
  const kind = drawKind(mix, scene.chance("kind"));
  pace.step(now);
  if (pace.due(now) === null) run.status = "done";
  try {
    await database.groupCommit(() => {
      if (isCutOff(run)) return;
      happen(needs, backlog, kind, scene, createOperationContext(merchant, scene.now, undefined));
      byKind.set(kind, (byKind.get(kind) ?? 0) + 1);
    });
  } catch (error) {
    // The database is locked by another program, or the sandbox is closing: this step is skipped.
    if (error instanceof SandboxError) return;
    run.status = "failed";
    report(error);
  }
}

const isCutOff = ({ status }: Run) => status === "stopped" || status === "failed";

function soonest(runs: readonly Run[], now: number): number | null {
  const dues = runs.map(({ pace }) => pace.due(now) ?? Infinity);
  const first = Math.min(...dues);
  return first === Infinity ? null : first;
}

function stateOf(run: Run, now: number): TrafficState {
  const { merchant, rate, mix, status, startedAt, byKind, pace } = run;
  return {
    merchant,
    rate,
    for: run.for,
    mix: { ...mix },
    status,
    happened: [...byKind.values()].reduce((sum, count) => sum + count, 0),
    byKind: Object.fromEntries(byKind),
    startedAt,
    nextAt: status === "running" ? pace.due(now) : null,
  };
}
