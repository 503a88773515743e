// `reset`: resets a running sandbox, or one merchant of it, to the fixtures.

import { command } from "../command.ts";
import { print } from "../output/print.ts";
import { connectionFlags } from "../remote/find-sandbox.ts";
import { connectToSandbox } from "../remote/running-sandbox.ts";

export const reset = command({
  summary: "reset a running sandbox, or one merchant, to the fixtures",
  usage: "reset [merchant]",
  positionals: 1,
  flags: connectionFlags,
  async run({ flags, positionals }) {
    const sandbox = await connectToSandbox(flags);
    const body = positionals[0] === undefined ? {} : { merchant: (await sandbox.merchant(positionals[0])).id };
    await sandbox.control.reset(body);
    print(`Reset ${body.merchant ?? "everything"} to the fixtures.`);
    return undefined;
  },
});
