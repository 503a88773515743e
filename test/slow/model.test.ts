// The whole API against a small model of it: calls, faults, crashes and clocks in any order.
// `npm run model` plays MODEL_RUNS of them from MODEL_SEED on, some on the built program, and prints what was covered.

import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { catalogue } from "../../src/areas/index.ts";
import { lackOf, openCoverage } from "../model/play/coverage.ts";
import { here, type Options, program } from "../model/play/grounds.ts";
import { openReceivers, type Receivers } from "../model/play/receiver.ts";
import { type Shrunk, shrink } from "../model/play/shrink.ts";
import { playStory, type Setting } from "../model/play/stage.ts";
import { drawStory, type Story } from "../model/play/steps.ts";
import type { Expected } from "../model/way.ts";
import { PROGRAM } from "../support/program.ts";

const { MODEL_RUNS, MODEL_SEED } = process.env;
const isLong = MODEL_RUNS !== undefined;
/** So many touch every operation. */
const ENOUGH = 20;
const RUNS = Number(MODEL_RUNS ?? ENOUGH);
/** A new one each time where many are played, which a failure tells. */
const SEED = Number(MODEL_SEED ?? (isLong ? Date.now() % 1_000_000_000 : 20_260_105));

let receivers: Receivers;
beforeAll(async () => {
  receivers = await openReceivers();
});
afterAll(() => receivers.close());

/** Every run has a seed of its own, from which all of it follows: one that fails can be played alone. */
function storyOf(seed: number): { story: Story; open: Setting["open"] } {
  const crashes = seed % 3 === 0;
  return { story: drawStory(seed, { most: 80, crashes }), open: isLong && seed % 30 === 0 ? program : here };
}

test("names the operations that the model lacks", () => {
  const ids = catalogue.map(({ id }) => id);
  const lack = lackOf(ids);
  if (lack !== undefined) process.stdout.write(`${lack}\n`);
  expect(lackOf([...ids, "zoo.feed"])).toMatch(/^The reference model lacks .*\bzoo\.feed: describe it in test\/model\/operations\.ts\.$/);
});

describe("the sandbox does as the model says", () => {
  test(
    `in ${RUNS} runs`,
    async () => {
      const coverage = openCoverage();
      for (let run = 0; run < RUNS; run++) {
        const { story, open } = storyOf(SEED + run);
        const play = (one: Story) => playStory(one, { receivers, coverage, open });
        const findings = await play(story);
        if (findings) complain(SEED + run, await shrink(story, findings, play));
        if (isLong && run % 100 === 99) process.stdout.write(`${run + 1} runs, ${coverage.steps} steps\n`);
      }
      if (isLong) process.stdout.write(`From seed ${SEED} on: ${coverage.table()}\n`);
      if (RUNS >= ENOUGH) expect(coverage.missing()).toEqual([]);
    },
    60_000 + RUNS * 10_000,
  );
});

function complain(seed: number, { findings, story, tries }: Shrunk): never {
  process.stdout.write(`${findings.script}\n`);
  const again = `MODEL_SEED=${seed} MODEL_RUNS=1 npm run model`;
  throw new Error(
    `${findings.message}\nThe script above shows it, in ${story.steps.length} steps (${tries} tries); ${again} finds it again.`,
  );
}

/** Plays stories against a model that is wrong on purpose, until that comes out, and makes it as short as it gets. */
async function findFlaw(setting: Omit<Setting, "receivers" | "coverage">, crashes: boolean): Promise<Shrunk> {
  const play = (story: Story) => playStory(story, { ...setting, receivers, coverage: openCoverage() });
  for (let seed = 1; ; seed++) {
    const story = drawStory(seed, { most: 80, crashes });
    const findings = await play(story);
    if (findings) return shrink(story, findings, play);
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
    const twist = (expected: Expected): Expected =>
      expected.operation === "bookings.decline" && expected.code === "invalid_state"
        ? { ...expected, status: 200, code: undefined, body: { status: "declined" } }
        : expected;
    const { findings, story } = await findFlaw({ twist }, false);
    expect(story.steps).toMatchObject([{ step: "call", operation: "bookings.decline", changes: [], key: undefined, oddity: undefined }]);
    expect(findings.message).toBe('status: must be "200 ", is "409 invalid_state"');
    const printed = runScript(findings.script);
    expect(printed).toContain("HTTP/1.1 409 Conflict");
    expect(printed).toContain('"code":"invalid_state"');
    expect(printed).toContain('The model says: {"status":200');
    expect(printed).toContain('What differs: status: must be "200 ", is "409 invalid_state"');
  });

  test("that kills the sandbox and receives webhooks where that has a part in it", async () => {
    // As if nothing were left of deliveries after a crash.
    let crashed = false;
    const open = async (options: Options) => {
      crashed = false;
      const ground = await here(options);
      const crash = (now: number) => {
        crashed = true;
        return ground.crash(now);
      };
      return { ...ground, crash };
    };
    const twist = (expected: Expected): Expected => {
      const { data = [] } = (expected.body ?? {}) as { data?: { status?: string }[] };
      const isHit = crashed && expected.operation === "deliveries.list" && data.some(({ status }) => status === "succeeded");
      return isHit ? { ...expected, body: { object: "list", data: [], has_more: false } } : expected;
    };
    const { findings, story } = await findFlaw({ twist, open }, true);
    expect(story.steps.map(({ step }) => step)).toContain("crash");
    expect(story.steps.length).toBeLessThanOrEqual(4);
    const printed = runScript(findings.script);
    expect(printed).toContain("HTTP/1.1 200 OK");
    expect(printed).toMatch(/"object":"webhook_delivery".*"status":"succeeded".*"responseStatus":200/);
    expect(printed).toContain("What differs: /data/0: must be absent");
  });
});
