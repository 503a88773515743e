// A cheap webhook receiver: raw sockets that answer 200 to every complete POST. It runs in the process that
// measures, which does little else during a measurement.

import { createServer } from "node:net";

const ANSWER = Buffer.from("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");

/** Calls `onPost` for each complete POST. */
export async function receive(onPost, port = 0) {
  const sockets = new Set();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    let pending = "";
    // One character is one byte, so lengths in characters equal Content-Length.
    socket.setEncoding("latin1");
    socket.on("data", (chunk) => {
      pending = pending === "" ? chunk : pending + chunk;
      if (!isComplete(pending)) return;
      pending = "";
      onPost();
      socket.write(ANSWER);
    });
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
  });
  await new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    port: server.address().port,
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Whether a complete request has arrived; a connection carries one request at a time. */
function isComplete(text) {
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, end))?.[1] ?? 0;
  return text.length >= end + 4 + Number(length);
}
