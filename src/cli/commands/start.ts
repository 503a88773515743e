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
import { endpointsToConfirm } from "../settings.ts";

export const start = command({
  summary: "start a sandbox (the default command)",
  usage: "start",
  sandboxOptions: true,
  flags: {
    ...uiFlags,
    detach: { description: "run in the background and return when ready; stop it with merchant-sandbox stop" },
  },
  async run({ options, sources, flags }) {
    const complete = completeOptions(options);
    if (flags.detach !== undefined) return (await import("../process/detach.ts")).detach(complete, flags);
    const given = { options: complete, toConfirm: endpointsToConfirm({ options, sources }) };
    return currentUi(flags) === "dashboard" ? startWithDashboard(given, flags) : startWithOutput(given, flags);
  },
});

interface GivenStart {
  options: Options;
  toConfirm: string | undefined;
}

/** Runs the sandbox in a worker thread, so that the sandbox and the dashboard do not block each other. */
async function startWithDashboard({ options, toConfirm }: GivenStart, flags: Flags): Promise<number> {
  const { startWorker } = await import("../process/worker.ts");
  const opening = startWorker({ options, toConfirm });
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

/** Writes a state file, so that commands find a sandbox in memory. `detach` writes that of a detached one. */
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
      const held = heldNote(facts);
      if (held !== undefined) show(held);
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

async function startWithOutput({ options, toConfirm }: GivenStart, flags: Flags): Promise<number> {
  const { openSandbox } = await import("../../sandbox/create.ts");
  const sandbox = await openSandbox(options, toConfirm);
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
