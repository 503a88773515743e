// Servers that a test starts on a free port; each is closed after the test.

import type { AddressInfo, Server } from "node:net";
import { afterEachTest } from "./cleanup.ts";

const opened: Server[] = [];

afterEachTest.push(() => Promise.all(opened.splice(0).map(close)));

/** Only HTTP servers know their connections; another server closes when its clients have left, which no test waits for. */
function close(server: Server): Promise<void> | undefined {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  if (!("closeAllConnections" in server)) return undefined;
  (server as { closeAllConnections(): void }).closeAllConnections();
  return closed;
}

/** Resolves with the port once the server listens. */
export async function listen(server: Server, host = "127.0.0.1"): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  opened.push(server);
  return (server.address() as AddressInfo).port;
}
