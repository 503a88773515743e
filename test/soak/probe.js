// Runs inside the sandbox's process during the soak test. On request, collects garbage and reports the memory and
// handles in use.

import { Socket } from "node:net";
import { setImmediate } from "node:timers/promises";

const channel = new Socket({ fd: 3 });
channel.unref();
channel.on("error", () => {});
channel.on("data", async () => {
  // The first collection may free an object, such as a socket, that references other objects. Only the second
  // collection frees those.
  for (let time = 0; time < 2; time++) {
    globalThis.gc();
    await setImmediate();
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  const sockets = process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;
  channel.write(`${JSON.stringify({ heap: heapUsed + external, rss, sockets })}\n`);
});
