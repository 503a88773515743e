// A receiver of webhooks that does everything right, over node:http. Each of its habits can be replaced, to plant one bug at a time.

import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { sleep } from "./client.ts";

interface Delivery {
  id: string;
  type: string;
}

export interface ReceiverHabits {
  isGenuine(signature: string, expected: string): boolean;
  /** Which secrets it tries, of the one that holds and the one before. */
  trusts(secret: string, former: string | undefined): (string | undefined)[];
  /** What an event is answered that was not seen before, by the types of those that were. */
  firstStatus(type: string, before: ReadonlySet<string>): number;
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
  trusts: (secret, former) => [secret, former],
  firstStatus: () => 200,
  duplicateStatus: 200,
  delay: 0,
  keyOf: ({ id }) => `on-${id}`,
  actsAgain: false,
};

export interface Receiver {
  url: string;
  /** To be set once the endpoint is registered. */
  secret: string;
  /** The secret before the last rotation. */
  former: string | undefined;
  close(): void;
}

/** `act` is what the receiver does about an event, once. */
export async function openReceiver(habits: ReceiverHabits, act: (key: string) => Promise<unknown>): Promise<Receiver> {
  const seen = new Set<string>();
  const types = new Set<string>();
  const receiver: Receiver = { url: "", secret: "", former: undefined, close: () => server.close() };
  const answer = async (body: Buffer, signature: string): Promise<number> => {
    const secrets = habits.trusts(receiver.secret, receiver.former).filter((secret) => secret !== undefined);
    const expected = secrets.map((secret) => createHmac("sha256", secret).update(body).digest("hex"));
    if (!expected.some((one) => habits.isGenuine(signature, one))) return 401;
    const event = JSON.parse(body.toString()) as Delivery;
    const isKnown = seen.has(event.id);
    const status = isKnown ? habits.duplicateStatus : habits.firstStatus(event.type, types);
    if (status >= 300) return status;
    seen.add(event.id);
    types.add(event.type);
    if (!isKnown || habits.actsAgain) void act(habits.keyOf(event));
    await sleep(habits.delay);
    return status;
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
