// The dashboard tells the truth: its counts are those of the sandbox, and it never says that nothing matches of rows that it has not looked at.

import { describe, expect, test } from "vitest";
import { load, pacedLoad } from "../support/load.ts";
import { type Bench, open } from "../support/sandbox.ts";
import { openProgram, USUAL, WIDE } from "../support/terminal.ts";
import { receive, register, settle, trigger } from "../support/webhooks.ts";

const attach = (url: string, size = WIDE) => openProgram(["attach", url], { size });

/** A client that repeats a call at once although Retry-After asks it to wait. */
async function failOnce(bench: Bench): Promise<void> {
  await bench.control("POST", "/faults", { action: { type: "rate_limit", retryAfter: 2 }, trigger: { times: 1 } });
  await bench.call("GET", "/v1/payments");
  await bench.call("GET", "/v1/payments");
  expect((await bench.control("GET", "")).made.verdicts.fail).toBeGreaterThan(0);
}

const unlimited = { rateLimit: "none" } as const;

describe("a dashboard that is attached late", () => {
  test("shows the counts of the sandbox, the failed verdict, and pages the log to its start", async () => {
    const bench = await open(unlimited);
    await failOnce(bench);
    await load(bench.url, 798, (number) => `/v1/payments?limit=${(number % 100) + 1}`);
    const terminal = attach(bench.url, USUAL);
    await terminal.shows((text) => text.includes("Requests") && /─ 800 {2}following/.test(text) && text.includes("limit=98"));
    expect(terminal.text()).toContain("retry_after.honoured failed");
    terminal.type("5");
    await terminal.shows(/✗ 1 failed +retry_after\.honoured/);
    terminal.type("1g");
    await terminal.shows((text) => /429 \* /.test(text) && !text.includes("not shown"));
    terminal.type("/is:fault");
    await terminal.shows(/\/is:fault {2}1 of 800/);
    terminal.type("\x1b/is:cut");
    await terminal.shows("No row matches is:cut");
    terminal.type("\x1bq");
    await terminal.ended;
    const { made } = await bench.control("GET", "");
    expect(terminal.bytes()).toContain(`800 requests, 0 delivery attempts, ${made.verdicts.fail} failed verdicts`);
  });

  test("finds every match of a filter in the log, whatever it had shown before", async () => {
    const bench = await open(unlimited);
    await load(bench.url, 3_000, (number) => (number % 400 === 7 ? "/v1/needle" : "/v1/payments?limit=1"));
    const terminal = attach(bench.url);
    await terminal.shows("3,000");
    terminal.type("/status:404");
    await terminal.shows(/\/status:404 {2}8 of 3,000/);
  });
});

describe("under load", () => {
  test("eight needles among 1,500 requests a second are all shown, and two dashboards agree with the API on every count", async () => {
    const bench = await open(unlimited);
    const [filtered, whole] = [attach(bench.url), attach(bench.url, USUAL)];
    await Promise.all([filtered.shows("LIVE"), whole.shows("LIVE")]);
    filtered.type("/status:404\r");
    await filtered.shows("/status:404");
    await pacedLoad(bench.url, 1_500, 6_000, (number) => (number % 750 === 11 ? `/v1/needle-${number}` : "/v1/payments?limit=1"));
    const { made, kept } = await bench.control("GET", "");
    expect([made, kept]).toMatchObject([{ requests: 6_000 }, { requests: 6_000 }]);
    await filtered.shows(/\/status:404 {2}8 of 6,000/);
    expect(filtered.text().match(/\/v1\/needle-\d+/g)).toHaveLength(8);
    await whole.shows(/─ 6,000 {2}following/);
    await failOnce(bench);
    for (const terminal of [filtered, whole]) await terminal.shows(/6,002/);
    for (const terminal of [filtered, whole]) await terminal.shows("✗ retry_after.honoured failed");
    const receiver = await receive();
    receiver.always(500);
    await register(bench, receiver.url);
    for (let times = 0; times < 3; times++) await trigger(bench);
    await settle(bench);
    const after = await bench.control("GET", "");
    expect(after).toMatchObject({ pendingDeliveries: 3, made: { requests: 6_006, attempts: 3 }, kept: { requests: 6_006, attempts: 3 } });
    whole.type("2");
    for (const terminal of [filtered, whole])
      await terminal.shows((text) => /2 Deliveries ─.*─ 3 {2}following/.test(text) && text.includes("3 pending"));
    await filtered.shows(/8 of 6,006/);
  });
});

test("no attempt waits for a next one that was cancelled: its endpoint was deleted or is gone, or its merchant was removed", async () => {
  const bench = await open(unlimited);
  const [failing, gone] = [await receive(), await receive()];
  failing.always(500);
  gone.script(500, 410);
  const other = await bench.control("POST", "/merchants", { fixture: "lodge" });
  const { id } = await register(bench, failing.url, ["payment.succeeded"]);
  await register(bench, gone.url, ["payment.failed"]);
  await register(bench, failing.url, ["*"], other.apiKey);
  const terminal = attach(bench.url);
  await terminal.shows("LIVE");
  terminal.type("2");
  await trigger(bench);
  await trigger(bench, "payment.failed");
  await trigger(bench, "payment.failed", { amount: 1 }, other.apiKey);
  await settle(bench);
  const waiting = () => terminal.text().match(/~ (next in|due now)/g)?.length ?? 0;
  await terminal.shows(() => waiting() === 3);
  await bench.control("DELETE", `/merchants/${other.merchant}`);
  await terminal.shows(() => waiting() === 2);
  await bench.call("DELETE", `/v1/webhooks/${id}`);
  await terminal.shows(() => waiting() === 1);
  await trigger(bench, "payment.failed");
  await settle(bench);
  await terminal.shows((text) => /payment\.failed .* 410 +✗ failed/.test(text) && waiting() === 0);
  expect(await bench.control("GET", "")).toMatchObject({ pendingDeliveries: 0, made: { attempts: 4 } });
});

test("a wrong address of attach is said instead of how to make the first request", async () => {
  const terminal = attach("http://127.0.0.1:9", USUAL);
  await terminal.shows((text) => text.includes("No sandbox answers at http://127.0.0.1:9: connection refused."));
  expect(terminal.text()).not.toContain("No requests yet");
});
