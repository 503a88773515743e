// Hostile and unusual clients: requests of browsers, of load generators and through raw sockets, and errors that must
// not end the process.

import { once } from "node:events";
import { Agent, request, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { attempted, type Bench, HANDSHAKE, lines, open, RULES, raw, readRaw, statusesIn } from "../support/sandbox.ts";
import { receive, register, trigger } from "../support/webhooks.ts";

const MEBIBYTE = 1_048_576;

const own = ({ port }: Bench) => [`Host: localhost:${port}`, "Authorization: Bearer sk_test_lodge"];

/** Sends a head, and then a body piece by piece, like a client that reads nothing until it has sent everything. */
async function sendAll(bench: Bench, head: string, bytes: number): Promise<string> {
  const socket = connect({ port: bench.port, host: "127.0.0.1", allowHalfOpen: true });
  let received = "";
  const piece = Buffer.alloc(65_536, 32);
  socket.write(head);
  for (let sent = 0; sent < bytes; sent += piece.length) if (!socket.write(piece)) await once(socket, "drain");
  socket.on("data", (chunk) => {
    received += chunk.toString("latin1");
  });
  socket.end();
  await once(socket, "close");
  return received;
}

test("a client that sends its whole large body before it reads still gets 413 or 401, on both APIs", async () => {
  const bench = await open();
  attempted("Large, deep, compressed or endless requests", 3);
  const size = 20 * MEBIBYTE;
  const head = (path: string, ...headers: string[]) =>
    lines(`POST ${path} HTTP/1.1`, ...headers, "Content-Type: application/json", `Content-Length: ${size}`);
  expect(statusesIn(await sendAll(bench, head(RULES, ...own(bench)), size))).toEqual([413]);
  expect(statusesIn(await sendAll(bench, head("/_sandbox/reset", `Host: localhost:${bench.port}`), size))).toEqual([
    413,
  ]);
  expect(statusesIn(await sendAll(bench, head(RULES, `Host: localhost:${bench.port}`), size))).toEqual([401]);
});

test("an invalid request with Expect: 100-continue gets the error without a 100 first", async () => {
  const bench = await open();
  const ask = (path: string, ...headers: string[]) =>
    raw(
      bench.port,
      lines(`POST ${path} HTTP/1.1`, "Expect: 100-continue", "Content-Type: application/json", ...headers),
    );
  attempted("Large, deep, compressed or endless requests", 5);
  const small = "Content-Length: 2";
  const host = `Host: localhost:${bench.port}`;
  const key = "Authorization: Bearer sk_test_lodge";
  // The requests are concurrent, because the server keeps each connection open for some seconds in case the client
  // still sends its body.
  const refused = await Promise.all([
    ask(RULES, host, small),
    ask(RULES, host, key, `Content-Length: ${MEBIBYTE + 1}`),
    ask(RULES, "Host: evil.example", key, small),
    ask("/v1/nowhere", host, key, small),
    ask("/_sandbox/nowhere", host, small),
  ]);
  expect(refused.map(statusesIn)).toEqual([[401], [413], [403], [404], [404]]);
});

test("a valid request with Expect: 100-continue gets 100; an error closes the connection", async () => {
  const bench = await open();
  const socket = connect(bench.port, "127.0.0.1");
  const head = [
    "POST /v1/hospitality/bookings/bkg_pending/decline HTTP/1.1",
    ...own(bench),
    "Content-Type: application/json",
  ];
  socket.write([...head, "Expect: 100-continue", "Content-Length: 2", "", ""].join("\r\n"));
  const [interim] = await once(socket, "data");
  expect(String(interim)).toBe("HTTP/1.1 100 Continue\r\n\r\n");
  socket.write("{}");
  const [answer] = await once(socket, "data");
  expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /);
  expect(String(answer)).toContain("Connection: keep-alive");
  socket.write(
    ["POST /v1/nowhere HTTP/1.1", ...own(bench), "Expect: 100-continue", "Content-Length: 2", "", ""].join("\r\n"),
  );
  const [refusal] = await once(socket, "data");
  expect(String(refusal)).toMatch(/^HTTP\/1\.1 404 /);
  expect(String(refusal)).toContain("Connection: close");
  socket.destroy();
});

test("parser errors and unknown expectations get errors of the API, with ids only for logged requests", async () => {
  const bench = await open();
  const host = `Host: localhost:${bench.port}`;
  const requests: [number, string, string][] = [
    [400, "malformed_http", "this is no HTTP\r\n\r\n"],
    [431, "headers_too_large", lines("GET /v1/payments HTTP/1.1", host, `X-Long: ${"x".repeat(20_000)}`)],
    [417, "expectation_failed", lines("GET /v1/payments HTTP/1.1", ...own(bench), "Expect: the-unexpected")],
  ];
  for (const [status, code, bytes] of requests) {
    const answer = readRaw(await raw(bench.port, bytes));
    const id = status === 417 ? "req_lodge_1" : undefined;
    expect([answer.status, answer.body.code, answer.body.details.requestId]).toEqual([status, code, id]);
    expect(answer.headers["x-sandbox-request-id"]).toBe(id);
    expect(answer.headers["x-content-type-options"]).toBe("nosniff");
  }
  const control = readRaw(await raw(bench.port, lines("GET /_sandbox HTTP/1.1", host, "Expect: the-unexpected")));
  expect([control.status, control.body.code]).toEqual([417, "expectation_failed"]);
  const tunnel = readRaw(await raw(bench.port, lines("CONNECT localhost:80 HTTP/1.1", host)));
  expect([tunnel.status, tunnel.body.code]).toEqual([403, "host_not_allowed"]);
});

test("a client that keeps sending after a parser error still gets the error", async () => {
  const bench = await open();
  expect(statusesIn(await sendAll(bench, "this is no HTTP\r\n\r\n", 4 * MEBIBYTE))).toEqual([400]);
});

test("no header is lost after a thousand others", async () => {
  const bench = await open();
  const many = Array.from({ length: 1_500 }, (_, index) => `a${index}:`);
  const { status } = readRaw(await raw(bench.port, lines("GET /v1/merchants/me HTTP/1.1", ...many, ...own(bench))));
  expect(status).toBe(200);
});

test("an upgrade does not overtake the response to an earlier request on its connection", async () => {
  const bench = await open();
  await bench.control("POST", "/faults", { action: { type: "latency", ms: 50 }, trigger: { times: 1 } });
  const socket = connect(bench.port, "127.0.0.1");
  let received = "";
  socket.write(["GET /v1/merchants/me HTTP/1.1", ...own(bench), "", ""].join("\r\n"));
  socket.write(["GET /_sandbox/live HTTP/1.1", `Host: localhost:${bench.port}`, ...HANDSHAKE, "", ""].join("\r\n"));
  while (!received.includes(" 101 ")) received += String((await once(socket, "data"))[0]);
  socket.destroy();
  expect(statusesIn(received)).toEqual([200, 101]);
});

test("a listener that throws is reported as a defect, and the other listeners are still called", async () => {
  const bench = await open();
  let called = 0;
  bench.onRequest(() => {
    throw new Error("This listener fails.");
  });
  bench.onRequest(() => called++);
  expect((await bench.call("GET", "/v1/merchants/me")).status).toBe(200);
  await bench.control("GET", "/requests");
  expect(called).toBe(1);
  expect(bench.defects.splice(0)).toMatchObject([{ error: { message: "This listener fails." }, where: "req_lodge_1" }]);
});

/** The Fetch Metadata headers that a browser sends with a request. */
const page = (site: string, mode: string, dest: string) => ({
  "sec-fetch-site": site,
  "sec-fetch-mode": mode,
  "sec-fetch-dest": dest,
});

test("a request from another site's page without an Origin is rejected, unless it is a followed link", async () => {
  const bench = await open();
  const status = async (path: string, headers: Record<string, string>, method = "GET") =>
    (await bench.call(method, path, { headers, key: null })).status;
  for (const site of ["cross-site", "same-site"])
    for (const path of ["/v1/payments", "/_sandbox/report?format=har", "/nowhere"]) {
      const refused = [
        page(site, "no-cors", "image"),
        page(site, "no-cors", "empty"),
        page(site, "navigate", "iframe"),
        page(site, "navigate", "object"),
        { ...page(site, "navigate", "document"), "sec-purpose": "prefetch;prerender" },
      ];
      for (const headers of refused) {
        attempted("Requests of a web page without an Origin");
        expect([path, headers, await status(path, headers)]).toEqual([path, headers, 403]);
      }
      expect([path, await status(path, page(site, "navigate", "document"))]).not.toEqual([path, 403]);
      expect(await status(path, page(site, "navigate", "document"), "POST")).toBe(403);
    }
  for (const site of ["none", "same-origin"])
    expect(await status("/_sandbox", page(site, "no-cors", "empty"))).toBe(200);
  // A page of the sandbox at localhost, which calls 127.0.0.1.
  const other = { origin: `http://localhost:${bench.port}`, ...page("cross-site", "cors", "empty") };
  expect(await status("/_sandbox", other)).toBe(200);
});

test("rejected requests of other sites are not logged, so no page can fill up the request log", async () => {
  const bench = await open();
  const kept = await bench.call("GET", "/v1/merchants/me");
  const seen: string[] = [];
  bench.onRequest(({ id }) => seen.push(id));
  const refused: Record<string, string>[] = [
    page("cross-site", "no-cors", "image"),
    { origin: "http://evil.example" },
    { host: "evil.example" },
  ];
  for (const headers of refused) {
    attempted("Requests of a web page without an Origin");
    expect((await bench.call("GET", "/v1/payments", { headers })).status).toBe(403);
  }
  const { data } = await bench.control("GET", "/requests");
  expect(data.map(({ id }: { id: string }) => id)).toEqual([kept.headers["x-sandbox-request-id"]]);
  expect(seen).toEqual([]);
});

test("a clock advance ends when its client leaves, the clock is set or the sandbox closes", async () => {
  const bench = await open({ webhookTimeout: 600_000 });
  const receiver = await receive();
  const held: ServerResponse[] = [];
  receiver.always((_, outgoing) => void held.push(outgoing));
  await register(bench, receiver.url);
  await trigger(bench);
  const advanced = bench.call("POST", "/_sandbox/clock/advance", {
    key: null,
    body: { by: "24h" },
    agent: new Agent(),
  });
  await receiver.arrived(1);
  // The advance waits for the delivery, which waits for the receiver.
  await bench.control("GET", "/clock");
  // Setting the clock ends the advance. A client that disconnects ends its own advance, and later advances are not
  // blocked.
  await bench.control("PUT", "/clock", { mode: "frozen" });
  expect((await advanced).body.code).toBe("invalid_state");
  attempted("Work for callers that have gone");
  const left = request(`${bench.url}/_sandbox/clock/advance`, {
    method: "POST",
    headers: { "content-type": "application/json" },
  });
  left.on("error", () => {}).end('{"by":"24h"}');
  const next = bench.call("POST", "/_sandbox/clock/advance", { key: null, body: { by: "24h" }, agent: new Agent() });
  await bench.control("GET", "/clock");
  left.destroy();
  await bench.control("GET", "/clock");
  const closed = bench.close();
  const { status, body } = await next;
  expect([status, body.code]).toEqual([503, "sandbox_unavailable"]);
  for (const outgoing of held) outgoing.end();
  await closed;
});
