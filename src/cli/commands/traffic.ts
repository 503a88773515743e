// `traffic`: starts, shows and stops generated background traffic in a running sandbox.

import type { Traffic } from "../../client/control-plane.generated.ts";
import { SandboxError } from "../../kernel/errors.ts";
import type { Flags } from "../arguments.ts";
import { command, subcommandNamed } from "../command.ts";
import { print } from "../output/print.ts";
import { connectionFlags, connectToSandbox, type RunningSandbox } from "../remote/running-sandbox.ts";

const acts: Record<string, (sandbox: RunningSandbox, flags: Flags) => Promise<Traffic[]>> = {
  async start(sandbox, { rate, mix, merchant, for: span }) {
    const wanted = { rate, merchant, for: span, ...(mix === undefined ? {} : { mix: readMix(mix) }) };
    return [await sandbox.control.traffic.start(wanted)];
  },
  async stop(sandbox, { merchant }) {
    return (await sandbox.control.traffic.stop({ ...(merchant !== undefined && { merchant }) })).data;
  },
  async status(sandbox, { merchant }) {
    const { data } = await sandbox.control.traffic.list();
    return data.filter((one) => merchant === undefined || one.merchant === merchant);
  },
};

export const traffic = command({
  summary: "generate background traffic: payments, payouts, bookings, payroll",
  usage: "traffic [start | stop | status]",
  positionals: 1,
  flags: {
    rate: { value: "rate", description: "generate records at this rate, such as 2/s or 30/m (default: 2/s)" },
    mix: {
      value: "mix",
      description: "weight the kinds of records, such as payment=3,booking=1 (default: the kinds that the merchant has)",
    },
    for: { value: "duration", description: "stop after this time, such as 1m (default: run until stopped)" },
    merchant: { value: "merchant", description: "generate it for this merchant, such as mer_lodge (default: the first one)" },
    json: { description: "print one JSON object per line" },
    ...connectionFlags,
  },
  async run({ flags, positionals: [word = "status"] }) {
    const shown = await subcommandNamed("traffic", acts, word)(connectToSandbox(flags), flags);
    for (const one of shown) print(flags.json === undefined ? lineOf(one) : JSON.stringify(one));
    if (shown.length === 0 && flags.json === undefined) print("No traffic. Try merchant-sandbox traffic start --rate 2/s --for 1m.");
    return undefined;
  },
});

/** Reads `payment=3,booking=1`. The control plane checks the names. */
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
