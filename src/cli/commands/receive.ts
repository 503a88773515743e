// `receive`: a webhook receiver that registers itself, verifies and prints each delivery, and can fail on request.

import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { CreatedWebhook } from "../../areas/webhooks.ts";
import type { ServiceCall } from "../../client/service-call.ts";
import { afterRealTime } from "../../kernel/clock.ts";
import { parseDuration } from "../../kernel/duration.ts";
import { SandboxError } from "../../kernel/errors.ts";
import { escapeControlCharacters } from "../../kernel/escape-control.ts";
import { mask } from "../../kernel/mask.ts";
import { verifySignature } from "../../webhooks/signature.ts";
import { command, print } from "../command.ts";
import { stopSignal } from "../process/stop-signal.ts";
import { connectionFlags, connectToSandbox, type RunningSandbox } from "../remote/running-sandbox.ts";

interface Misbehaviour {
  /** How many more deliveries get a 500. */
  failures: number;
  /** Milliseconds before each response. */
  pause: number;
  /** The status of every response; undefined for the correct one. */
  status: number | undefined;
}

const PORT = 4848;

export const receive = command({
  summary: "receive webhooks: register an endpoint, then verify and print each delivery",
  usage: "receive",
  flags: {
    port: { value: "n", description: `listen on this port (default: ${PORT})` },
    for: { value: "merchant", description: "receive events of this merchant (default: the first one)" },
    events: { value: "types", description: "receive these event types, such as booking.declined,payroll.created (default: all)" },
    secret: { value: "secret", description: "verify with this secret instead of registering an endpoint" },
    fail: { value: "n", description: "respond to the first n deliveries with 500" },
    slow: { value: "duration", description: "wait this long before each response" },
    status: { value: "n", description: "respond with this status (default: 200 if the signature is valid, else 401)" },
    ...connectionFlags,
  },
  async run({ flags }) {
    const misbehaviour: Misbehaviour = {
      failures: wholeNumber(flags.fail, "--fail", { default: 0 }),
      pause: flags.slow === undefined ? 0 : parseDuration(flags.slow, "--slow"),
      status: flags.status === undefined ? undefined : wholeNumber(flags.status, "--status", { default: 200, least: 200, most: 599 }),
    };
    const secret: { current: string | undefined } = { current: flags.secret };
    const server = await listen(wholeNumber(flags.port, "--port", { default: PORT, most: 65_535 }), (incoming) =>
      respond(incoming, misbehaviour, secret.current),
    );
    const url = `http://localhost:${(server.address() as AddressInfo).port}/`;
    // Before the first line is printed: its reader may stop the receiver at once.
    const stopped = stopSignal();
    try {
      const registered =
        flags.secret === undefined ? await register(connectToSandbox(flags), url, flags.for, flags.events?.split(",") ?? ["*"]) : undefined;
      if (!registered) print(`Receiving at ${url}, verifying with the given secret. Press Ctrl-C to stop.`);
      secret.current = registered?.secret ?? flags.secret;
      await stopped;
      await registered?.leave();
    } finally {
      server.closeAllConnections();
      server.close();
    }
    return undefined;
  },
});

async function register(sandbox: RunningSandbox, url: string, wanted: string | undefined, events: string[]) {
  const merchant = await sandbox.merchant(wanted);
  const create: ServiceCall<CreatedWebhook> = { method: "POST", path: "/v1/webhooks", key: merchant.key, body: { url, events } };
  const { id, secret } = await sandbox.service(create);
  print(`Receiving ${events.join(", ")} of ${merchant.id} at ${url} as ${id}. Press Ctrl-C to stop and remove the endpoint.`);
  // The sandbox may have ended first, which is not an error.
  const remove = { method: "DELETE", path: `/v1/webhooks/${id}`, key: merchant.key };
  return { secret, leave: () => sandbox.service(remove).catch(() => undefined) };
}

/** Reads and prints one delivery. Resolves with the status of the response. */
async function respond(incoming: IncomingMessage, misbehaviour: Misbehaviour, secret: string | undefined): Promise<number> {
  const body = await read(incoming);
  const header = (name: string) => String(incoming.headers[name] ?? "");
  const genuine = secret !== undefined && verifySignature({ body, signature: header("x-webhook-signature"), secret });
  const status = misbehaviour.failures > 0 ? 500 : (misbehaviour.status ?? (genuine ? statusOf(body) : 401));
  if (misbehaviour.failures > 0) misbehaviour.failures--;
  const verdict = genuine ? "signature ok" : "SIGNATURE WRONG";
  print(escapeControlCharacters(mask(`${header("x-webhook-event")} ${header("x-webhook-id")} ${verdict}, answering ${status}`)));
  print(escapeControlCharacters(`  ${mask(body.toString("utf8"))}`));
  if (misbehaviour.pause > 0) await pause(misbehaviour.pause, incoming);
  return status;
}

/** The correct status for a delivery with a valid signature. */
function statusOf(body: Buffer): number {
  try {
    JSON.parse(body.toString("utf8"));
    return 200;
  } catch {
    return 400;
  }
}

/** Waits, or returns early when the sender closes the connection. */
function pause(milliseconds: number, { socket }: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      cancel();
      socket.off("close", end);
      resolve();
    };
    const cancel = afterRealTime(milliseconds, end);
    socket.once("close", end);
  });
}

function listen(port: number, answer: (incoming: IncomingMessage) => Promise<number>): Promise<Server> {
  const server = createServer((incoming, outgoing) => {
    void answer(incoming)
      .catch(() => 400)
      .then((status) => outgoing.writeHead(status).end());
  });
  return new Promise((resolve, reject) => {
    server.once("error", (error) =>
      reject(new SandboxError(`Cannot listen on port ${port}: ${error.message}. Choose another with --port <n>.`, "portTaken")),
    );
    server.listen(port, "localhost", () => resolve(server));
  });
}

async function read(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

interface Range {
  default: number;
  least?: number;
  most?: number;
}

function wholeNumber(text: string | undefined, flag: string, { default: absent, least = 0, most = 99_999 }: Range): number {
  if (text === undefined) return absent;
  if (/^\d{1,5}$/.test(text) && Number(text) >= least && Number(text) <= most) return Number(text);
  throw new SandboxError(`${flag} takes a whole number from ${least} to ${most}; received "${text}".`, "usage");
}
