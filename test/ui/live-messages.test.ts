// The dashboard reads every message that a sandbox of its own version sends.

import { expect, test } from "vitest";
import WebSocket from "ws";
import { readLiveMessage } from "../../src/client/read-live-message.ts";
import { open } from "../support/sandbox.ts";
import { deliver, receive, register } from "../support/webhooks.ts";

test.each(["", "?digest=1"])("the dashboard reads every message of the stream%s", async (query) => {
  const bench = await open();
  const read: ReturnType<typeof readLiveMessage>[] = [];
  const socket = new WebSocket(`${bench.url.replace("http", "ws")}/_sandbox/live${query}`);
  socket.on("message", (json) => read.push(readLiveMessage(String(json))));
  await expect.poll(() => read.length).toBe(1);
  socket.send("{}");
  const { url } = await receive();
  await register(bench, url);
  await bench.faults.add({ action: { type: "lost_response" } });
  await bench.call("GET", "/v1/payments").catch(() => undefined);
  await bench.call("GET", "/v1/payments");
  await deliver(bench);
  const kinds = () =>
    new Set(
      read.flatMap(({ message }) => (message && "items" in message ? message.items : [])).map(({ kind }) => kind),
    );
  await expect.poll(() => [...kinds()]).toEqual(expect.arrayContaining(["request", "attempt"]));
  socket.close();
  expect(read[0]?.message?.type).toBe("snapshot");
  expect(read.filter(({ unknown }) => unknown > 0)).toEqual([]);
});
