// `reset`: puts a running sandbox back to its fixtures.

import { command, say } from "../command.ts";
import { running, runningFlags } from "../remote/running-sandbox.ts";

export const reset = command({
  summary: "put a running sandbox, or one merchant of it, back to its fixtures",
  usage: "reset [MERCHANT]",
  words: 1,
  flags: runningFlags,
  async act({ own, positional }) {
    const sandbox = running(own);
    const body = positional[0] === undefined ? {} : { merchant: (await sandbox.merchant(positional[0])).id };
    await sandbox.control("POST", "/reset", body);
    say(`Reset ${body.merchant ?? "everything"} to the fixtures.`);
    return undefined;
  },
});
