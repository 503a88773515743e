// `audit`: sends genuine, repeated, malformed and forged events to a webhook receiver, and reports its mistakes.

import type { AuditResult } from "../../../generated/control-api.ts";
import { type AuditOptions, withEffects } from "../../client/effects.ts";
import { parseDuration } from "../../kernel/duration.ts";
import { exitCodes, SandboxError, usageError } from "../../kernel/errors.ts";
import { PROGRAM } from "../../kernel/program-name.ts";
import { createSandbox } from "../../sandbox/create.ts";
import { type Arguments, command } from "../command.ts";
import { print } from "../output/print.ts";
import { countWith, restartWith } from "../process/count-command.ts";
import { connectionFlags, findSandbox } from "../remote/find-sandbox.ts";
import { whyNotReady } from "../remote/probe.ts";
import { sandboxAt } from "../remote/running-sandbox.ts";
import { fullUrl } from "../remote/webhook-target.ts";
import { givenFlag } from "../settings.ts";

const MARKS = { pass: "ok  ", fail: "FAIL", inconclusive: "?   " } as const;
const WIDTH = 19;
const INDENT = " ".repeat(MARKS.pass.length + 1 + WIDTH);

export const audit = command({
  summary:
    "test a webhook receiver with genuine, repeated and forged events (exit 1: failed, 3: forgery accepted, " +
    "4: inconclusive)",
  usage: "audit <url>",
  example: `audit http://localhost:3000/hooks --secret whsec_… --effects 'wc -l < orders.log'`,
  flags: {
    secret: {
      value: "secret",
      description: "sign with this secret",
      defaultText: "the secret of the endpoint registered at the URL",
    },
    effects: {
      value: "command",
      description:
        "run this before and after each probe; it must print how often the receiver has acted, such as a count of rows",
      defaultText: "how often it acts is not checked",
    },
    restart: {
      value: "command",
      description: "restart the receiver once with this, and check that it recognises earlier events; needs --effects",
    },
    event: {
      value: "type",
      description: "copy the newest event of this type",
      defaultText: "payment.succeeded",
    },
    "max-age": {
      value: "duration",
      description: "require the receiver to reject events older than this",
      defaultText: "old events may be accepted",
    },
    json: { description: "print the result as one JSON object" },
    ...connectionFlags,
  },
  sandboxOptions: ["webhookTimeout", "webhookInsecureTls", "allowWebhookHost"],
  async run(given) {
    const { flags } = given;
    const found = await runAudit(given, readOptions(given));
    if (flags.json === undefined) show(found);
    else print(JSON.stringify(found));
    if (found.forgeryAccepted) return exitCodes.verdict;
    return { pass: exitCodes.ok, fail: exitCodes.runtime, inconclusive: exitCodes.inconclusive }[found.verdict];
  },
});

/** --effects and --restart run here, in the user's own shell; the sandbox only gets the counts. */
function readOptions({ positionals: [target = ""], flags }: Arguments): AuditOptions {
  const { secret, event, effects, restart, "max-age": maxAge } = flags;
  const url = fullUrl(target);
  if (maxAge !== undefined) parseDuration(maxAge, "--max-age");
  if (restart !== undefined && effects === undefined)
    usageError("--restart needs --effects <command>, which counts what the receiver does after the restart.");
  return {
    url,
    ...(secret !== undefined && { secret }),
    ...(event !== undefined && { event }),
    ...(maxAge !== undefined && { maxAge }),
    ...(effects !== undefined && { effects: () => countWith(effects) }),
    ...(restart !== undefined && { restart: () => restartWith(restart, url) }),
  };
}

/** Runs the audit on a running sandbox, or with --secret on a temporary one, which takes the sandbox options. */
async function runAudit({ flags, options, sources }: Arguments, wanted: AuditOptions): Promise<AuditResult> {
  const found = await findSandbox(flags);
  const isRunning = found.by !== "default" || (await whyNotReady(found.url, found.controlToken)) === undefined;
  const unused = givenFlag(sources);
  if (isRunning && unused !== undefined)
    usageError(
      `The sandbox at ${found.url} runs the audit with its own settings: ` +
        `leave out ${unused}, or restart it with that option.`,
    );
  if (isRunning) return withEffects(sandboxAt(found, flags, { url: "<url>" }).control).audit(wanted);
  if (wanted.secret === undefined)
    throw new SandboxError(
      `No sandbox runs here that knows the secret of ${wanted.url}: ` +
        `add --secret whsec_…, or start one with ${PROGRAM}.`,
    );
  const sandbox = await createSandbox({ ...options, memory: true, port: 0 });
  try {
    // The audit copies an event of this type, so the empty sandbox needs one.
    if (wanted.event !== undefined) await sandbox.events.trigger({ type: wanted.event });
    return await sandbox.audit(wanted);
  } finally {
    await sandbox.close();
  }
}

/** The id of the single result in place of the probes that need --effects, if --effects is not given. */
const UNCHECKED_EFFECTS = "acts_once";
/**
 * Without --max-age, the probe with an old event is inconclusive if the receiver accepts the event. Its result then
 * contains this text.
 */
const UNCHECKED_AGE = "whether it rejects old events";

function show({ probes, verdict, forgeryAccepted }: AuditResult): void {
  const isUnchecked = ({ probe, did }: AuditResult["probes"][number]) =>
    probe === UNCHECKED_EFFECTS || did.includes(UNCHECKED_AGE);
  const checked = probes.filter((probe) => !isUnchecked(probe));
  for (const { probe, verdict: found, sent, did, should, why } of probes) {
    print(`${MARKS[found]} ${probe.padEnd(WIDTH)}${did}`);
    if (found === "pass") continue;
    for (const line of [`sent    ${sent}`, `should  ${should}`, `why     ${why}`]) print(INDENT + line);
  }
  const count = (wanted: AuditResult["verdict"]) => checked.filter((probe) => probe.verdict === wanted).length;
  const forgery = forgeryAccepted ? " It accepted a forged event: anyone who knows the URL can send it events." : "";
  const inconclusive = count("inconclusive") > 0 ? `, ${count("inconclusive")} inconclusive` : "";
  const gaps = probes
    .filter(isUnchecked)
    .map(({ probe }) =>
      probe === UNCHECKED_EFFECTS ? "whether it acted once (--effects)" : `${UNCHECKED_AGE} (--max-age)`,
    );
  const unchecked = gaps.length > 0 ? `; not checked: ${gaps.reverse().join(", ")}` : "";
  const passed = `${count("pass")} of ${checked.length} probes passed`;
  print(`${verdict}: ${passed}, ${count("fail")} failed${inconclusive}${unchecked}.${forgery}`);
}
