// `attach`: shows a sandbox that runs in another process, and reconnects when the connection is lost.

import { SandboxError } from "../../kernel/errors.ts";
import { command } from "../command.ts";
import { followLiveStream } from "../output/follow.ts";
import type { WatchedSandbox } from "../output/output.ts";
import { show, uiFlags } from "../output/show-sandbox.ts";
import { connectionFlags, findSandbox } from "../remote/find-sandbox.ts";

export const attach = command({
  summary: "watch and control a sandbox that runs in another process",
  usage: "attach [url]",
  positionals: 1,
  flags: { ...uiFlags, ...connectionFlags },
  async run({ flags, positionals: [url = flags.url] }) {
    const sandbox = await findSandbox({ ...flags, url });
    return show(remoteSandbox({ url: originOf(sandbox.url), token: sandbox.controlToken }), flags);
  },
});

function originOf(url: string): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return new URL(url).origin;
  throw new SandboxError(`attach takes an address such as http://127.0.0.1:4747; received "${url}".`, "usage");
}

const remoteSandbox = (target: WatchedSandbox["target"]): WatchedSandbox => ({
  target,
  keepsRunning: true,
  follow: (output, from) => followLiveStream(target, output, from),
});
