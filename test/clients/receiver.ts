// A receiver of webhooks that does everything right, over node:http. Each of its habits can be replaced, to plant one bug at a time.

import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { sleep } from "./client.ts";

interface Delivery {
  id: string;
}

export interface ReceiverHabits {
  isGenuine(signature: string, expected: string): boolean;
  /** What an event is answered that was seen before. */
  duplicateStatus: number;
  /** Milliseconds before the answer. */
  delay: number;
  /** The key of the call that an event leads to; it is made out of the event's id, so that the call happens once. */
  keyOf(event: Delivery): string;
  /** Whether an event that was seen before is acted on again. */
  actsAgain: boolean;
}

export const goodReceiver: ReceiverHabits = {
  isGenuine: (signature, expected) =>
    signature.length === expected.length && timingSafeEqual(Buffer.from(signature), Buffer.from(expected)),
  duplicateStatus: 200,
  delay: 0,
  keyOf: ({ id }) => `on-${id}`,
  actsAgain: false,
};

export interface Receiver {
  url: string;
  /** To be set once the endpoint is registered. */
  secret: string;
  close(): void;
}

/** `act` is what the receiver does about an event, once. */
export async function openReceiver(habits: ReceiverHabits, act: (key: string) => Promise<unknown>): Promise<Receiver> {
  const seen = new Set<string>();
  const receiver: Receiver = { url: "", secret: "", close: () => server.close() };
  const answer = async (body: Buffer, signature: string): Promise<number> => {
    const expected = createHmac("sha256", receiver.secret).update(body).digest("hex");
    if (!habits.isGenuine(signature, expected)) return 401;
    const event = JSON.parse(body.toString()) as Delivery;
    const isKnown = seen.has(event.id);
    seen.add(event.id);
    if (!isKnown || habits.actsAgain) void act(habits.keyOf(event));
    await sleep(habits.delay);
    return isKnown ? habits.duplicateStatus : 200;
  };
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    outgoing.statusCode = await answer(Buffer.concat(chunks), String(incoming.headers["x-webhook-signature"] ?? ""));
    outgoing.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`;
  return receiver;
}
