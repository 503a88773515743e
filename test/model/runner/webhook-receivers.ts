// The webhook receivers of a run. They are one server, whose behaviour depends on the last part of the path.

import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { outcomeOf, type ReceiverName, receiverOf } from "../deliveries.ts";

export interface Arrival {
  path: string;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

export interface Receivers {
  port: number;
  /** Returns the webhooks received since the last call. */
  taken(): Arrival[];
  /** Clears all counts, because event ids repeat in the next run. */
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

/** `broken` closes the connection without a response, and `silent` never responds. */
function perform(name: ReceiverName, timesSeen: number, outgoing: ServerResponse): void {
  if (name === "broken") outgoing.socket?.destroy();
  const { responseStatus } = outcomeOf(name, timesSeen);
  if (responseStatus !== null)
    outgoing.writeHead(responseStatus, { "retry-after": "90", location: "/elsewhere/ok" }).end();
}
