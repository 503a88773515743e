// Lives in the sandbox's own process while it is soaked: answers, whenever it is asked, what is held there once the garbage is gone.

import { Socket } from "node:net";
import { setImmediate } from "node:timers/promises";

const channel = new Socket({ fd: 3 });
channel.unref();
channel.on("error", () => {});
channel.on("data", async () => {
  // An object freed by the first collection, such as a socket, may hold others that only the second one frees.
  for (let time = 0; time < 2; time++) {
    globalThis.gc();
    await setImmediate();
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  const sockets = process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;
  channel.write(`${JSON.stringify({ heap: heapUsed + external, rss, sockets })}\n`);
});
