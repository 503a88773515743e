// Cross-origin requests: pages of the origins given with --allowed-origin can use the API under /v1 and its OpenAPI
// document, and nothing else.

import { createServer } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { browserFile, inBrowser, openBrowser } from "../support/browser.ts";
import { type Answer, attempted, type Bench, listen, open, RULES, rule, testOnOwnPort } from "../support/sandbox.ts";

const APP = "https://app.example";
const OPENAPI = "/_sandbox/openapi.json";

/** The fetch metadata that a browser sends with a CORS request. */
const fromPage = (origin: string) => ({
  origin,
  "sec-fetch-site": "cross-site",
  "sec-fetch-mode": "cors",
  "sec-fetch-dest": "empty",
});

const preflight = (bench: Bench, path: string, headers: Record<string, string> = {}) =>
  bench.call("OPTIONS", path, {
    key: null,
    headers: { ...fromPage(APP), "access-control-request-method": "POST", ...headers },
  });

const corsHeaders = ({ headers }: Answer) => Object.keys(headers).filter((name) => name.startsWith("access-control"));

test("a preflight of an allowed origin is granted for the API and its OpenAPI document, but not logged", async () => {
  const bench = await open({ allowedOrigin: [APP] });
  for (const path of [RULES, "/v1/nowhere", OPENAPI]) {
    const { status, headers, text } = await preflight(bench, path, {
      "access-control-request-headers": "authorization, x-trace, bad header",
    });
    expect([path, status, text]).toEqual([path, 204, ""]);
    expect(headers["access-control-allow-origin"]).toBe(APP);
    expect(headers["access-control-allow-methods"]).toBe("GET, HEAD, POST, PATCH, DELETE");
    expect(headers["access-control-allow-headers"]).toBe("Authorization, Content-Type, Idempotency-Key, x-trace");
    expect(headers["access-control-allow-credentials"]).toBeUndefined();
    expect(headers["access-control-allow-private-network"]).toBeUndefined();
    expect(headers.vary).toContain("Origin");
  }
  const local = await preflight(bench, RULES, { "access-control-request-private-network": "true" });
  expect(local.headers["access-control-allow-private-network"]).toBe("true");
  attempted("Live keys");
  const live = await preflight(bench, RULES, { "access-control-request-headers": "x-sk_live_4eC39HqLyjWDarjt" });
  expect([live.status, live.body.code]).toEqual([403, "live_key_refused"]);
  expect(live.text + live.rawHeaders).not.toContain("4eC39");
  expect((await bench.control("GET", "/requests")).data).toEqual([]);
});

test("null cannot be allowed as an origin, because every sandboxed frame has it", async () => {
  for (const origin of ["null", "NULL"]) {
    attempted("An allowed origin that uses more than the API");
    await expect(open({ allowedOrigin: [origin] })).rejects.toThrow(`received "${origin}", the origin of every`);
  }
});

test("a page of an allowed origin can read every response of the API: successes, errors and faults", async () => {
  const bench = await open({ allowedOrigin: [APP], rateLimit: "payouts.list=1/1h" });
  const headers = fromPage(APP);
  await bench.call("GET", "/v1/payouts");
  const answers: [number, Answer][] = [
    [200, await bench.call("POST", RULES, { body: rule, headers })],
    [401, await bench.call("GET", "/v1/payments", { key: null, headers })],
    [404, await bench.call("GET", "/v1/nowhere", { headers })],
    [429, await bench.call("GET", "/v1/payouts", { headers })],
    [503, await bench.call("GET", "/v1/payments", { headers: { ...headers, "x-sandbox-inject": "outage" } })],
    [200, await bench.call("GET", OPENAPI, { key: null, headers })],
  ];
  for (const [status, answer] of answers) {
    expect(answer.status).toBe(status);
    expect(answer.headers["access-control-allow-origin"]).toBe(APP);
    expect(answer.headers.vary).toBe("Origin");
    expect(answer.headers["access-control-allow-credentials"]).toBeUndefined();
    const exposed = (answer.headers["access-control-expose-headers"] as string).toLowerCase().split(", ");
    const own = Object.keys(answer.headers).filter((name) => /^(x-sandbox|ratelimit|retry-after)/.test(name));
    expect(exposed).toEqual(expect.arrayContaining([...own, "retry-after", "x-sandbox-request-id"]));
  }
  expect((await bench.call("GET", "/v1/payments")).headers).toMatchObject({ vary: "Origin" });
});

testOnOwnPort("a page of an allowed origin gets a 403 outside of the API and its OpenAPI document", async () => {
  const bench = await open({ allowedOrigin: [APP] });
  const headers = fromPage(APP);
  for (const path of [
    "/_sandbox",
    "/_sandbox/reset",
    "/_sandbox/requests",
    "/_sandbox/control.openapi.json",
    "/",
    "/_sandbox/openapi.json/",
  ])
    for (const method of ["GET", "POST"]) {
      attempted("An allowed origin that uses more than the API", 2);
      const answer = await bench.call(method, path, { key: null, headers });
      expect([path, method, answer.status, answer.body.code]).toEqual([path, method, 403, "origin_not_allowed"]);
      const asked = await preflight(bench, path);
      expect([path, asked.status, corsHeaders(answer), corsHeaders(asked)]).toEqual([path, 403, [], []]);
    }
});

test("a page of an allowed origin cannot register an endpoint, so it cannot reach local programs", async () => {
  const bench = await open({ allowedOrigin: [APP] });
  attempted("An allowed origin that uses more than the API");
  const body = { url: "http://localhost:3999/", events: ["payment.succeeded"] };
  const answer = await bench.call("POST", "/v1/webhooks", { body, headers: fromPage(APP) });
  expect([answer.status, answer.body.code]).toEqual([403, "origin_not_allowed"]);
  expect((await bench.call("POST", "/v1/webhooks", { body, headers: { origin: bench.url } })).status).toBe(201);
});

test("an origin that is not allowed is rejected, and so is an allowed origin with a foreign Host", async () => {
  const bench = await open({ allowedOrigin: [APP] });
  for (const origin of [
    "https://app.example.evil.example",
    "http://app.example",
    `${APP}:8443`,
    "null",
    "https://evil.example",
  ])
    for (const path of [RULES, OPENAPI]) {
      attempted("Responses read by a web page", 2);
      const answers = [
        await preflight(bench, path, { origin }),
        await bench.call("GET", path, { headers: fromPage(origin) }),
      ];
      for (const answer of answers) expect([origin, answer.status, corsHeaders(answer)]).toEqual([origin, 403, []]);
    }
  attempted("DNS rebinding");
  const rebound = await preflight(bench, RULES, { host: "evil.example" });
  expect([rebound.status, corsHeaders(rebound)]).toEqual([403, []]);
  // A browser sends no Origin header with an image, so even an image of an allowed origin is rejected.
  attempted("Requests of a web page without an Origin");
  const image = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image" };
  expect((await bench.call("GET", "/v1/payments", { headers: image })).status).toBe(403);
});

test.skipIf(!browserFile)(`a page of an allowed origin uses the API ${inBrowser}`, async () => {
  const server = createServer(
    (_, outgoing) => void outgoing.writeHead(200, { "content-type": "text/html" }).end("<title>App</title>"),
  );
  const origin = `http://127.0.0.1:${await listen(server)}`;
  const bench = await open({ allowedOrigin: [origin] });
  const browser = await openBrowser(browserFile as string);
  onTestFinished(() => browser.close());
  const page = await browser.open(origin);
  const result = await page.evaluate<[number, string | null, string | null]>(`fetch("${bench.url}${RULES}", {
    method: "POST",
    headers: { authorization: "Bearer sk_test_lodge", "content-type": "application/json", "idempotency-key": "one" },
    body: ${JSON.stringify(JSON.stringify(rule))},
  }).then((reply) => [reply.status, reply.headers.get("ratelimit-limit"), reply.headers.get("x-sandbox-request-id")])`);
  expect(result).toEqual([200, "6000", "req_lodge_1"]);
  const refused = await page.evaluate<string>(`fetch("${bench.url}/_sandbox").then(() => "read", () => "refused")`);
  expect(refused).toBe("refused");
});
