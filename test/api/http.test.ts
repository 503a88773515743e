// The request pipeline: the order of its stages, the Host and Origin checks, and the limits of HTTP requests.

import { readdirSync, readFileSync } from "node:fs";
import { Agent } from "node:http";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { catalogue } from "../../src/areas/index.ts";
import type { RequestEntry } from "../../src/store/request-log/request-log.ts";
import { needs } from "../support/needs.ts";
import { folder } from "../support/program.ts";
import {
  type Answer,
  attempted,
  type Bench,
  type CallOptions,
  DECLINE,
  lines,
  open,
  RULES,
  raw,
  readRaw,
  rule,
  testOnOwnPort,
} from "../support/sandbox.ts";

const hasIpv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === "::1"),
);

const testOverIpv6 = hasIpv6 ? testOnOwnPort : test.skip;

const MEBIBYTE = 1_048_576;

describe("the order of the stages", () => {
  interface Draft {
    method: string;
    path: string;
    key: string | null;
    headers: Record<string, string | string[]>;
    body: unknown;
    contentType: string;
  }

  /** One error of each stage, in the order of the stages. */
  const failures: [code: string, spoil: (draft: Draft) => void][] = [
    ["host_not_allowed", ({ headers }) => Object.assign(headers, { host: "evil.example" })],
    ["origin_not_allowed", ({ headers }) => Object.assign(headers, { origin: "null" })],
    ["route_not_found", (draft) => Object.assign(draft, { path: "/v1/hospitality/bookings" })],
    ["method_not_allowed", (draft) => Object.assign(draft, { method: "PUT" })],
    ["missing_api_key", (draft) => Object.assign(draft, { key: null })],
    ["rate_limit_exceeded", (draft) => Object.assign(draft, { key: "sk_test_market" })],
    ["unsupported_media_type", (draft) => Object.assign(draft, { contentType: "text/plain" })],
    ["payload_too_large", (draft) => Object.assign(draft, { body: Buffer.alloc(MEBIBYTE + 1, 123) })],
    ["invalid_json", (draft) => Object.assign(draft, { body: draft.body instanceof Buffer ? draft.body : "{" })],
    ["idempotency_key_invalid", ({ headers }) => Object.assign(headers, { "idempotency-key": ["used", "used"] })],
    ["idempotency_key_reused", ({ headers }) => Object.assign(headers, { "idempotency-key": "used" })],
    ["validation_failed", (draft) => Object.assign(draft, { body: { reason: 5 } })],
    ["resource_not_found", (draft) => Object.assign(draft, { path: DECLINE.replace("bkg_pending", "bkg_nobody") })],
    ["invalid_state", (draft) => Object.assign(draft, { path: DECLINE.replace("bkg_pending", "bkg_confirmed") })],
  ];

  test("decides which of two errors is returned: the error of the earlier stage", async () => {
    const enough = failures.length ** 2;
    const bench = await open({ rateLimit: `bookings.decline=${enough}/1h` });
    await bench.call("POST", RULES, { body: rule, headers: { "idempotency-key": "used" } });
    for (let spent = 0; spent < enough; spent++)
      await bench.call("POST", DECLINE, { key: "sk_test_market", body: { reason: 5 } });

    const found: string[] = [];
    const expected: string[] = [];
    for (const [earlier, [code, spoilEarlier]] of failures.entries())
      for (const [, spoilLater] of failures.slice(earlier)) {
        const draft: Draft = {
          method: "POST",
          path: DECLINE,
          key: "sk_test_lodge",
          headers: {},
          body: { reason: "Full" },
          contentType: "application/json",
        };
        spoilLater(draft);
        spoilEarlier(draft);
        const { method, path, ...options } = draft;
        const answer = await bench.call(method, path, options);
        found.push(answer.body.code);
        expected.push(code);
      }
    expect(found).toEqual(expected);
    expect((await bench.call("POST", DECLINE, { body: { reason: "Full" } })).status).toBe(200);
  });
});

describe("the check of Host and Origin", () => {
  test("accepts only the host names of this machine", async () => {
    const bench = await open();
    const { port } = bench;
    const status = async (host: string) => (await bench.call("GET", "/v1/payments", { headers: { host } })).status;
    for (const host of [`localhost:${port}`, `LocalHost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`])
      expect(await status(host)).toBe(200);
    const foreign = [
      "evil.example",
      "localhost",
      `localhost:${port + 1}`,
      `localhost.evil.example:${port}`,
      `0.0.0.0:${port}`,
      `user@localhost:${port}`,
      `localhost:0${port}`,
    ];
    attempted("DNS rebinding", foreign.length);
    for (const host of foreign) expect([host, await status(host)]).toEqual([host, 403]);
  });

  testOnOwnPort("protects the control API and every other path", async () => {
    const bench = await open();
    for (const path of ["/v1/payments", "/v1/nowhere", "/_sandbox", "/_sandbox/clock", "/", "/elsewhere"]) {
      attempted("DNS rebinding");
      const rebound = await bench.call("GET", path, { headers: { host: "evil.example" } });
      expect([path, rebound.status, rebound.body.code]).toEqual([path, 403, "host_not_allowed"]);
      const foreign = await bench.call("GET", path, { headers: { origin: "http://evil.example" } });
      expect([path, foreign.status, foreign.body.code]).toEqual([path, 403, "origin_not_allowed"]);
    }
  });

  testOnOwnPort("requires exactly one Host", async () => {
    const { port } = await open();
    const own = `Host: 127.0.0.1:${port}`;
    const auth = "Authorization: Bearer sk_test_lodge";
    const answers = await Promise.all(
      [[own], [own, "Host: evil.example"], ["Host: evil.example", own], [own, own], ["Host:"], []].map((hosts) =>
        raw(port, lines("GET /v1/payments HTTP/1.1", ...hosts, auth)),
      ),
    );
    expect(answers.map((answer) => readRaw(answer).status)).toEqual([200, 403, 403, 403, 403, 403]);
    expect(answers.slice(1).map((answer) => readRaw(answer).body.code)).toEqual(Array(5).fill("host_not_allowed"));
  });

  testOnOwnPort("rejects a full URL in the request line, even the sandbox's own URL", async () => {
    const { port } = await open();
    const targets = [`http://127.0.0.1:${port}/v1/payments`, "http://evil.example/v1/payments", "*"];
    for (const target of targets) {
      const method = target === "*" ? "OPTIONS" : "GET";
      const answer = readRaw(await raw(port, lines(`${method} ${target} HTTP/1.1`, `Host: 127.0.0.1:${port}`)));
      expect([target, answer.status, answer.body.code]).toEqual([target, 403, "host_not_allowed"]);
    }
  });

  test("rejects every web page except the dashboard", async () => {
    const bench = await open();
    const { port } = bench;
    const status = async (origin: string | string[]) =>
      (await bench.call("GET", "/v1/payments", { headers: { origin } })).status;
    const own = [`http://localhost:${port}`, `http://127.0.0.1:${port}`, `http://[::1]:${port}`];
    for (const origin of own) expect([origin, await status(origin)]).toEqual([origin, 200]);
    const foreign = [
      "null",
      "",
      "http://localhost",
      `https://localhost:${port}`,
      `http://localhost:${port}/`,
      `HTTP://localhost:${port}`,
      [`http://localhost:${port}`, "http://evil.example"],
    ];
    for (const origin of foreign) expect([origin, await status(origin)]).toEqual([origin, 403]);
  });

  test("accepts the address that the sandbox reports, whichever host it listens on", async () => {
    const given: { host?: string; allowedHost?: string[] }[] = [
      {},
      { host: "127.0.0.1" },
      { host: "localhost" },
      { host: "0.0.0.0", allowedHost: ["localhost"] },
      // Not every machine has these addresses.
      { host: "127.0.0.2" },
      { host: "::1" },
      { host: "::", allowedHost: ["[::1]"] },
    ];
    for (const [index, options] of given.entries()) {
      const found = await open(options)
        .then((bench) => bench.call("GET", "/v1/merchants/me"))
        .then(
          ({ status }) => status,
          (error: Error) => error.message,
        );
      const missing = index > 3 ? expect.stringContaining("Cannot listen") : 200;
      expect([options.host, found]).toEqual([options.host, found === 200 ? 200 : missing]);
    }
  });

  test("allows additional hosts and origins by exact match", async () => {
    const bench = await open({ allowedHost: ["sandbox.internal"], allowedOrigin: ["https://app.example"] });
    const status = async (headers: Record<string, string>) =>
      (await bench.call("GET", "/v1/payments", { headers })).status;
    expect(await status({ host: `sandbox.internal:${bench.port}` })).toBe(200);
    expect(await status({ host: `other.sandbox.internal:${bench.port}` })).toBe(403);
    expect(await status({ origin: "https://app.example" })).toBe(200);
    expect(await status({ origin: "https://app.example:8443" })).toBe(403);
    expect(await status({ origin: "http://app.example" })).toBe(403);
  });

  test("allows a host that was given with a port only at that port", async () => {
    const bench = await open({ allowedHost: ["localhost:55001"] });
    const status = async (host: string) => (await bench.call("GET", "/v1/payments", { headers: { host } })).status;
    expect([
      await status("localhost:55001"),
      await status("localhost:55002"),
      await status(`localhost:${bench.port}`),
    ]).toEqual([200, 403, 200]);
  });

  testOnOwnPort("adds no CORS header that would let a web page read a response", async () => {
    const bench = await open();
    const answers: Answer[] = [
      await bench.call("GET", "/v1/payments"),
      await bench.call("GET", "/v1/payments", { headers: { origin: `http://localhost:${bench.port}` } }),
      await bench.call("GET", "/v1/payments", { headers: { origin: "http://evil.example" } }),
      await bench.call("OPTIONS", RULES, {
        key: null,
        headers: { origin: `http://localhost:${bench.port}`, "access-control-request-method": "POST" },
      }),
      await bench.call("POST", RULES, { body: rule }),
      await bench.call("GET", "/v1/nowhere"),
      await bench.call("GET", "/_sandbox"),
      await bench.call("GET", "/_sandbox/nowhere"),
      await bench.call("GET", "/nowhere"),
    ];
    for (const { headers } of answers) {
      expect(Object.keys(headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
      expect(headers["content-type"]).toBe("application/json");
      expect(headers["x-content-type-options"]).toBe("nosniff");
      expect(headers["cross-origin-resource-policy"]).toBe("same-origin");
      expect(headers["x-powered-by"]).toBeUndefined();
    }
    expect(answers[3]).toMatchObject({
      status: 405,
      headers: { allow: "POST" },
      body: { code: "method_not_allowed", message: expect.stringContaining(" takes POST; received OPTIONS.") },
    });
  });
});

describe("HTTP requests", () => {
  test("a target may have 2,048 characters", async () => {
    const bench = await open();
    attempted("Large, deep, compressed or endless requests");
    const target = (length: number) => `/v1/payments?padding=${"x".repeat(length - "/v1/payments?padding=".length)}`;
    expect((await bench.call("GET", target(2_048))).status).toBe(200);
    expect(await bench.call("GET", target(2_049))).toMatchObject({ status: 414, body: { code: "uri_too_long" } });
  });

  testOnOwnPort("headers of more than 16 KiB are rejected, on a new connection and on a reused one", async () => {
    const { port } = await open();
    const head = ["GET /v1/payments HTTP/1.1", `Host: 127.0.0.1:${port}`, "Authorization: Bearer sk_test_lodge"];
    attempted("Large, deep, compressed or endless requests", 2);
    const large = [...head, `X-Padding: ${"x".repeat(20_000)}`, "", ""].join("\r\n");
    expect(readRaw(await raw(port, large))).toMatchObject({ status: 431, body: { code: "headers_too_large" } });
    const after = await raw(port, [...head, "", large].join("\r\n"));
    expect(after.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 431"]);
  });

  testOnOwnPort("bytes that are not HTTP get a response in the usual error format", async () => {
    const { port } = await open();
    const host = `Host: 127.0.0.1:${port}`;
    const garbage = [
      "garbage\r\n\r\n",
      `BREW /v1/payments HTTP/1.1\r\n${host}\r\n\r\n`,
      `GET /v1/payments HTTP/1.1\r\n${host}\r\nbad header\r\n\r\n`,
      `POST ${RULES} HTTP/1.1\r\n${host}\r\nContent-Length: -1\r\n\r\n`,
    ];
    for (const bytes of garbage) {
      const { status, headers, body } = readRaw(await raw(port, bytes));
      expect([bytes, status, body?.code]).toEqual([bytes, 400, "malformed_http"]);
      expect(Object.keys(body)).toEqual(["error", "message", "code", "details"]);
      expect(headers["content-type"]).toBe("application/json");
      expect(headers.connection).toBe("close");
    }
  });

  testOnOwnPort("garbage after a valid request neither prevents nor replaces that request's response", async () => {
    const { port } = await open();
    const body = JSON.stringify(rule);
    const good =
      `POST ${RULES} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n` +
      "Authorization: Bearer sk_test_lodge\r\nContent-Type: application/json\r\n";
    const received = await raw(port, `${good}Content-Length: ${body.length}\r\n\r\n${body}garbage\r\n\r\n`);
    expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 400"]);
    expect(received).toContain('"object":"pricing_rule"');
    expect(received).toContain('"code":"malformed_http"');
  });

  test("an unread request body does not break the next request on the connection", async () => {
    const { port } = await open();
    const common = `Host: 127.0.0.1:${port}\r\nAuthorization: Bearer sk_test_lodge\r\n`;
    const unread = "POST /v1/nowhere HTTP/1.1\r\n\r\n".repeat(100);
    const received = await raw(
      port,
      [
        `GET /v1/merchants/me HTTP/1.1\r\n${common}Content-Length: ${unread.length}\r\n\r\n${unread}`,
        `HEAD /v1/merchants/me HTTP/1.1\r\n${common}Transfer-Encoding: chunked\r\n\r\n5\r\nGET /\r\n0\r\n\r\n`,
        `POST ${RULES} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: ${unread.length}\r\n\r\n${unread}`,
        `POST /v1/nowhere HTTP/1.1\r\n${common}Content-Length: ${unread.length}\r\n\r\n${unread}`,
        `POST ${RULES} HTTP/1.1\r\n${common}` +
          `Content-Type: text/plain\r\nContent-Length: ${unread.length}\r\n\r\n${unread}`,
        `GET /_sandbox/clock HTTP/1.1\r\n${common}Content-Length: ${unread.length}\r\n\r\n${unread}`,
        `GET /v1/merchants/me HTTP/1.1\r\n${common}Connection: close\r\n\r\n`,
      ].join(""),
    );
    expect(received.match(/HTTP\/1\.1 \d+/g)?.map((line) => Number(line.slice(-3)))).toEqual([
      200, 200, 401, 404, 415, 200, 200,
    ]);
  });

  testOnOwnPort(
    "an idle connection stays open for longer than Go's client keeps it open, " +
      "so that no request meets a closing connection",
    async () => {
      const bench = await open();
      const agent = new Agent({ keepAlive: true });
      const { headers } = await bench.call("GET", "/v1/payments", { agent });
      agent.destroy();
      expect(Number(/timeout=(\d+)/.exec(String(headers["keep-alive"]))?.[1])).toBeGreaterThan(90);
    },
  );

  test("an offer to upgrade to HTTP/2 is ignored, and the request is served", async () => {
    const bench = await open();
    const offer = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n";
    const common = `Host: 127.0.0.1:${bench.port}\r\nAuthorization: Bearer sk_test_lodge\r\n`;
    const body = JSON.stringify({ ...rule, metadata: { padding: "x".repeat(200_000) } });
    const received = await raw(
      bench.port,
      `GET /v1/merchants/me HTTP/1.1\r\n${common}${offer}\r\n` +
        `POST ${RULES} HTTP/1.1\r\n${common}${offer}` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}` +
        `GET /v1/merchants/me HTTP/1.1\r\n${common}Connection: close, Upgrade\r\nUpgrade: h2c\r\n\r\n`,
    );
    expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(Array(3).fill("HTTP/1.1 200"));
    const foreign = await raw(
      bench.port,
      `GET /v1/merchants/me HTTP/1.1\r\nHost: evil.example\r\n${offer}X: 1\r\n\r\n`,
      true,
    );
    expect(readRaw(foreign)).toMatchObject({ status: 403, body: { code: "host_not_allowed" } });
    const socket = lines("GET /v1/payments HTTP/1.1", `Host: 127.0.0.1:${bench.port}`, "Upgrade: websocket");
    expect(readRaw(await raw(bench.port, socket.replace("Connection: close", "Connection: Upgrade")))).toMatchObject({
      status: 404,
    });
  });

  testOverIpv6(`a connection over IPv6 is served and closed like one over IPv4${needs(hasIpv6, "IPv6")}`, async () => {
    const bench = await open();
    const good = [
      "GET /v1/merchants/me HTTP/1.1",
      `Host: localhost:${bench.port}`,
      "Authorization: Bearer sk_test_lodge",
      "",
    ].join("\r\n");
    const bytes = `${good}\r\n${good}Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n${good}bad header\r\n\r\n`;
    const statuses = async (host: string) => (await raw(bench.port, bytes, false, host)).match(/HTTP\/1\.1 \d+/g);
    expect(await statuses("::1")).toEqual(["HTTP/1.1 200", "HTTP/1.1 200", "HTTP/1.1 400"]);
    expect(await statuses("127.0.0.1")).toEqual(await statuses("::1"));
    const idle = raw(bench.port, `${good}\r\n`, false, "::1");
    await bench.call("GET", "/v1/merchants/me");
    await bench.close();
    expect(await idle).toContain("HTTP/1.1 200");
  });

  test("a client that offers HTTP/2 with every request leaves no listeners on its connection", async () => {
    const warnings: Error[] = [];
    const listen = (warning: Error) => void warnings.push(warning);
    process.on("warning", listen);
    const bench = await open();
    const offers = lines("GET /v1/merchants/me HTTP/1.1", `Host: 127.0.0.1:${bench.port}`, "Upgrade: h2c").replace(
      "close",
      "Upgrade",
    );
    const last = lines("GET /v1/merchants/me HTTP/1.1", `Host: 127.0.0.1:${bench.port}`);
    const received = await raw(bench.port, offers.repeat(12) + last);
    process.off("warning", listen);
    expect(received.match(/HTTP\/1\.1 \d+/g)).toHaveLength(13);
    expect(warnings).toEqual([]);
  });

  test("a request that ends in a malformed chunk has no effect", async () => {
    const bench = await open();
    const before = await bench.control("GET", "/operations");
    const response = raw(
      bench.port,
      `POST ${RULES} HTTP/1.1\r\nHost: 127.0.0.1:${bench.port}\r\nAuthorization: Bearer sk_test_lodge\r\n` +
        `Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"nam\r\nZZ\r\n`,
    );
    await response;
    expect(await bench.control("GET", "/operations")).toEqual(before);
  });

  test("chunked bodies are treated like bodies with a length", async () => {
    const bench = await open();
    const whole = await bench.call("POST", RULES, { body: rule, headers: { "idempotency-key": "same" } });
    const split = await bench.call("POST", RULES, { body: rule, chunked: 7, headers: { "idempotency-key": "same" } });
    expect(split).toMatchObject({ status: 200, text: whole.text, headers: { "idempotent-replayed": "true" } });
    expect(await bench.call("POST", RULES, { body: rule, chunked: 7, contentType: "text/plain" })).toMatchObject({
      status: 415,
    });
  });

  test("an empty body is an empty object, whatever its Content-Type", async () => {
    const bench = await open();
    const bodies: CallOptions[] = [
      {},
      { body: "", contentType: "application/json" },
      { body: "", contentType: "text/plain" },
      { body: "", chunked: 1 },
      { body: {}, contentType: "application/json; charset=utf-8" },
    ];
    for (const options of bodies) {
      const answer = await bench.call("POST", "/v1/statutory/remittances/rem_nobody/confirm", options);
      expect(answer).toMatchObject({ status: 404, body: { code: "resource_not_found" } });
    }
    expect(await bench.call("POST", RULES)).toMatchObject({ status: 400, body: { code: "validation_failed" } });
  });

  test("a body may have 1 MiB, with a length or chunked", async () => {
    const bench = await open();
    const body = (length: number) => {
      const empty = JSON.stringify({ ...rule, metadata: { padding: "" } });
      return Buffer.from(empty.replace('""', `"${"x".repeat(length - empty.length)}"`));
    };
    expect((await bench.call("POST", RULES, { body: body(MEBIBYTE) })).status).toBe(200);
    expect((await bench.call("POST", RULES, { body: body(MEBIBYTE), chunked: 65_536 })).status).toBe(200);
    for (const chunked of [undefined, 65_536]) {
      attempted("Large, deep, compressed or endless requests");
      const large = await bench.call("POST", RULES, {
        body: body(MEBIBYTE + 1),
        ...(chunked === undefined ? {} : { chunked }),
      });
      expect(large).toMatchObject({
        status: 413,
        headers: { connection: "close" },
        body: { code: "payload_too_large" },
      });
    }
  });

  test("a body may nest 32 levels deep; 33 levels and 100,000 levels are rejected", async () => {
    const bench = await open();
    attempted("Large, deep, compressed or endless requests", 2);
    const nested = (levels: number) => `{"reason":"deep","x":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;
    expect((await bench.call("POST", DECLINE, { body: nested(32) })).status).toBe(200);
    for (const levels of [33, 100_000])
      expect(await bench.call("POST", DECLINE, { body: nested(levels) })).toMatchObject({
        status: 400,
        body: { code: "body_too_deep" },
      });
  });

  test("a body must be uncompressed JSON with the Content-Type of JSON", async () => {
    const bench = await open();
    const code = async (options: CallOptions) =>
      (await bench.call("POST", RULES, { body: rule, ...options })).body.code;
    const taken = [
      "application/json",
      "Application/JSON",
      "application/json;charset=UTF-8",
      'application/json; charset="utf-8"',
    ];
    for (const contentType of taken)
      expect([contentType, await code({ contentType })]).toEqual([contentType, undefined]);
    const refused = [
      null,
      "text/plain",
      "application/jsonp",
      "application/json; charset=latin1",
      "application/json, text/plain",
      "",
    ];
    for (const contentType of refused)
      expect([contentType, await code({ contentType })]).toEqual([contentType, "unsupported_media_type"]);
    for (const encoding of ["gzip", "br", "deflate", "identity, gzip", "x"])
      expect(await code({ headers: { "content-encoding": encoding } })).toBe("unsupported_content_encoding");
    expect(await code({ headers: { "content-encoding": "identity" } })).toBeUndefined();
  });

  test("a body that is not a JSON object is rejected with the exact reason", async () => {
    const bench = await open();
    const invalid = [
      "{",
      "nope",
      "{'a':1}",
      '{"a":1,}',
      "NaN",
      '{"a":1}{"b":2}',
      Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
    ];
    for (const body of invalid)
      expect((await bench.call("POST", DECLINE, { body })).body).toMatchObject({ code: "invalid_json" });
    const others = ["[]", "[{}]", "null", "true", "1", '"text"'];
    for (const body of others)
      expect((await bench.call("POST", DECLINE, { body })).body).toMatchObject({ code: "body_not_object" });
  });

  test("Accept is ignored: the response is always JSON", async () => {
    const bench = await open();
    const answer = await bench.call("GET", "/v1/merchants/me", { headers: { accept: "text/html" } });
    expect(answer).toMatchObject({ status: 200, headers: { "content-type": "application/json" } });
  });
});

describe("paths", () => {
  test("are matched literally, and the error suggests the nearest path", async () => {
    const bench = await open();
    const paths = [...new Set(catalogue.map(({ path }) => `/v1${path}`))];
    const below = (folder: string) => paths.filter((path) => path.startsWith(folder)).join(", ");
    const hints: [path: string, hint: string][] = [
      ["/v1/payments/", "/v1/payments."],
      ["/v1//payments", "/v1/payments."],
      ["/v1/Payments", "/v1/payments?"],
      ["/v1/payment", "/v1/payments?"],
      ["/v1/payroll", "/v1/employees/payroll?"],
      ["/v1", "as in /v1/payments."],
      ["/v1/", "as in /v1/payments."],
      [
        "/v1/payments/pay_1",
        "/v1/payments? It has no path for a single record; GET /_sandbox/records/{kind}/{id} returns",
      ],
      ["/v1/payments/pay_pending", "/v1/payments? It has no path for a single record"],
      ["/v1/merchants/logn", "/v1/merchants/login?"],
      ["/v1/hospitality/bookings", `bookings. Operations below it: ${below("/v1/hospitality/bookings/")}.`],
      ["/v1/statutory", `statutory. Operations below it: ${below("/v1/statutory/")}.`],
      ["/v1/hospitality/pricing-rule", "/v1/hospitality/pricing-rules?"],
      // A shared first segment alone does not make two paths similar.
      ["/v1/hospitality/guests", "No operation has the path /v1/hospitality/guests."],
    ];
    for (const [path, hint] of hints) {
      const answer = await bench.call("GET", path);
      expect([path, answer.status, answer.body.code]).toEqual([path, 404, "route_not_found"]);
      expect(answer.body.message).toContain(hint);
      if (!hint.includes("?")) expect(answer.body.message.endsWith(hint)).toBe(true);
    }
  });

  test("respond with 404 to a parameter that is empty, cannot be decoded or is too long", async () => {
    const bench = await open();
    expect(await bench.call("GET", "/v1/customers/")).toMatchObject({ status: 404, body: { code: "route_not_found" } });
    expect(await bench.call("GET", "/v1/customers/%E0%A4%A")).toMatchObject({
      status: 404,
      body: { code: "route_not_found" },
    });
    for (const id of ["x", "%00", "%2F..%2F", "..", "cus_ines%20", "CUS_INES", "'%20or%201=1--", "x".repeat(2_000)])
      expect(await bench.call("GET", `/v1/customers/${id}`)).toMatchObject({
        status: 404,
        body: { code: "resource_not_found" },
      });
    expect(await bench.call("GET", "/v1/customers/%63us_ines")).toMatchObject({
      status: 200,
      body: { id: "cus_ines" },
    });
  });

  test("answer a POST to a list without a create operation with a 405 that names a control call", async () => {
    const bench = await open();
    const messageOf = async (method: string, path: string) =>
      (await bench.call(method, path, { body: {} })).body.message as string;
    const lists = catalogue.filter(({ lists }) => lists !== undefined);
    expect(lists.map(({ id }) => id)).toContain("payments.list");
    for (const { path } of lists) {
      const named = (await messageOf("POST", `/v1${path}`)).match(
        / takes GET, HEAD; received POST\. No operation creates these records: use `.* make (\w+)` or POST \/_sandbox(\/records\/\w+)\.$/,
      );
      expect(named?.[2]).toBe(`/records/${named?.[1]}`);
      await bench.control("POST", named?.[2] ?? path, {});
    }
    expect(await messageOf("PUT", "/v1/payments")).toBe("/v1/payments takes GET, HEAD; received PUT.");
    expect(await messageOf("POST", "/v1/webhook-deliveries")).toBe(
      "/v1/webhook-deliveries takes GET, HEAD; received POST.",
    );
  });
});

describe("unknown parameters and fields", () => {
  test("unknown query parameters are ignored and listed in a header", async () => {
    const bench = await open();
    const answer = await bench.call(
      "GET",
      "/v1/payments?limit=1&expand=x&expand=y&a%20b=1&%0d%0aX-Evil:%201=1&offset=3",
    );
    expect(answer.status).toBe(200);
    expect(answer.body.data).toHaveLength(1);
    expect(answer.headers["x-sandbox-unknown-params"]).toBe("expand, a%20b, %0D%0AX-Evil%3A%201, offset");
    expect(answer.headers["x-evil"]).toBeUndefined();
    expect((await bench.call("GET", "/v1/payments?limit=1")).headers["x-sandbox-unknown-params"]).toBeUndefined();
    expect((await bench.call("GET", "/v1/merchants/me?limit=1")).headers["x-sandbox-unknown-params"]).toBe("limit");
  });

  test("an Idempotency-Key that the operation ignores is listed in a header", async () => {
    const bench = await open();
    const headers = { "idempotency-key": "a" };
    const ignoredBy = async (method: string, path: string, body?: object) =>
      (await bench.call(method, path, { headers, body })).headers["x-sandbox-ignored-headers"];
    expect(await ignoredBy("GET", "/v1/payments?expand=x")).toBe("Idempotency-Key");
    expect(await ignoredBy("POST", "/v1/webhook-events/test", { type: "payment.succeeded", data: {} })).toBe(
      "Idempotency-Key",
    );
    expect(await ignoredBy("POST", RULES, rule)).toBeUndefined();
    const { data } = await bench.control("GET", "/requests");
    expect(data.map(({ ignored }: { ignored: string | null }) => ignored)).toEqual([
      null,
      "Idempotency-Key",
      "expand, Idempotency-Key",
    ]);
    expect((await bench.control("GET", "/requests?filter=is:ignored")).data).toHaveLength(2);
  });

  test("unknown body fields are stored, returned as sent, and listed in a header", async () => {
    const bench = await open();
    const extra = {
      colour: "blue",
      nested: { deep: [1, null, "x"] },
      "odd name": true,
      toString: "text",
      hasOwnProperty: 1,
    };
    const answer = await bench.call("POST", RULES, { body: { ...rule, ...extra } });
    expect(answer).toMatchObject({ status: 200, body: extra });
    expect(answer.headers["x-sandbox-unknown-fields"]).toBe("colour, nested, odd%20name, toString, hasOwnProperty");
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`field_${index}`, index]));
    const long = await bench.call("POST", RULES, { body: { ...rule, ...many } });
    expect(long.status).toBe(200);
    expect(String(long.headers["x-sandbox-unknown-fields"]).length).toBeLessThanOrEqual(1_000);
  });

  test("secrets are masked in unknown body fields before the record is stored, and kept in known fields", async () => {
    const bench = await open();
    const secrets = { iban: "PT50000201231234567890154", nested: { token: "abc", note: "sk_test_lodge" } };
    const { body } = await bench.call("POST", RULES, { body: { ...rule, ...secrets, metadata: { token: "abc" } } });
    const stored = await bench.control("GET", `/records/pricing_rule/${body.id}`);
    for (const record of [body, stored])
      expect(record).toMatchObject({
        iban: "…redacted…",
        nested: { token: "…redacted…", note: "sk_test_…redacted…" },
        metadata: { token: "abc" },
      });
  });

  test("an unknown field may be called status if the record has no states", async () => {
    const bench = await open();
    for (const status of [[], {}, [1, 2], 5, true, "odd"]) {
      const answer = await bench.call("PATCH", "/v1/statutory/settings", { body: { status, state: status } });
      expect(answer).toMatchObject({ status: 200, body: { status, state: status } });
      expect((await bench.call("GET", "/v1/statutory/settings")).body.status).toEqual(status);
    }
  });

  test("__proto__ and constructor are treated as data, never merged", async () => {
    const bench = await open();
    attempted("Prototype pollution (`__proto__`)", 2);
    const poison = '"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"prototype":{"polluted":1}';
    const body =
      `{"name":"Poison","adjustmentType":"fixed","adjustmentValue":1,${poison},` +
      `"metadata":{${poison}},"other":{${poison}}}`;
    const answer = await bench.call("POST", RULES, { body });
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.body)).not.toContain("__proto__");
    expect(Object.keys(answer.body)).not.toContain("constructor");
    expect(Object.keys(answer.body)).not.toContain("polluted");
    expect(JSON.stringify(answer.body.metadata)).toBe(`{${poison}}`);
    expect(JSON.stringify(answer.body.other)).toBe(`{${poison}}`);
    const settings = await bench.call("PATCH", "/v1/statutory/settings", { body: `{${poison}}` });
    expect(settings).toMatchObject({ status: 200 });
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(({} as Record<string, unknown>).mode).toBeUndefined();
  });
});

const own = (bench: Bench) => [`Host: localhost:${bench.port}`, "Authorization: Bearer sk_test_lodge"];

describe("a live key", () => {
  const tail = "4eC39HqLyjWDarjtT1zdp7dc";
  const key = `sk_live_${tail}`;
  const escaped = key.replaceAll("_", "\\u005F");
  const encoded = key.replaceAll("_", "%5f");
  const bodies: [place: string, body: string][] = [
    ["inside a known field", JSON.stringify({ ...rule, name: `Key: ${key}.` })],
    [
      "a nested field",
      JSON.stringify({ ...rule, metadata: { a: [{ b: key.toUpperCase().replace("SK_LIVE_", "SK_Live_") + tail }] } }),
    ],
    ["a field's name", JSON.stringify({ ...rule, [key]: 1 })],
    ["escapes", JSON.stringify({ ...rule, name: "KEY" }).replace("KEY", escaped)],
    ["no JSON", `{"name": ${key}`],
  ];
  const headers: [place: string, headers: Record<string, string | string[]>][] = [
    ["the wrong header", { "x-api-key": key }],
    ["a header's name", { [`x-${key}`]: "1" }],
    ["the Idempotency-Key", { "idempotency-key": key }],
    ["a cookie", { cookie: `key=${encoded}` }],
    ["Authorization, twice", { authorization: [`Bearer sk_test_lodge`, `Bearer ${key}`] }],
    ["Authorization, in another scheme", { authorization: `Basic ${key}` }],
    ["Basic credentials", { authorization: `Basic ${Buffer.from(`${key}:`).toString("base64")}` }],
    ["Basic credentials of a proxy", { "x-proxy": `Basic ${Buffer.from(`me:${key}`).toString("base64")}` }],
  ];
  const targets = [
    `/v1/payments?api_key=${key}`,
    `/v1/payments?${key}=1`,
    `/v1/payments?k=${encoded}`,
    `/v1/customers/${key}`,
    `/v1/customers/${encoded}`,
  ];

  test("is rejected in any part of a request, and is neither stored, broadcast nor returned", async () => {
    const place = folder();
    const bench = await open({ memory: false, db: join(place, "sandbox.db") });
    const recorded: RequestEntry[] = [];
    bench.onRequest((entry) => recorded.push(entry));
    const answers: Answer[] = [
      await bench.call("GET", "/v1/payments", { key }),
      await bench.call("POST", RULES, { key, body: rule }),
    ];
    for (const [, body] of bodies) answers.push(await bench.call("POST", RULES, { body }));
    for (const [, body] of bodies)
      answers.push(await bench.call("POST", RULES, { body, headers: { "idempotency-key": "once" } }));
    for (const [, given] of headers) answers.push(await bench.call("POST", RULES, { body: rule, headers: given }));
    for (const target of targets) answers.push(await bench.call("GET", target));
    for (const [, given] of headers.slice(0, 4))
      answers.push(await bench.call("GET", "/_sandbox/requests", { key: null, headers: given }));
    for (const path of [`/snapshots/${key}`, `/scenarios/${encoded}`, `/requests?filter=${key}`, `/${key}`])
      answers.push(await bench.call("GET", `/_sandbox${path}`, { key: null }));
    attempted("Live keys", answers.length);
    for (const { status, body, text } of answers) expect([status, body.code], text).toEqual([403, "live_key_refused"]);
    expect(answers[0]?.body.message).toContain("Rotate");

    const trailers = [key, Buffer.from(`${key}:`).toString("base64")].map(async (value) => {
      const head = lines(
        `POST ${RULES} HTTP/1.1`,
        ...own(bench),
        "Content-Type: application/json",
        "Transfer-Encoding: chunked",
      );
      return readRaw(await raw(bench.port, `${head}2\r\n{}\r\n0\r\nX-Signed: ${value}\r\n\r\n`));
    });
    for (const { status, body } of await Promise.all(trailers)) {
      attempted("Live keys");
      expect([status, body.code]).toEqual([403, "live_key_refused"]);
    }

    const earlier = [
      await bench.call("GET", `/v1/${key}`),
      await bench.call("GET", `/v1/${encoded}?${encoded}`),
      await bench.call("PUT", `${RULES}?k=${key}`),
      await bench.call("GET", "/v1/payments", { headers: { host: key } }),
      await bench.call("GET", "/v1/payments", { headers: { origin: key } }),
      await bench.call("POST", RULES, { body: JSON.stringify({ name: key }), contentType: "text/plain" }),
      await bench.call("POST", RULES, { body: JSON.stringify({ name: key }), headers: { "content-encoding": key } }),
      await bench.call("POST", "/_sandbox/records/payment", { body: { merchant: "mer_lodge", description: key } }),
      await bench.call("POST", "/_sandbox/records/payment", { body: { merchant: key } }),
      await bench.call("PATCH", `/_sandbox/records/payment/${key}`, { body: { status: "succeeded" } }),
    ];
    expect(earlier.map(({ status }) => Math.floor(status / 100))).toEqual(earlier.map(() => 4));

    const responses = [...answers, ...earlier].map(({ text, rawHeaders }) => text + rawHeaders.join());
    const broadcast = recorded.map(
      ({ path, search, idempotencyKey, requestBody, responseBody }) =>
        path + search + idempotencyKey + requestBody + responseBody,
    );
    const requestLog = JSON.stringify(await bench.control("GET", "/requests?limit=100"));
    for (const text of [...responses, ...broadcast, requestLog]) expect(text).not.toContain(tail);
    const during = readdirSync(place).map((file) => readFileSync(join(place, file)));
    await bench.close();
    const after = readdirSync(place).map((file) => readFileSync(join(place, file)));
    expect(during.length).toBeGreaterThan(1);
    for (const bytes of [...during, ...after])
      for (const trace of [tail, tail.toUpperCase(), tail.toLowerCase()]) expect(bytes.includes(trace)).toBe(false);
    expect(after.some((bytes) => bytes.includes("live_key_refused"))).toBe(true);
  });
});
