// `reset`: puts a running sandbox back to its fixtures.

import { command, say } from "./command.ts";
import { running, runningFlags } from "./running.ts";

export const reset = command({
  summary: "put a running sandbox, or one merchant of it, back to its fixtures",
  usage: "reset [MERCHANT]",
  flags: runningFlags,
  async act({ own, positional }) {
    const merchant = positional[0];
    await running(own).control("POST", "/reset", merchant === undefined ? {} : { merchant });
    say(`Reset ${merchant ?? "everything"} to the fixtures.`);
    return undefined;
  },
});
