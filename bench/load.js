// A load that costs little: raw keep-alive sockets that send one request at a time and count whole answers.

import { connect } from "node:net";

/**
 * Keeps `connections` busy for `seconds`. `requests(n)` gives the bytes of the nth request.
 * Answers how many were answered, how many not with 2xx, and the latencies in milliseconds.
 */
export async function load({ port, seconds, connections = 32, requests }) {
  const state = { answered: 0, refused: 0, sent: 0, latencies: [], until: performance.now() + seconds * 1_000 };
  const started = performance.now();
  await Promise.all(Array.from({ length: connections }, () => drive(port, requests, state)));
  return { ...state, rate: state.answered / ((performance.now() - started) / 1_000) };
}

function drive(port, requests, state) {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    let pending = Buffer.alloc(0);
    let since = 0;
    const next = () => {
      if (performance.now() >= state.until) return socket.end();
      since = performance.now();
      socket.write(requests(state.sent++));
    };
    socket.on("connect", next);
    socket.on("data", (chunk) => {
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      const head = pending.indexOf("\r\n\r\n");
      if (head === -1) return;
      const headers = pending.latin1Slice(0, head);
      const length = Number(/content-length: (\d+)/i.exec(headers)?.[1] ?? 0);
      if (pending.length < head + 4 + length) return;
      pending = Buffer.alloc(0);
      state.answered++;
      if (headers[9] !== "2") state.refused++;
      state.latencies.push(performance.now() - since);
      next();
    });
    socket.on("close", resolve);
    socket.on("error", reject);
  });
}

/** The bytes of a request. */
export function bytes(method, path, headers = {}, body = "") {
  const lines = Object.entries({
    Host: "127.0.0.1:PORT",
    ...headers,
    ...(body ? { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) } : {}),
  });
  return `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`;
}
