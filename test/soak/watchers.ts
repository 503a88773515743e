// Clients of the live stream that stop reading. When they read again, they must get each missed event or a gap message.

import { once } from "node:events";
import { WebSocket } from "ws";
import type { LiveMessage } from "../../src/contracts/live-messages.ts";

interface Received {
  items: number;
  /** The number of events that the sandbox reported as missed. */
  missed: number;
  /** The number of sequence numbers that arrived twice, or that neither arrived nor were reported as missed. */
  wrong: number;
}

export async function watch(url: string) {
  const socket = new WebSocket(`${url.replace("http", "ws")}/_sandbox/live`);
  const received: Received = { items: 0, missed: 0, wrong: 0 };
  let next: number | undefined;
  let newest = 0;
  let hear = () => {};
  const take = (from: number, to: number) => {
    if (next !== undefined && from !== next) received.wrong++;
    next = to + 1;
  };
  socket.on("message", (text) => {
    const message = JSON.parse(String(text)) as LiveMessage;
    if (message.type === "snapshot") next = message.seq + 1;
    else if (message.type === "gap") {
      take(message.from, message.to);
      received.missed += message.to - message.from + 1;
    } else
      for (const { seq } of message.items) {
        take(seq, seq);
        received.items++;
      }
    hear();
  });
  socket.on("error", () => {});
  await once(socket, "open");
  return {
    stopReading: () => socket.pause(),
    /** Reads again. Resolves once the newest message has arrived. */
    async catchUp() {
      newest = await newestOf(url);
      const whole = new Promise<Received>((resolve, reject) => {
        hear = () => (next ?? 0) > newest && resolve(received);
        socket.once("close", () => reject(new Error("the live stream ended")));
      });
      socket.resume();
      hear();
      return whole;
    },
    leave: () => socket.terminate(),
  };
}

/** The newest sequence number, which a new client receives in its first message. */
async function newestOf(url: string): Promise<number> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/_sandbox/live`);
  socket.on("error", () => {});
  const text = await new Promise((resolve, reject) => {
    socket.once("message", resolve);
    socket.once("close", () => reject(new Error("the live stream ended")));
  });
  socket.terminate();
  return (JSON.parse(String(text)) as { seq: number }).seq;
}
