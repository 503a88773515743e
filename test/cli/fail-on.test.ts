// The conditions of `exec --fail-on`, and the reports of its run, in this process.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { catalogue } from "../../src/areas/index.ts";
import { findProblems, readConditions, readReports, writeReport } from "../../src/cli/ci/run-checks.ts";
import { sandboxAt } from "../../src/cli/remote/running-sandbox.ts";
import { folder } from "../support/program.ts";
import { type Bench, open } from "../support/sandbox.ts";

const runningAt = ({ url }: Bench) => sandboxAt({ url, controlToken: undefined });

/** The exit code of a run under these conditions, and its problems. */
async function problemsOf(bench: Bench, conditions: string) {
  const problems = await findProblems(readConditions(conditions || undefined), runningAt(bench).control);
  return { code: problems[0]?.exitCode ?? 0, lines: problems.flatMap(({ lines }) => lines) };
}

const fail = (bench: Bench, status = 503) => bench.call("GET", "/v1/payments", { headers: { "x-sandbox-inject": `status=${status}` } });

/** Repeats a call at once although the response asked it to wait. */
async function beImpatient(bench: Bench): Promise<void> {
  for (let call = 0; call < 3; call++) await bench.call("GET", "/v1/payments");
}

test("verdicts and inconclusive: a failed verdict takes precedence over an inconclusive one", async () => {
  const bench = await open({ rateLimit: "payouts.list=1/1h" });
  await bench.faults.add({ action: { type: "status", status: 503 }, trigger: { times: 1 }, expect: ["retry.happened"] });
  await bench.call("GET", "/v1/payments");
  expect(await problemsOf(bench, "verdicts")).toEqual({ code: 0, lines: [] });
  expect(await problemsOf(bench, "verdicts,inconclusive")).toMatchObject({ code: 4, lines: [expect.stringContaining("retry.happened: ")] });
  for (let call = 0; call < 3; call++) await bench.call("GET", "/v1/payouts");
  expect(await problemsOf(bench, "inconclusive,verdicts")).toMatchObject({ code: 3 });
  expect((await problemsOf(bench, "verdicts")).lines[0]).toMatch(/^retry_after\.honoured: .*req_/);
});

test("5xx names the requests, or counts those that have left the request log", async () => {
  const bench = await open();
  await bench.call("GET", "/v1/nowhere");
  expect((await problemsOf(bench, "5xx")).code).toBe(0);
  await fail(bench);
  expect(await problemsOf(bench, "5xx")).toEqual({ code: 3, lines: [expect.stringContaining("GET /v1/payments was answered 503")] });
  const { control } = runningAt(bench);
  const forgetful = {
    ...control,
    requests: { ...control.requests, list: async () => ({ object: "list" as const, data: [], has_more: false }) },
  };
  const [problem] = await findProblems(readConditions("5xx"), forgetful);
  expect(problem?.lines).toEqual(["payments.list was answered 503 ×1"]);
});

test("ignored names what had no effect", async () => {
  const bench = await open();
  await bench.call("GET", "/v1/payments?limit=1");
  expect((await problemsOf(bench, "ignored")).code).toBe(0);
  await bench.call("GET", "/v1/payments?expand=x", { headers: { "idempotency-key": "a" } });
  const line = "req_2 GET /v1/payments sent expand, Idempotency-Key, which has no effect";
  expect(await problemsOf(bench, "ignored")).toEqual({ code: 3, lines: [line] });
});

test("score requires that armed scenarios passed, or got this many points", async () => {
  const bench = await open();
  expect((await problemsOf(bench, "score")).lines).toEqual([expect.stringContaining("arm one with --scenario <name>")]);
  await bench.scenarios.start({ name: "lost-response" });
  expect((await problemsOf(bench, "score=0")).code).toBe(0);
  expect((await problemsOf(bench, "score=8")).lines).toEqual([
    expect.stringMatching(/^lost-response: .* At least 8 points are required\.$/),
  ]);
  expect((await problemsOf(bench, "score")).code).toBe(3);
});

test("uncovered lists operations never called and events never sent", async () => {
  const bench = await open();
  await bench.call("GET", "/v1/payments");
  await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline", { body: {} });
  const never = catalogue.length - 2;
  const expected: [conditions: string, code: number, lines: unknown[]][] = [
    [
      "uncovered",
      3,
      [expect.stringContaining(`${never} of ${catalogue.length} operations were never called, and at most 0 are allowed: `)],
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
  ["5xx", 3],
  ["score", 3],
  ["uncovered=50", 0],
])("reports fail exactly if the run does, with --fail-on %j after a failed verdict", async (failOn, expected) => {
  const bench = await open({ scenario: "rate-limit-burst" });
  for (let call = 0; call < 40; call++) await bench.call("GET", "/v1/payments");
  await fail(bench, 500);
  await beImpatient(bench);
  const { code, lines: problems } = await problemsOf(bench, failOn);
  const cwd = folder();
  const file = (name: string) => join(cwd, name);
  const wanted = ["junit=r.xml", "markdown=r.md", "html=r.html", "json=r.json", "har=r.har"].map((one) => one.replace("=", `=${cwd}/`));
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
