// The live stream, as the clients of the same version read it.

import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { readLiveMessage } from "../../src/client/read-live-message.ts";
import { open } from "../support/sandbox.ts";

test("the first message has every field of the overview that clients read", async () => {
  const bench = await open();
  const socket = new WebSocket(`${bench.url.replace("http", "ws")}/_sandbox/live`);
  const first = await new Promise<string>((resolve) => socket.once("message", (data) => resolve(String(data))));
  socket.close();
  expect(readLiveMessage(first)).toMatchObject({ unknown: 0, message: { type: "snapshot" } });
});
