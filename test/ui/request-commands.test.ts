// The commands on requests: edit and resend, and compare two tries.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { topOverlay } from "../../ui/state/updates.ts";
import { loggedRequests, openTestDashboard, type TestDashboard, typing } from "../support/dashboard.ts";
import { withLiveEvents } from "../support/live-rows.ts";
import { attempted, type Bench, open, RULES } from "../support/sandbox.ts";

const shell = promisify(execFile);
const rule = { name: "Weekend", adjustmentType: "fixed", adjustmentValue: 1 };

/** A dashboard that shows the requests that the sandbox has answered. */
async function withRequests(bench: Bench): Promise<TestDashboard> {
  const desk = await openTestDashboard(bench.url, 120, 60);
  desk.state = withLiveEvents(desk.state, await loggedRequests(bench));
  return desk;
}

const text = (desk: TestDashboard) => desk.screen().join("\n");

test("E edits a request and sends it again", async () => {
  const bench = await open();
  await bench.call("POST", RULES, { body: rule, headers: { "idempotency-key": "once" } });
  const desk = await withRequests(bench);
  await desk.run("E");
  expect(text(desk)).toContain("Edit and resend req_lodge_1");
  const body = JSON.stringify({ ...rule, name: "Easter" });
  desk.press(...typing(body), "tab", "tab", "tab", ...typing("twice"), "enter");
  expect(desk.waiting()).toEqual([
    {
      method: "POST",
      path: RULES,
      key: "sk_test_lodge",
      headers: { "Idempotency-Key": "twice", "Content-Type": "application/json" },
      body,
    },
  ]);
  await desk.settle();
  expect(desk.state.notice?.text).toBe("Sent the edited req_lodge_1");
  const { data } = await bench.control("GET", "/requests");
  expect(data[0]).toMatchObject({ id: "req_lodge_2", path: RULES, status: 200, idempotencyKey: "twice" });
});

test("E sends an unchanged body byte for byte, and keeps the form open if the request is rejected", async () => {
  const bench = await open();
  await bench.call("POST", RULES, { body: JSON.stringify(rule, null, 4) });
  const desk = await withRequests(bench);
  await desk.run("E");
  desk.press("enter");
  expect(desk.waiting()[0]?.body).toBe(JSON.stringify(rule, null, 4));
  await desk.settle();
  await desk.run("E");
  await desk.run(...typing("{}"), "enter");
  expect(topOverlay(desk.state)?.title).toBe("Edit and resend req_lodge_1");
  expect(desk.state.notice?.style).toBe("failure");
});

test("r resends a path with /../ unchanged, so the call does not reach the control API", async () => {
  const bench = await open();
  const path = "/v1/../_sandbox/reset";
  const { id } = await bench.control("POST", "/records/customer", { merchant: "mer_lodge", name: "Canary" });
  await bench.call("POST", path, { body: {} });
  const desk = await withRequests(bench);
  attempted("Calls copied as curl");
  await desk.run("r");
  const { data } = await bench.control("GET", "/requests");
  expect(data.map((row: Record<string, unknown>) => [row.path, row.status])).toEqual([
    [path, 404],
    [path, 404],
  ]);
  expect((await bench.call("GET", `/v1/customers/${id}`)).status).toBe(200);
});

test("= compares a retry with its first try, and marks what differs", async () => {
  const bench = await open();
  const headers = { "idempotency-key": "same" };
  await bench.control("POST", "/faults", { action: { type: "status", status: 503 } });
  await bench.call("POST", RULES, { body: rule, headers });
  await bench.call("GET", "/v1/payments");
  await bench.call("POST", RULES, { body: rule, headers });
  const desk = await withRequests(bench);
  await desk.run("=");
  expect(topOverlay(desk.state)?.title).toBe("Compare req_lodge_1 and req_lodge_3");
  expect(text(desk)).toMatch(/ - status 503/);
  expect(text(desk)).toMatch(/ \+ status 200/);
  expect(text(desk)).toMatch(/request +the same[\s\S]*response +\d+ changed lines/);
  expect(text(desk)).not.toMatch(/ idempotency-key: same/);
  desk.press("escape", "k", "=");
  expect(desk.state.notice?.text).toContain("No other request here");
});

test("= hides the equal lines far from a difference", async () => {
  const bench = await open();
  for (let times = 0; times < 2; times++) await bench.call("GET", "/v1/payments?limit=5");
  const desk = await withRequests(bench);
  await desk.run("=");
  expect(text(desk)).toMatch(/ - X-Sandbox-Request-Id: req_lodge_1[\s\S]* {3}… \d+ equal lines/);
  expect(text(desk)).not.toContain('"livemode"');
});

test("! shows a copied command without borders, and a shell reads its wrapped lines as one command", async () => {
  const bench = await open();
  await bench.call("POST", RULES, {
    body: { ...rule, name: "A long name with spaces, for a body that is wider than the screen" },
  });
  const desk = await withRequests(bench);
  await desk.run("y");
  desk.press("!");
  const [copied = ""] = desk.copied;
  const lines = desk.screen(60, 30).slice(3);
  const shown = lines.slice(
    0,
    lines.findIndex((line) => line.startsWith("─")),
  );
  expect(lines.length).toBeGreaterThan(3);
  const { stdout } = await shell("sh", ["-c", `printf '%s\\n' ${shown.join("\n").trim()}`]);
  const whole = await shell("sh", ["-c", `printf '%s\\n' ${copied}`]);
  expect(stdout).toBe(whole.stdout);
});
