// The load generator, a Node client: undici's keep-alive connections, each with one request in flight. Every response
// is read completely. This client uses about as much CPU time as a bare server.

import { Pool } from "undici";

/** A request of the load. */
export function request(method, path, headers = {}, body = "") {
  return body === ""
    ? { method, path, headers }
    : { method, path, headers: { ...headers, "Content-Type": "application/json" }, body };
}

/**
 * Keeps `connections` busy for `seconds`, or until `most` requests have been sent. `requests` is one request, or a
 * function of the request's number. Returns the number of responses (`answered`), how many were not 2xx (`refused`) and
 * the first of those (`refusal`), the latencies in milliseconds, the time of the last response (`ended`), and the rate.
 */
export async function load({ port, seconds = Infinity, most = Infinity, connections = 32, requests }) {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections, pipelining: 1 });
  const state = { answered: 0, refused: 0, sent: 0, latencies: [] };
  const started = performance.now();
  const until = started + seconds * 1_000;
  const next = typeof requests === "function" ? requests : () => requests;
  const drive = async () => {
    while (state.sent < most && performance.now() < until) await ask(pool, next(state.sent++), state);
  };
  await Promise.all(Array.from({ length: connections }, drive));
  const rate = state.answered / ((performance.now() - started) / 1_000);
  await pool.close();
  return { ...state, rate };
}

async function ask(pool, asked, state) {
  const since = performance.now();
  const { statusCode, body } = await pool.request(asked);
  const text = await body.text();
  state.ended = performance.now();
  state.latencies.push(state.ended - since);
  state.answered++;
  if (statusCode >= 200 && statusCode < 300) return;
  state.refused++;
  state.refusal ??= `${statusCode} ${text}`;
}

/** Milliseconds between two batches of a steady load. */
const TICK = 20;

/** Sends `rate` requests a second until `end` is called. `end` returns the rate of the responses. */
export function steadyLoad({ port, rate, requests }) {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 16, pipelining: 1 });
  const state = { answered: 0, refused: 0, sent: 0, latencies: [] };
  const started = performance.now();
  const timer = setInterval(() => {
    const due = ((performance.now() - started) / 1_000) * rate;
    // A server that is more than a second behind gets fewer requests.
    if (state.sent - state.answered > rate) return;
    // Clears the latencies, because nothing reads them, and the list would grow for minutes.
    state.latencies.length = 0;
    while (state.sent < due) void ask(pool, requests(state.sent++), state);
  }, TICK);
  return {
    async end() {
      clearInterval(timer);
      await pool.close();
      return (state.answered * 1_000) / (performance.now() - started);
    },
  };
}
