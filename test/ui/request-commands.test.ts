// The commands on requests: edit and resend, compare two tries, export the listed rows.

import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test, vi } from "vitest";
import { topOverlay } from "../../ui/state/updates.ts";
import { loggedRequests, openTestDashboard, type TestDashboard, typing } from "../support/dashboard.ts";
import { withLiveEvents } from "../support/live-rows.ts";
import { folder } from "../support/program.ts";
import { type Bench, open } from "../support/sandbox.ts";

const shell = promisify(execFile);
const RULES = "/v1/hospitality/pricing-rules";
const rule = { name: "Weekend", adjustmentType: "fixed", adjustmentValue: 1 };

/** A dashboard that shows the requests which the sandbox has answered. */
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
  expect(text(desk)).toContain("Edit and resend req_1");
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
  expect(desk.state.notice?.text).toBe("Sent the edited req_1");
  const { data } = await bench.control("GET", "/requests");
  expect(data[0]).toMatchObject({ id: "req_2", path: RULES, status: 200, idempotencyKey: "twice" });
});

test("E sends an unchanged body byte for byte, and keeps the form open with the error of a rejected one", async () => {
  const bench = await open();
  await bench.call("POST", RULES, { body: JSON.stringify(rule, null, 4) });
  const desk = await withRequests(bench);
  await desk.run("E");
  desk.press("enter");
  expect(desk.waiting()[0]?.body).toBe(JSON.stringify(rule, null, 4));
  await desk.settle();
  await desk.run("E");
  await desk.run(...typing("{}"), "enter");
  expect(topOverlay(desk.state)?.title).toBe("Edit and resend req_1");
  expect(desk.state.notice?.style).toBe("failure");
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
  expect(topOverlay(desk.state)?.title).toBe("req_1 and req_3");
  expect(text(desk)).toMatch(/ - status 503/);
  expect(text(desk)).toMatch(/ \+ status 200/);
  expect(text(desk)).toMatch(/ {3}idempotency-key: same/);
  desk.press("escape", "k", "=");
  expect(desk.state.notice?.text).toContain("No other request here");
});

test("a shown command has no border beside it, and the lines of a long one are one command for a shell", async () => {
  const bench = await open();
  await bench.call("POST", RULES, { body: { ...rule, name: "A long name with spaces, for a body that is wider than the screen" } });
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

/** Runs an export of the palette in a directory of its own, and returns the file with its text. */
async function exported(desk: TestDashboard, search: string): Promise<[file: string, text: string]> {
  const directory = folder();
  const cwd = vi.spyOn(process, "cwd").mockReturnValue(directory);
  onTestFinished(() => cwd.mockRestore());
  await desk.run(":", ...typing(search), "enter");
  const [name = ""] = readdirSync(directory);
  expect(desk.state.notice?.text).toContain(join(directory, name));
  return [join(directory, name), readFileSync(join(directory, name), "utf8")];
}

test("the filtered rows are exported as HAR, secrets masked", async () => {
  const bench = await open();
  await bench.call("POST", RULES, { body: rule });
  await bench.call("GET", "/v1/payments?limit=1");
  await bench.call("GET", "/v1/payouts");
  const desk = await withRequests(bench);
  desk.press("/", ...typing("!payouts"), "enter");
  const [, har] = await exported(desk, "har");
  const { entries } = JSON.parse(har).log;
  expect(entries).toMatchObject([
    { request: { method: "POST", url: bench.url + RULES, postData: { text: JSON.stringify(rule) } }, response: { status: 200 } },
    { request: { method: "GET", url: `${bench.url}/v1/payments?limit=1`, queryString: [{ name: "limit", value: "1" }] } },
  ]);
  expect(entries).toHaveLength(2);
  expect(har).not.toContain("sk_test_lodge");
});
