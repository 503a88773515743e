// Spans for an OpenTelemetry collector: their format, their links, and collectors that hang, reject spans or cannot be
// reached.

import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { createRandom } from "../../src/kernel/random.ts";
import { createSandbox } from "../../src/sandbox/create.ts";
import { configSchema } from "../../src/sandbox/options.ts";
import { createExporter } from "../../src/telemetry/exporter.ts";
import { requestEntry } from "../support/judge-inputs.ts";
import { call, DECLINE, freePort, listen, NOON, open } from "../support/sandbox.ts";
import { openRegistered, receive, register, settle } from "../support/webhooks.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER = "00f067aa0ba902b7";
const TRACEPARENT = `00-${TRACE}-${CALLER}-01`;

afterEach(() => void vi.unstubAllEnvs());

interface Attribute {
  key: string;
  value: { stringValue: string } | { intValue: string };
}

interface ExportedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Attribute[];
  status?: { code: number; message: string };
}

interface Post {
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A collector that records each POST, and then responds by calling `answer`. */
async function openCollector(answer: (response: ServerResponse) => void = (response) => response.end("{}")) {
  const posts: Post[] = [];
  const waiting: (() => void)[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      posts.push({ url: request.url ?? "", headers: request.headers, body });
      for (const resolve of waiting.splice(0)) resolve();
      answer(response);
    });
  });
  const url = `http://127.0.0.1:${await listen(server)}`;
  const arrived = () => (posts.length > 0 ? Promise.resolve() : new Promise<void>((resolve) => waiting.push(resolve)));
  const spans = () => posts.flatMap(({ body }) => spansIn(JSON.parse(body)));
  return { url, posts, arrived, spans };
}

/** The spans in a body, which must have the format of OTLP in JSON. */
function spansIn(body: {
  resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: ExportedSpan[] }[] }[];
}): ExportedSpan[] {
  expect(body).toEqual({
    resourceSpans: [
      {
        resource: { attributes: expect.any(Array) },
        scopeSpans: [{ scope: { name: "merchant-sandbox", version: expect.any(String) }, spans: expect.any(Array) }],
      },
    ],
  });
  checkAttributes(body.resourceSpans[0]?.resource.attributes);
  const found = body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
  for (const span of found) {
    expect(span).toMatchObject({
      traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
      spanId: expect.stringMatching(/^[0-9a-f]{16}$/),
      name: expect.stringMatching(/./),
      kind: expect.toBeOneOf([1, 2, 3]),
      startTimeUnixNano: expect.stringMatching(/^\d{19}$/),
      endTimeUnixNano: expect.stringMatching(/^\d{19}$/),
    });
    checkAttributes(span.attributes);
    if (span.parentSpanId !== undefined) expect(span.parentSpanId).toMatch(/^[0-9a-f]{16}$/);
    if (span.status !== undefined) expect(span.status).toEqual({ code: 2, message: expect.any(String) });
    expect(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano)).toBe(true);
  }
  expect(new Set(found.map(({ spanId }) => spanId)).size).toBe(found.length);
  return found;
}

function checkAttributes(attributes: readonly Attribute[] = []): void {
  for (const attribute of attributes)
    expect(attribute).toEqual({
      key: expect.stringMatching(/^[a-z_.]+$/),
      value: expect.toBeOneOf([
        { stringValue: expect.any(String) },
        // In the JSON format, 64-bit integers are strings.
        { intValue: expect.stringMatching(/^\d+$/) },
      ]),
    });
}

const valuesOf = ({ attributes }: ExportedSpan) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

/**
 * A sandbox started with these environment variables, the problems that it reports, and a function that calls it. The
 * sandbox is closed after the test.
 */
async function openExporting(variables: Record<string, string>, port = 0) {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  const sandbox = await createSandbox({ clock: NOON, port });
  const reports: string[] = [];
  sandbox.onDefect(({ error, where }) => reports.push(`${where}: ${(error as Error).message}`));
  onTestFinished(() => sandbox.close());
  const get = (headers: Record<string, string> = {}, path = "/v1/payments") =>
    call(sandbox.url, "GET", path, { headers });
  return { sandbox, reports, get };
}

describe("the spans of an action", () => {
  test("are nested: stages and deliveries in their call, and a call back in its delivery", async () => {
    const collector = await openCollector();
    vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", `${collector.url}/`);
    const bench = await open({ traceDeliveries: true });
    const receiver = await receive();
    receiver.script((arrival, outgoing) => {
      const headers = { traceparent: arrival.headers.traceparent ?? "" };
      void bench.call("GET", "/v1/payments", { headers }).then(() => outgoing.writeHead(500).end("database is down"));
    });
    await register(bench, receiver.url, ["booking.declined"]);
    await bench.control("POST", "/faults", {
      match: { operation: "payments.list" },
      action: { type: "status", status: 503 },
    });
    await bench.call("POST", DECLINE, { body: {}, headers: { traceparent: TRACEPARENT } });
    await settle(bench);
    await bench.close();
    const spans = collector.spans().filter(({ traceId }) => traceId === TRACE);
    const named = (name: string) => spans.find((span) => span.name === name) as ExportedSpan;
    const request = named("POST /v1/hospitality/bookings/{id}/decline");
    const delivery = named("deliver booking.declined");
    const callBack = named("GET /v1/payments");
    expect([request.parentSpanId, request.kind]).toEqual([CALLER, 2]);
    expect([delivery.parentSpanId, delivery.kind]).toEqual([request.spanId, 3]);
    expect([callBack.parentSpanId, callBack.kind]).toEqual([delivery.spanId, 2]);
    const below = ({ spanId }: ExportedSpan) => spans.filter(({ parentSpanId }) => parentSpanId === spanId);
    const stages = ["checks", "body", "validation", "operation", "response", "sending"];
    expect(below(request).map(({ name }) => name)).toEqual(expect.arrayContaining([...stages, delivery.name]));
    expect(below(callBack).map(({ name, kind }) => `${kind} ${name}`)).toContain("1 fault status");
    expect(valuesOf(below(callBack).find(({ name }) => name === "fault status") as ExportedSpan)).toMatchObject({
      "merchant_sandbox.outcome": "refused",
    });
    expect(valuesOf(request)).toMatchObject({
      "http.request.method": "POST",
      "http.route": "/v1/hospitality/bookings/{id}/decline",
      "url.path": DECLINE,
      "http.response.status_code": "200",
      "merchant_sandbox.operation": "bookings.decline",
    });
    expect([request.status, callBack.status?.message]).toEqual([undefined, "Status 503"]);
    expect(valuesOf(delivery)).toMatchObject({ "url.full": receiver.url, "http.response.status_code": "500" });
    expect(delivery.status?.message).toBe("database is down");
    expect(receiver.arrivals[0]?.headers.traceparent).toBe(`00-${TRACE}-${delivery.spanId}-01`);
    const { url, headers } = collector.posts[0] as Post;
    expect([url, headers["content-type"]]).toEqual(["/v1/traces", "application/json"]);
  });

  test("start a new trace for a call without a traceparent, and for an event that no call caused", async () => {
    const collector = await openCollector();
    vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url);
    const { bench } = await openRegistered();
    const { headers } = await bench.call("POST", DECLINE, { body: {} });
    await bench.control("POST", "/events", { type: "payment.succeeded" });
    await settle(bench);
    const { trace } = await bench.requests.get({ id: String(headers["x-sandbox-request-id"]) });
    await bench.close();
    const spans = collector.spans();
    const own = spans.filter(({ traceId }) => traceId === trace);
    expect(own.map(({ name }) => name)).toEqual(expect.arrayContaining(["deliver booking.declined", "operation"]));
    expect(spans.find(({ name }) => name === "deliver payment.succeeded")?.parentSpanId).toBeUndefined();
  });

  test("contain no secret; the environment names the collector, its headers and the service", async () => {
    const collector = await openCollector();
    const { sandbox, get } = await openExporting({
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1",
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/in/here`,
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20abc, x-team=pay,broken",
      OTEL_SERVICE_NAME: "pay-sandbox",
    });
    await get({ "idempotency-key": "sk_test_in_a_key" }, "/v1/payments?token=hunter2");
    await get({}, "/v1/sk_test_lodge");
    await sandbox.close();
    const [post] = collector.posts as [Post];
    expect([post.url, post.headers.authorization, post.headers["x-team"]]).toEqual(["/in/here", "Bearer abc", "pay"]);
    expect(collector.spans().length).toBeGreaterThan(2);
    expect(post.body).not.toMatch(/hunter2|sk_test_in_a_key|sk_test_lodge/);
    expect(JSON.parse(post.body).resourceSpans[0].resource.attributes[0]).toEqual({
      key: "service.name",
      value: { stringValue: "pay-sandbox" },
    });
  });

  test("are not sent if the caller's tracer does not record the trace", async () => {
    const collector = await openCollector();
    const { sandbox, get } = await openExporting({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    await get({ traceparent: TRACEPARENT.replace(/01$/, "00") });
    await get({ traceparent: TRACEPARENT });
    await sandbox.close();
    expect(collector.spans().filter(({ kind }) => kind === 2)).toHaveLength(1);
  });
});

describe("a collector", () => {
  test("that hangs delays the closing of the sandbox, but no call", async () => {
    const collector = await openCollector(() => {});
    const { sandbox, reports, get } = await openExporting({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    await get();
    await collector.arrived();
    // From here on, the collector does not answer the first batch.
    for (let count = 0; count < 60; count++) expect((await get()).status).toBe(200);
    await sandbox.close();
    expect(collector.posts).toHaveLength(1);
    expect(reports).toEqual([
      `OpenTelemetry: The OpenTelemetry collector at ${collector.url}/v1/traces does not take spans: it took too ` +
        "long when the sandbox closed. They are dropped; calls and deliveries do not wait for it. " +
        "It must accept OTLP over HTTP in JSON, usually on port 4318.",
    ]);
  });

  test.each([
    ["cannot be reached", async () => `http://127.0.0.1:${await freePort()}`, "ECONNREFUSED"],
    [
      "rejects spans",
      async () => (await openCollector((response) => response.writeHead(415).end())).url,
      "it responded with 415",
    ],
    ["is set without http://", async () => "localhost:4318", "Protocol"],
    ["is not set to a URL", async () => "collector", "OTEL_EXPORTER_OTLP_ENDPOINT is not a URL"],
  ])("that %s is reported once, and the sandbox still answers calls", async (_, openUrl, reason) => {
    const { sandbox, reports, get } = await openExporting({ OTEL_EXPORTER_OTLP_ENDPOINT: await openUrl() });
    for (let count = 0; count < 30; count++) expect((await get()).status).toBe(200);
    await sandbox.close();
    expect(reports).toEqual([expect.stringContaining(reason)]);
  });

  test("at the address of the sandbox itself gets no spans", async () => {
    const port = await freePort();
    const { sandbox, reports, get } = await openExporting(
      { OTEL_EXPORTER_OTLP_ENDPOINT: `http://localhost:${port}` },
      port,
    );
    for (let count = 0; count < 30; count++) await get();
    await expect.poll(() => reports).toEqual([expect.stringContaining("this is the address of the sandbox itself")]);
    expect((await sandbox.requests.list({ path: "/v1/traces" })).data).toEqual([]);
  });

  test("that is too slow makes the sandbox keep at most 2,000 calls in its queue, and report that once", async () => {
    const collector = await openCollector(() => {});
    const reports: Error[] = [];
    const exporter = createExporter({
      collector: { url: collector.url, headers: {}, service: "pay" },
      version: "1.0.0",
      random: createRandom(1),
      routeOf: () => undefined,
      isOwn: () => false,
      report: (error) => reports.push(error),
    });
    const add = (count: number) => {
      for (let index = 0; index < count; index++) exporter.request(requestEntry(index, 200, { stages: [] }));
    };
    add(25);
    await collector.arrived();
    add(2_000);
    expect(reports).toEqual([]);
    add(500);
    expect(reports.map(({ message }) => message)).toEqual([expect.stringContaining("it is too slow, and 2000 calls")]);
    await exporter.close(0);
    expect([collector.posts.length, reports.length]).toEqual([1, 1]);
  });

  test.each<Record<string, string>>([
    { OTEL_EXPORTER_OTLP_ENDPOINT: "" },
    { OTEL_SDK_DISABLED: "true" },
    { OTEL_TRACES_EXPORTER: "none" },
  ])("gets nothing with %o, and calls start no traces", async (variables) => {
    const collector = await openCollector();
    const { sandbox, get } = await openExporting({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...variables });
    await get();
    expect((await sandbox.requests.list({})).data.map(({ trace }) => trace)).toEqual([null]);
    await sandbox.close();
    expect(collector.posts).toEqual([]);
  });

  test("cannot be set by a folder's merchant-sandbox.json", () => {
    expect(configSchema).toMatchObject({ additionalProperties: false });
    expect(
      Object.keys(configSchema.properties).filter((name) => /otel|collector|telemetry|export/i.test(name)),
    ).toEqual([]);
  });
});
