// `status`: lists the detached sandboxes of this folder, or describes the one at a URL.

import { exitCodes } from "../../kernel/errors.ts";
import { command, print } from "../command.ts";
import { findDetached, findPlace, type Place, placeFlags } from "../remote/instances.ts";
import { introduce, whyNotReady } from "../remote/probe.ts";

export const status = command({
  summary: "show which sandboxes run here (exit code 1 if none does)",
  usage: "status",
  flags: { json: { description: "print one JSON object per line" }, ...placeFlags },
  async run({ flags }) {
    const isNamed = (flags.url ?? process.env.MERCHANT_SANDBOX_URL) !== undefined;
    const left = isNamed ? [] : await findDetached(flags);
    const places: Place[] =
      left.length > 0
        ? left.map((detached) => ({ url: detached.url, controlToken: detached.controlToken, detached }))
        : [await findPlace(flags)];
    const found = await Promise.all(places.map(look));
    for (const one of found) print(flags.json === undefined ? lineOf(one) : JSON.stringify(one));
    return found.every(({ ready }) => ready) ? exitCodes.ok : exitCodes.runtime;
  },
});

async function look({ url, controlToken, detached }: Place) {
  const why = await whyNotReady(url, controlToken);
  const told = why === undefined ? await introduce(url, controlToken) : undefined;
  const { version = null, pid = null, database = null, clock = null } = told ?? {};
  return { url, ready: why === undefined, why: why ?? null, version, pid, database, clock, log: detached?.log ?? null };
}

function lineOf({ url, ready, why, version, pid, database, clock, log }: Awaited<ReturnType<typeof look>>): string {
  if (!ready) return `No sandbox is ready at ${url}: ${why}.`;
  if (version === null) return `${url} is ready; add --control-token <token> for details.`;
  const kept = database === null ? "in memory" : `kept in ${database}`;
  return `${url} is ready: version ${version}, process ${pid}, ${kept}, clock ${clock?.mode} at ${clock?.now}${log === null ? "" : `, log ${log}`}`;
}
