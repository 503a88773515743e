// `audit`: sends genuine, repeated, malformed and forged events to a webhook receiver, and reports its mistakes.

import type { SandboxAuditInput, SandboxAuditReply } from "../../../generated/control-api.ts";
import { exitCodes, SandboxError, usageError } from "../../kernel/errors.ts";
import { createSandbox } from "../../sandbox/create.ts";
import { type Arguments, command } from "../command.ts";
import { print } from "../output/print.ts";
import { connectionFlags, findSandbox } from "../remote/find-sandbox.ts";
import { whyNotReady } from "../remote/probe.ts";
import { sandboxAt } from "../remote/running-sandbox.ts";
import { givenFlag } from "../settings.ts";

const MARKS = { pass: "ok  ", fail: "FAIL", inconclusive: "?   " } as const;
const WIDTH = 19;
const INDENT = " ".repeat(MARKS.pass.length + 1 + WIDTH);

export const audit = command({
  summary:
    "test a webhook receiver with genuine and forged events (exit 1: failed, 3: forgery accepted, 4: inconclusive)",
  usage: "audit <url>",
  example: "audit http://localhost:3000/hooks --secret whsec_…",
  flags: {
    secret: {
      value: "secret",
      description: "sign with this secret",
      defaultText: "the one of the endpoint registered at the URL",
    },
    json: { description: "print the result as one JSON object" },
    ...connectionFlags,
  },
  sandboxOptions: ["webhookTimeout", "webhookInsecureTls", "allowWebhookHost"],
  async run(given) {
    const { flags } = given;
    const [url = ""] = given.positionals;
    const found = await auditWith(given, { url, ...(flags.secret !== undefined && { secret: flags.secret }) });
    if (flags.json === undefined) show(found);
    else print(JSON.stringify(found));
    if (found.forgeryAccepted) return exitCodes.verdict;
    return { pass: exitCodes.ok, fail: exitCodes.runtime, inconclusive: exitCodes.inconclusive }[found.verdict];
  },
});

/** Runs the audit on a running sandbox, or with a secret on a temporary one, which takes the sandbox options. */
async function auditWith(
  { flags, options, sources }: Arguments,
  wanted: SandboxAuditInput,
): Promise<SandboxAuditReply> {
  const found = await findSandbox(flags);
  const isRunning = found.by !== "default" || (await whyNotReady(found.url, found.controlToken)) === undefined;
  const unused = givenFlag(sources);
  if (isRunning && unused !== undefined)
    usageError(
      `The sandbox at ${found.url} runs the audit with its own settings: ` +
        `leave out ${unused}, or restart it with that option.`,
    );
  if (isRunning) return sandboxAt(found, flags, { url: "<url>" }).control.audit(wanted);
  if (wanted.secret === undefined)
    throw new SandboxError(
      `No sandbox runs here that knows the secret of ${wanted.url}: ` +
        "add --secret whsec_…, or start one with merchant-sandbox.",
    );
  const sandbox = await createSandbox({ ...options, memory: true, port: 0 });
  return sandbox.audit(wanted).finally(() => sandbox.close());
}

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
