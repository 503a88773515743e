// `receive`: a ready-made webhook receiver that registers itself, verifies what arrives and prints it. It can misbehave on request.

import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterRealTime } from "../../kernel/clock.ts";
import { parseDuration } from "../../kernel/duration.ts";
import { SandboxError } from "../../kernel/errors.ts";
import { escapeControlCharacters } from "../../kernel/escape-control.ts";
import { verifySignature } from "../../webhooks/signature.ts";
import { command, print } from "../command.ts";
import { stopSignal } from "../process/stop-signal.ts";
import { type Running, running, runningFlags } from "../remote/running-sandbox.ts";

interface Manners {
  /** How many deliveries are still to be answered 500. */
  failures: number;
  /** Milliseconds before each answer. */
  pause: number;
  /** What everything is answered with; undefined for what is right. */
  status: number | undefined;
}

interface Registered {
  id: string;
  secret: string;
}

const PORT = 4848;

export const receive = command({
  summary: "receive webhooks: register an endpoint, verify and print what arrives",
  usage: "receive",
  flags: {
    port: { value: "n", description: `port to listen on; ${PORT} unless given` },
    for: { value: "merchant", description: "whose events; the first merchant's unless given" },
    events: { value: "types", description: "which types, as in booking.declined,payroll.created; all unless given" },
    secret: { value: "secret", description: "verify with this secret, and do not register" },
    fail: { value: "n", description: "answer the first N deliveries with 500" },
    slow: { value: "duration", description: "wait before each answer" },
    status: { value: "n", description: "answer everything with this status; unless given, 200 to what is genuine, 401 to what is not" },
    ...runningFlags,
  },
  async run({ flags }) {
    const manners: Manners = {
      failures: wholeNumber(flags.fail, "--fail", { fallback: 0 }),
      pause: flags.slow === undefined ? 0 : parseDuration(flags.slow, "--slow"),
      status: flags.status === undefined ? undefined : wholeNumber(flags.status, "--status", { fallback: 200, least: 200, most: 599 }),
    };
    const secret: { current: string | undefined } = { current: flags.secret };
    const server = await listen(wholeNumber(flags.port, "--port", { fallback: PORT, most: 65_535 }), (incoming) =>
      take(incoming, manners, secret.current),
    );
    const url = `http://localhost:${(server.address() as AddressInfo).port}/`;
    // Listened for before anything is said: whoever reads that it is ready may stop it at once.
    const stopped = stopSignal();
    try {
      const registered =
        flags.secret === undefined ? await register(running(flags), url, flags.for, flags.events?.split(",") ?? ["*"]) : undefined;
      if (!registered) print(`Receiving at ${url}, verifying with the secret that was given. Ctrl-C ends it.`);
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

async function register(sandbox: Running, url: string, wanted: string | undefined, events: string[]) {
  const merchant = await sandbox.merchant(wanted);
  const { id, secret } = await sandbox.service<Registered>(merchant.key, "POST", "/webhooks", { url, events });
  print(`Receiving ${events.join(", ")} of ${merchant.id} at ${url} as ${id}. Ctrl-C ends it and removes the endpoint.`);
  // The sandbox may be gone by then, which is no reason to end with an error.
  return { secret, leave: () => sandbox.service(merchant.key, "DELETE", `/webhooks/${id}`).catch(() => undefined) };
}

/** Reads one delivery, prints it, and answers as it was told to. */
async function take(incoming: IncomingMessage, manners: Manners, secret: string | undefined): Promise<number> {
  const body = await read(incoming);
  const header = (name: string) => String(incoming.headers[name] ?? "");
  const genuine = secret !== undefined && verifySignature({ body, signature: header("x-webhook-signature"), secret });
  const status = manners.failures > 0 ? 500 : (manners.status ?? (genuine ? statusOf(body) : 401));
  if (manners.failures > 0) manners.failures--;
  const verdict = genuine ? "signature ok" : "SIGNATURE WRONG";
  print(escapeControlCharacters(`${header("x-webhook-event")} ${header("x-webhook-id")} ${verdict}, answering ${status}`));
  print(escapeControlCharacters(`  ${body.toString("utf8")}`));
  if (manners.pause > 0) await pause(manners.pause, incoming);
  return status;
}

/** Of what was signed as it should be. */
function statusOf(body: Buffer): number {
  try {
    JSON.parse(body.toString("utf8"));
    return 200;
  } catch {
    return 400;
  }
}

/** Waits, but not for longer than somebody waits for the answer. */
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
      reject(new SandboxError(`Cannot receive at port ${port}: ${error.message}. Choose another with --port N.`, "portTaken")),
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
  fallback: number;
  least?: number;
  most?: number;
}

function wholeNumber(text: string | undefined, flag: string, { fallback, least = 0, most = 99_999 }: Range): number {
  if (text === undefined) return fallback;
  if (/^\d{1,5}$/.test(text) && Number(text) >= least && Number(text) <= most) return Number(text);
  throw new SandboxError(`${flag} takes a whole number from ${least} to ${most}; received "${text}".`, "usage");
}
