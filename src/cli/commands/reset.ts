// `reset`: resets a running sandbox, or one of its merchants, to the fixtures.

import { sandboxCommand } from "../sandbox-command.ts";

export const reset = sandboxCommand({
  summary: "reset a running sandbox, or one merchant, to the fixtures",
  usage: "reset [merchant]",
  async call(sandbox, { positionals: [wanted] }) {
    const merchant = await sandbox.merchantId(wanted);
    return sandbox.control.reset(merchant === undefined ? {} : { merchant });
  },
  lines: ({ reset }) => [`Reset ${reset} to the fixtures.`],
});
