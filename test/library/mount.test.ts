// A sandbox as middleware in an app: Express 5 and 4, connect, Fastify and node:http, behind a body parser, helmet,
// compression and a logger.

import { createServer, get, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { createRequire } from "node:module";
import middie from "@fastify/middie";
import express from "express";
import fastify from "fastify";
import helmet from "helmet";
import { afterEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { createSandbox, type Sandbox, type SandboxOptions } from "../../src/sandbox/create.ts";
import type { Defect } from "../../src/sandbox/engine.ts";
import { call, control, listen, NOON, RULES, raw } from "../support/sandbox.ts";

const require = createRequire(import.meta.url);
const express4 = require("express4") as typeof express;
const connect = require("connect") as () => RequestListener & { use: (...layers: unknown[]) => void };
const compression = require("compression") as () => express.RequestHandler;
const morgan = require("morgan") as (format: string, options: { stream: object }) => express.RequestHandler;

const RULE = { name: "Weekend", adjustmentType: "percentage", adjustmentValue: 500 };

const opened: { sandbox: Sandbox; defects: Defect[] }[] = [];

afterEach(async () => {
  for (const { sandbox, defects } of opened.splice(0)) {
    await sandbox.close();
    expect(defects).toEqual([]);
  }
});

async function open(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await createSandbox({ clock: NOON, listen: false, ...options });
  const defects: Defect[] = [];
  sandbox.onDefect((defect) => defects.push(defect));
  opened.push({ sandbox, defects });
  return sandbox;
}

const urlOf = async (server: Server) => `http://127.0.0.1:${await listen(server)}`;

/** Each kind of app with the sandbox below a path, and a route of its own. */
const apps: Record<string, (sandbox: Sandbox) => Promise<Server> | Server> = {
  "Express 5": ({ middleware }) =>
    createServer(
      express()
        .use("/pay", middleware)
        .get("/own", (_, response) => void response.send("the app's")),
    ),
  "Express 4": ({ middleware }) =>
    createServer(
      express4()
        .use("/pay", middleware)
        .get("/own", (_, response) => void response.send("the app's")),
    ),
  connect({ middleware }) {
    const app = connect();
    app.use("/pay", middleware);
    app.use("/own", (_: unknown, response: { end: (text: string) => void }) => response.end("the app's"));
    return createServer(app);
  },
  async Fastify({ middleware }) {
    const app = fastify();
    await app.register(middie);
    app.use("/pay", middleware);
    app.get("/own", () => "the app's");
    await app.ready();
    return app.server;
  },
  "node:http": ({ middleware }) =>
    createServer((request, response) => {
      if (!request.url?.startsWith("/pay/")) return void response.end("the app's");
      request.url = request.url.slice("/pay".length);
      middleware(request, response, () => response.writeHead(404).end("the app's 404"));
    }),
};

describe.each(Object.entries(apps))("%s", (_, createApp) => {
  test("serves both APIs and the page below the path, and the app's own routes", async () => {
    const sandbox = await open();
    const url = await urlOf(await createApp(sandbox));
    expect(await call(url, "GET", "/pay/v1/customers/cus_zoe")).toMatchObject({
      status: 200,
      body: { id: "cus_zoe" },
      headers: { "ratelimit-limit": "6000", "x-sandbox-request-id": "req_lodge_1" },
    });
    const created = await call(url, "POST", `/pay${RULES}`, { body: RULE, headers: { "idempotency-key": "once" } });
    const replayed = await call(url, "POST", `/pay${RULES}`, { body: RULE, headers: { "idempotency-key": "once" } });
    expect([created.status, replayed.headers["idempotent-replayed"], replayed.text]).toEqual([
      200,
      "true",
      created.text,
    ]);
    expect(await call(url, "GET", "/pay/v1/nothing")).toMatchObject({ status: 404, body: { code: "route_not_found" } });
    expect((await call(url, "GET", "/pay/_sandbox/requests?limit=1", { key: null })).body.data).toMatchObject([
      { method: "GET", path: "/v1/nothing", status: 404 },
    ]);
    expect((await call(url, "GET", "/pay/_sandbox/ui", { key: null })).headers["content-type"]).toContain("text/html");
    expect((await call(url, "GET", "/own", { key: null })).text).toBe("the app's");
    expect(
      (await call(url, "GET", "/pay/other", { key: null })).headers["cross-origin-resource-policy"],
    ).toBeUndefined();
  });

  test("keeps listening and serving its own routes when the sandbox closes", async () => {
    const sandbox = await open();
    const server = await createApp(sandbox);
    const url = await urlOf(server);
    await call(url, "GET", "/pay/v1/payments");
    await sandbox.close();
    expect((await call(url, "GET", "/own", { key: null })).text).toBe("the app's");
    expect((await call(url, "GET", "/pay/v1/payments")).status).not.toBe(200);
    expect(server.listening).toBe(true);
  });
});

/** A sandbox in an Express app behind the given middleware. */
async function openBehind(...layers: express.RequestHandler[]) {
  const sandbox = await open();
  const app = express();
  for (const layer of layers) app.use(layer);
  app.use(sandbox.middleware);
  return { sandbox, url: await urlOf(createServer(app)) };
}

const keepRawBody = express.json({
  verify(request, _, bytes) {
    (request as IncomingMessage & { rawBody?: Buffer }).rawBody = bytes;
  },
});

describe("a body that the app has read", () => {
  const post = (url: string, body: unknown, key = "once") =>
    call(url, "POST", RULES, { body, headers: { "idempotency-key": key } });
  const logged = async (url: string) => (await control(url, "GET", "/requests?limit=1")).data[0].id;

  test("is validated and fingerprinted, and the log says that it was serialised again", async () => {
    const { url } = await openBehind(express.json());
    const spaced = '{ "name": "Weekend",  "adjustmentType": "percentage", "adjustmentValue": 500 }';
    const first = await post(url, spaced);
    expect(first).toMatchObject({ status: 200, headers: { "x-sandbox-request-body": "reserialized" } });
    const request = await control(url, "GET", `/requests/${await logged(url)}`);
    expect(request.request.body).toBe(JSON.stringify(RULE));
    expect(request.response.headers["X-Sandbox-Request-Body"]).toBe("reserialized");
    expect((await post(url, RULE)).headers["idempotent-replayed"]).toBe("true");
    expect(await post(url, { ...RULE, name: "Other" })).toMatchObject({ status: 422 });
    expect(await post(url, { ...RULE, adjustmentValue: "much" }, "two")).toMatchObject({
      status: 400,
      body: { code: "validation_failed" },
    });
  });

  test("is logged as the bytes that the app kept in rawBody", async () => {
    const { url } = await openBehind(keepRawBody);
    const spaced = '{ "name": "Weekend",  "adjustmentType": "percentage", "adjustmentValue": 500 }';
    const answer = await post(url, spaced);
    expect([answer.status, answer.headers["x-sandbox-request-body"]]).toEqual([200, undefined]);
    expect((await control(url, "GET", `/requests/${await logged(url)}`)).request.body).toBe(spaced);
  });

  test.each([
    ["a live key in a field", { ...RULE, name: "sk_live_1" }, {}, 403, "live_key_refused"],
    ["an array", [], {}, 400, "body_not_object"],
    ["a form", "name=Weekend", { contentType: "application/x-www-form-urlencoded" }, 415, "unsupported_media_type"],
  ])("is rejected: %s", async (_, body, options, status, code) => {
    const { url } = await openBehind(express.json(), express.urlencoded());
    expect(await call(url, "POST", RULES, { body, ...options })).toMatchObject({ status, body: { code } });
  });

  test("is in the log of a request that was rejected before its body was read", async () => {
    const { url } = await openBehind(express.json());
    await control(url, "POST", "/faults", { action: { type: "rate_limit" } });
    expect((await post(url, RULE)).status).toBe(429);
    expect((await control(url, "GET", `/requests/${await logged(url)}`)).request.body).toBe(JSON.stringify(RULE));
  });

  test("causes a 500 that tells the app's developer what to do, if no middleware kept it", async () => {
    const sandbox = await createSandbox({ clock: NOON, listen: false });
    const app = express().use((request, _, next) => void request.resume().once("end", next), sandbox.middleware);
    const answer = await post(await urlOf(createServer(app)), RULE);
    await sandbox.close();
    expect(answer).toMatchObject({
      status: 500,
      body: { message: expect.stringContaining("Mount the sandbox before it") },
    });
  });
});

describe("with helmet, compression and a logger in front", () => {
  const lines: string[] = [];
  const behindAll = () =>
    openBehind(helmet(), compression(), morgan("tiny", { stream: { write: (line: string) => lines.push(line) } }));

  test("responses are compressed and logged, with the headers of both", async () => {
    const { url } = await behindAll();
    const answer = await fetch(`${url}/v1/payments`, { headers: { Authorization: "Bearer sk_test_lodge" } });
    expect(answer.headers.get("content-encoding")).toMatch(/gzip|br/);
    expect(answer.headers.get("x-dns-prefetch-control")).toBe("off");
    expect(answer.headers.get("ratelimit-remaining")).toBe("5999");
    expect(((await answer.json()) as { data: object[] }).data).toHaveLength(25);
    await expect.poll(() => lines.at(-1)).toMatch(/^GET \/v1\/payments 200 /);
  });

  test.each(["reset", "empty", "garbage", "malformed_chunk"])("a connection fault takes effect: %s", async (as) => {
    const { url } = await behindAll();
    await control(url, "POST", "/faults", { action: { type: "connection", as } });
    const body = JSON.stringify(RULE);
    const headers = { Authorization: "Bearer sk_test_lodge", "Content-Type": "application/json" };
    await expect(
      fetch(url + RULES, { method: "POST", headers, body }).then((answer) => answer.text()),
    ).rejects.toThrow();
    expect((await control(url, "GET", "/requests?limit=1")).data).toMatchObject([{ path: RULES }]);
  });

  test.each(["truncate", "drip"])("a body fault applies to an uncompressed body: %s", async (as) => {
    const { url } = await behindAll();
    const action = { type: "body", as, ...(as === "drip" ? { bytesPerSecond: 100_000 } : {}) };
    await control(url, "POST", "/faults", { action });
    const answer = await fetch(`${url}/v1/payments`, { headers: { Authorization: "Bearer sk_test_lodge" } });
    expect(answer.headers.get("content-encoding")).toBeNull();
    if (as === "drip") expect(JSON.parse(await answer.text()).object).toBe("list");
    else await expect(answer.text()).rejects.toThrow();
  });
});

describe("the check of Host and Origin", () => {
  const hostOf = (url: string) => new URL(url).host;

  test.each([
    ["a foreign Host", { host: "evil.example" }, "host_not_allowed"],
    ["another port", { host: "localhost:1" }, "host_not_allowed"],
    ["a foreign Origin", { origin: "http://evil.example" }, "origin_not_allowed"],
    ["an https Origin", { origin: "https://own" }, "origin_not_allowed"],
  ])("refuses %s", async (_, headers: Record<string, string>, code) => {
    const { url } = await openBehind();
    const sent = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value.replace("own", hostOf(url))]),
    );
    const refusal = { status: 403, body: { code } };
    expect(await call(url, "GET", "/v1/payments", { headers: sent })).toMatchObject(refusal);
    expect(await call(url, "POST", "/_sandbox/reset", { headers: sent, body: {} })).toMatchObject(refusal);
  });

  test("allows the app's own origin, and localhost with the app's port", async () => {
    const { url } = await openBehind();
    const origin = `http://${hostOf(url)}`;
    expect((await call(url, "GET", "/v1/payments", { headers: { origin } })).status).toBe(200);
    const host = `localhost:${new URL(url).port}`;
    expect((await call(url, "GET", "/v1/payments", { headers: { host } })).status).toBe(200);
  });

  test("refuses requests from another machine, unless the option host opens the sandbox to the network", async () => {
    const from = (sandbox: Sandbox) =>
      createServer((request, response) => {
        Object.defineProperty(request.socket, "remoteAddress", { value: "192.168.1.7" });
        sandbox.middleware(request, response);
      });
    const closed = await urlOf(from(await open()));
    expect(await call(closed, "GET", "/v1/payments")).toMatchObject({
      status: 403,
      body: { code: "host_not_allowed" },
    });
    const open4 = await open({ host: "0.0.0.0", allowedHost: ["sandbox.test"], controlToken: "token" });
    const opened4 = await urlOf(from(open4));
    const host = `sandbox.test:${new URL(opened4).port}`;
    expect((await call(opened4, "GET", "/v1/payments", { headers: { host } })).status).toBe(200);
    expect(await call(opened4, "GET", "/_sandbox", { key: null, headers: { host } })).toMatchObject({
      status: 403,
      body: { code: "control_token_required", message: expect.stringContaining("is open to the network") },
    });
  });

  test("leaves unusual request targets to the app: an absolute URL, doubled slashes, another case", async () => {
    const { url } = await openBehind();
    const { port, host } = new URL(url);
    for (const target of [`http://${host}/v1/payments`, "//v1/payments", "/V1/payments", "/v1x", "/_sandboxes"]) {
      const received = await raw(Number(port), `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      expect([target, received.slice(9, 12), received.includes("X-Sandbox")]).toEqual([target, "404", false]);
    }
  });
});

describe("webhooks", () => {
  const register = (url: string, to: string) =>
    call(url, "POST", "/v1/webhooks", { body: { url: to, events: ["payment.succeeded"] } });

  test("are delivered to the app's own routes on the same port", async () => {
    const received: unknown[] = [];
    const sandbox = await open();
    const app = express()
      .use(sandbox.middleware)
      .post("/hooks", express.json(), (request, response) => {
        received.push((request.body as { type: unknown }).type);
        response.end();
      });
    const url = await urlOf(createServer(app));
    expect((await register(url, `${url}/hooks`)).status).toBe(201);
    await call(url, "POST", "/v1/webhook-events/test", { body: { type: "payment.succeeded" } });
    await sandbox.drain();
    expect(received).toEqual(["payment.succeeded"]);
  });

  test.each(["/_sandbox/reset", "/pay/_sandbox", "/other/../_sandbox/reset", "/v1/webhooks", "/%2e/_sandbox/reset"])(
    "cannot be registered for a path of the sandbox itself: %s",
    async (path) => {
      const { url } = await openBehind();
      expect(await register(url, url + path)).toMatchObject({ status: 400, body: { code: "invalid_webhook_url" } });
    },
  );
});

describe("attach", () => {
  test("serves the live stream below the path, and leaves other upgrades to the app", async () => {
    const sandbox = await open();
    const server = createServer(express().use("/pay", sandbox.middleware));
    sandbox.attach(server, "/pay");
    const url = await urlOf(server);
    expect([sandbox.url, sandbox.baseUrl]).toEqual(
      [url, `${url}/v1`].map((one) => one.replace("127.0.0.1", "localhost").replace(/(:\d+)/, "$1/pay")),
    );
    const socket = new WebSocket(`${url.replace("http", "ws")}/pay/_sandbox/live`);
    const [message] = await new Promise<string[]>((resolve, reject) => {
      socket.on("message", (text) => resolve([String(text)]));
      socket.on("error", reject);
    });
    expect(JSON.parse(message as string)).toMatchObject({ type: "snapshot" });
    const refused = await new Promise<IncomingMessage>((resolve) =>
      get(`${url}/elsewhere`, { headers: { connection: "upgrade", upgrade: "websocket" } }, resolve),
    );
    expect(refused.resume().statusCode).toBe(404);
    const closed = new Promise((resolve) => socket.once("close", resolve));
    await sandbox.close();
    await closed;
    expect([server.listening, server.listenerCount("upgrade")]).toEqual([true, 0]);
  });
});

test("a mounted sandbox learns its address from the first request", async () => {
  const sandbox = await open();
  expect([sandbox.url, sandbox.baseUrl, sandbox.port]).toEqual(["", "/v1", 0]);
  const url = await urlOf(createServer(express().use("/pay", sandbox.middleware)));
  await call(url, "GET", "/pay/v1/payments");
  const { port } = new URL(url);
  expect([sandbox.baseUrl, sandbox.port]).toEqual([`http://localhost:${port}/pay/v1`, Number(port)]);
});

test("close waits for requests in flight, and ends their injected latency", async () => {
  const { sandbox, url } = await openBehind();
  await control(url, "POST", "/faults", { action: { type: "latency", ms: 600_000 } });
  const answer = call(url, "GET", "/v1/payments");
  await expect.poll(async () => (await control(url, "GET", "/faults")).data[0].fired).toBe(1);
  await sandbox.close();
  expect((await answer).status).toBe(200);
});

test("a sandbox that listens on a port cannot be mounted, and a mounted sandbox accepts no port", async () => {
  await expect(createSandbox({ listen: false, port: 0 })).rejects.toThrow("has no port of its own");
  const sandbox = await open({ listen: true });
  expect(() => sandbox.middleware({ url: "/v1", headers: {} }, { headersSent: false })).toThrow("listen: false");
});
