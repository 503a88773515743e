// The worker thread of a sandbox with a dashboard: opens the sandbox, reports the result, and closes it on request.

import { parentPort, workerData } from "node:worker_threads";
import { errorText, SandboxError } from "../../kernel/errors.ts";
import { openSandbox, type Sandbox } from "../../sandbox/create.ts";
import type { Defect } from "../../sandbox/engine.ts";
import type { Options } from "../../sandbox/options.ts";
import { type ReadyFacts, readyFacts } from "../output/output.ts";
import { localUrl } from "../remote/running-sandbox.ts";
import { limitYoungHeap } from "./young-heap.ts";

export interface GivenStart {
  options: Options;
  /** The endpoints of merchant-sandbox.json, for the user to confirm. */
  toConfirm: string | undefined;
  /** The URL of the app that starts beside the sandbox: deliveries to it wait until its server accepts connections. */
  awaited?: string | undefined;
}

/** A message to the main thread. Any error but a SandboxError ends the thread as an uncaught error. */
export type WorkerMessage =
  | { kind: "ready"; facts: ReadyFacts; url: string }
  | { kind: "failed"; message: string; exitCode: number; cause: Pick<SandboxError, "code" | "details"> }
  | { kind: "defect"; defect: Defect };

const send = (message: WorkerMessage) => parentPort?.postMessage(message);

async function open({ options, ...conditions }: GivenStart): Promise<Sandbox | undefined> {
  try {
    const sandbox = await openSandbox(options, conditions);
    sandbox.onDefect(({ error, where }) => send({ kind: "defect", defect: { error: errorText(error), where } }));
    send({ kind: "ready", facts: await readyFacts(sandbox, options.endpoints), url: localUrl(sandbox, options.host) });
    return sandbox;
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    const { message, exitCode, code, details } = error;
    send({ kind: "failed", message, exitCode, cause: { code, details } });
    return undefined;
  }
}

limitYoungHeap();
const opening = open(workerData as GivenStart);

// The main thread's only message is the request to close.
parentPort?.once("message", async () => {
  await (await opening)?.close();
  process.exit();
});
