// Opens this process's own sandbox for a view: in a worker thread if the view is the dashboard, otherwise in this one.

import type { Options } from "../../sandbox/options.ts";
import { followLiveStream } from "../output/follow.ts";
import { heldNote, plainOutput, readyFacts, type WatchedSandbox } from "../output/output.ts";
import { type UiChoice, watchOwnSandbox } from "../output/show-sandbox.ts";
import { localUrl } from "../remote/running-sandbox.ts";
import { folderOf, writeForegroundState } from "../remote/state-files.ts";
import type { WorkerSandbox } from "./worker.ts";
import type { GivenStart } from "./worker-entry.ts";
import { limitYoungHeap } from "./young-heap.ts";

export interface SandboxForView {
  watched: WatchedSandbox;
  /** Waits for requests and deliveries in flight, then closes the port and the file. */
  close(): Promise<void>;
}

export const openForView = (given: GivenStart, ui: UiChoice): Promise<SandboxForView> =>
  ui === "dashboard" ? openInWorker(given) : openInThisThread(given);

/** Opens the sandbox in a worker thread, so that the sandbox and the dashboard do not block each other. */
export async function openInWorker(given: GivenStart): Promise<SandboxForView> {
  const { startWorker } = await import("./worker.ts");
  const worker = await startWorker(given);
  const removeState = announceInMemory(given.options, worker.url, worker.facts.controlToken);
  return {
    watched: watchWorker(worker),
    close() {
      removeState();
      return worker.close();
    },
  };
}

async function openInThisThread({ options, ...conditions }: GivenStart): Promise<SandboxForView> {
  limitYoungHeap();
  const { openSandbox } = await import("../../sandbox/create.ts");
  const sandbox = await openSandbox(options, conditions);
  const removeState = announceInMemory(options, localUrl(sandbox, options.host), sandbox.controlToken);
  const watched = watchOwnSandbox(sandbox, options.host, {
    async opened(output) {
      const facts = await readyFacts(sandbox, options.endpoints);
      output.ready(facts);
      if (process.send) (await import("./detach.ts")).announce(facts);
    },
  });
  return {
    watched,
    close() {
      removeState();
      return sandbox.close();
    },
  };
}

/** Writes a state file, so that commands find a sandbox in memory. `detach` writes the file of a detached sandbox. */
const announceInMemory = ({ memory, db }: Options, url: string, controlToken: string | undefined): (() => void) =>
  memory && !process.send
    ? writeForegroundState(folderOf(db), { url, pid: process.pid, ...(controlToken && { controlToken }) })
    : () => {};

function watchWorker({ facts, url, onDefect }: WorkerSandbox): WatchedSandbox {
  const target = { url, token: facts.controlToken };
  let output = plainOutput;
  onDefect((defect) => output.defect(defect));
  return {
    target,
    keepsRunning: false,
    whileDashboard(show) {
      const held = heldNote(facts);
      if (held !== undefined) show(held);
      // The dashboard may be on a shared screen, so it shows the token only on request.
      if (facts.controlToken !== undefined) show("The control API requires a token: press s to see it");
      return () => {};
    },
    follow(to, from) {
      output = to;
      output.ready(facts);
      return followLiveStream(target, { ...output, attached() {} }, from);
    },
  };
}
