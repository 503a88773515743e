// The whole API against a small model of it: calls, faults, crashes and clocks in any order.
// `npm run model` plays MODEL_RUNS of them from MODEL_SEED on, some on the built program, and prints what was covered.

import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { catalogue } from "../../src/areas/index.ts";
import type { Expected } from "../model/call-outcome.ts";
import { generateTrace, type Trace } from "../model/runner/commands.ts";
import { createCoverage, describeMissingOperations } from "../model/runner/coverage.ts";
import { type RunOptions, runTrace } from "../model/runner/run-trace.ts";
import { type ShrunkTrace, shrink } from "../model/runner/shrinker.ts";
import { builtProgram, inProcess, type TargetOptions } from "../model/runner/targets.ts";
import { type Receivers, startReceivers } from "../model/runner/webhook-receivers.ts";
import { PROGRAM } from "../support/program.ts";

const { MODEL_RUNS, MODEL_SEED } = process.env;
const isLong = MODEL_RUNS !== undefined;
/** So many touch every operation. */
const ENOUGH = 20;
const RUNS = Number(MODEL_RUNS ?? ENOUGH);
/** A new one each time where many are played, which a failure emits. */
const SEED = Number(MODEL_SEED ?? (isLong ? Date.now() % 1_000_000_000 : 20_260_105));

let receivers: Receivers;
beforeAll(async () => {
  receivers = await startReceivers();
});
afterAll(() => receivers.close());

/** Every run has a seed of its own, from which all of it follows: one that fails can be played alone. */
function traceOf(seed: number): { trace: Trace; open: RunOptions["open"] } {
  const crashes = seed % 3 === 0;
  return { trace: generateTrace(seed, { most: 80, crashes }), open: isLong && seed % 30 === 0 ? builtProgram : inProcess };
}

test("names the operations that the model lacks", () => {
  const ids = catalogue.map(({ id }) => id);
  const lack = describeMissingOperations(ids);
  if (lack !== undefined) process.stdout.write(`${lack}\n`);
  expect(describeMissingOperations([...ids, "zoo.feed"])).toMatch(
    /^The reference model lacks .*\bzoo\.feed: describe it in test\/model\/operations\.ts\.$/,
  );
});

describe("the sandbox does as the model says", () => {
  test(
    `in ${RUNS} runs`,
    async () => {
      const coverage = createCoverage();
      for (let run = 0; run < RUNS; run++) {
        const { trace, open } = traceOf(SEED + run);
        const play = (one: Trace) => runTrace(one, { receivers, coverage, open });
        const failure = await play(trace);
        if (failure) complain(SEED + run, await shrink(trace, failure, play));
        if (isLong && run % 100 === 99) process.stdout.write(`${run + 1} runs, ${coverage.commands} commands\n`);
      }
      if (isLong) process.stdout.write(`From seed ${SEED} on: ${coverage.table()}\n`);
      if (RUNS >= ENOUGH) expect(coverage.missing()).toEqual([]);
    },
    60_000 + RUNS * 10_000,
  );
});

function complain(seed: number, { failure, trace, tries }: ShrunkTrace): never {
  process.stdout.write(`${failure.script}\n`);
  const again = `MODEL_SEED=${seed} MODEL_RUNS=1 npm run model`;
  throw new Error(
    `${failure.message}\nThe script above shows it, in ${trace.commands.length} commands (${tries} tries); ${again} finds it again.`,
  );
}

/** Plays stories against a model that is wrong on purpose, until that comes out, and makes it as short as it gets. */
async function findFlaw(options: Omit<RunOptions, "receivers" | "coverage">, crashes: boolean): Promise<ShrunkTrace> {
  const play = (trace: Trace) => runTrace(trace, { ...options, receivers, coverage: createCoverage() });
  for (let seed = 1; ; seed++) {
    const trace = generateTrace(seed, { most: 80, crashes });
    const failure = await play(trace);
    if (failure) return shrink(trace, failure, play);
  }
}

/** Runs a script as whoever reads it would; answers what it prints. */
function runScript(script: string): string {
  const { stdout, stderr, status } = spawnSync("bash", ["-c", script], {
    env: { ...process.env, COMMAND: `${process.execPath} ${PROGRAM}` },
    encoding: "utf8",
  });
  expect([status, stderr], stdout).toEqual([0, ""]);
  return stdout;
}

const PATIENCE = 300_000;

describe("what differs becomes a script of curl commands", { timeout: PATIENCE }, () => {
  test("that shows it, and nothing that has no part in it", async () => {
    // As if a booking could be declined twice.
    const mutate = (expected: Expected): Expected =>
      expected.operation === "bookings.decline" && expected.code === "invalid_state"
        ? { ...expected, status: 200, code: undefined, body: { status: "declined" } }
        : expected;
    const { failure, trace } = await findFlaw({ mutate }, false);
    expect(trace.commands).toMatchObject([{ type: "call", operation: "bookings.decline", changes: [], key: undefined, oddity: undefined }]);
    expect(failure.message).toBe('status: must be "200 ", is "409 invalid_state"');
    const printed = runScript(failure.script);
    expect(printed).toContain("HTTP/1.1 409 Conflict");
    expect(printed).toContain('"code":"invalid_state"');
    expect(printed).toContain('The model says: {"status":200');
    expect(printed).toContain('What differs: status: must be "200 ", is "409 invalid_state"');
  });

  test("that kills the sandbox and receives webhooks where that has a part in it", async () => {
    // As if nothing were left of deliveries after a crash.
    let crashed = false;
    const open = async (options: TargetOptions) => {
      crashed = false;
      const target = await inProcess(options);
      const crash = (now: number) => {
        crashed = true;
        return target.crash(now);
      };
      return { ...target, crash };
    };
    const mutate = (expected: Expected): Expected => {
      const { data = [] } = (expected.body ?? {}) as { data?: { status?: string }[] };
      const isHit = crashed && expected.operation === "deliveries.list" && data.some(({ status }) => status === "succeeded");
      return isHit ? { ...expected, body: { object: "list", data: [], has_more: false } } : expected;
    };
    const { failure, trace } = await findFlaw({ mutate, open }, true);
    expect(trace.commands.map(({ type }) => type)).toContain("crash");
    expect(trace.commands.length).toBeLessThanOrEqual(4);
    const printed = runScript(failure.script);
    expect(printed).toContain("HTTP/1.1 200 OK");
    expect(printed).toMatch(/"object":"webhook_delivery".*"status":"succeeded".*"responseStatus":200/);
    expect(printed).toContain("What differs: /data/0: must be absent");
  });
});
