// Plays one story from its beginning to its end, and makes a script of what was found.

import type { Coverage } from "./coverage.ts";
import { type Ground, here, type Options } from "./grounds.ts";
import { beginWorld, Difference, type Run, readEverything, takeStep } from "./play.ts";
import type { Receivers } from "./receiver.ts";
import { scriptOf } from "./script.ts";
import type { Story } from "./steps.ts";

export interface Findings {
  message: string;
  script: string;
  /** At how many steps it came out; one more than there are where it came out after them. */
  steps: number;
}

export interface Setting {
  receivers: Receivers;
  coverage: Coverage;
  open?: (options: Options) => Promise<Ground>;
  twist?: Run["twist"];
}

const NOW = Date.UTC(2026, 0, 5, 12);
const WEBHOOK_TIMEOUT = "1s";

/** Undefined when the sandbox did as the model says, to the end. */
export async function playStory({ rateLimit, bodies, steps }: Story, setting: Setting): Promise<Findings | undefined> {
  const { receivers, coverage, open = here, twist = (expected) => expected } = setting;
  const beginning = { now: NOW, rateLimit, bodies };
  const crashes = steps.some(({ step }) => step === "crash");
  const ground = await open({ ...beginning, webhookTimeout: WEBHOOK_TIMEOUT, crashes });
  const address = `http://127.0.0.1:${receivers.port}`;
  const world = beginWorld(beginning);
  const run: Run = { world, ground, receivers, address, lines: [], calls: [], count: 0, served: coverage.count, did: coverage.did, twist };
  coverage.runs++;
  let difference: Difference | undefined;
  let taken = 0;
  try {
    for (const step of steps) {
      coverage.steps++;
      taken++;
      await takeStep(run, step);
    }
    taken++;
    await readEverything(run);
  } catch (error) {
    if (!(error instanceof Difference)) throw error;
    difference = error;
  } finally {
    const defect = await ground.close();
    if (defect !== undefined)
      difference = new Difference([difference?.message ?? "", defect], difference?.expected ?? "no defect", run.lines);
    receivers.forget();
  }
  return difference && { message: difference.message, script: scriptOf(difference, beginning, WEBHOOK_TIMEOUT, address), steps: taken };
}
