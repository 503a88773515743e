// Request numbers: a request that is rejected before it is admitted uses up no number. Otherwise a web page could
// change what other programs get on a frozen clock.

import { expect, test } from "vitest";
import { type Answer, attempted, type Bench, lines, open, RULES, raw, rule } from "../support/sandbox.ts";

const BROWSER = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/144.0.0.0 Safari/537.36";
const image = { "user-agent": BROWSER, accept: "image/avif,image/webp,*/*;q=0.8", referer: "http://evil.example/" };
const frame = { "user-agent": BROWSER, accept: "text/html,*/*;q=0.8", "upgrade-insecure-requests": "1" };

/** Requests for every kind of rejection that a web page can cause, or that is not logged. */
const rejections: Record<string, (bench: Bench) => Promise<unknown>> = {
  "a foreign Host": (bench) => bench.call("GET", "/v1/payments", { headers: { host: "evil.example" } }),
  "a foreign Origin": (bench) => bench.call("POST", RULES, { body: rule, headers: { origin: "http://evil.example" } }),
  "the origin null": (bench) => bench.call("GET", "/v1/payments", { key: null, headers: { origin: "null" } }),
  "an image": (bench) =>
    bench.call("GET", "/v1/payments", { key: null, headers: { ...image, "sec-fetch-site": "cross-site" } }),
  "an image at an allowed host name": (bench) =>
    bench.call("GET", "/v1/payments", { key: null, headers: { ...image, host: `sandbox.internal:${bench.port}` } }),
  "a frame at an allowed host name": (bench) =>
    bench.call("GET", "/v1/payments", { key: null, headers: { ...frame, host: `sandbox.internal:${bench.port}` } }),
  "an image with a user in its URL": (bench) =>
    bench.call("GET", "/v1/payments", {
      key: null,
      headers: { ...image, host: `sandbox.internal:${bench.port}`, authorization: "Basic YTpi" },
    }),
  "a preflight": (bench) =>
    bench.call("OPTIONS", RULES, {
      key: null,
      headers: { origin: "http://evil.example", "access-control-request-method": "POST" },
    }),
  "a full URL": (bench) => raw(bench.port, lines("GET http://localhost/v1/payments HTTP/1.1", own(bench))),
  "a cookie that is too long": (bench) =>
    raw(bench.port, lines("GET /v1/payments HTTP/1.1", own(bench), `Cookie: a=${"x".repeat(20_000)}`)),
  TLS: (bench) => raw(bench.port, Buffer.from("16030100a5010000a10303", "hex"), true),
  "no HTTP": (bench) => raw(bench.port, "what\r\n\r\n"),
  "a WebSocket of the API": (bench) =>
    raw(
      bench.port,
      ["GET /v1/payments HTTP/1.1", own(bench), "Connection: Upgrade", "Upgrade: websocket", "", ""].join("\r\n"),
    ),
  "a tunnel": (bench) => raw(bench.port, lines("CONNECT localhost:80 HTTP/1.1", own(bench))),
  "a link to the control API": (bench) =>
    bench.call("GET", "/_sandbox/requests", { key: null, headers: { ...frame, "sec-fetch-site": "cross-site" } }),
};

const own = (bench: Bench) => `Host: localhost:${bench.port}`;

/** Makes a program's calls, and returns all bytes that the program gets, without the port. */
async function program(bench: Bench, between: () => Promise<unknown>): Promise<string> {
  const answers: Answer[] = [];
  const calls = [
    () => bench.call("GET", "/v1/payments"),
    () => bench.call("POST", RULES, { body: rule }),
    () => bench.call("GET", "/v1/payments", { key: null }),
    () => bench.call("POST", "/v1/webhook-events/test", { body: { type: "payment.succeeded" } }),
    () => bench.call("GET", "/v1/nowhere"),
  ];
  for (const send of calls) {
    await between();
    answers.push(await send());
  }
  const { data } = await bench.control("GET", "/requests");
  const requests = data.map(({ id, path, status }: Record<string, unknown>) => [id, path, status]);
  return JSON.stringify([answers.map(({ status, text, rawHeaders }) => [status, text, rawHeaders]), requests]);
}

test("no rejected request of a web page changes a byte of what another program gets on a frozen clock", async () => {
  const options = { allowedHost: ["sandbox.internal"], rateLimit: "20/1h" };
  const undisturbed = await program(await open(options), async () => {});
  for (const [name, reject] of Object.entries(rejections)) {
    const bench = await open(options);
    const disturbed = await program(bench, async () => {
      attempted("Requests of a web page without an Origin");
      await reject(bench);
    });
    expect([name, disturbed]).toEqual([name, undisturbed]);
  }
});

test("a page's images are not logged, even under a host name for which browsers send no Sec-Fetch-Site", async () => {
  const bench = await open({ allowedHost: ["sandbox.internal"] });
  const host = `sandbox.internal:${bench.port}`;
  for (let index = 0; index < 100; index++) {
    attempted("Requests of a web page without an Origin");
    const { status, body } = await bench.call("GET", `/v1/payments?${index}`, {
      key: null,
      headers: { ...image, host },
    });
    expect([status, body.code]).toEqual([403, "origin_not_allowed"]);
  }
  expect((await bench.control("GET", "/requests")).data).toEqual([]);
  // Requests that need no Origin: those of programs, of browser code that sends a key, and of the dashboard's page.
  const statuses = [
    await bench.call("GET", "/v1/payments", { headers: { host } }),
    await bench.call("GET", "/v1/payments", { headers: { host, "user-agent": BROWSER } }),
    await bench.call("GET", "/v1/payments", { key: null, headers: { host, "user-agent": "curl/8.5.0" } }),
    await bench.call("GET", "/_sandbox", { key: null, headers: { ...frame, host } }),
  ].map(({ status }) => status);
  expect(statuses).toEqual([200, 200, 401, 200]);
});
