// `audit`: sends a webhook receiver genuine, repeated, malformed and forged events, and reports how it should have answered.

import type { SandboxAuditReply } from "../../client/control-plane.generated.ts";
import { exitCodes, SandboxError } from "../../kernel/errors.ts";
import { command } from "../command.ts";
import { print } from "../output/print.ts";
import { connectionFlags } from "../remote/find-sandbox.ts";
import { connectToSandbox } from "../remote/running-sandbox.ts";

const MARKS = { pass: "ok  ", fail: "FAIL", inconclusive: "?   " } as const;
const WIDTH = 19;
const INDENT = " ".repeat(MARKS.pass.length + 1 + WIDTH);

export const audit = command({
  summary: "test a webhook receiver with genuine and forged events (exit 1: failed, 3: forgery accepted, 4: unknown)",
  usage: "audit <url>",
  positionals: 1,
  flags: {
    secret: { value: "secret", description: "sign with this secret (default: the one of the endpoint registered at the URL)" },
    json: { description: "print the result as one JSON object" },
    ...connectionFlags,
  },
  async run({ flags, positionals: [url] }) {
    if (url === undefined)
      throw new SandboxError(
        "The URL of the receiver is missing: merchant-sandbox audit http://localhost:3000/hooks --secret whsec_…",
        "usage",
      );
    const found = await (await connectToSandbox(flags)).control.audit({ url, ...(flags.secret !== undefined && { secret: flags.secret }) });
    if (flags.json === undefined) show(found);
    else print(JSON.stringify(found));
    return exitCodeOf(found);
  },
});

function show({ probes, verdict, forgeryAccepted }: SandboxAuditReply): void {
  for (const { probe, verdict: found, sent, did, should, why } of probes) {
    print(`${MARKS[found]} ${probe.padEnd(WIDTH)}${did}`);
    if (found === "pass") continue;
    for (const line of [`sent    ${sent}`, `should  ${should}`, `why     ${why}`]) print(INDENT + line);
  }
  const count = (wanted: SandboxAuditReply["verdict"]) => probes.filter((probe) => probe.verdict === wanted).length;
  const forgery = forgeryAccepted ? " It accepted a forged event: anyone who knows the URL can send it events." : "";
  const open = count("inconclusive") > 0 ? `, ${count("inconclusive")} inconclusive` : "";
  print(`${verdict}: ${count("pass")} of ${probes.length} probes passed, ${count("fail")} failed${open}.${forgery}`);
}

function exitCodeOf({ verdict, forgeryAccepted }: SandboxAuditReply): number {
  if (forgeryAccepted) return exitCodes.verdict;
  return { pass: exitCodes.ok, fail: exitCodes.runtime, inconclusive: exitCodes.inconclusive }[verdict];
}
