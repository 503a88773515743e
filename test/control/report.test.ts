// The report of a run: the same facts in five formats, no markup from clients or receivers, and no secret.

import { XMLParser, XMLValidator } from "fast-xml-parser";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { catalogue, eventTypes } from "../../src/areas/index.ts";
import { verdictLine } from "../../src/client/verdict-text.ts";
import type { RunReport } from "../../src/contracts/run-report.ts";
import { count } from "../../src/kernel/text.ts";
import { escapeXml, junit } from "../../src/report/junit.ts";
import { problemText } from "../../src/report/problem-text.ts";
import { raggedRows } from "../support/page.ts";
import { type Answer, type Bench, NOON, open, share } from "../support/sandbox.ts";
import { receive, register } from "../support/webhooks.ts";

const FORMATS = ["json", "junit", "markdown", "html", "har"] as const;
type Format = (typeof FORMATS)[number];

const fetchReport = (bench: Bench, format?: Format): Promise<Answer> =>
  bench.call("GET", `/_sandbox/report${format ? `?format=${format}` : ""}`, { key: null });

const PASSWORD = "correct-horse-battery";
const EVIL = `"><script>alert(1)</script>&'|\`*_]\u202e`;

/** A run with every kind of entry, and with hostile text from its client. */
async function busy(start = open): Promise<{ bench: Bench; secret: string; createdKey: string }> {
  const bench = await start();
  const receiver = await receive();
  receiver.script(200, 503);
  const { secret } = await register(bench, `${receiver.url}?token=hush-hush`);
  const once = { body: { reason: EVIL }, headers: { "idempotency-key": "once" } };
  for (let time = 0; time < 2; time++) await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline", once);
  await bench.call("GET", `/v1/customers/${encodeURIComponent(EVIL)}`);
  await bench.call("GET", `/v1/nothing?api_key=hush-hush`);
  await bench.call("POST", "/v1/merchants/login", { body: { email: "a@b.example", password: PASSWORD } });
  await bench.call("POST", "/v1/statutory/remittances/rem_overdue/confirm", { body: {} });
  const { apiKey } = await bench.control("POST", "/merchants", { fixture: "blank" });
  await bench.call("GET", "/v1/payments", { key: apiKey });
  await bench.call("GET", `/v1/payments?note=${apiKey}`);
  await bench.control("POST", "/clock/advance", { by: "1h" });
  return { bench, secret, createdKey: apiKey };
}

// The tests that only read the report share one run.
let shared: Awaited<ReturnType<typeof busy>>;
beforeAll(async () => {
  shared = await busy(share);
});
afterAll(() => shared.bench.close());

/** A sandbox with a failed verdict. */
const throttled = async () => {
  const bench = await open({ rateLimit: "1/1m" });
  for (let time = 0; time < 3; time++) await bench.call("GET", "/v1/payments");
  return bench;
};

/** The report of the shared run. */
const reported = async (format: Format) => (await fetchReport(shared.bench, format)).text;

describe("every format", () => {
  test.each([
    ["json", "application/json"],
    ["har", "application/json"],
    ["junit", "application/xml; charset=utf-8"],
    ["markdown", "text/markdown; charset=utf-8"],
    ["html", "text/html; charset=utf-8"],
  ] as const)("%s has its content type and nosniff", async (format, type) => {
    const { status, headers } = await fetchReport(await open(), format);
    expect([status, headers["content-type"], headers["x-content-type-options"]]).toEqual([200, type, "nosniff"]);
    if (format === "html")
      expect(headers["content-security-policy"]).toMatch(/^default-src 'none';.*frame-ancestors 'none'/);
  });

  test.each(FORMATS)("%s contains no secret", async (format) => {
    const text = await reported(format);
    expect([shared.secret, shared.createdKey, PASSWORD, "hush-hush"].filter((hidden) => text.includes(hidden))).toEqual(
      [],
    );
    expect(text.includes(format === "junit" ? "<testsuite" : "payments")).toBe(true);
  });

  test("an unknown format is rejected with the list of formats", async () => {
    const { status, body } = await fetchReport(await open(), "pdf" as Format);
    expect([status, body.message]).toEqual([
      400,
      'format must be one of json, junit, markdown, html, har; received "pdf".',
    ]);
  });
});

describe("a failed verdict", () => {
  const failures = async (bench: Bench, query: string) => {
    const { text } = await bench.call("GET", `/_sandbox/report?format=junit${query}`, { key: null });
    return Number(/<testsuites[^>]* failures="(\d+)"/.exec(text)?.[1]);
  };

  test("is a failed case outside of exec; in exec only if the run failed and --fail-on has verdicts", async () => {
    const bench = await throttled();
    const found = (await bench.control("GET", "/verdicts?verdict=fail")).data.length;
    expect(found).toBeGreaterThan(0);
    const counts = ["", "&failOn=", "&failOn=verdicts", "&failOn=5xx&problems=one", "&failOn=verdicts&problems=one"];
    expect(await Promise.all(counts.map((query) => failures(bench, query)))).toEqual([found, 0, 0, 1, found + 1]);
  });

  test.each<[failOn: string, verdict: string, isFailed: boolean]>([
    ["score", "fail", true],
    ["score", "inconclusive", true],
    ["score", "pass", false],
    ["verdicts", "fail", false],
    ["5xx,score=8", "fail", true],
    ["5xx,score=8", "inconclusive", true],
    ["score=7", "fail", false],
    ["score=7", "inconclusive", false],
  ])(
    "with --fail-on %s, a scenario with 7 points and the verdict %s is a failed case: %s",
    (failOn, verdict, isFailed) => {
      const message = `7 of 10 points: ${verdict}`;
      const scenario = {
        name: "storm",
        merchant: null,
        title: "A storm",
        verdict,
        score: 7,
        message,
        expectations: [],
      };
      const nothing = { verdicts: [], checks: [], unchecked: [], coverage: [], totals: { notAccepted: 0 } };
      // `exec` also reports this failure as a problem, which must not become a second case.
      const problems = isFailed
        ? [`storm: ${message} At least 8 points are required.`]
        : ["The command exited with 1."];
      const run = { sandbox: { now: NOON }, scenarios: [scenario], ...nothing, problems };
      const text = junit({ ...run, failed: true, failOn: failOn.split(",") } as unknown as RunReport);
      const [, suite] = /<testsuite name="scenarios"[^>]* failures="(\d+)"/.exec(text) ?? [];
      const [, all] = /<testsuites[^>]* failures="(\d+)"/.exec(text) ?? [];
      expect([suite, all]).toEqual([isFailed ? "1" : "0", "1"]);
    },
  );

  test.each(["junit", "markdown", "html"] as const)(
    "lists its calls, each with its connection, and what confirmed the verdict, in %s",
    async (format) => {
      const text = (await fetchReport(await throttled(), format)).text
        .replaceAll(/<[^>]+>(?=req_)|(?<=req_lodge_\d+)<[^>]+>/g, "")
        .replaceAll("\\", "");
      expect(text).toMatch(/req_lodge_3 on connection \d+ after \d+ ms/);
      expect(text).toContain("confirmed by the order on connections");
    },
  );
});

test("a reset does not hide from exec that a receiver was not checked", async () => {
  const bench = await open();
  await register(bench, (await receive()).url);
  await bench.control("POST", "/events", { type: "payment.succeeded" });
  await bench.control("POST", "/drain", {});
  await bench.control("POST", "/reset", {});
  const uncheckedIn = async (query: string) => (await bench.control("GET", `/report${query}`)).unchecked;
  expect(await uncheckedIn("?failOn=verdicts")).toContain("whether it acted once");
  expect(await uncheckedIn("")).toEqual([]);
});

describe("json", () => {
  test("is the default, and counts calls, responses and deliveries", async () => {
    const { body: run } = await fetchReport(shared.bench);
    expect(run.totals.operations).toEqual({ called: 6, total: catalogue.length });
    expect(run.totals.requests).toBe(9);
    expect(run.totals.statuses).toEqual({ "2xx": 6, "4xx": 3 });
    expect([run.totals.deliveries, run.totals.attempts]).toEqual([{ succeeded: 2 }, 3]);
    expect(run.requests.map(({ id }: { id: string }) => id)).toEqual([
      ...Array.from({ length: 7 }, (_, index) => `req_lodge_${index + 1}`),
      expect.stringMatching(/^req_\w{16}_1$/),
      "req_lodge_8",
    ]);
    expect(run.requests[2]).toMatchObject({
      operation: "bookings.decline",
      status: 200,
      replayOf: "req_lodge_2",
      idempotencyKey: "once",
    });
    expect(run.deliveries.map(({ type, status, request }: Record<string, string>) => [type, status, request])).toEqual([
      ["booking.declined", "succeeded", "req_lodge_2"],
      ["remittance.confirmed", "failed", "req_lodge_7"],
      ["remittance.confirmed", "succeeded", "req_lodge_7"],
    ]);
    expect(run.omitted).toEqual({ requests: 0, attempts: 0, verdicts: 0 });
  });

  test("includes verdicts that are no longer kept in its counts, like the dashboard", async () => {
    const bench = await throttled();
    const [failed] = (await bench.control("GET", "/verdicts?verdict=fail")).data;
    const verdicts = Array(550).fill(failed);
    for (const sandbox of ["http://127.0.0.1:1", "http://127.0.0.1:2"])
      await bench.control("POST", "/verdicts", { sandbox, requests: 1, verdicts });
    const { body: run } = await fetchReport(bench, "json");
    const { made } = await bench.control("GET", "");
    expect([run.totals.verdicts.fail, made.verdicts.fail, run.omitted.verdicts]).toEqual([1_101, 1_101, 101]);
    const kept = count(run.verdicts.length);
    expect((await fetchReport(bench, "html")).text).toMatch(
      new RegExp(`verdicts, ${kept} kept · (?:\\d+ pass · )?1,101 fail`),
    );
  });

  test("covers every operation, with its possible and actual responses", async () => {
    const { body: run } = await fetchReport(shared.bench, "json");
    const { data } = await shared.bench.control("GET", "/operations");
    expect(run.coverage.map(({ operation, calls }: Record<string, unknown>) => [operation, calls])).toEqual(
      data.map(({ id, calls }: Record<string, unknown>) => [id, calls]),
    );
    expect(
      run.coverage.find(({ operation }: Record<string, unknown>) => operation === "bookings.decline"),
    ).toMatchObject({
      path: "/v1/hospitality/bookings/{id}/decline",
      calls: 2,
      statuses: [
        { status: 200, calls: 2 },
        { status: 404, calls: 0 },
        { status: 409, calls: 0 },
      ],
      events: [{ type: "booking.declined", count: 1 }],
    });
  });

  test("covers every event type, with the numbers emitted and delivered", async () => {
    const { bench } = await busy();
    await bench.control("POST", "/records/payment", {
      merchant: "mer_market",
      amount: 500,
      currency: "EUR",
      status: "succeeded",
    });
    await bench.call("POST", "/v1/webhook-events/test", { body: { type: "of.nobodys.making" } });
    const { body: run } = await fetchReport(bench, "json");
    expect(run.events.map(({ type }: { type: string }) => type)).toEqual([...eventTypes].sort());
    const { events } = await bench.control("GET", "/operations");
    expect(run.events).toEqual(events);
    const sent = events.filter(({ emitted }: { emitted: number }) => emitted > 0);
    expect(sent.map(({ type, emitted, delivered }: Record<string, unknown>) => [type, emitted, delivered])).toEqual([
      ["booking.declined", 1, 1],
      ["payment.pending", 1, 0],
      ["payment.succeeded", 1, 0],
      ["remittance.confirmed", 1, 1],
    ]);
    expect(run.totals.events).toEqual({ emitted: 4, delivered: 2, total: eventTypes.size });
    const { text: page } = await fetchReport(bench, "html");
    expect(page).toContain('<span class="chip green">booking.declined ×1, 1 accepted</span>');
    expect(page).toContain('<span class="chip yellow">payment.succeeded ×1, 0 accepted</span>');
    expect(page).toContain('<span class="chip soft unseen">payout.paid</span>');
    const { text: markdown } = await fetchReport(bench, "markdown");
    expect(markdown).toContain(`| Event types sent | 4 of ${eventTypes.size}, 2 accepted |`);
    expect(markdown).toContain("| payment.succeeded | 1 | 0 |");
  });
});

/**
 * The schema junit-10.xsd of Jenkins' xunit plugin: the attributes of each element (required ones with !), and its
 * children.
 */
const JENKINS: Record<string, { attributes: string; children: string }> = {
  testsuites: { attributes: "name time tests failures errors", children: "testsuite" },
  testsuite: {
    attributes: "name! tests! failures! errors! group time skipped timestamp hostname id package file log url",
    children: "testsuite properties testcase system-out system-err",
  },
  testcase: { attributes: "name! time classname group", children: "skipped error failure system-out system-err" },
  failure: { attributes: "type message", children: "#text" },
  skipped: { attributes: "type message", children: "#text" },
};

/** Attributes and children that the schema does not allow, and required attributes that are absent. */
function schemaProblems(nodes: Record<string, unknown>[]): string[] {
  return nodes.flatMap((node) => {
    const { ":@": given = {}, ...element } = node as { ":@"?: Record<string, string> };
    const [[name, children]] = Object.entries(element) as [[string, Record<string, unknown>[]]];
    if (name === "#text" || name === "?xml") return [];
    const allowed = JENKINS[name];
    if (!allowed) return [`unknown element ${name}`];
    const attributes = allowed.attributes.split(" ").map((attribute) => attribute.replace("!", ""));
    const required = allowed.attributes.split(" ").filter((attribute) => attribute.endsWith("!"));
    const names = children.flatMap((child) => Object.keys(child).filter((key) => key !== ":@"));
    return [
      ...Object.keys(given)
        .filter((attribute) => !attributes.includes(attribute))
        .map((attribute) => `${name} has ${attribute}`),
      ...required
        .filter((attribute) => !(attribute.slice(0, -1) in given))
        .map((attribute) => `${name} lacks ${attribute}`),
      ...names
        .filter((child) => !allowed.children.split(" ").includes(child))
        .map((child) => `${name} contains ${child}`),
      ...schemaProblems(children),
    ];
  });
}

describe("junit", () => {
  test("matches the schema of Jenkins' xunit plugin", async () => {
    const { bench } = await busy();
    await bench.control("POST", "/scenarios/lost-response", {});
    const query = new URLSearchParams({
      format: "junit",
      problems: "A verdict failed.",
      failOn: "verdicts,uncovered=60",
    });
    const { text } = await bench.call("GET", `/_sandbox/report?${query}`, { key: null });
    const ordered = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: "", preserveOrder: true });
    const names = [...text.matchAll(/<testsuite name="(\w+)"/g)].map(([, name]) => name);
    expect(names).toEqual(["problems", "scenarios", "verdicts", "coverage"]);
    expect(schemaProblems(ordered.parse(text))).toEqual([]);
    expect(schemaProblems(ordered.parse('<testsuites skipped="1"><testsuite name="a"/></testsuites>'))).toEqual([
      "testsuites has skipped",
      ...["tests!", "failures!", "errors!"].map((attribute) => `testsuite lacks ${attribute}`),
    ]);
  });

  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: "",
    isArray: (name) => ["testsuite", "testcase"].includes(name),
  });

  test("is XML whose counts agree with its cases, and has coverage only with --fail-on uncovered", async () => {
    expect(await reported("junit")).not.toContain("coverage");
    const { text } = await shared.bench.call("GET", "/_sandbox/report?format=junit&failOn=uncovered", { key: null });
    expect(XMLValidator.validate(text)).toBe(true);
    const { testsuites } = parser.parse(text);
    expect(testsuites.testsuite.map(({ name }: { name: string }) => name)).toEqual(["verdicts", "coverage"]);
    for (const suite of testsuites.testsuite) {
      const cases: Record<string, unknown>[] = suite.testcase ?? [];
      const having = (name: string) => cases.filter((one) => name in one).length;
      expect([suite.tests, suite.failures, suite.skipped]).toEqual(
        [cases.length, having("failure"), having("skipped")].map(String),
      );
    }
    const coverage = testsuites.testsuite[1];
    expect([coverage.tests, coverage.skipped]).toEqual([catalogue.length, catalogue.length - 6].map(String));
    const uncovered = coverage.testcase.find(({ name }: { name: string }) => name === "payouts.list");
    expect(uncovered.skipped.message).toBe("GET /v1/payouts was never called");
  });

  test("a long problem is cut, and ends with …", () => {
    const long = `${"word ".repeat(60)}\nend`;
    expect([problemText("one\ntwo"), problemText(long).length]).toEqual(["one two", 300]);
    expect(problemText(long)).toMatch(/^(word ){59}word…$/);
    expect(problemText("x".repeat(300))).toBe("x".repeat(300));
  });

  test("a failed verdict is a failed case, with what happened and how to fix it", async () => {
    const bench = await open({ rateLimit: "1/1h" });
    for (let call = 0; call < 3; call++) await bench.call("GET", "/v1/payments");
    const { text } = await fetchReport(bench, "junit");
    expect(XMLValidator.validate(text)).toBe(true);
    const verdicts = parser.parse(text).testsuites.testsuite[0];
    const names = verdicts.testcase.map(({ name }: Record<string, string>) => name);
    expect([new Set(names).size, verdicts.tests]).toEqual([names.length, String(names.length)]);
    const failed = verdicts.testcase.find(
      ({ name }: Record<string, string>) => name === "retry_after.honoured payments.list",
    );
    expect(failed.failure.message).toMatch(/req_lodge_2 .*429.*req_lodge_3/);
    const problems = (await bench.verdicts.list({ verdict: "fail" })).data.map((verdict) =>
      problemText(verdictLine(verdict)),
    );
    const query = new URLSearchParams({
      format: "junit",
      failOn: "verdicts",
      problems: [...problems, "payouts.list was never called"].join("\n"),
    });
    const suites = parser.parse((await bench.call("GET", `/_sandbox/report?${query}`, { key: null })).text).testsuites
      .testsuite;
    expect([problems.length > 0, suites[0].testcase.map(({ name }: Record<string, string>) => name)]).toEqual([
      true,
      ["payouts.list was never called"],
    ]);
    expect(failed.failure["#text"]).toMatch(/Retry-After/);
  });

  test("a count of effects decides whether the receiver acted once on the deliveries before it", async () => {
    const bench = await open({ clock: undefined });
    const receiver = await receive();
    await register(bench, receiver.url);
    await bench.faults.add({ match: { event: "payment.succeeded" }, action: { type: "duplicate", copies: 2 } });
    await bench.control("POST", "/events", { type: "payment.succeeded" });
    await receiver.arrived(2);
    await bench.control("POST", "/drain", {});
    const skippedText = async () =>
      (await fetchReport(bench, "junit")).text.match(/"webhook.single_effect"[\s\S]*?skipped[^>]*/);
    expect(String(await skippedText())).toMatch(/none took effect between/);
    const effects = { made: 1, match: { event: "payment.succeeded" } };
    await bench.control("POST", "/verify", { all: [{ effects }] });
    expect((await fetchReport(bench, "junit")).text).toMatch(/"webhook.single_effect" time="0"\/>/);
    const acted = async () =>
      (await bench.verdicts.list({ rule: "webhook.single_effect" })).data.map(({ verdict, message }) => [
        verdict,
        message,
      ]);
    const counted = ["pass", "A test counted the effects: The receiver acted 1 time on 1 event."];
    expect(await acted()).toEqual([counted]);
    await bench.events.replay({ id: receiver.arrivals[0]?.headers["x-webhook-id"] as string });
    await receiver.arrived(3);
    await bench.control("POST", "/drain", {});
    expect((await acted()).sort()).toEqual([["inconclusive", expect.stringMatching(/^Not checked/)], counted]);
  });

  test("stays valid with untrusted text", () => {
    const hostile = `<a b='c' d="e">&amp;\u0000\u001b\n\t]]>\ud800\uffff`;
    const text = escapeXml(hostile);
    expect(text).toBe("&lt;a b=&apos;c&apos; d=&quot;e&quot;&gt;&amp;amp;\ufffd\ufffd&#10;&#9;]]&gt;\ufffd\ufffd");
    expect(XMLValidator.validate(`<x y="${text}">${text}</x>`)).toBe(true);
  });
});

describe("markdown", () => {
  test("starts with a heading, and lists the failed attempts and the operations never called", async () => {
    const text = await reported("markdown");
    expect(text).toMatch(/^# .+\n/);
    expect(text).toContain(`| Operations called | 6 of ${catalogue.length} |`);
    expect(text).toMatch(
      /\| 1\/6 \| remittance\.confirmed \| http:\/\/127\.0\.0\.1:\d+\/hooks\?token=…redacted… \| 503 \|/,
    );
    expect(text).toContain(`<summary>${catalogue.length - 6} operations never called</summary>`);
    expect(text).toContain("| payouts.list | GET /v1/payouts |");
  });

  test("has complete tables, and escapes untrusted markup", async () => {
    const text = await reported("markdown");
    expect(text).not.toContain("<script>");
    expect(raggedRows(text)).toEqual([]);
  });
});

describe("html", () => {
  test("is one file without scripts or external resources, and its policy allows neither", async () => {
    const text = await reported("html");
    const policy = /<meta http-equiv="Content-Security-Policy" content="([^"]+)">/.exec(text)?.[1];
    expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[\w+/]+=*'; base-uri 'none'; form-action 'none'$/);
    expect(text).not.toMatch(/<script|<link|<img|<iframe|<form|\son\w+=|style="|src=|url\(/i);
    for (const [, address] of text.matchAll(/href="([^"]*)"/g)) expect(address).toMatch(/^#/);
  });

  test("lists the requests, and then the attempts with links to the requests that caused them", async () => {
    const text = await reported("html");
    const { body: run } = await fetchReport(shared.bench, "json");
    const ids = [...text.matchAll(/<tr id="(\w+)"/g)].map(([, id]) => id);
    const [declined, ...confirmed] = run.deliveries.map(({ id }: { id: string }) => id);
    const requests = run.requests.map(({ id }: { id: string }) => id);
    expect(ids).toEqual([...requests, declined, ...confirmed]);
    expect(
      [...text.matchAll(/attempt (\d)\/6 caused by <a class="mono" href="#(\w+)">/g)].map(([, ...found]) => found),
    ).toEqual([
      ["1", "req_lodge_2"],
      ["1", "req_lodge_7"],
      ["2", "req_lodge_7"],
    ]);
  });

  test("shows which fault rule affected which requests", async () => {
    const bench = await open();
    await bench.control("POST", "/faults", { id: "flt_down", action: { type: "status", status: 503 } });
    await bench.control("POST", "/faults", {
      id: "flt_late",
      action: { type: "latency", ms: 1 },
      trigger: { times: 2 },
    });
    for (let time = 0; time < 3; time++) await bench.call("GET", "/v1/payments");
    const { body } = await fetchReport(bench, "json");
    expect(body.requests.map(({ fault }: { fault: string | null }) => fault)).toEqual([
      "flt_down,flt_late",
      "flt_late",
      null,
    ]);
    const { text } = await fetchReport(bench, "html");
    expect(text.match(/<span class="chip magenta">fault [^<]+/g)).toEqual([
      '<span class="chip magenta">fault flt_down,flt_late',
      '<span class="chip magenta">fault flt_late',
    ]);
  });

  test("shows untrusted input as text", async () => {
    const bench = await open();
    await bench.call("GET", "/v1/customers/x", { headers: { "idempotency-key": EVIL.replace("\u202e", "") } });
    await bench.call("GET", "/v1/<b>bold</b>");
    const { text } = await fetchReport(bench, "html");
    expect(text).toContain("/v1/&lt;b&gt;bold&lt;/b&gt;");
    expect(text).not.toMatch(/<b>bold|<script/);
  });

  test("closes every element that it opens", async () => {
    const text = await reported("html");
    const whole = text
      .replace("<!doctype html>", "")
      .replaceAll(/<(meta|br)\b([^>]*)>/g, "<$1$2/>")
      .replaceAll("<details open>", "<details>");
    expect(XMLValidator.validate(whole)).toBe(true);
  });

  test("says if nothing has happened yet", async () => {
    const { text } = await fetchReport(await open(), "html");
    expect(text).toContain("Nothing has happened yet.");
  });
});

describe("har", () => {
  test("is HAR 1.2, with requests and deliveries in chronological order", async () => {
    const { bench } = shared;
    const { body } = await fetchReport(bench, "har");
    expect(body.log).toMatchObject({
      version: "1.2",
      creator: { name: "merchant-sandbox", version: expect.any(String) },
      pages: [],
    });
    expect(body.log.entries).toHaveLength(12);
    for (const { time, request, response, cache, timings } of body.log.entries) {
      const message = {
        httpVersion: expect.any(String),
        cookies: [],
        headersSize: expect.any(Number),
        bodySize: expect.any(Number),
      };
      expect([time >= 0, cache, Object.keys(timings)]).toEqual([true, {}, ["send", "wait", "receive"]]);
      expect(request).toMatchObject({ ...message, method: expect.any(String), url: expect.stringMatching(/^http/) });
      expect(response).toMatchObject({
        ...message,
        status: expect.any(Number),
        statusText: expect.any(String),
        redirectURL: expect.any(String),
      });
      expect(response.content).toMatchObject({
        size: expect.any(Number),
        mimeType: expect.any(String),
        text: expect.any(String),
      });
      for (const pair of [...request.headers, ...request.queryString, ...response.headers])
        expect(pair).toEqual({ name: expect.any(String), value: expect.any(String) });
    }
    const times = body.log.entries.map(({ startedDateTime }: Record<string, string>) => startedDateTime);
    expect(times).toEqual([...times].sort());
    const decline = body.log.entries.find(
      ({ comment }: Record<string, string>) => comment === "req_lodge_2 bookings.decline",
    );
    expect(decline.request.url).toBe(`${bench.url}/v1/hospitality/bookings/bkg_pending/decline`);
    expect(JSON.parse(decline.request.postData.text).reason).toBe(EVIL);
    expect(JSON.parse(decline.response.content.text).status).toBe("declined");
    const delivery = body.log.entries.find(({ comment }: Record<string, string>) => comment?.startsWith("delivery"));
    expect(delivery.request.headers).toContainEqual({ name: "X-Webhook-Event", value: "booking.declined" });
  });
});
