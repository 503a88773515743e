// What runs in the thread of a sandbox that is looked at: opens it, says how that went, and closes it when told.

import { parentPort, workerData } from "node:worker_threads";
import { SandboxError } from "../../kernel/errors.ts";
import { createSandbox, type Sandbox } from "../../sandbox/create.ts";
import type { Defect } from "../../sandbox/engine.ts";
import type { Options } from "../../sandbox/options.ts";
import { type ReadyFacts, readyFacts } from "../output/plain-output.ts";
import { localUrl } from "../remote/environment.ts";

/** What the thread says. A failure that is no misuse ends it, as it would end a process. */
export type Said =
  | { kind: "ready"; facts: ReadyFacts; url: string }
  | { kind: "refused"; message: string; exitCode: number }
  | { kind: "defect"; defect: Defect };

const say = (said: Said) => parentPort?.postMessage(said);

async function open(options: Options): Promise<Sandbox | undefined> {
  try {
    const sandbox = await createSandbox(options);
    sandbox.onDefect(({ error, where }) => say({ kind: "defect", defect: { error: String((error as Error)?.stack ?? error), where } }));
    say({ kind: "ready", facts: await readyFacts(sandbox), url: localUrl(sandbox, options.host) });
    return sandbox;
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    say({ kind: "refused", message: error.message, exitCode: error.exitCode });
    return undefined;
  }
}

const opening = open(workerData as Options);

// Whatever is heard means that it is enough.
parentPort?.once("message", async () => {
  await (await opening)?.close();
  process.exit();
});
