// `traffic`: starts, shows and stops generated background traffic in a running sandbox.

import type { Traffic } from "../../../generated/control-api.ts";
import { usageError } from "../../kernel/errors.ts";
import { count, plural } from "../../kernel/text.ts";
import type { FlagDefinitions, Flags } from "../arguments.ts";
import { commandGroup } from "../command.ts";
import type { RunningSandbox } from "../remote/running-sandbox.ts";
import { linesOf, sandboxCommand } from "../sandbox-command.ts";

const startFlags: FlagDefinitions = {
  rate: { value: "rate", description: "generate records at this rate, such as 2/s or 30/m (default: 2/s)" },
  mix: {
    value: "mix",
    description: "weight the kinds of records, such as payment=3,booking=1 (default: the kinds that the merchant has)",
  },
  for: { value: "duration", description: "stop after this time, such as 1m (default: run until stopped)" },
  merchant: { value: "merchant", description: "generate it for this merchant, such as lodge (default: the first one)" },
};
const merchantFlag: FlagDefinitions = {
  merchant: { value: "merchant", description: "only that of this merchant (default: all)" },
};

type TrafficCall = (
  traffic: RunningSandbox["control"]["traffic"],
  merchant: string | undefined,
  flags: Flags,
) => Promise<{ data: readonly Traffic[] }>;

const subcommand = (name: string, summary: string, flags: FlagDefinitions, call: TrafficCall) =>
  sandboxCommand({
    usage: `traffic ${name}`,
    summary,
    flags,
    async call(sandbox, { flags }) {
      const { data } = await call(sandbox.control.traffic, await sandbox.merchantId(flags.merchant), flags);
      return { data, isFrozen: (await sandbox.control.clock.get()).mode === "frozen" };
    },
    lines: ({ isFrozen, ...list }) =>
      linesOf((one: Traffic) => lineOf(one, isFrozen), "No traffic. Try merchant-sandbox traffic start.")(list),
  });

export const traffic = commandGroup({
  name: "traffic",
  summary: "generate background traffic: payments, payouts, bookings, payroll",
  default: "status",
  subcommands: {
    start: subcommand("start", "start it", startFlags, async (traffic, merchant, { rate, mix, for: span }) => ({
      data: [await traffic.start({ rate, merchant, for: span, ...(mix !== undefined && { mix: readMix(mix) }) })],
    })),
    stop: subcommand("stop", "stop it", merchantFlag, (traffic, merchant) =>
      traffic.stop({ ...(merchant !== undefined && { merchant }) }),
    ),
    status: subcommand("status", "show what it has done (the default)", merchantFlag, async (traffic, merchant) => ({
      data: (await traffic.list()).data.filter((one) => merchant === undefined || one.merchant === merchant),
    })),
  },
});

/** Reads `payment=3,booking=1`. The control API checks the names. */
function readMix(text: string): Record<string, number> {
  const weights = text.split(",").map((part): [string, number] => {
    const [, name, weight] = /^\s*(\w+)\s*=\s*(\d+(?:\.\d+)?)\s*$/.exec(part) ?? [];
    return [name ?? usageError(`--mix: "${part}" is not a weight. Write it as payment=3,booking=1.`), Number(weight)];
  });
  return Object.fromEntries(weights);
}

function lineOf({ merchant, rate, for: span, status, happened, byKind }: Traffic, isFrozen: boolean): string {
  const kinds = Object.entries(byKind).map(([kind, times]) => `${kind.replaceAll("_", " ")} ${count(times)}`);
  const counts = `${plural(happened, "action")} so far${kinds.length > 0 ? ` (${kinds.join(", ")})` : ""}`;
  const hint =
    isFrozen && status === "running"
      ? "; the clock is frozen, so advance it with merchant-sandbox clock advance 1m"
      : "";
  return `${merchant} ${rate}${span === null ? "" : ` for ${span}`}: ${status}, ${counts}${hint}`;
}
