// The conditions of `exec --fail-on` and the reports of a run, tested in this process without the command.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { RunReport } from "../../generated/control-api.ts";
import { catalogue } from "../../src/areas/index.ts";
import {
  findProblems,
  findWarnings,
  type ObservedRun,
  observeRun,
  readConditions,
  readReports,
  writeReport,
} from "../../src/cli/ci/run-checks.ts";
import { sandboxAt } from "../../src/cli/remote/running-sandbox.ts";
import { folder } from "../support/program.ts";
import { type Bench, open } from "../support/sandbox.ts";
import { advance, deliver, receive, register, type Step, settle } from "../support/webhooks.ts";

const runningAt = ({ url }: Bench) => sandboxAt({ url, controlToken: undefined });

/** A sandbox whose run is observed from its start. */
async function openObserved(options: Parameters<typeof open>[0] = {}) {
  const bench = await open(options);
  return Object.assign(bench, { run: observeRun(bench) });
}

type Observed = Bench & { run: ObservedRun };

/** The exit code of a run under these conditions, and the lines of its problems. */
async function problemsOf(bench: Observed, conditions: string) {
  const problems = await findProblems(readConditions(conditions || undefined), runningAt(bench).control, bench.run);
  return { code: problems[0]?.exitCode ?? 0, lines: problems.flatMap(({ lines }) => lines) };
}

const fail = (bench: Bench, status = 503) =>
  bench.call("GET", "/v1/payments", { headers: { "x-sandbox-inject": `status=${status}` } });

/** Repeats a call at once, although its response asks the client to wait. */
async function beImpatient(bench: Bench): Promise<void> {
  for (let call = 0; call < 3; call++) await bench.call("GET", "/v1/payments");
}

test("with --fail-on verdicts,inconclusive, a failed verdict takes precedence over an inconclusive one", async () => {
  const bench = await openObserved({ rateLimit: "payouts.list=1/1h" });
  await bench.faults.add({
    action: { type: "status", status: 503 },
    trigger: { times: 1 },
    expect: ["retry.happened"],
  });
  await bench.call("GET", "/v1/payments");
  expect(await problemsOf(bench, "verdicts")).toEqual({ code: 0, lines: [] });
  expect(await problemsOf(bench, "verdicts,inconclusive")).toMatchObject({
    code: 4,
    lines: [expect.stringContaining("retry.happened payments.list: ")],
  });
  for (let call = 0; call < 3; call++) await bench.call("GET", "/v1/payouts");
  expect(await problemsOf(bench, "inconclusive,verdicts")).toMatchObject({ code: 3 });
  expect((await problemsOf(bench, "verdicts")).lines[0]).toMatch(/^retry_after\.honoured payouts\.list: .*req_/);
});

test("--fail-on 5xx lists the sandbox's own 5xx responses, even after a reset, but not those of faults", async () => {
  const bench = await openObserved({ assumptions: { "error.invalid_limit.status": 500 } });
  await fail(bench);
  await bench.faults.add({ action: { type: "lost_response", as: "502" }, trigger: { times: 1 } });
  await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline", { body: {} });
  expect([(await problemsOf(bench, "5xx")).code, bench.run.requests]).toEqual([0, 2]);
  await bench.call("GET", "/v1/payments?limit=x");
  await bench.reset();
  expect(await problemsOf(bench, "5xx")).toEqual({ code: 3, lines: ["req_lodge_3 GET /v1/payments got 500"] });
});

test("--fail-on ignored lists requests with parameters and headers that have no effect", async () => {
  const bench = await openObserved();
  await bench.call("GET", "/v1/payments?limit=1");
  expect((await problemsOf(bench, "ignored")).code).toBe(0);
  await bench.call("GET", "/v1/payments?expand=x", { headers: { "idempotency-key": "a" } });
  const line = "req_lodge_2 GET /v1/payments sent expand, Idempotency-Key, which has no effect";
  expect(await problemsOf(bench, "ignored")).toEqual({ code: 3, lines: [line] });
});

test("a run without a request is inconclusive under every condition", async () => {
  const bench = await openObserved();
  const unused = [
    expect.stringMatching(/^No request arrived .* MERCHANT_BASE_URL, which was http:\/\/127\.0\.0\.1:\d+\/v1\.$/),
  ];
  for (const condition of ["verdicts", "inconclusive", "5xx", "score", "uncovered", "uncovered=payments.list"])
    expect([condition, await problemsOf(bench, condition)]).toEqual([condition, { code: 4, lines: unused }]);
  expect(await problemsOf(bench, "")).toEqual({ code: 0, lines: [] });
  await bench.verdicts.add({ sandbox: "http://127.0.0.1:1", requests: 0, verdicts: [] });
  expect((await problemsOf(bench, "verdicts")).code).toBe(4);
  await bench.verdicts.add({ sandbox: "http://127.0.0.1:1", requests: 1, verdicts: [] });
  expect((await problemsOf(bench, "verdicts")).code).toBe(0);
});

test("a sandbox that a test leaves open makes the run inconclusive, unless a condition fails", async () => {
  const bench = await openObserved({ rateLimit: "1/1h" });
  const add = (requests: number | null) =>
    bench.verdicts.add({ sandbox: "http://127.0.0.1:1", requests, verdicts: [] });
  await add(null);
  const open = [
    expect.stringContaining("these were not checked: http://127.0.0.1:1. Await close() of each, or stop it."),
  ];
  expect(await problemsOf(bench, "verdicts")).toEqual({ code: 4, lines: open });
  expect(await findWarnings({ failOn: "", isGreen: true }, bench, bench.run)).toEqual(open);
  await beImpatient(bench);
  expect(await problemsOf(bench, "verdicts")).toMatchObject({ code: 3 });
  expect(await problemsOf(bench, "5xx")).toEqual({ code: 4, lines: open });
  await add(2);
  expect(await problemsOf(bench, "5xx")).toEqual({ code: 0, lines: [] });
});

test.each(["a reset", "a reset of the merchant", "the removal of the merchant"])(
  "with --fail-on verdicts, the run and its report still fail after %s",
  async (ending) => {
    const bench = await openObserved({ rateLimit: "1/1h" });
    const { id: merchant, apiKey: key } = await bench.merchants.add({});
    for (let call = 0; call < 3; call++) await bench.call("GET", "/v1/payments", { key });
    if (ending === "a reset") await bench.reset();
    else if (ending === "a reset of the merchant") await bench.reset({ merchant });
    else await bench.merchants.remove({ id: merchant });
    const { code, lines } = await problemsOf(bench, "verdicts");
    expect([code, lines[0]]).toEqual([3, expect.stringMatching(/^retry_after\.honoured payments\.list: .*req_\w+_2/)]);
    const report = await bench.report({ format: "junit", failOn: "verdicts", problems: lines.join("\n") });
    expect(report).toContain('<testcase classname="verdicts" name="retry_after.honoured payments.list"');
    await bench.verdicts.clear();
    expect((await problemsOf(bench, "verdicts")).code).toBe(0);
  },
);

test("--fail-on verdicts counts a delivery that is in flight when its merchant is removed", async () => {
  const bench = await openObserved();
  const receiver = await receive();
  const { id: merchant, apiKey: key } = await bench.merchants.add({ name: "refuses webhooks" });
  let answer = () => {};
  receiver.always((_, outgoing) => {
    answer = () => outgoing.writeHead(401).end();
  });
  await register(bench, receiver.url, ["*"], key);
  await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline", { key });
  await receiver.arrived(1);
  const removal = bench.merchants.remove({ id: merchant });
  // The removal of a merchant without deliveries does not wait for another merchant's delivery.
  const { id: other } = await bench.merchants.add({ fixture: "blank" });
  await bench.merchants.remove({ id: other });
  expect((await bench.merchants.list()).data.map(({ id }) => id)).toContain(merchant);
  answer();
  await removal;
  expect((await bench.merchants.list()).data.map(({ id }) => id)).not.toContain(merchant);
  const { code, lines } = await problemsOf(bench, "verdicts");
  expect([code, lines[0]]).toEqual([3, expect.stringMatching(/^webhook\.genuine_taken/)]);
  expect((await bench.deliveries.list({ merchant })).data).toMatchObject([{ status: "failed", responseStatus: 401 }]);
});

test("the failures that a wrong secret causes for several event types are listed as one problem", async () => {
  const bench = await openObserved();
  const receiver = await receive();
  receiver.always(401);
  await register(bench, receiver.url);
  for (const type of ["payment.succeeded", "payout.paid", "payment.succeeded"]) await deliver(bench, type);
  const { lines } = await problemsOf(bench, "verdicts");
  expect(lines).toEqual([
    expect.stringMatching(/^webhook\.genuine_taken: .* got a 401\. .* And 2 more verdicts like it\.$/),
  ]);
  receiver.always(400);
  await deliver(bench, "payout.paid");
  expect((await problemsOf(bench, "verdicts")).lines).toHaveLength(2);
});

const halfBody: Step = (_, outgoing) => {
  outgoing.writeHead(200, { "content-length": 20 });
  outgoing.write("half", () => outgoing.destroy());
};

test.each<[string, Step, answer: string]>([
  ["an error", { status: 500, body: "out of stock" }, "a 500: out of stock. The receiver's log says why"],
  ["half a response", halfBody, "only a part of a 200: half. If "],
])("a green run names the webhooks whose attempts all got %s", async (_, step, answer) => {
  const bench = await openObserved({ retrySchedule: "10s" });
  const receiver = await receive();
  receiver.always(step);
  await register(bench, receiver.url, ["payout.paid", "payout.failed"]);
  await deliver(bench, "payout.paid");
  await deliver(bench, "payout.failed");
  await advance(bench, "10s");
  await settle(bench);
  expect((await problemsOf(bench, "verdicts,inconclusive")).lines).toEqual([]);
  const lines = await findWarnings({ failOn: "verdicts,inconclusive", isGreen: true }, bench, bench.run);
  const start = `Not accepted: 2 webhooks at ${receiver.url}, the last one payout.failed evt_`;
  expect(lines).toContainEqual(expect.stringContaining(start));
  expect(lines).toContainEqual(expect.stringContaining(`, which got ${answer}`));
  const report = async (format: string) => (await bench.call("GET", `/_sandbox/report?format=${format}`)).text;
  expect(await report("markdown")).not.toContain("✅");
  expect(await report("markdown")).toMatch(/^# .*, but the receiver did not accept 2 webhooks;/);
  expect(await report("html")).toContain("but the receiver did not accept 2 webhooks");
  expect(await report("junit")).toContain("The receiver did not accept 2 webhooks");
});

test("a rejected forgery, or a webhook delivered by a retry, does not count against the receiver", async () => {
  const bench = await openObserved({ retrySchedule: "10s" });
  const receiver = await receive();
  await register(bench, receiver.url, ["payout.paid", "payout.failed"]);
  await bench.faults.add({ match: { event: "payout.failed" }, action: { type: "signature", as: "wrong_secret" } });
  receiver.script(401, 500);
  await deliver(bench, "payout.failed");
  await deliver(bench, "payout.paid");
  const counts = async () => (await bench.control("GET", "/report")).totals.notAccepted;
  expect([bench.run.failedWebhooks.size, await counts()]).toEqual([1, 1]);
  await advance(bench, "10s");
  await settle(bench);
  expect([bench.run.failedWebhooks.size, await counts()]).toEqual([0, 0]);
});

test.each<[string, Step, advice: RegExp]>([
  ["hangs", "hang", / within \d+ ms\. Store the event and respond before .* --webhook-timeout\.$/],
  ["closes", "reset", /If the receiver ended with the tests, let .* If it still runs, its log says why it failed\.$/],
  ["redirects", 302, / got a 302: .* Redirects are not followed, so register the final address\.$/],
])("the advice fits a receiver that %s", async (_, step, advice) => {
  const bench = await openObserved({ webhookTimeout: "200ms" });
  const receiver = await receive();
  receiver.always(step);
  await register(bench, receiver.url);
  await deliver(bench, "payout.paid");
  const lines = await findWarnings({ failOn: "", isGreen: false }, bench, bench.run);
  expect(lines).toEqual([expect.stringMatching(advice)]);
});

test.each(["", "verdicts"])("a green run with --fail-on %j names the webhooks that got no response", async (failOn) => {
  const bench = await openObserved({ retrySchedule: "10s,10s" });
  const receiver = await receive();
  await register(bench, receiver.url, ["payout.paid", "payout.failed"]);
  const found = async () => {
    const lines = await findWarnings({ failOn, isGreen: true }, bench, bench.run);
    const failed = lines.filter((line) => /^(?:No response|Not accepted)/.test(line));
    // A failed run gets only these warnings: they may explain the failure.
    expect(await findWarnings({ failOn, isGreen: false }, bench, bench.run)).toEqual(failed);
    expect(lines.length).toBeGreaterThan(failed.length);
    return failed;
  };
  await bench.faults.add({ match: { event: "payout.paid" }, action: { type: "drop" } });
  await deliver(bench, "payout.paid");
  expect(await found()).toEqual([]);
  receiver.script("reset", "reset");
  const events = [await deliver(bench, "payout.paid"), await deliver(bench, "payout.failed")];
  const start = `No response to 2 webhooks at ${receiver.url}, the last one payout.failed evt_`;
  const why = "closed before the response was complete. If the receiver ended with the tests, let the";
  expect(await found()).toEqual([expect.stringContaining(why)]);
  expect((await found())[0]).toContain(start);
  // Responses to three retries: of the dropped attempt, and of the two attempts without a response.
  receiver.script(200, "reset", 500);
  await advance(bench, "10s");
  await settle(bench);
  expect(await found()).toHaveLength(2);
  expect(await found()).toContainEqual(expect.stringContaining("No response to 1 webhook at "));
  expect(await found()).toContainEqual(expect.stringContaining("Not accepted: 1 webhook at "));
  for (const id of events) await bench.events.replay({ id });
  await settle(bench);
  expect(await found()).toEqual([]);
  await receiver.close();
  await register(bench, receiver.url.replace("/hooks", "/other"), ["payment.succeeded"]);
  await deliver(bench, "payment.succeeded");
  expect(await found()).toEqual([
    expect.stringMatching(/ at \S+\/other, .*: Nothing listens at 127\S+ \(ECONNREFUSED\)\. Start /),
  ]);
});

test("a scenario with delivery faults only is not listed among the scenarios that matched no call", async () => {
  const bench = await openObserved();
  await bench.call("GET", "/v1/payouts");
  const untested = async () => (await findWarnings({ failOn: "verdicts", isGreen: true }, bench, bench.run))[0];
  await bench.scenarios.start({ name: "webhook-storm" });
  expect(await untested()).toContain("were not tested: add --scenario lost-response to test them.");
  for (const name of ["lost-response", "payroll-day"]) await bench.scenarios.start({ name });
  expect(await untested()).toContain("were not tested: no call met lost-response, payroll-day.");
});

test("--fail-on score requires that armed scenarios pass; score=n requires n points", async () => {
  const bench = await openObserved();
  await bench.call("GET", "/v1/payouts");
  expect((await problemsOf(bench, "score")).lines).toEqual([expect.stringContaining("arm one with --scenario <name>")]);
  await bench.scenarios.start({ name: "lost-response" });
  expect((await problemsOf(bench, "score=0")).code).toBe(0);
  expect((await problemsOf(bench, "score=8")).lines).toEqual([
    expect.stringMatching(/^lost-response: .* At least 8 points are required\.$/),
  ]);
  expect((await problemsOf(bench, "score")).code).toBe(3);
});

/** The titles of the Markdown and HTML reports, and the failed test cases of the JUnit report. */
async function headlines(bench: Bench, failOn: string, problems: string[] = []) {
  const report = async (format: "markdown" | "html" | "junit") =>
    (await bench.report({ format, failOn, problems: problems.join("\n") })) as unknown as string;
  const [title] = (await report("markdown")).split("\n");
  const pill = /<h1>Sandbox run<\/h1><span class="chip pill (\w+)">([^<]+)/.exec(await report("html"))?.slice(1);
  const cases = [...(await report("junit")).matchAll(/<testcase classname="(\w+)" name="([^"]+)"[^>]*>\s*<failure/g)];
  return { title, pill, failures: cases.map(([, suite, name]) => `${suite}: ${name}`) };
}

test("with --fail-on verdicts, a failed audit fails the run, and each report lists it", async () => {
  const bench = await openObserved();
  const receiver = await receive();
  const { probes } = await bench.audit({ url: receiver.url, secret: "whsec_any" });
  const failed = probes.filter(({ verdict }) => verdict === "fail").map(({ probe }) => probe);
  const { code, lines } = await problemsOf(bench, "verdicts");
  expect([code, lines]).toEqual([
    3,
    [expect.stringContaining(`audit ${receiver.url}: ${failed.length} probes failed`)],
  ]);
  expect(await headlines(bench, "verdicts", lines)).toEqual({
    title: "# ❌ The run failed",
    pill: ["red", "The run failed"],
    failures: [`checks: audit ${receiver.url}`],
  });
  expect(await headlines(bench, "")).toEqual({
    title: "# ⚠️ The run passed, but 1 audit failed",
    pill: ["yellow", "The run passed, but 1 audit failed"],
    failures: [],
  });
  const { checks, failed: isFailed } = (await bench.report()) as RunReport;
  expect([isFailed, checks.map(({ kind, verdict }) => [kind, verdict])]).toEqual([true, [["audit", "fail"]]]);
  expect(checks[0]?.probes.map(({ probe }) => probe)).toEqual(probes.map(({ probe }) => probe));
  for (const format of ["markdown", "html"] as const) {
    const text = ((await bench.report({ format })) as unknown as string).replaceAll("\\", "");
    expect(failed.filter((probe) => !text.includes(probe))).toEqual([]);
  }
  await bench.verdicts.clear();
  expect((await problemsOf(bench, "5xx,verdicts")).lines).toEqual([expect.stringContaining("No request arrived")]);
});

test("with --fail-on verdicts, a failed expectation of effects fails the run, even after a reset", async () => {
  const bench = await openObserved();
  const receiver = await receive();
  await register(bench, receiver.url, ["payment.succeeded"]);
  await bench.events.trigger({ type: "payment.succeeded" });
  await settle(bench);
  const verify = async (made: number) =>
    (await bench.verify({ all: [{ effects: { match: { event: "payment.succeeded" }, made } }] })).verdict;
  // A test may repeat the expectation until the receiver has acted.
  expect([await verify(0), (await problemsOf(bench, "verdicts")).code]).toEqual(["fail", 3]);
  expect([await verify(1), (await problemsOf(bench, "verdicts")).code]).toEqual(["pass", 0]);
  expect((await headlines(bench, "verdicts")).title).toBe("# ✅ Every verdict is pass");
  expect([await verify(2), await verify(1)]).toEqual(["fail", "pass"]);
  await bench.reset();
  const line =
    "effects payment.succeeded: The receiver acted 2 times on 1 event: it acts more than once on the same event.";
  expect(await problemsOf(bench, "verdicts")).toEqual({ code: 3, lines: [line] });
  expect((await headlines(bench, "verdicts", [line])).failures).toEqual(["checks: effects payment.succeeded"]);
  expect((await headlines(bench, "5xx")).title).toBe("# ⚠️ The run passed, but 1 expectation failed");
  // Outside of `exec`, a report covers only the time since the reset.
  expect(((await bench.report()) as RunReport).checks).toEqual([]);
  await bench.verdicts.clear();
  expect((await problemsOf(bench, "verdicts")).code).toBe(0);
});

test("--fail-on inconclusive accepts a duplicate whose effects a test counted", async () => {
  const bench = await openObserved();
  const receiver = await receive();
  await register(bench, receiver.url, ["payment.succeeded"]);
  await bench.faults.add({ match: { event: "payment.succeeded" }, action: { type: "duplicate", copies: 2 } });
  await bench.events.trigger({ type: "payment.succeeded" });
  await settle(bench);
  const notChecked = expect.stringContaining("Not checked: whether the receiver acted once on evt_");
  expect(await problemsOf(bench, "inconclusive")).toEqual({ code: 4, lines: [notChecked] });
  await bench.verify({ all: [{ effects: { match: { event: "payment.succeeded" }, made: 1 } }] });
  expect(await problemsOf(bench, "inconclusive")).toEqual({ code: 0, lines: [] });
});

test.each(["stop", "reset", "restart"])(
  "--fail-on score still counts a failed scenario after a %s, until the verdicts are cleared",
  async (end) => {
    const bench = await openObserved({ scenario: "rate-limit-burst" });
    for (let call = 0; call < 40; call++) await bench.call("GET", "/v1/payments");
    expect((await problemsOf(bench, "score")).code).toBe(3);
    const [line = ""] = (await problemsOf(bench, "score")).lines;
    if (end === "stop") await bench.scenarios.stop({ name: "rate-limit-burst" });
    else if (end === "reset") await bench.reset();
    else await bench.scenarios.start({ name: "rate-limit-burst" });
    expect(await problemsOf(bench, "score")).toEqual({ code: 3, lines: [line] });
    await bench.verdicts.clear();
    const { lines } = await problemsOf(bench, "score");
    expect(lines).not.toContain(line);
  },
);

test("a wrong count of effects fails a scenario, and later events do not change its verdict", async () => {
  const bench = await openObserved();
  const receiver = await receive();
  await register(bench, receiver.url, ["payment.succeeded"]);
  const play = async (name: string, made: number) => {
    await bench.scenarios.start({ name, effects: 0, event: "payment.succeeded" });
    await bench.events.trigger({ type: "payment.succeeded" });
    await advance(bench, "10s");
    await settle(bench);
    return (await bench.scenarios.count({ name, effects: made })).verdict;
  };
  expect(await play("webhook-storm", 1)).toBe("pass");
  expect((await problemsOf(bench, "score")).code).toBe(0);
  // The count covers only the event that was delivered before it. A later event does not count as lost.
  await bench.events.trigger({ type: "payment.succeeded" });
  await advance(bench, "10s");
  await settle(bench);
  expect((await bench.scenarios.get({ name: "webhook-storm" })).verdict).toBe("pass");
  await bench.scenarios.stop({ name: "webhook-storm" });
  expect((await problemsOf(bench, "score")).code).toBe(0);
  expect(await play("webhook-storm", 3)).toBe("fail");
  expect((await problemsOf(bench, "score=8")).lines).toEqual([expect.stringContaining("webhook.single_effect failed")]);
  expect((await headlines(bench, "verdicts")).title).toBe("# ⚠️ The run passed, but 1 scenario failed");
});

test.each<[ending: string, end: (bench: Observed) => Promise<unknown>]>([
  ["a reset", (bench) => bench.reset()],
  ["a reset of the merchant", (bench) => bench.reset({ merchant: "mer_lodge" })],
  [
    "a snapshot",
    async (bench) => {
      await bench.snapshots.save({ name: "later" });
      await bench.reset();
      await bench.snapshots.restore({ name: "later" });
    },
  ],
])("--fail-on uncovered and the report count the operations and events before %s", async (_, end) => {
  const bench = await openObserved();
  await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline", { body: {} });
  await end(bench);
  expect(await problemsOf(bench, "uncovered=bookings.decline,booking.declined")).toEqual({ code: 0, lines: [] });
  const { totals, coverage, events } = (await bench.report({ failOn: "uncovered" })) as RunReport;
  expect([totals.operations.called, totals.events.emitted]).toEqual([1, 1]);
  expect(coverage.find(({ operation }) => operation === "bookings.decline")?.calls).toBe(1);
  expect(events.find(({ type }) => type === "booking.declined")?.emitted).toBe(1);
});

test("--fail-on uncovered counts a removed merchant's calls and events, even if a new one has its name", async () => {
  const bench = await openObserved();
  const { id, apiKey: key } = await bench.merchants.add({ name: "again", fixture: "lodge" });
  await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline", { body: {}, key });
  await bench.merchants.remove({ id });
  await bench.merchants.add({ name: "again", fixture: "lodge" });
  expect((await problemsOf(bench, "uncovered=bookings.decline,booking.declined")).lines).toEqual([]);
});

test("--fail-on uncovered lists operations that were never called and events that were never sent", async () => {
  const bench = await openObserved();
  await bench.call("GET", "/v1/payments");
  await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline", { body: {} });
  const never = catalogue.length - 2;
  const expected: [conditions: string, code: number, lines: unknown[]][] = [
    [
      "uncovered",
      3,
      [expect.stringContaining(`${never} of ${catalogue.length} operations were never called, and at most 0 are `)],
    ],
    [`uncovered=${never - 1}`, 3, [expect.stringContaining(`at most ${never - 1}`)]],
    [`uncovered=${never}`, 0, []],
    ["uncovered=payments.list,booking.declined,bookings.decline", 0, []],
    [
      "verdicts,uncovered=payments.list,payouts.list,payment.succeeded,5xx",
      3,
      ["payouts.list was never called", "No payment.succeeded event was sent"],
    ],
  ];
  for (const [conditions, code, lines] of expected)
    expect([conditions, await problemsOf(bench, conditions)]).toEqual([conditions, { code, lines }]);
});

test.each([
  ["", 0],
  ["verdicts", 3],
  ["inconclusive", 0],
  ["5xx", 0],
  ["score", 3],
  ["uncovered=50", 0],
])("with --fail-on %j after a failed verdict, reports fail exactly if the run fails", async (failOn, expected) => {
  const bench = await openObserved({ scenario: "rate-limit-burst" });
  for (let call = 0; call < 40; call++) await bench.call("GET", "/v1/payments");
  await fail(bench, 500);
  await beImpatient(bench);
  const { code, lines: problems } = await problemsOf(bench, failOn);
  const cwd = folder();
  const file = (name: string) => join(cwd, name);
  const wanted = ["junit=r.xml", "markdown=r.md", "html=r.html", "json=r.json", "har=r.har"].map((one) =>
    one.replace("=", `=${cwd}/`),
  );
  for (const report of readReports(wanted.join(","))) await writeReport(report, runningAt(bench), { problems, failOn });
  const text = (name: string) => readFileSync(file(name), "utf8");
  const run = JSON.parse(text("r.json"));
  expect(run.totals.verdicts.fail).toBeGreaterThan(0);
  const isRed = {
    junit: !/<testsuites[^>]* failures="0"/.test(text("r.xml")),
    markdown: text("r.md").startsWith("# ❌"),
    html: /<h1>Sandbox run<\/h1><span class="chip pill red">/.test(text("r.html")),
    json: run.failed,
    har: JSON.parse(text("r.har")).log.comment?.startsWith("The run failed") ?? false,
  };
  const red = expected !== 0;
  expect([code, isRed]).toEqual([expected, { junit: red, markdown: red, html: red, json: red, har: red }]);
});
