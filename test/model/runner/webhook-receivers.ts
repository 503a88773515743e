// The receivers of a run: one server, which does what the end of the address that it is called at says.

import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type ReceiverName, receiverOf } from "../deliveries.ts";

export interface Arrival {
  /** The path that it came to. */
  path: string;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

export interface Receivers {
  port: number;
  /** What came since this was last asked. */
  taken(): Arrival[];
  /** For the next run: events of the same ids are new to everybody. */
  reset(): void;
  close(): Promise<void>;
}

export async function startReceivers(): Promise<Receivers> {
  const arrivals: Arrival[] = [];
  const seen = new Map<string, number>();
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const path = incoming.url ?? "";
    const event = `${path} ${incoming.headers["x-webhook-id"]}`;
    const times = seen.get(event) ?? 0;
    seen.set(event, times + 1);
    arrivals.push({ path, headers: incoming.headers, text: Buffer.concat(chunks).toString("utf8") });
    perform(receiverOf(path), times, outgoing);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    taken: () => arrivals.splice(0),
    reset() {
      arrivals.length = 0;
      seen.clear();
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** Of these, one breaks the connection and one never answers; where nobody listens, nothing arrives. */
const STATUSES: Partial<Record<ReceiverName, (timesSeen: number) => number>> = {
  ok: () => 200,
  down: () => 500,
  again: (timesSeen) => (timesSeen === 0 ? 500 : 200),
  later: (timesSeen) => (timesSeen === 0 ? 503 : 200),
  gone: () => 410,
  moved: () => 302,
};

function perform(name: ReceiverName, timesSeen: number, outgoing: ServerResponse): void {
  if (name === "broken") outgoing.socket?.destroy();
  const status = STATUSES[name]?.(timesSeen);
  if (status !== undefined) outgoing.writeHead(status, { "retry-after": "90", location: "/elsewhere/ok" }).end();
}
