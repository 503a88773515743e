// Known attacks on a local server that accepts URLs from clients and has a control API, each sent over a raw socket.

import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { expect, test } from "vitest";
import { needs } from "../support/needs.ts";
import { attempted, type Bench, HANDSHAKE, lines, open, RULES, raw, readRaw, statusesIn } from "../support/sandbox.ts";
import { receive, register, trigger } from "../support/webhooks.ts";

const RESET = "/_sandbox/reset";

/** Creates a record that a reset removes, and returns a function that says whether the record still exists. */
async function canary(bench: Bench): Promise<() => Promise<boolean>> {
  const { id } = await bench.control("POST", "/records/customer", { merchant: "mer_lodge", name: "Canary" });
  return async () => (await bench.call("GET", `/v1/customers/${id}`)).status === 200;
}

/** The text of a POST with this body and `Connection: close`. */
const post = (path: string, body: string, ...headers: string[]) =>
  lines(`POST ${path} HTTP/1.1`, ...headers, `Content-Length: ${Buffer.byteLength(body)}`) + body;

test("cross-site request forgery: neither a form nor a fetch without preflight changes anything", async () => {
  const bench = await open();
  const alive = await canary(bench);
  const own = `Host: localhost:${bench.port}`;
  const attempts: [string, ...string[]][] = [
    ["{}", "Content-Type: text/plain"],
    ["{}=", "Content-Type: application/x-www-form-urlencoded"],
    [
      '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n{}\r\n--x--',
      "Content-Type: multipart/form-data; boundary=x",
    ],
    ["{}"],
    ["{}", "Content-Type: text/plain; application/json"],
    ["{}", "Content-Type: application/jsonp"],
  ];
  for (const path of [RESET, RULES])
    for (const [body, ...type] of attempts) {
      attempted("Cross-site request forgery");
      const blind = readRaw(
        await raw(bench.port, post(path, body, own, "Authorization: Bearer sk_test_lodge", ...type)),
      );
      expect([path, type, blind.status]).toEqual([path, type, 415]);
    }
  for (const origin of [
    "null",
    "http://evil.example",
    "http://127.0.0.1",
    `https://localhost:${bench.port}`,
    "http://192.168.0.7",
  ]) {
    attempted("Cross-site request forgery");
    const page = readRaw(
      await raw(bench.port, post(RESET, "{}", own, `Origin: ${origin}`, "Content-Type: application/json")),
    );
    expect([origin, page.status, page.body.code]).toEqual([origin, 403, "origin_not_allowed"]);
  }
  attempted("Cross-site request forgery");
  // An empty body needs no Content-Type, so only the Origin check can reject this one.
  const bare = readRaw(
    await raw(bench.port, lines(`POST ${RESET} HTTP/1.1`, own, "Origin: http://evil.example", "Content-Length: 0")),
  );
  expect(bare.status).toBe(403);
  expect(await alive()).toBe(true);
  // The same request without the foreign origin is accepted.
  expect(readRaw(await raw(bench.port, post(RESET, "{}", own, "Content-Type: application/json"))).status).toBe(200);
  expect(await alive()).toBe(false);
});

test("cross-site WebSocket hijacking: no 101 if the Origin is foreign, or the Host is foreign or missing", async () => {
  const bench = await open();
  const ask = async (...headers: string[]) => {
    attempted("A web page opens the live stream");
    const request = ["GET /_sandbox/live HTTP/1.1", ...headers, ...HANDSHAKE, "", ""].join("\r\n");
    return readRaw(await raw(bench.port, request)).status;
  };
  const own = `Host: localhost:${bench.port}`;
  expect(await ask(own, "Origin: http://evil.example")).toBe(403);
  expect(await ask(own, "Origin: null")).toBe(403);
  expect(await ask("Host: evil.example")).toBe(403);
  expect(await ask(own, "Host: evil.example")).toBe(403);
  expect(await ask()).toBe(403);
});

test("request smuggling: ambiguous framing never yields a second request", async () => {
  const bench = await open();
  const alive = await canary(bench);
  const own = `Host: localhost:${bench.port}`;
  const smuggled = `POST ${RESET} HTTP/1.1\r\n${own}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`;
  const head = (...headers: string[]) =>
    [`POST ${RULES} HTTP/1.1`, own, "Content-Type: application/json", ...headers, "", ""].join("\r\n");
  const attacks = {
    "a length and chunks": `${head("Content-Length: 4", "Transfer-Encoding: chunked")}0\r\n\r\n${smuggled}`,
    "chunks and a length": `${head("Transfer-Encoding: chunked", "Content-Length: 6")}0\r\n\r\n${smuggled}`,
    "two lengths": `${head("Content-Length: 0", `Content-Length: ${smuggled.length}`)}${smuggled}`,
    "a list of lengths": `${head("Content-Length: 0, 5")}${smuggled}`,
    "a length with a sign": `${head("Content-Length: +0")}${smuggled}`,
    "a length in hex": `${head("Content-Length: 0x0")}${smuggled}`,
    "an unknown transfer coding": `${head("Transfer-Encoding: xchunked")}0\r\n\r\n${smuggled}`,
    "chunked before another coding": `${head("Transfer-Encoding: chunked, identity")}0\r\n\r\n${smuggled}`,
    "a space before the colon": `${head("Transfer-Encoding : chunked")}0\r\n\r\n${smuggled}`,
    "a folded header": `${head("Transfer-Encoding:\r\n chunked", "Content-Length: 5")}0\r\n\r\n${smuggled}`,
    "a chunk size beyond 64 bits": `${head("Transfer-Encoding: chunked")}ffffffffffffffff1\r\n\r\n${smuggled}`,
    "a chunk with a sign": `${head("Transfer-Encoding: chunked")}-1\r\n\r\n${smuggled}`,
    "line feeds without carriage returns": `${head("Transfer-Encoding: chunked")}0\n\n${smuggled}`,
  };
  for (const [name, bytes] of Object.entries(attacks)) {
    attempted("Request smuggling, response splitting");
    const received = await raw(bench.port, bytes, true);
    expect([name, statusesIn(received).filter((status) => status < 400)]).toEqual([name, []]);
    expect([name, await alive()]).toEqual([name, true]);
  }
});

test("response splitting: names in a query, field or key cannot inject a header", async () => {
  const bench = await open();
  const own = [`Host: localhost:${bench.port}`, "Authorization: Bearer sk_test_lodge"];
  const evil = "x%0d%0aSet-Cookie:%20a=b";
  const answers = [
    await raw(bench.port, lines(`GET /v1/payments?${evil}=1 HTTP/1.1`, ...own)),
    await raw(bench.port, lines(`GET /v1/customers/${evil} HTTP/1.1`, ...own)),
    await raw(
      bench.port,
      post(
        RULES,
        JSON.stringify({ name: "x", adjustmentType: "fixed", adjustmentValue: 1, "a\r\nSet-Cookie: a=b": 1 }),
        ...own,
        "Content-Type: application/json",
      ),
    ),
    await raw(bench.port, lines(`GET /_sandbox/${evil} HTTP/1.1`, `Host: localhost:${bench.port}`)),
  ];
  for (const answer of answers) {
    attempted("Request smuggling, response splitting");
    expect(answer).toMatch(/^HTTP\/1\.1 /);
    expect(Object.keys(readRaw(answer).headers)).not.toContain("set-cookie");
    expect(statusesIn(answer)).toHaveLength(1);
  }
});

test("path traversal: no name of a snapshot or scenario leads out of its folder", async () => {
  const bench = await open();
  const own = `Host: localhost:${bench.port}`;
  for (const name of [
    "..%2f..%2fevil",
    "%2e%2e%2fevil",
    "..",
    "a%00b",
    "a%5cb",
    "a%20b",
    "a.b",
    "x".repeat(65),
    "/etc/passwd",
  ]) {
    attempted("Path traversal");
    const saved = readRaw(
      await raw(bench.port, lines(`PUT /_sandbox/snapshots/${name} HTTP/1.1`, own, "Content-Length: 0")),
    );
    expect([name, saved.status >= 400 && saved.status < 500]).toEqual([name, true]);
  }
  expect((await bench.control("GET", "/snapshots")).data).toEqual([]);
  // A scenario may be a file on the command line, never in a request.
  for (const name of ["..%2f..%2fetc%2fpasswd", "%2fetc%2fpasswd"]) {
    attempted("Path traversal");
    const armed = readRaw(
      await raw(bench.port, post(`/_sandbox/scenarios/${name}`, "{}", own, "Content-Type: application/json")),
    );
    expect([name, armed.status]).toEqual([
      name,
      expect.toSatisfy((status: number) => status === 404 || status === 405),
    ]);
    expect(JSON.stringify(armed.body)).not.toContain("root:");
  }
});

test("a receiver that responds one byte at a time cannot exceed the timeout of one attempt", async () => {
  const bench = await open({ webhookTimeout: 1_000 });
  attempted("Slow, endless or hostile receivers");
  const receiver = await receive();
  let dripping: NodeJS.Timeout | undefined;
  const left = new Promise<void>((resolve) => {
    receiver.always((_, outgoing) => {
      outgoing.writeHead(200);
      dripping = setInterval(() => outgoing.write("."), 20);
      outgoing.once("close", resolve);
    });
  });
  await register(bench, receiver.url);
  await trigger(bench, "payment.succeeded", { amount: 1 });
  await left;
  clearInterval(dripping);
  await bench.control("POST", "/drain", {});
  const { data } = await bench.control("GET", "/deliveries");
  expect(data[0]).toMatchObject({ status: "failed", errorCode: "timeout" });
});

test("a rejected client that does not close its connection is disconnected shortly after", async () => {
  const bench = await open();
  const handshake = [
    "GET /_sandbox/live HTTP/1.1",
    `Host: localhost:${bench.port}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    "",
    "",
  ];
  const codes = ["this is no HTTP\r\n\r\n", handshake.join("\r\n")].map((bytes) => {
    attempted("Large, deep, compressed or endless requests");
    const socket = connect({ port: bench.port, host: "127.0.0.1", allowHalfOpen: true }, () => socket.write(bytes));
    return new Promise((resolve) => {
      socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code));
      socket.once("end", () => {
        // These writes fail once the sandbox has destroyed its end, a second of real time later.
        const pen = setInterval(() => socket.write("."), 20);
        socket.once("close", () => clearInterval(pen));
      });
      socket.resume();
    });
  });
  for (const code of await Promise.all(codes)) expect(["ECONNRESET", "EPIPE"]).toContain(code);
});

/** An address of this machine that other machines can reach. */
const outside = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.family === "IPv4" && !one.internal)?.address;

const NETWORK = needs(outside !== undefined, "a network address");

test.skipIf(outside === undefined)(
  `by default, the sandbox does not listen on network addresses${NETWORK}`,
  async () => {
    const bench = await open();
    const code = await new Promise((resolve) => {
      attempted("Calls from another machine");
      const socket = connect({ port: bench.port, host: outside ?? "" }, () => resolve("connected"));
      socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code));
      socket.once("connect", () => socket.destroy());
    });
    expect(code).toBe("ECONNREFUSED");
  },
);

test("on the network, the control API requires the exact token: merchant keys and similar tokens fail", async () => {
  const bench = await open({ host: "0.0.0.0", allowedHost: ["127.0.0.1"] });
  const token = bench.controlToken ?? "";
  expect(token.length).toBeGreaterThan(20);
  const ask = async (path: string, ...headers: string[]) =>
    readRaw(await raw(bench.port, lines(`GET ${path} HTTP/1.1`, `Host: 127.0.0.1:${bench.port}`, ...headers)));
  const wrong = [
    "",
    "Bearer",
    "Bearer sk_test_lodge",
    `Bearer ${token}x`,
    `Bearer ${token.slice(0, -1)}`,
    `bearer${token}`,
    `Basic ${token}`,
  ];
  for (const path of [
    "/_sandbox",
    "/_sandbox/merchants",
    "/_sandbox/requests",
    "/_sandbox/health/../merchants",
    "/_sandbox/health%2f..%2fmerchants",
  ])
    for (const value of wrong) {
      attempted("Control API calls without its token");
      const { status, body } = await ask(path, `Authorization: ${value}`);
      expect([path, value, status === 403 || status === 404]).toEqual([path, value, true]);
      expect(JSON.stringify(body)).not.toContain(token);
      expect(JSON.stringify(body)).not.toContain("sk_test_lodge");
    }
  const twice = await ask("/_sandbox", "Authorization: Bearer sk_test_lodge", `Authorization: Bearer ${token}`);
  expect(twice.status).toBe(403);
  expect((await ask("/_sandbox", `Authorization: Bearer ${token}`)).status).toBe(200);
});

test("a record grows to at most 2 MiB, however many changes add fields to it", async () => {
  const bench = await open();
  attempted("Unbounded growth", 3);
  const grow = async (name: string) =>
    (await bench.call("PATCH", "/v1/statutory/settings", { body: { [name]: "x".repeat(900_000) } })).status;
  expect([await grow("one"), await grow("two"), await grow("three")]).toEqual([200, 200, 400]);
  expect(Object.keys((await bench.call("GET", "/v1/statutory/settings")).body)).not.toContain("three");
});
