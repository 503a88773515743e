// `receive`: a webhook receiver that registers itself, verifies and prints each delivery, and can fail on request.

import { once } from "node:events";
import { appendFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { AssumptionValues, RegisteredEndpoint } from "../../../generated/control-api.ts";
import { eventsText, matchingTypes } from "../../areas/index.ts";
import { createGuard } from "../../http/guard.ts";
import { discardRest } from "../../http/unread-body.ts";
import { tryParseJson } from "../../kernel/attempt.ts";
import { afterRealTime, machineTime } from "../../kernel/clock.ts";
import { parseDuration } from "../../kernel/duration.ts";
import { SandboxError, usageError } from "../../kernel/errors.ts";
import { mask } from "../../kernel/mask.ts";
import { withResolvers } from "../../kernel/with-resolvers.ts";
import { wholeNumber } from "../../sandbox/option-values.ts";
import { verifySignature } from "../../webhooks/signature.ts";
import { command } from "../command.ts";
import { plainOutput } from "../output/output.ts";
import { print } from "../output/print.ts";
import { stopSignal } from "../process/signals.ts";
import { connectionFlags } from "../remote/find-sandbox.ts";
import { keepRegistered } from "../remote/kept-endpoint.ts";
import { connectToSandbox, merchantNamed, type RunningSandbox } from "../remote/running-sandbox.ts";
import { assumptionsOf } from "./openapi.ts";

/** How the receiver responds to deliveries and logs them. */
interface Behaviour {
  /** How many of the next deliveries get a 500. */
  failures: number;
  /** Milliseconds before each response. */
  pause: number;
  /** The status of every response; undefined to respond with the correct status. */
  status: number | undefined;
  acceptsUnsigned: boolean;
  log: WebhookLog | undefined;
  /** Undefined until the endpoint is registered, or if deliveries are not verified. */
  secret: string | undefined;
  /** The assumptions that are set. Some change the form of the signature. */
  assumptions: AssumptionValues;
}

const PORT = 4848;
const MAX_BODY = 1_048_576;
const MAX_QUOTE = 200;

export const receive = command({
  summary: "receive webhooks: register an endpoint, then verify and print each delivery",
  usage: "receive",
  sandboxOptions: ["assumptions"],
  defaults: { assumptions: "the sandbox's; with --secret, from merchant-sandbox.json" },
  flags: {
    port: { value: "n", description: "listen on this port", defaultText: String(PORT) },
    merchant: { value: "merchant", description: "receive events of this merchant", defaultText: "the first one" },
    events: {
      value: "types",
      description: "receive these event types, such as booking.declined,payroll.*",
      defaultText: "all",
    },
    secret: { value: "secret", description: "verify with this secret instead of registering an endpoint" },
    fail: { value: "n", description: "respond with 500 to the first n deliveries with a valid signature" },
    slow: { value: "duration", description: "wait this long before each response" },
    log: { value: "file", description: "append each delivery to this file as a line of JSON, for compare --webhooks" },
    "accept-unsigned": {
      description: "respond with 200 to deliveries that cannot be verified, such as deliveries of the real service",
    },
    status: {
      value: "n",
      description: "respond with this status",
      defaultText: "200, but 400 to invalid JSON and 401 to a wrong signature",
    },
    ...connectionFlags,
  },
  async run({ flags, options, sources }) {
    if (flags.secret === undefined && sources.assumptions === "flag")
      usageError("--assume goes with --secret. Without it, receive asks the sandbox how it signs.");
    const events = matchingTypes(flags.events?.split(",") ?? ["*"], usageError);
    const behaviour: Behaviour = {
      failures: wholeNumber(0, 99_999)(flags.fail ?? "0", "--fail"),
      pause: flags.slow === undefined ? 0 : parseDuration(flags.slow, "--slow"),
      status: flags.status === undefined ? undefined : wholeNumber(200, 599)(flags.status, "--status"),
      acceptsUnsigned: flags["accept-unsigned"] !== undefined,
      log: flags.log === undefined ? undefined : openWebhookLog(flags.log),
      secret: flags.secret,
      assumptions: flags.secret === undefined ? {} : await assumptionsOf(options),
    };
    const server = await listen(wholeNumber(0, 65_535)(flags.port ?? String(PORT), "--port"), behaviour);
    const url = `http://localhost:${(server.address() as AddressInfo).port}/`;
    // Listens for signals before the first line is printed, because its reader may stop the receiver at once.
    const stopped = stopSignal();
    try {
      const isRegistered = flags.secret === undefined && !behaviour.acceptsUnsigned;
      const registered = isRegistered
        ? await register(await connectToSandbox(flags), { url, events }, flags.merchant, behaviour)
        : undefined;
      if (!registered) print(`Receiving at ${url}, ${howVerified(behaviour)}. Press Ctrl-C to stop.`);
      await Promise.race([stopped, registered?.failed ?? stopped]).finally(registered?.leave);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  },
});

function howVerified({ secret, acceptsUnsigned }: Behaviour): string {
  if (secret === undefined) return "accepting every delivery unverified";
  return `verifying with the given secret${acceptsUnsigned ? ", and accepting deliveries that fail it" : ""}`;
}

/** Registers an endpoint of the wanted merchant (default: the first one), and verifies with its secret. */
async function register(
  sandbox: RunningSandbox,
  { url, events }: { url: string; events: string[] },
  wanted: string | undefined,
  behaviour: Behaviour,
) {
  const { endpoints, overview } = sandbox.control;
  const { merchants, assumptions } = await overview();
  const { id: merchant } = merchantNamed(merchants, wanted);
  behaviour.assumptions = assumptions as AssumptionValues;
  let shown: string | undefined;
  const registered = ({ id, secret }: RegisteredEndpoint) => {
    behaviour.secret = secret;
    if (shown === id) return;
    shown = id;
    const end = "Press Ctrl-C to stop and remove the endpoint.";
    print(`Receiving ${eventsText(events)} of ${merchant} at ${url} as ${id}. ${end}`);
  };
  const first = await endpoints.register({ url, merchant, events });
  // Verifies from now on, because the first delivery may arrive before the live stream is open.
  registered(first);
  const attempt = () => undefined;
  const kept = await keepRegistered(sandbox, { url, merchant, events }, first, {
    output: plainOutput,
    registered,
    attempt,
  });
  const leave = async () => {
    kept.stop();
    // The sandbox may have stopped first, which is not an error.
    await endpoints.remove({ id: kept.id() }).catch(() => undefined);
  };
  return { failed: kept.failed, leave };
}

/** Reads one delivery, and prints its content if its signature is valid. Resolves with the status of the response. */
async function respond(incoming: IncomingMessage, behaviour: Behaviour): Promise<number> {
  const { acceptsUnsigned, log, secret, assumptions, pause } = behaviour;
  const body = await readBody(incoming);
  if (body === undefined) {
    print(`Refused a request of more than ${MAX_BODY} bytes, responding with 413`);
    return 413;
  }
  const header = (name: string) => String(incoming.headers[name] ?? "");
  const [signature, id] = [header("x-webhook-signature"), header("x-webhook-id")];
  const isGenuine = secret !== undefined && verifySignature({ body, signature, secret, assumptions, id });
  const isTaken = isGenuine || acceptsUnsigned;
  const unsigned = isTaken ? 200 : 401;
  const correct = isGenuine ? statusOf(body) : unsigned;
  const fails = isTaken && behaviour.failures > 0;
  if (fails) behaviour.failures--;
  const status = fails ? 500 : (behaviour.status ?? correct);
  log?.(incoming, body, status);
  if (isGenuine) {
    print(mask(`${header("x-webhook-event")} ${id} signature ok, responding with ${status}`));
    for (const line of body.toString("utf8").split("\n")) print(`  ${mask(line)}`);
  } else {
    // Any program on this machine may have sent this request, so its content is not printed.
    const what = signature === "" ? "NO SIGNATURE" : "SIGNATURE WRONG";
    print(`${what}, responding with ${status}: ${body.length} bytes that are not shown`);
  }
  if (pause > 0) await waitOrClose(pause, incoming);
  return status;
}

/** The correct status for a delivery with a valid signature. */
const statusOf = (body: Buffer) => (tryParseJson(body.toString("utf8")) === undefined ? 400 : 200);

/** Waits, or returns early when the sender closes the connection. */
async function waitOrClose(milliseconds: number, { socket }: IncomingMessage): Promise<void> {
  const { promise: ended, resolve } = withResolvers();
  const end = () => resolve();
  const cancel = afterRealTime(milliseconds, end);
  socket.once("close", end);
  await ended;
  cancel();
  socket.off("close", end);
}

async function listen(port: number, behaviour: Behaviour): Promise<Server> {
  // Applies the checks of the sandbox's own port, because a web page in the user's browser can reach this port too.
  const guard = createGuard({ port: () => (server.address() as AddressInfo).port, extraHosts: [], cors: undefined });
  const server = createServer((incoming, outgoing) => {
    // A tunnel may deliver the real service's webhooks with another Host, so the Host is not checked. Requests of web
    // pages have an Origin, and are refused.
    const isAllowed = behaviour.acceptsUnsigned ? incoming.headers.origin === undefined : guard.allows(incoming);
    const handled = isAllowed ? respond(incoming, behaviour) : refuse(incoming);
    void handled
      .catch(() => 400)
      .then((status) => {
        if (incoming.complete) return void outgoing.writeHead(status).end();
        // Closes the connection, because the body is not read, but only after the sender could read the response.
        outgoing.writeHead(status, { Connection: "close", "Content-Length": 0 }).flushHeaders();
        discardRest(incoming, () => outgoing.end());
      });
  });
  await once(server.listen(port, "localhost"), "listening").catch(({ message }: Error) => {
    throw new SandboxError(`Cannot listen on port ${port}: ${message}. Choose another with --port <n>.`, "portInUse");
  });
  return server;
}

async function refuse({ headers }: IncomingMessage): Promise<number> {
  const from = headers.origin === undefined ? "" : ` from a web page of ${headers.origin.slice(0, MAX_QUOTE)}`;
  print(`Refused a request to the host ${(headers.host ?? "").slice(0, MAX_QUOTE)}${from}, responding with 403`);
  return 403;
}

/** Reads the body. Stops and returns undefined if the body is too large. */
async function readBody(incoming: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

export type WebhookLog = (incoming: IncomingMessage, body: Buffer, status: number) => void;

/** Only the file's owner can read the log, because it contains the bodies unmasked: signatures cover their bytes. */
function openWebhookLog(file: string): WebhookLog {
  const append = (text: string) => appendFileSync(file, text, { mode: 0o600 });
  try {
    append("");
  } catch (error) {
    usageError(
      `Cannot write ${file} (${(error as NodeJS.ErrnoException).code}). --log takes a file that can be written.`,
    );
  }
  return ({ url, method, headers: { authorization: _, cookie: __, ...headers } }, body, status) =>
    append(`${JSON.stringify({ at: machineTime(), method, url, headers, body: body.toString("utf8"), status })}\n`);
}
