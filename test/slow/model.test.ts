// Model-based tests: runs random traces of calls, faults, crashes and clock changes on the sandbox and on the reference
// model. `npm run model` runs MODEL_RUNS traces, starting at MODEL_SEED, some on the built program.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { catalogue } from "../../src/areas/index.ts";
import type { Expected } from "../model/call-outcome.ts";
import { generateTrace, type Trace } from "../model/runner/commands.ts";
import { createCoverage, describeMissingOperations } from "../model/runner/coverage.ts";
import { type RunOptions, runTrace } from "../model/runner/run-trace.ts";
import { type ShrunkTrace, shrink } from "../model/runner/shrinker.ts";
import { builtProgram, inProcess } from "../model/runner/targets.ts";
import { type Receivers, startReceivers } from "../model/runner/webhook-receivers.ts";

const { MODEL_RUNS, MODEL_SEED } = process.env;
const isLong = MODEL_RUNS !== undefined;
/** With the default seed, this many runs call every operation and crash three times. */
const ENOUGH = 8;
const RUNS = Number(MODEL_RUNS ?? ENOUGH);
/** Long runs start from a random seed. A failure prints its seed. */
const SEED = Number(MODEL_SEED ?? (isLong ? Date.now() % 1_000_000_000 : 20_260_124));

let receivers: Receivers;
beforeAll(async () => {
  receivers = await startReceivers();
});
afterAll(() => receivers.close());

/** Each run has its own seed, so a failing run can be repeated alone. */
function traceOf(seed: number): { trace: Trace; open: RunOptions["open"] } {
  const crashes = seed % 3 === 0;
  return {
    trace: generateTrace(seed, { most: 80, crashes, silent: isLong }),
    open: isLong && seed % 30 === 0 ? builtProgram : inProcess,
  };
}

test("describeMissingOperations() names the operations that the model lacks", () => {
  const ids = catalogue.map(({ id }) => id);
  const lack = describeMissingOperations(ids);
  if (lack !== undefined) process.stdout.write(`${lack}\n`);
  if (isLong) expect(lack).toBeUndefined();
  expect(describeMissingOperations([...ids, "zoo.feed"])).toMatch(
    /^The reference model lacks .*\bzoo\.feed: describe it in test\/model\/operations\.ts\.$/,
  );
});

describe("the sandbox matches the model", () => {
  test(
    `in ${RUNS} runs`,
    async () => {
      const coverage = createCoverage();
      for (let index = 0; index < RUNS; index++) {
        const { trace, open } = traceOf(SEED + index);
        const run = (one: Trace) => runTrace(one, { receivers, coverage, open });
        const failure = await run(trace);
        if (failure) reportFailure(SEED + index, await shrink(trace, failure, run));
        if (isLong && index % 100 === 99) process.stdout.write(`${index + 1} runs, ${coverage.commands} commands\n`);
      }
      if (isLong) process.stdout.write(`From seed ${SEED} on: ${coverage.runs} runs, ${coverage.commands} commands\n`);
      if (RUNS >= ENOUGH) expect(coverage.missing()).toEqual([]);
    },
    // Shrinking a failing trace runs it up to 600 times.
    isLong ? 36_000_000 : 60_000 + RUNS * 10_000,
  );
});

function reportFailure(seed: number, { failure, trace, tries }: ShrunkTrace): never {
  const again = `MODEL_SEED=${seed} MODEL_RUNS=1 npm run model`;
  const { message, expected, lines } = failure;
  throw new Error(
    `${message}\nThe model says: ${expected}\n` +
      `Reduced to ${trace.commands.length} commands in ${tries} runs. Repeat it with ${again}.\n${lines.join("\n")}`,
  );
}

/** Runs traces with a mutated model until one fails, and shrinks that trace. */
async function findFlaw(mutate: (expected: Expected) => Expected): Promise<ShrunkTrace> {
  const run = (trace: Trace) => runTrace(trace, { mutate, receivers, coverage: createCoverage() });
  // The first of these traces declines a booking twice.
  for (let seed = 11; ; seed++) {
    const trace = generateTrace(seed, { most: 40, crashes: false });
    const failure = await run(trace);
    if (failure) return shrink(trace, failure, run);
  }
}

const TIMEOUT = 300_000;

describe("a difference is reported", { timeout: TIMEOUT }, () => {
  test("with only the requests needed to reproduce it", async () => {
    // In this mutated model, a booking can be declined twice.
    const mutate = (expected: Expected): Expected =>
      expected.operation === "bookings.decline" && expected.code === "invalid_state"
        ? { ...expected, status: 200, code: undefined, body: { status: "declined" } }
        : expected;
    const { failure, trace } = await findFlaw(mutate);
    expect(trace.commands).toMatchObject([
      { type: "call", operation: "bookings.decline", changes: [], key: undefined, oddity: undefined },
    ]);
    expect(failure.message).toBe('status: must be "200 ", is "409 invalid_state"');
    expect(failure.lines.at(-1)).toMatch(/^POST \/v1\/hospitality\/bookings\/\w+\/decline .* -> 409$/);
    expect(failure.expected).toContain('{"status":200');
  });
});
