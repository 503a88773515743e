// `start` and `attach`: run a sandbox until it is stopped, or watch a sandbox that runs in another process. Both show
// its requests and deliveries.

import { PROGRAM } from "../../kernel/program-name.ts";
import { completeOptions, type Options } from "../../sandbox/options.ts";
import type { Flags } from "../arguments.ts";
import { command } from "../command.ts";
import { followLiveStream } from "../output/follow.ts";
import { print } from "../output/print.ts";
import { currentUi, show, uiFlags, watchFlag } from "../output/show-sandbox.ts";
import { openForView } from "../process/open-for-view.ts";
import { openReloading } from "../process/reload.ts";
import { connectionFlags, findSandbox } from "../remote/find-sandbox.ts";
import { endpointsToConfirm } from "../settings.ts";

export const start = command({
  summary: "start a sandbox (the default command)",
  usage: "start",
  sandboxOptions: true,
  flags: {
    ...uiFlags,
    ...watchFlag,
    detach: { description: `run in the background and return when ready; stop it with ${PROGRAM} stop` },
  },
  async run({ options, sources, flags: given, again }) {
    const complete = completeOptions(options);
    const flags: Flags = { ...given, db: sources.db === "flag" ? complete.db : undefined };
    if (flags.detach !== undefined) return (await import("../process/detach.ts")).detach(complete, flags);
    const wanted = { options: complete, toConfirm: endpointsToConfirm({ options, sources }) };
    const opening = flags.watch === undefined ? openForView(wanted, currentUi(flags)) : openReloading(again);
    let isLeft = false;
    const leave = () => {
      isLeft = true;
    };
    let code: number;
    try {
      const watched = opening.then((opened) => ({
        ...opened.watched,
        ...(flags.watch === undefined && { leave }),
      }));
      code = await show(watched, flags);
    } finally {
      await (await opening).close();
    }
    return isLeft ? leaveRunning(complete, flags, (await opening).watched.target.url) : code;
  },
});

/** Starts the sandbox again in the background, with the same file and port. */
async function leaveRunning(options: Options, flags: Flags, url: string): Promise<number> {
  const { detach } = await import("../process/detach.ts");
  const code = await detach(options, { ...flags, ui: undefined }, ["--no-ui", "--port", new URL(url).port]);
  if (code === 0) print(`Show it again with ${PROGRAM} attach ${url}`);
  return code;
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
