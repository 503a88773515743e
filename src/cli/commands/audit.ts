// `audit`: tries a webhook receiver with everything that it may meet, and says what it should have done.

import { exitCodes, SandboxError } from "../../kernel/errors.ts";
import { escapeControlCharacters } from "../../kernel/escape-control.ts";
import { command, print } from "../command.ts";
import { running, runningFlags } from "../remote/running-sandbox.ts";

interface Audit {
  verdict: "pass" | "fail" | "inconclusive";
  forgeryAccepted: boolean;
  probes: { probe: string; verdict: Audit["verdict"]; sent: string; did: string; should: string; why: string }[];
}

const MARKS = { pass: "ok  ", fail: "FAIL", inconclusive: "?   " } as const;
const WIDTH = 19;
const INDENT = " ".repeat(MARKS.pass.length + 1 + WIDTH);

export const audit = command({
  summary: "try a webhook receiver with everything that it may meet; exit code 3 when it took a forgery",
  usage: "audit URL",
  positionals: 1,
  flags: {
    secret: { value: "secret", description: "what the receiver verifies with; that of the endpoint registered there unless given" },
    json: { description: "the whole result as one JSON object" },
    ...runningFlags,
  },
  async run({ flags, positionals: [url] }) {
    if (url === undefined)
      throw new SandboxError("Say where the receiver is: merchant-sandbox audit http://localhost:3000/hooks --secret whsec_…", "usage");
    const body = flags.secret === undefined ? { url } : { url, secret: flags.secret };
    const found = await running(flags).control<Audit>("POST", "/audit", body);
    if (flags.json === undefined) show(found);
    else print(JSON.stringify(found));
    return exitCodeOf(found);
  },
});

function show({ probes, verdict, forgeryAccepted }: Audit): void {
  for (const { probe, verdict: found, sent, did, should, why } of probes) {
    print(escapeControlCharacters(`${MARKS[found]} ${probe.padEnd(WIDTH)}${did}`));
    if (found === "pass") continue;
    for (const line of [`sent    ${sent}`, `should  ${should}`, `why     ${why}`]) print(escapeControlCharacters(INDENT + line));
  }
  const count = (wanted: Audit["verdict"]) => probes.filter((probe) => probe.verdict === wanted).length;
  const forgery = forgeryAccepted ? " It took a forgery: anybody who finds the address can send it events." : "";
  const open = count("inconclusive") > 0 ? `, ${count("inconclusive")} cannot be told` : "";
  print(`${verdict}: ${count("pass")} of ${probes.length} as they should be, ${count("fail")} not${open}.${forgery}`);
}

function exitCodeOf({ verdict, forgeryAccepted }: Audit): number {
  if (forgeryAccepted) return exitCodes.verdict;
  return { pass: exitCodes.ok, fail: exitCodes.runtime, inconclusive: exitCodes.inconclusive }[verdict];
}
