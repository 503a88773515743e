// `start` and `attach`: run a sandbox until it is stopped, or watch one of another process, and show its requests and
// deliveries.

import { completeOptions, type Options } from "../../sandbox/options.ts";
import type { Flags } from "../arguments.ts";
import { command } from "../command.ts";
import { followLiveStream } from "../output/follow.ts";
import { heldNote, plainOutput, readyFacts, type WatchedSandbox } from "../output/output.ts";
import { currentUi, show, uiFlags, watchOwnSandbox } from "../output/show-sandbox.ts";
import type { WorkerSandbox } from "../process/worker.ts";
import { connectionFlags, findSandbox } from "../remote/find-sandbox.ts";
import { localUrl } from "../remote/running-sandbox.ts";
import { folderOf, writeForegroundState } from "../remote/state-files.ts";

export const start = command({
  summary: "start a sandbox (the default command)",
  usage: "start",
  sandboxOptions: true,
  flags: {
    ...uiFlags,
    detach: { description: "run in the background and return when ready; stop it with merchant-sandbox stop" },
  },
  async run({ options, flags }) {
    const complete = completeOptions(options);
    if (flags.detach !== undefined) return (await import("../process/detach.ts")).detach(complete, flags);
    return currentUi(flags) === "dashboard" ? startWithDashboard(complete, flags) : startWithOutput(complete, flags);
  },
});

/** Runs the sandbox in a worker thread, so that the sandbox and the dashboard do not block each other. */
async function startWithDashboard(options: Options, flags: Flags): Promise<number> {
  const { startWorker } = await import("../process/worker.ts");
  const opening = startWorker(options);
  let removeState = () => {};
  try {
    const watched = opening.then((worker) => {
      removeState = announceInMemory(options, worker.url, worker.facts.controlToken);
      return watchWorker(worker);
    });
    return await show(watched, flags);
  } finally {
    removeState();
    await (await opening).close();
  }
}

/**
 * Writes a state file by which commands find an in-memory sandbox, which has no database. A detached sandbox gets one
 * from `detach`.
 */
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
      // The dashboard may be on a shared screen, so it shows the token only on request. A generated token is printed
      // nowhere else.
      if (facts.heldDeliveries > 0) show(heldNote(facts));
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

async function startWithOutput(options: Options, flags: Flags): Promise<number> {
  const { createSandbox } = await import("../../sandbox/create.ts");
  const sandbox = await createSandbox(options);
  const removeState = announceInMemory(options, localUrl(sandbox, options.host), sandbox.controlToken);
  try {
    const watched = watchOwnSandbox(sandbox, options.host, {
      async opened(output) {
        const facts = await readyFacts(sandbox, options.endpoints);
        output.ready(facts);
        if (process.send) (await import("../process/detach.ts")).announce(facts);
      },
    });
    return await show(watched, flags);
  } finally {
    removeState();
    await sandbox.close();
  }
}

export const attach = command({
  summary: "watch and control a sandbox that runs in another process",
  usage: "attach [url]",
  flags: { ...uiFlags, ...connectionFlags },
  async run({ flags, positionals: [given = flags.url] }) {
    const { url, controlToken } = await findSandbox({ ...flags, url: given });
    const target = { url, token: controlToken };
    return show(
      { target, keepsRunning: true, follow: (output, from) => followLiveStream(target, output, from) },
      flags,
    );
  },
});
