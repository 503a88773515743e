// A load that costs little: raw keep-alive sockets that send one request at a time and count whole answers. It never sleeps:
// waking a process costs more than an answer does, and only the faster of two servers would be spared it.

import { connect } from "node:net";

/**
 * Keeps `connections` busy for `seconds`, or until `most` requests were sent. `requests` is the text of every request, or
 * gives that of the nth. Answers how many were answered, how many not with 2xx (and the first such answer), the latencies in milliseconds,
 * and when the last answer came.
 */
export async function load({ port, seconds = Infinity, most = Infinity, connections = 32, requests }) {
  const state = { port, most, answered: 0, refused: 0, sent: 0, latencies: [] };
  const started = performance.now();
  const until = started + seconds * 1_000;
  const addressed = (text) => text.replace(":PORT", `:${port}`);
  const same = typeof requests === "string" ? addressed(requests) : undefined;
  state.request = same === undefined ? (n) => addressed(requests(n)) : () => same;
  state.isOver = () => state.sent >= most || performance.now() >= until;
  const end = stayAwake();
  await Promise.all(Array.from({ length: connections }, () => drive(state)));
  end();
  return { ...state, rate: state.answered / ((performance.now() - started) / 1_000) };
}

/** Keeps this process from sleeping until the function that it answers is called. */
export function stayAwake() {
  let next;
  const again = () => {
    next = setImmediate(again);
  };
  again();
  return () => clearImmediate(next);
}

/** Sends one after the other until it is over; a server that closes after each answer is connected to again. */
async function drive(state) {
  while (!state.isOver()) await converse(state);
}

function converse(state) {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: state.port, host: "127.0.0.1", noDelay: true });
    let pending = "";
    let since = 0;
    const next = () => {
      if (state.isOver()) return socket.end();
      since = performance.now();
      socket.write(state.request(state.sent++));
    };
    // A character is a byte here, so that lengths are those of the wire.
    socket.setEncoding("latin1");
    socket.on("connect", next);
    socket.on("data", (chunk) => {
      pending = pending === "" ? chunk : pending + chunk;
      const headers = headersOfWhole(pending);
      if (headers === undefined) return;
      state.answered++;
      if (headers[9] !== "2") {
        state.refused++;
        state.refusal ??= pending;
      }
      pending = "";
      state.ended = performance.now();
      state.latencies.push(state.ended - since);
      if (/^connection: close/im.test(headers)) socket.end();
      else next();
    });
    socket.on("close", resolve);
    socket.on("error", reject);
  });
}

/** The headers of an answer that has arrived whole. */
function headersOfWhole(text) {
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const headers = text.slice(0, end);
  const length = /^content-length: (\d+)/im.exec(headers)?.[1];
  if (length !== undefined) return text.length >= end + 4 + Number(length) ? headers : undefined;
  const isChunked = /^transfer-encoding: chunked/im.test(headers);
  return !isChunked || text.endsWith("\r\n0\r\n\r\n") ? headers : undefined;
}

/** The text of a request; the port is put in when it is known. */
export function bytes(method, path, headers = {}, body = "") {
  const content = body === "" ? {} : { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) };
  const lines = Object.entries({ Host: "127.0.0.1:PORT", ...headers, ...content }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body}`;
}
