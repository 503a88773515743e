// `attach`: shows a sandbox that runs in another process, and reconnects when the connection is lost.

import { command } from "../command.ts";
import { followLiveStream } from "../output/follow.ts";
import { show, uiFlags } from "../output/show-sandbox.ts";
import { connectionFlags, findSandbox } from "../remote/find-sandbox.ts";

export const attach = command({
  summary: "watch and control a sandbox that runs in another process",
  usage: "attach [url]",
  flags: { ...uiFlags, ...connectionFlags },
  async run({ flags, positionals: [given = flags.url] }) {
    const { url, controlToken } = await findSandbox({ ...flags, url: given });
    const target = { url, token: controlToken };
    return show({ target, keepsRunning: true, follow: (output, from) => followLiveStream(target, output, from) }, flags);
  },
});
