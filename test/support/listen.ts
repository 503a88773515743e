// Servers that a test starts on a free port; each is closed after the test, with its connections.

import type { AddressInfo, Server, Socket } from "node:net";
import { afterEachTest } from "./cleanup.ts";

const opened = new Map<Server, Set<Socket>>();

afterEachTest.push(async () => {
  const servers = [...opened];
  opened.clear();
  await Promise.all(servers.map(([server, sockets]) => close(server, sockets)));
});

function close(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  for (const socket of sockets) socket.destroy();
  return closed;
}

/** Resolves with the port once the server listens. */
export async function listen(server: Server, host = "127.0.0.1"): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  opened.set(server, sockets);
  return (server.address() as AddressInfo).port;
}
