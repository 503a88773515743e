// Runs one trace from start to end and reports the first difference with the requests that led to it.

import type { Trace } from "./commands.ts";
import type { Coverage } from "./coverage.ts";
import { checkWorlds, Difference, initialWorld, type Run, readAllRecords, runCommand } from "./runner.ts";
import { inProcess, type Target, type TargetOptions } from "./targets.ts";
import type { Receivers } from "./webhook-receivers.ts";

export interface Failure {
  message: string;
  /** The response that the model expected. */
  expected: string;
  lines: string[];
  /** The number of commands up to the failing one. If the final reads failed, one more than the trace has. */
  commands: number;
}

export interface RunOptions {
  receivers: Receivers;
  coverage: Coverage;
  open?: (options: TargetOptions) => Promise<Target>;
  mutate?: Run["mutate"];
}

const NOW = Date.UTC(2026, 0, 5, 12);
/** In real time. Only a silent receiver exceeds it: even on a busy machine, the other receivers respond earlier. */
const WEBHOOK_TIMEOUT = "10s";

/** Resolves to undefined if the sandbox always matched the model. */
export async function runTrace(
  { rateLimit, bodies, commands }: Trace,
  options: RunOptions,
): Promise<Failure | undefined> {
  const { receivers, coverage, open = inProcess, mutate = (expected) => expected } = options;
  const initial = { now: NOW, rateLimit, bodies };
  const crashes = commands.some(({ type }) => type === "crash");
  const target = await open({ ...initial, webhookTimeout: WEBHOOK_TIMEOUT, crashes });
  const address = `http://127.0.0.1:${receivers.port}`;
  const world = initialWorld(initial);
  const run: Run = {
    world,
    target,
    receivers,
    address,
    lines: [],
    calls: [],
    count: 0,
    onCall: coverage.count,
    mutate,
  };
  coverage.runs++;
  let difference: Difference | undefined;
  let taken = 0;
  try {
    for (const command of commands) {
      coverage.commands++;
      taken++;
      await runCommand(run, command);
    }
    taken++;
    await readAllRecords(run);
    await checkWorlds(run);
  } catch (error) {
    if (!(error instanceof Difference)) throw error;
    difference = error;
  } finally {
    const defect = await target.close();
    if (defect !== undefined)
      difference = new Difference([difference?.message ?? "", defect], difference?.expected ?? "no defect");
    receivers.reset();
  }
  return (
    difference && { message: difference.message, expected: difference.expected, lines: run.lines, commands: taken }
  );
}
