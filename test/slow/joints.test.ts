// Tests of features that span several parts of the sandbox. The apps, clients and receivers use Express, fetch and
// plain sockets, but no code of the sandbox.

import { createHmac } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import express, { type Express, type Response } from "express";
import { describe, expect, test, vi } from "vitest";
import { createSandbox, ownMerchant } from "../../src/index.ts";
import { browserFile, inBrowser } from "../support/browser.ts";
import { browserForBlock } from "../support/browser-for-block.ts";
import { openTestDashboard } from "../support/dashboard.ts";
import { postingDatabase, repository } from "../support/hostile-folder.ts";
import { ANY_PORT, folder, launch, linesOf, NOWHERE, run, start } from "../support/program.ts";
import { call, control, listen, NOON, open } from "../support/sandbox.ts";
import { receive } from "../support/webhooks.ts";

const RULES = "/hospitality/pricing-rules";
const RULE = { name: "Weekend", adjustmentType: "percentage", adjustmentValue: 500 };
const PAYMENT = "payment.succeeded";

const addressOf = async (app: Express) => `http://127.0.0.1:${await listen(createServer(app))}`;

/** Posts a pricing rule, and retries twice if the connection fails. `keyOf` returns the key of each attempt. */
async function postRule(baseUrl: string, apiKey: string, keyOf: (time: number) => string): Promise<number> {
  for (let time = 0; ; time++)
    try {
      const headers = {
        authorization: `Bearer ${apiKey}`,
        "content-type": "application/json",
        "idempotency-key": keyOf(time),
      };
      const { status } = await fetch(baseUrl + RULES, { method: "POST", headers, body: JSON.stringify(RULE) });
      return status;
    } catch (error) {
      if (time === 2) throw error;
    }
}

test("in a sandbox mounted in an app, a fault cuts only one connection, and the judge sees the retry", async () => {
  await using sandbox = await createSandbox({ clock: NOON, listen: false });
  const app = express().use(express.json()).use("/pay", sandbox.middleware);
  const arrived = new Promise<Response>((resolve) => app.get("/slow", (_, response) => resolve(response)));
  const url = await addressOf(app);
  const slow = fetch(`${url}/slow`);
  const [good, bad] = [await ownMerchant(sandbox), await ownMerchant(sandbox)];
  for (const own of [good, bad])
    await own.faults.add({
      action: { type: "lost_response", as: "reset" },
      match: { operation: "pricing_rules.create" },
      trigger: { times: 1 },
    });
  expect(await postRule(`${url}/pay/v1`, good.apiKey, () => "one")).toBe(200);
  expect(await postRule(`${url}/pay/v1`, bad.apiKey, (time) => `try-${time}`)).toBe(200);
  (await arrived).send("the app's");
  expect(await (await slow).text()).toBe("the app's");
  const verdictsOf = async (merchant: string) =>
    Object.fromEntries((await sandbox.verdicts.list({ merchant })).data.map(({ rule, verdict }) => [rule, verdict]));
  expect(await verdictsOf(good.id)).toMatchObject({ "idempotency.key_reused": "pass", "effect.single": "pass" });
  expect(await verdictsOf(bad.id)).toMatchObject({ "idempotency.key_reused": "fail", "effect.single": "fail" });
});

test("parallel tests with their own merchants get the same bytes and request count in any order", async () => {
  const names = ["pays", "declines", "lists", "waits"];
  const runTests = async (order: readonly string[], atOnce: number) => {
    await using sandbox = await createSandbox({ clock: NOON, isolation: "strict" });
    const app = express().post("/decline", async (request, response) => {
      const headers = { authorization: "Bearer sk_test_lodge", baggage: String(request.headers.baggage) };
      const url = `${sandbox.baseUrl}/hospitality/bookings/bkg_pending/decline`;
      const answer = await fetch(url, { method: "POST", headers });
      response.send(`${answer.status} ${answer.headers.get("x-sandbox-request-id")} ${await answer.text()}`);
    });
    const url = await addressOf(app);
    const left = [...order];
    const bytes: Record<string, unknown> = {};
    const worker = async () => {
      for (let name = left.shift(); name !== undefined; name = left.shift()) {
        const own = await ownMerchant(sandbox, { name });
        const rule = { action: { type: "status", status: 503 }, trigger: { probability: 0.5 } } as const;
        await own.faults.add(rule);
        const answers: string[] = [];
        for (let time = 0; time < 4; time++)
          answers.push(
            await (await fetch(`${url}/decline`, { method: "POST", headers: { baggage: own.baggage } })).text(),
          );
        bytes[name] = [answers, (await own.events()).map(({ id, type }) => `${id} ${type}`)];
      }
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
    const { requests } = (await sandbox.report({ format: "json" })) as { requests: object[] };
    return { bytes, requests: requests.length };
  };
  const alone = await runTests(names, 1);
  expect(await runTests(names.toReversed(), 3)).toEqual(alone);
  expect(JSON.stringify(alone.bytes)).toContain("bkg_pending");
});

test("exec sends no delivery of a foreign database, and the run's own events decide the exit code", async () => {
  const [stranger, own] = [await receive(), await receive()];
  own.always(401);
  const { database } = await postingDatabase(stranger.url);
  const cwd = repository({ "sandbox.db": readFileSync(database) })();
  const script = `
    const call = (path, method) => fetch(process.env.MERCHANT_BASE_URL + path, { method, headers: {
      authorization: "Bearer " + process.env.MERCHANT_API_KEY } });
    await call("/hospitality/bookings/bkg_pending/decline", "POST");
    await fetch(process.env.MERCHANT_SANDBOX_URL + "/_sandbox/drain", { method: "POST" });`;
  writeFileSync(join(cwd, "test.mjs"), script);
  const words = ["exec", "--db", "sandbox.db", "--life", "off", "--forward-to", own.url, "--fail-on", "verdicts"];
  const { code, error } = await run(
    [...words, "--report", "json=report.json", "--", process.execPath, "test.mjs"],
    ANY_PORT,
    cwd,
  );
  expect(stranger.arrivals).toEqual([]);
  expect(own.arrivals.length).toBeGreaterThan(0);
  expect([code, error]).toEqual([3, expect.stringContaining("webhook.genuine_taken")]);
  expect(JSON.parse(readFileSync(join(cwd, "report.json"), "utf8")).failed).toBe(true);
});

test("a changed assumption applies to the service, a user's lesson, the list and the OpenAPI document", async () => {
  const lessons = folder();
  const check = { requests: { match: { operation: "bookings.decline", status: 202 } } };
  writeFileSync(
    join(lessons, "01-decline.md"),
    `# Decline\n\nAbout it.\n\n## 1. Decline\n\nDecline.\n\n<!-- check: ${JSON.stringify(check)} -->\n`,
  );
  const bench = await open({ lessons, assumptions: { "bookings.decline.status": 202 } });
  const { learner, apiKey: key } = await bench.control("POST", "/learners", { name: "Ana" });
  await bench.control("POST", `/learners/${learner.id}/lesson`, { name: "decline" });
  const { status } = await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline", { key });
  expect(status).toBe(202);
  const after = await bench.control("GET", `/learners/${learner.id}`);
  expect(JSON.stringify(after)).toContain('"completed"');
  const { facts } = await bench.control("GET", "/assumptions");
  expect(facts).toContainEqual(expect.objectContaining({ id: "bookings.decline.status", value: 202, default: 200 }));
  const { paths } = await bench.control("GET", "/openapi.json");
  expect(Object.keys(paths["/hospitality/bookings/{id}/decline"].post.responses)).toContain("202");
});

test("agents reach a detached sandbox through its folder, which holds the control token", async () => {
  const cwd = folder();
  const token = "a-token-of-my-own";
  const words = ["start", "--detach", "--json", "--memory", "--port", "0", "--control-token", token];
  const { url } = JSON.parse((await run(words, {}, cwd)).out[0] ?? "{}");
  const ask = async (place: string, ...flags: string[]) => {
    const program = launch(["mcp", ...flags], NOWHERE, place);
    const params = { name: "overview", arguments: {} };
    program.child.stdin?.end(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params })}\n`);
    const { result } = JSON.parse((await program.ended).out[0] ?? "{}");
    return result.content[0].text as string;
  };
  try {
    expect(JSON.parse(await ask(cwd))).toMatchObject({ baseUrl: `${url}/v1` });
    expect(await ask(folder(), "--url", url)).toMatch(/control token|--control-token/i);
    expect(JSON.parse(await ask(folder(), "--url", url, "--control-token", token))).toMatchObject({
      baseUrl: `${url}/v1`,
    });
  } finally {
    await run(["stop", "--url", url], {}, cwd);
  }
});

test("the control API explains a signature of re-serialised JSON, and other views show the 401", async () => {
  const bench = await open({ endpoints: [], assumptions: {} });
  const signatures: { body: string; signature: string; own: string }[] = [];
  let secret = "";
  const app = express().post("/hooks", express.text({ type: "*/*" }), (request, response) => {
    const body = String(request.body);
    const own = createHmac("sha256", secret)
      .update(JSON.stringify(JSON.parse(body)))
      .digest("hex");
    const signature = String(request.headers["x-webhook-signature"]);
    signatures.push({ body, signature, own });
    response.status(own === signature ? 200 : 401).send("signature mismatch");
  });
  const { body: endpoint } = await bench.call("POST", "/v1/webhooks", {
    body: { url: `${await addressOf(app)}/hooks`, events: [PAYMENT] },
  });
  secret = endpoint.secret;
  await bench.events.trigger({ type: PAYMENT });
  await bench.clock.advance({ by: "0s" });
  const [first] = signatures;
  const { data: attempts } = await bench.deliveries.list({});
  await bench.events.replay({ id: String(attempts[0]?.eventId) });
  await bench.clock.advance({ by: "0s" });
  expect(signatures[1]?.body).toBe(first?.body);
  expect(first?.body).toContain('\n  "');
  const explained = await bench.control("POST", "/signature/explain", {
    endpoint: endpoint.id,
    body: first?.body,
    signature: first?.own,
  });
  expect(explained.explanation).toMatch(/parsed and re-serialised/);
  expect((await linesOf(bench, "deliveries", String(attempts[0]?.id))).join("\n")).toContain("401");
  const dashboard = await openTestDashboard(bench.url, 160, 50);
  await dashboard.run(":", ...String(attempts[0]?.id), "enter");
  expect(dashboard.screen().join("\n")).toMatch(/✗ 401[^\n]*signature mismatch/);
});

test("after kill -9, the log has no gap, the report counts its rows, and no request number is used twice", async () => {
  const db = join(folder(), "sandbox.db");
  const first = await start(["--db", db, "--clock", "real"]);
  const ids: string[] = [];
  for (let time = 0; time < 20; time++) await call(first.url, "GET", "/v1/payments?limit=1");
  // Reading the request log writes pending rows to the file.
  expect((await control(first.url, "GET", "/requests?limit=100")).data.length).toBe(20);
  let isOver = false;
  const client = async () => {
    while (!isOver)
      await fetch(`${first.url}/v1/payments?limit=1`, { headers: { authorization: "Bearer sk_test_lodge" } }).then(
        async (response) => {
          await response.text();
          ids.push(String(response.headers.get("x-sandbox-request-id")));
        },
        () => {},
      );
  };
  const clients = Array.from({ length: 4 }, client);
  await vi.waitUntil(() => ids.length > 200, 60_000);
  await first.kill();
  isOver = true;
  await Promise.all(clients);
  const second = await start(["--db", db, "--clock", "real"]);
  const numberOf = (id: string) => Number(id.split("_").at(-1));
  const logged: number[] = [];
  for (let after = ""; ; ) {
    const { data, has_more } = await control(second.url, "GET", `/requests?limit=100${after}`);
    logged.unshift(...data.map(({ id }: { id: string }) => numberOf(id)).toReversed());
    if (!has_more) break;
    after = `&starting_after=${data.at(-1).id}`;
  }
  expect(logged.length).toBeGreaterThanOrEqual(20);
  expect(logged).toEqual(logged.map((_, index) => index + 1));
  const report = await control(second.url, "GET", "/report");
  expect(report.totals.requests).toBe(logged.length);
  const next = await call(second.url, "GET", "/v1/payments?limit=1");
  expect(numberOf(String(next.headers["x-sandbox-request-id"]))).toBeGreaterThan(Math.max(...ids.map(numberOf)));
  await second.kill();
});

test("after a merchant is removed, its trace and the verdict on its delivery in flight remain", async () => {
  const bench = await open({ clock: "real", traceDeliveries: true });
  const own = await ownMerchant(bench);
  const app = express().post("/hooks", async (request, response) => {
    const headers = { authorization: `Bearer ${own.apiKey}`, traceparent: String(request.headers.traceparent) };
    await fetch(`${bench.baseUrl}/payments?limit=1`, { headers });
    setTimeout(() => response.status(401).send("no"), 300);
  });
  await bench.call("POST", "/v1/webhooks", {
    key: own.apiKey,
    body: { url: `${await addressOf(app)}/hooks`, events: ["booking.declined"] },
  });
  const declined = await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline", {
    key: own.apiKey,
    headers: { traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" },
  });
  await own.remove();
  const { data } = await bench.verdicts.list({ merchant: own.id });
  expect(data).toContainEqual(expect.objectContaining({ rule: "webhook.genuine_taken", verdict: "fail" }));
  const { steps } = await bench.traces.get({ id: String(declined.headers["x-sandbox-request-id"]) });
  expect(steps.map(({ kind }) => kind)).toEqual(["request", "event", "delivery", "request"]);
});

describe.runIf(browserFile)(inBrowser, () => {
  const browser = browserForBlock();

  test("dev --watch loads a fixture that the page saved, and the app keeps running", async () => {
    const [cwd, made] = [folder(), await open()];
    const mine = join(cwd, "mine.json");
    await linesOf(made, "fixture", "save", "lodge", mine);
    const app = 'console.log("app", process.pid); setInterval(() => {}, 1_000);';
    const words = ["dev", "--watch", "--json", "--memory", "--port", "0", "--fixtures", "mine.json"];
    const program = launch([...words, "--", process.execPath, "-e", app], {}, cwd);
    const said = (event: string) => program.line((line) => line.startsWith(`{"event":"${event}"`));
    const { url } = JSON.parse(await said("ready"));
    const statusOf = async () => (await control(url, "GET", "/records/booking/bkg_pending?merchant=mer_lodge")).status;
    expect(await statusOf()).toBe("pending");
    await made.records.move({ kind: "booking", id: "bkg_pending", status: "confirmed" });
    const page = await browser.open(`${made.url}/`);
    await page.downloadTo(cwd);
    await page.press("7");
    await page.shows(`document.body.innerText.includes("sk_test_lodge")`);
    await page.click(".keys button", "fixture");
    await vi.waitFor(() => JSON.parse(readFileSync(join(cwd, "lodge.json"), "utf8")), 30_000);
    renameSync(join(cwd, "lodge.json"), mine);
    await said("reloaded");
    expect(await statusOf()).toBe("confirmed");
    program.child.kill("SIGINT");
    const { out } = await program.ended;
    expect(out.filter((line) => line.includes('"line":"app '))).toHaveLength(1);
  });
});
