// `status` and `wait`: find the sandboxes of this folder, and check whether they are ready.

import { pageAddress } from "../../client/page-address.ts";
import { describeClock, realDelay, stopwatch } from "../../kernel/clock.ts";
import { parseDuration } from "../../kernel/duration.ts";
import { exitCodes, SandboxError } from "../../kernel/errors.ts";
import { PROGRAM } from "../../kernel/program-name.ts";
import { plural } from "../../kernel/text.ts";
import type { Flags } from "../arguments.ts";
import { command } from "../command.ts";
import { print } from "../output/print.ts";
import { connectionFlags, type FoundSandbox, findHere, findSandbox, namedUrl } from "../remote/find-sandbox.ts";
import { describeSandboxAt, whyNotReady } from "../remote/probe.ts";
import { sandboxAt, whoNamed } from "../remote/running-sandbox.ts";

export const status = command({
  summary: "show which sandboxes run here (exit code 1 unless all that are found are ready)",
  usage: "status",
  flags: { json: { description: "print one JSON object per line" }, ...connectionFlags },
  async run({ flags }) {
    const here = namedUrl(flags) === undefined ? await findHere(flags) : [];
    const found = await Promise.all(
      (here.length > 0 ? here : [await findSandbox(flags, { mayBeAbsent: true })]).map(look),
    );
    for (const one of found)
      print(flags.json === undefined ? `${lineOf(one)} ${whoNamed(one.url, flags)}`.trim() : JSON.stringify(one));
    return found.every(({ ready }) => ready) ? exitCodes.ok : exitCodes.runtime;
  },
});

async function look({ url, controlToken, detached }: FoundSandbox) {
  const why = await whyNotReady(url, controlToken);
  const index = why === undefined ? await describeSandboxAt(url, controlToken) : undefined;
  const { version = null, pid = null, database = null, clock = null } = index ?? {};
  return {
    url,
    ready: why === undefined,
    why: why ?? null,
    version,
    pid,
    database,
    clock,
    log: detached?.log ?? null,
  };
}

function lineOf({ url, ready, why, version, pid, database, clock, log }: Awaited<ReturnType<typeof look>>): string {
  if (!ready) return `No sandbox is ready at ${url}: ${why?.replace(/\.$/, "")}.`;
  if (version === null || clock === null) return `${url} is ready; add --control-token <token> for details.`;
  const kept = database === null ? "in memory" : `kept in ${database}`;
  return (
    `${url} is ready: page ${pageAddress(url)}, version ${version}, process ${pid}, ${kept}, clock at ` +
    `${describeClock(clock)}${log === null ? "" : `, log ${log}`}.`
  );
}

const POLL_INTERVAL = 50;

export const wait = command({
  summary: "wait until a sandbox is ready, or its deliveries have settled (exit code 1 if not in time)",
  usage: "wait",
  flags: {
    settled: { description: "wait until no delivery is due or in flight, and count the retries that are due later" },
    within: { value: "duration", description: "wait at most this long, in real time", defaultText: "30s" },
    json: { description: "print one JSON object" },
    ...connectionFlags,
  },
  async run({ flags }) {
    const limit = parseDuration(flags.within ?? "30s", "--within");
    const elapsed = stopwatch();
    const found = await untilReady(flags, limit);
    const { url } = found;
    if (flags.settled === undefined) {
      print(flags.json === undefined ? `Ready at ${url}.` : JSON.stringify({ url, ready: true }));
      return;
    }
    const within = `${Math.max(0, Math.round(limit - elapsed()))}ms`;
    const { control } = sandboxAt(found, flags);
    const { settled, pending, inFlight } = await control.drain({ within });
    if (!settled)
      throw new SandboxError(
        `The deliveries of ${url} have not settled: ${inFlight} in flight, ${pending} waiting. ` +
          "Wait longer with --within <duration>.",
      );
    const held = pending > 0 ? (await control.overview()).heldDeliveries : 0;
    const later = pending > held ? `; ${plural(pending - held, "delivery")} waiting for a later attempt` : "";
    const kept = held > 0 ? `; ${plural(held, "delivery")} held (to send: ${PROGRAM} replay waiting)` : "";
    print(flags.json === undefined ? `Settled at ${url}${later}${kept}.` : JSON.stringify({ url, settled, pending }));
  },
});

async function untilReady(flags: Flags, limit: number): Promise<FoundSandbox> {
  const elapsed = stopwatch();
  for (;;) {
    const found = await findSandbox(flags, { mayBeAbsent: true });
    const why = await whyNotReady(found.url, found.controlToken);
    if (why === undefined) return found;
    if (elapsed() >= limit)
      throw new SandboxError(
        `No sandbox is ready at ${found.url}: ${why.replace(/\.$/, "")}. ` +
          `Start one with ${PROGRAM} start --detach, or name another one with --url <url>.`,
      );
    await realDelay(POLL_INTERVAL);
  }
}
