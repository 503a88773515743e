// A correct webhook receiver over node:http. Each part of its behaviour can be replaced, so that a test can add one bug
// at a time.

import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { sleep } from "./client.ts";

interface Delivery {
  id: string;
  type: string;
}

export interface ReceiverBehaviour {
  isGenuine(signature: string, expected: string): boolean;
  /** The bytes from which the receiver computes the signature. */
  signedBytes(body: Buffer): Buffer;
  /** The secrets that the receiver accepts, given the current and the previous secret. */
  trusts(secret: string, previous: string | undefined): (string | undefined)[];
  /** The status for a new event; `before` holds the types of the events received so far. */
  firstStatus(type: string, before: ReadonlySet<string>): number;
  /** The status for an event that was received before. */
  duplicateStatus: number;
  /** Milliseconds before the response. */
  delay: number;
  /**
   * The Idempotency-Key of the call that an event causes. A correct receiver derives the key from the event's id, so
   * that the call takes effect once.
   */
  keyOf(event: Delivery): string;
  /** Whether an event that was received before is processed again. */
  actsAgain: boolean;
}

export const correctReceiver: ReceiverBehaviour = {
  isGenuine: (signature, expected) =>
    signature.length === expected.length && timingSafeEqual(Buffer.from(signature), Buffer.from(expected)),
  signedBytes: (body) => body,
  trusts: (secret, previous) => [secret, previous],
  firstStatus: () => 200,
  duplicateStatus: 200,
  delay: 0,
  keyOf: ({ id }) => `on-${id}`,
  actsAgain: false,
};

export interface Receiver {
  url: string;
  /** Set by the test after it registers the endpoint. */
  secret: string;
  /** The secret before the last rotation. */
  previous: string | undefined;
  /** Resolves when the processing of all events received so far has ended. */
  settled(): Promise<void>;
  close(): void;
}

/** `act` processes an event; it gets the Idempotency-Key to use. */
export async function openReceiver(
  behaviour: ReceiverBehaviour,
  act: (key: string) => Promise<unknown>,
): Promise<Receiver> {
  const seen = new Set<string>();
  const types = new Set<string>();
  const acts: Promise<unknown>[] = [];
  const receiver: Receiver = {
    url: "",
    secret: "",
    previous: undefined,
    settled: async () => void (await Promise.all(acts)),
    close: () => server.close(),
  };
  const respond = async (body: Buffer, signature: string): Promise<number> => {
    const secrets = behaviour.trusts(receiver.secret, receiver.previous).filter((secret) => secret !== undefined);
    const signed = behaviour.signedBytes(body);
    const expected = secrets.map((secret) => createHmac("sha256", secret).update(signed).digest("hex"));
    if (!expected.some((one) => behaviour.isGenuine(signature, one))) return 401;
    const event = JSON.parse(body.toString()) as Delivery;
    const isKnown = seen.has(event.id);
    const status = isKnown ? behaviour.duplicateStatus : behaviour.firstStatus(event.type, types);
    if (status >= 300) return status;
    seen.add(event.id);
    types.add(event.type);
    if (!isKnown || behaviour.actsAgain) acts.push(act(behaviour.keyOf(event)));
    await sleep(behaviour.delay);
    return status;
  };
  const server = createServer(async (incoming, outgoing) => {
    outgoing.statusCode = await respond(await buffer(incoming), String(incoming.headers["x-webhook-signature"] ?? ""));
    outgoing.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`;
  return receiver;
}
