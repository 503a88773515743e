// `listen`: registers a URL of this machine for webhooks while it runs, and prints each delivery attempt, including
// retries.

import type { ListedEndpoint, RegisteredEndpoint } from "../../../generated/control-api.ts";
import { eventsText, matchingTypes } from "../../areas/index.ts";
import type { NewEndpoint } from "../../contracts/webhook.ts";
import { usageError } from "../../kernel/errors.ts";
import { PROGRAM } from "../../kernel/program-name.ts";
import { command } from "../command.ts";
import { type JsonLine, jsonOutput, plainOutput } from "../output/output.ts";
import { print } from "../output/print.ts";
import { stopSignal } from "../process/signals.ts";
import { connectionFlags } from "../remote/find-sandbox.ts";
import { keepRegistered } from "../remote/kept-endpoint.ts";
import { connectToSandbox, type RunningSandbox } from "../remote/running-sandbox.ts";
import { forwardFlag, fullUrl } from "../remote/webhook-target.ts";

export const listen = command({
  summary: "deliver webhooks to your server, and follow each attempt: listen --forward-to http://localhost:3000/hooks",
  usage: "listen --forward-to <url>",
  example: "listen --forward-to http://localhost:3000/hooks",
  flags: {
    ...forwardFlag,
    secret: { value: "secret", description: "sign with this secret, such as whsec_local", defaultText: "generated" },
    events: {
      value: "types",
      multiple: true,
      description: "deliver these event types, such as payment.*,payroll.created",
      defaultText: "all",
    },
    merchant: {
      value: "merchant",
      description: "deliver events of this merchant, such as lodge",
      defaultText: "the first one",
    },
    json: { description: "print one JSON object per line" },
    ...connectionFlags,
  },
  async run({ flags }) {
    const { "forward-to": target, events, secret } = flags;
    if (target === undefined)
      usageError(
        `The URL is missing: ${PROGRAM} listen --forward-to http://localhost:3000/hooks. ` +
          `Without a server of your own, use ${PROGRAM} receive.`,
      );
    const url = fullUrl(target);
    const types = events === undefined ? undefined : matchingTypes(events.split(","), usageError);
    const sandbox = await connectToSandbox(flags, { url: "--forward-to" });
    const { id: merchant } = await sandbox.merchant(flags.merchant);
    await follow(
      sandbox,
      { url, merchant, ...(types && { events: types }), ...(secret && { secret }) },
      flags.json !== undefined,
    );
  },
});

/** Runs until a signal arrives. */
async function follow(sandbox: RunningSandbox, wanted: NewEndpoint, asJson: boolean): Promise<void> {
  // Listens for signals before the first line is printed, because its reader may stop the command at once.
  const stopped = stopSignal();
  const output = asJson ? jsonOutput : plainOutput;
  const { endpoints } = sandbox.control;
  const before = (await endpoints.list({ merchant: wanted.merchant })).data.find(({ url }) => url === wanted.url);
  const first = await endpoints.register(wanted);
  const isOwn = first.created;
  const end = isOwn
    ? "stop and remove the endpoint"
    : `stop; the endpoint already existed, and ${howKept(before, first)}`;
  // A reset may give the endpoint another id, from which another secret would be derived.
  const again = isOwn ? { ...wanted, secret: first.secret } : wanted;
  let shown: RegisteredEndpoint | undefined;
  const kept = await keepRegistered(sandbox, again, first, {
    output,
    attempt: output.event,
    registered(endpoint) {
      if (endpoint.id === shown?.id && endpoint.secret === shown.secret) return;
      shown = endpoint;
      const listening = { event: "listening", ...endpoint, created: isOwn } satisfies JsonLine;
      print(asJson ? JSON.stringify(listening) : lineOf(endpoint, end));
    },
  });
  try {
    await Promise.race([stopped, kept.failed]);
  } finally {
    kept.stop();
    // The sandbox may have stopped first, which is not an error.
    if (isOwn) await endpoints.remove({ id: kept.id() }).catch(() => undefined);
  }
}

/** Names what the flags changed of an endpoint that already existed. */
function howKept(before: ListedEndpoint | undefined, now: RegisteredEndpoint): string {
  const isSame = { events: before?.events.join() === now.events.join(), secret: before?.secret === now.secret };
  const changed = (["events", "secret"] as const).filter((name) => before !== undefined && !isSame[name]);
  return changed.length === 0 ? "is kept" : `keeps its new ${changed.join(" and ")}`;
}

function lineOf({ id, merchant, url, events, secret }: RegisteredEndpoint, end: string): string {
  return (
    `Delivering ${eventsText(events)} of ${merchant} to ${url} as ${id}, signed with ${secret}. ` +
    `Press Ctrl-C to ${end}.`
  );
}
