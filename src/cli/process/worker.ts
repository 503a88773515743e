// A sandbox in a worker thread, so that drawing the dashboard does not delay its responses.

import { once } from "node:events";
import { setFlagsFromString } from "node:v8";
import { Worker } from "node:worker_threads";
import { exitCodes, SandboxError } from "../../kernel/errors.ts";
import type { Defect } from "../../sandbox/engine.ts";
import { packageFile } from "../../sandbox/package-files.ts";
import type { GivenStart, WorkerMessage } from "./worker-entry.ts";

export type WorkerSandbox = Awaited<ReturnType<typeof startWorker>>;

/**
 * Trick: The worker's young heap starts with 4 MB instead of V8's 1 MB. V8 has no option for a single thread; the flag
 * applies to new threads. Reason: Frequent early garbage collection makes V8 keep slower code for the responses of
 * node:http. Figure: In eight processes each, a request took 243,000 to 314,000 instructions with 1 MB, and 239,000 to
 * 245,000 with 4 MB.
 */
const YOUNG_HEAP = 4;

export async function startWorker(given: GivenStart) {
  setFlagsFromString(`--min-semi-space-size=${YOUNG_HEAP}`);
  const thread = new Worker(packageFile("dist/thread.cjs"), { workerData: given });
  const listeners = new Set<(defect: Defect) => void>();
  const ready = await new Promise<WorkerMessage & { kind: "ready" }>((resolve, reject) => {
    thread.once("error", reject);
    thread.on("message", (message: WorkerMessage) => {
      if (message.kind === "ready") resolve(message);
      // A thread with a message listener does not exit by itself.
      else if (message.kind === "failed") thread.terminate().then(() => reject(asError(message)), reject);
      else for (const listener of listeners) listener(message.defect);
    });
  });
  thread.removeAllListeners("error");
  // Rethrows an uncaught error of the thread in this process, so that the terminal is restored before the exit.
  thread.on("error", (error) => {
    throw error;
  });
  return {
    facts: ready.facts,
    /** The sandbox's URL on this machine. */
    url: ready.url,
    onDefect: (listener: (defect: Defect) => void) => void listeners.add(listener),
    /** Waits for requests and deliveries in flight, then closes the port and the file. */
    async close() {
      thread.postMessage("close");
      await once(thread, "exit");
    },
  };
}

function asError({ message, exitCode, cause }: WorkerMessage & { kind: "failed" }): SandboxError {
  const [name] = Object.entries(exitCodes).find(([, code]) => code === exitCode) ?? ["runtime"];
  return new SandboxError(message, name as keyof typeof exitCodes, cause);
}
