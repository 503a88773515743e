// A sandbox in a thread of its own: whoever looks at it takes no time from it, and it takes none from them.

import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { exitCodes, SandboxError } from "../../kernel/errors.ts";
import type { Defect } from "../../sandbox/engine.ts";
import type { Options } from "../../sandbox/options.ts";
import { packageFile } from "../../sandbox/package-files.ts";
import type { ReadyFacts } from "../output/plain-output.ts";
import type { Said } from "./worker-entry.ts";

export interface Apart {
  facts: ReadyFacts;
  /** Where it is reached from this machine. */
  url: string;
  onDefect(listener: (defect: Defect) => void): void;
  /** Lets what is in flight finish, then frees port and file. */
  close(): Promise<void>;
}

export async function sandboxApart(options: Options): Promise<Apart> {
  const thread = new Worker(packageFile("dist/thread.cjs"), { workerData: options });
  const listeners = new Set<(defect: Defect) => void>();
  const ready = await new Promise<Said & { kind: "ready" }>((resolve, reject) => {
    thread.once("error", reject);
    thread.on("message", (said: Said) => {
      if (said.kind === "ready") resolve(said);
      // It listens to us, so it would not end by itself.
      else if (said.kind === "refused") thread.terminate().then(() => reject(refusal(said)), reject);
      else for (const hear of listeners) hear(said.defect);
    });
  });
  thread.removeAllListeners("error");
  // What nobody caught there is what nobody caught: it ends the process, and the terminal is given back as ever.
  thread.on("error", (error) => {
    throw error;
  });
  return {
    facts: ready.facts,
    url: ready.url,
    onDefect: (listener) => void listeners.add(listener),
    async close() {
      thread.postMessage("close");
      await once(thread, "exit");
    },
  };
}

function refusal({ message, exitCode }: Said & { kind: "refused" }): SandboxError {
  const [name] = Object.entries(exitCodes).find(([, code]) => code === exitCode) ?? ["runtime"];
  return new SandboxError(message, name as keyof typeof exitCodes);
}
