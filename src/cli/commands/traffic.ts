// `traffic`: lets plausible business go on by itself in a running sandbox, says how it fares, ends it.

import { SandboxError } from "../../kernel/errors.ts";
import { escapeControlCharacters } from "../../kernel/escape-control.ts";
import { command, print, subcommandNamed } from "../command.ts";
import { type Running, running, runningFlags } from "../remote/running-sandbox.ts";

/** As the control plane shows it. */
interface Shown {
  merchant: string;
  rate: string;
  for: string | null;
  status: string;
  happened: number;
  byKind: Record<string, number>;
}

type Flags = Record<string, string | undefined>;

const acts: Record<string, (sandbox: Running, flags: Flags) => Promise<Shown[]>> = {
  async start(sandbox, { rate, mix, merchant, for: span }) {
    const wanted = { rate, merchant, for: span, ...(mix === undefined ? {} : { mix: readMix(mix) }) };
    return [await sandbox.control<Shown>("POST", "/traffic", wanted)];
  },
  async stop(sandbox, { merchant }) {
    const query = merchant === undefined ? "" : `?merchant=${encodeURIComponent(merchant)}`;
    return (await sandbox.control<{ data: Shown[] }>("DELETE", `/traffic${query}`)).data;
  },
  async status(sandbox, { merchant }) {
    const { data } = await sandbox.control<{ data: Shown[] }>("GET", "/traffic");
    return data.filter((one) => merchant === undefined || one.merchant === merchant);
  },
};

export const traffic = command({
  summary: "let plausible business go on by itself: payments, payouts, bookings, payroll",
  usage: "traffic [start | stop | status]",
  positionals: 1,
  flags: {
    rate: { value: "rate", description: "so many in a span, such as 2/s or 30/m; 2/s unless given" },
    mix: { value: "mix", description: "weights of kinds of record, such as payment=3,booking=1; a mix of all unless given" },
    for: { value: "duration", description: "how long it lasts, such as 1m; until it is stopped unless given" },
    merchant: { value: "merchant", description: "to whom it happens, such as mer_lodge; the first one unless given" },
    json: { description: "one JSON object a line" },
    ...runningFlags,
  },
  async run({ flags, positionals: [word = "status"] }) {
    const shown = await subcommandNamed("traffic", acts, word)(running(flags), flags);
    for (const one of shown) print(flags.json === undefined ? escapeControlCharacters(lineOf(one)) : JSON.stringify(one));
    if (shown.length === 0 && flags.json === undefined) print("No traffic. Try merchant-sandbox traffic start --rate 2/s --for 1m.");
    return undefined;
  },
});

/** `payment=3,booking=1` as an object; whether its names are known is the sandbox's to say. */
function readMix(text: string): Record<string, number> {
  const weights = text.split(",").map((part): [string, number] => {
    const [, name = "", weight = ""] = /^\s*(\w+)\s*=\s*(\d+(?:\.\d+)?)\s*$/.exec(part) ?? [];
    if (name === "") throw new SandboxError(`--mix: "${part}" is no weight. Write it as payment=3,booking=1.`, "usage");
    return [name, Number(weight)];
  });
  return Object.fromEntries(weights);
}

function lineOf({ merchant, rate, for: span, status, happened, byKind }: Shown): string {
  const kinds = Object.entries(byKind).map(([kind, count]) => `${kind} ${count}`);
  return `${merchant} ${rate}${span === null ? "" : ` for ${span}`}: ${status}, ${happened} happened${kinds.length > 0 ? ` (${kinds.join(", ")})` : ""}`;
}
