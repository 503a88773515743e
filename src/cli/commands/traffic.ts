// `traffic`: starts, shows and stops generated background traffic in a running sandbox.

import type { Traffic } from "../../../generated/control-api.ts";
import { SandboxError } from "../../kernel/errors.ts";
import type { FlagDefinitions, Flags } from "../arguments.ts";
import { command, commandGroup } from "../command.ts";
import { print } from "../output/print.ts";
import { connectionFlags } from "../remote/find-sandbox.ts";
import { connectToSandbox, type RunningSandbox } from "../remote/running-sandbox.ts";

const startFlags: FlagDefinitions = {
  rate: { value: "rate", description: "generate records at this rate, such as 2/s or 30/m (default: 2/s)" },
  mix: {
    value: "mix",
    description: "weight the kinds of records, such as payment=3,booking=1 (default: the kinds that the merchant has)",
  },
  for: { value: "duration", description: "stop after this time, such as 1m (default: run until stopped)" },
  merchant: { value: "merchant", description: "generate it for this merchant, such as lodge (default: the first one)" },
};
const merchantFlag: FlagDefinitions = { merchant: { value: "merchant", description: "only that of this merchant (default: all)" } };

type Act = (sandbox: RunningSandbox, flags: Flags, merchant: string | undefined) => Promise<readonly Traffic[]>;

const act = (name: string, summary: string, flags: FlagDefinitions, run: Act) =>
  command({
    usage: `traffic ${name}`,
    summary,
    flags: { ...flags, json: { description: "print one JSON object per line" }, ...connectionFlags },
    async run({ flags }) {
      const sandbox = await connectToSandbox(flags);
      const merchant = flags.merchant === undefined ? undefined : (await sandbox.merchant(flags.merchant)).id;
      const shown = await run(sandbox, flags, merchant);
      for (const one of shown) print(flags.json === undefined ? lineOf(one) : JSON.stringify(one));
      if (shown.length === 0 && flags.json === undefined) print("No traffic. Try merchant-sandbox traffic start --rate 2/s --for 1m.");
      return undefined;
    },
  });

export const traffic = commandGroup({
  name: "traffic",
  summary: "generate background traffic: payments, payouts, bookings, payroll",
  default: "status",
  subcommands: {
    start: act("start", "start it", startFlags, async ({ control }, { rate, mix, for: span }, merchant) => [
      await control.traffic.start({ rate, merchant, for: span, ...(mix === undefined ? {} : { mix: readMix(mix) }) }),
    ]),
    stop: act("stop", "stop it", merchantFlag, async ({ control }, _, merchant) => {
      const { data } = await control.traffic.stop({ ...(merchant !== undefined && { merchant }) });
      return data;
    }),
    status: act("status", "show what it has done (the default)", merchantFlag, async ({ control }, _, merchant) => {
      const { data } = await control.traffic.list();
      return data.filter((one) => merchant === undefined || one.merchant === merchant);
    }),
  },
});

/** Reads `payment=3,booking=1`. The control API checks the names. */
function readMix(text: string): Record<string, number> {
  const weights = text.split(",").map((part): [string, number] => {
    const [, name = "", weight = ""] = /^\s*(\w+)\s*=\s*(\d+(?:\.\d+)?)\s*$/.exec(part) ?? [];
    if (name === "") throw new SandboxError(`--mix: "${part}" is not a weight. Write it as payment=3,booking=1.`, "usage");
    return [name, Number(weight)];
  });
  return Object.fromEntries(weights);
}

function lineOf({ merchant, rate, for: span, status, happened, byKind }: Traffic): string {
  const kinds = Object.entries(byKind).map(([kind, count]) => `${kind} ${count}`);
  return `${merchant} ${rate}${span === null ? "" : ` for ${span}`}: ${status}, ${happened} happened${kinds.length > 0 ? ` (${kinds.join(", ")})` : ""}`;
}
