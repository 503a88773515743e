// `merchant`: creates, lists and removes merchants of a running sandbox, one for each test.

import type { ListedMerchant } from "../../../generated/control-api.ts";
import { commandGroup } from "../command.ts";
import { linesOf, sandboxCommand } from "../sandbox-command.ts";

export const merchant = commandGroup({
  name: "merchant",
  summary: "create merchants in a running sandbox, such as one for each test, and remove them",
  default: "ls",
  subcommands: {
    add: sandboxCommand({
      usage: "merchant add [fixture]",
      example: "merchant add lodge --name checkout",
      summary: "create a merchant with the records of a fixture (default: the first); prints its id and its API key",
      flags: {
        name: {
          value: "text",
          description: "derive its id, keys and secrets from this, such as the name of the test",
        },
      },
      terms: () => ({ fixture: "[fixture]" }),
      call: ({ control }, { positionals: [fixture], flags: { name } }) =>
        control.merchants.add({ ...(fixture !== undefined && { fixture }), ...(name !== undefined && { name }) }),
      lines: ({ id, apiKey }) => [`${id} ${apiKey}`],
    }),
    ls: sandboxCommand({
      usage: "merchant ls",
      summary: "list the merchants with their API keys (the default)",
      call: ({ control }) => control.merchants.list(),
      lines: linesOf(({ id, apiKeys }: ListedMerchant) => `${id} ${apiKeys.join(", ")}`, "No merchants."),
    }),
    rm: sandboxCommand({
      usage: "merchant rm <merchant>",
      example: "merchant rm checkout",
      summary: "remove a merchant with its data; the logs and verdicts keep what it did",
      async call(sandbox, { positionals: [wanted] }) {
        return sandbox.control.merchants.remove({ id: (await sandbox.merchantId(wanted)) ?? "" });
      },
      lines: ({ removed }) => [`Removed ${removed}.`],
    }),
  },
});
