// `reset`: puts a running sandbox back to its fixtures.

import { command, print } from "../command.ts";
import { running, runningFlags } from "../remote/running-sandbox.ts";

export const reset = command({
  summary: "put a running sandbox, or one merchant of it, back to its fixtures",
  usage: "reset [MERCHANT]",
  positionals: 1,
  flags: runningFlags,
  async run({ flags, positionals }) {
    const sandbox = running(flags);
    const body = positionals[0] === undefined ? {} : { merchant: (await sandbox.merchant(positionals[0])).id };
    await sandbox.control("POST", "/reset", body);
    print(`Reset ${body.merchant ?? "everything"} to the fixtures.`);
    return undefined;
  },
});
