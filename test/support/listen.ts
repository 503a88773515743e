// Servers that a test starts on a free port; each is closed after the test.

import type { AddressInfo, Server } from "node:net";
import { afterEachTest } from "./cleanup.ts";

const opened: Server[] = [];

afterEachTest.push(() => {
  for (const server of opened.splice(0)) {
    // Only HTTP servers know their connections.
    if ("closeAllConnections" in server) (server as { closeAllConnections(): void }).closeAllConnections();
    server.close();
  }
});

/** Resolves with the port once the server listens. */
export async function listen(server: Server, host = "127.0.0.1"): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  opened.push(server);
  return (server.address() as AddressInfo).port;
}
