// `stop`: stops a sandbox started with `start --detach`, and returns when its process has exited.

import { realDelay, stopwatch } from "../../kernel/clock.ts";
import { exitCodes, SandboxError } from "../../kernel/errors.ts";
import { command } from "../command.ts";
import { note, print } from "../output/print.ts";
import { isAlive, signal } from "../process/signals.ts";
import { connectionFlags, findHere, findSandbox } from "../remote/find-sandbox.ts";
import { describeSandboxAt } from "../remote/probe.ts";
import { removeState, type StatedSandbox } from "../remote/state-files.ts";

const STOP_TIMEOUT = 15_000;
const POLL_INTERVAL = 20;

export const stop = command({
  summary: "stop a sandbox started with start --detach",
  usage: "stop",
  flags: {
    json: { description: "print one JSON object for each stopped sandbox" },
    all: { description: "stop all detached sandboxes of this folder" },
    ...connectionFlags,
  },
  async run({ flags }) {
    const sandboxes =
      flags.all === undefined
        ? [await findOne(flags)]
        : (await findHere(flags)).flatMap(({ detached }) => detached ?? []);
    const asJson = flags.json !== undefined;
    if (sandboxes.length === 0 && !asJson) print("No detached sandbox runs in this folder.");
    const ended = await Promise.all(sandboxes.map(end));
    for (const [index, { url, pid }] of sandboxes.entries())
      if (asJson) print(JSON.stringify({ url, pid, ended: ended[index] }));
      else if (ended[index]) print(`Stopped ${url}.`);
    return ended.every(Boolean) ? exitCodes.ok : exitCodes.runtime;
  },
});

async function findOne(flags: Record<string, string | undefined>) {
  const { url, controlToken, detached } = await findSandbox(flags, { toStop: true });
  if (detached) return detached;
  const other = await describeSandboxAt(url, controlToken);
  const which = other === undefined ? "" : ` Process ${other.pid} listens at this URL: end it if you started it.`;
  throw new SandboxError(
    `No detached sandbox of this folder runs at ${url}. ` +
      `A sandbox that was started without --detach is stopped in its own terminal.${which}`,
  );
}

async function end(sandbox: StatedSandbox): Promise<boolean> {
  const { pid, url, log } = sandbox;
  const elapsed = stopwatch();
  signal(pid, "SIGTERM");
  while (isAlive(pid) && elapsed() < STOP_TIMEOUT) await realDelay(POLL_INTERVAL);
  const isGone = !isAlive(pid);
  if (!isGone) {
    signal(pid, "SIGKILL");
    note(`${url} did not end in time, so process ${pid} was killed. Its log is ${log}.`);
  }
  removeState(sandbox, { keepLog: !isGone });
  return isGone;
}
