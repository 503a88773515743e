// `start` and `attach`: run a sandbox until it is stopped, or watch one of another process, and show its requests and
// deliveries.

import { completeOptions } from "../../sandbox/options.ts";
import { command } from "../command.ts";
import { followLiveStream } from "../output/follow.ts";
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
    detach: { description: "run in the background and return when ready; stop it with merchant-sandbox stop" },
  },
  async run({ options, sources, flags, again }) {
    const complete = completeOptions(options);
    if (flags.detach !== undefined) return (await import("../process/detach.ts")).detach(complete, flags);
    const given = { options: complete, toConfirm: endpointsToConfirm({ options, sources }) };
    const opening = flags.watch === undefined ? openForView(given, currentUi(flags)) : openReloading(again);
    try {
      return await show(
        opening.then(({ watched }) => watched),
        flags,
      );
    } finally {
      await (await opening).close();
    }
  },
});

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
