// An address of the page that is opened before the lists are loaded, as after a reload: what it selects and opens.

import { expect, test } from "vitest";
import { goToAddress, reachAddress } from "../../ui/panes/address.ts";
import { applyMessage } from "../../ui/panes/apply-message.ts";
import { topDetail } from "../../ui/panes/overlays/detail.ts";
import { loadRows } from "../../ui/panes/run-effects.ts";
import { loggedAttempts, loggedRequests, openTestDashboard, type TestDashboard } from "../support/dashboard.ts";
import { INDEX, withLiveEvents } from "../support/live-rows.ts";
import { DECLINE, open } from "../support/sandbox.ts";
import { advance, openRegistered, settle } from "../support/webhooks.ts";

/** Loads rows and goes to the wanted address, as after each update of a dashboard. */
async function reach(desk: TestDashboard) {
  const loading = loadRows(desk.state);
  const reached = reachAddress(loading.state);
  await desk.apply({ state: reached.state, effects: [...loading.effects, ...reached.effects] });
}

async function openAt(url: string, address: string) {
  const desk = await openTestDashboard(url);
  desk.state = goToAddress(desk.state, address).state;
  await reach(desk);
  return desk;
}

const opened = ({ state }: TestDashboard) => topDetail(state)?.about.id;

test("selects the delivery of an attempt, whose row shows the newest attempt", async () => {
  const { bench, receiver } = await openRegistered();
  receiver.script(500);
  await bench.call("POST", DECLINE, { body: {} });
  await settle(bench);
  await advance(bench, "10m");
  const attempts = await loggedAttempts(bench);
  const ids = attempts.flatMap((one) => (one.kind === "attempt" ? [one.attempt.id] : []));
  expect(ids).toHaveLength(2);
  for (const id of ids) {
    const desk = await openAt(bench.url, `#deliveries?open=deliveries:${id}`);
    expect(opened(desk)).toBe(id);
    desk.state = { ...withLiveEvents(desk.state, attempts), overlays: [] };
    const screen = desk.screen().join("\n");
    expect(screen).toMatch(/2 Deliveries.*2 attempts/);
    expect(screen).not.toContain("no longer listed");
    expect(screen.match(/▸.*booking\.declined/g)).toHaveLength(1);
  }
});

test("does not select a row that its filter hides", async () => {
  const bench = await open();
  for (const limit of [1, 2]) await bench.call("GET", `/v1/payments?limit=${limit}`);
  const desk = await openAt(bench.url, "#requests?filter=limit%3D2&open=requests:req_lodge_1");
  expect(opened(desk)).toBe("req_lodge_1");
  desk.state = { ...withLiveEvents(desk.state, await loggedRequests(bench)), overlays: [] };
  expect(desk.screen().join("\n")).toMatch(/1 Requests \S+ \/limit=2 {2}1 of 2 {2}following/);
});

test("opens a verdict once the log is loaded", async () => {
  const { bench } = await openRegistered();
  await bench.call("POST", DECLINE, { body: {} });
  await settle(bench);
  const { data } = await bench.control("GET", "/verdicts");
  const desk = await openTestDashboard(bench.url);
  const verdicts = { pass: data.length, fail: 0, inconclusive: 0, failures: {} };
  const made = { requests: 1, attempts: 1, verdicts };
  const snapshot = { type: "snapshot", seq: 1, run: "run_1", made, sandbox: INDEX } as const;
  desk.state = goToAddress(applyMessage(desk.state, snapshot), `#verdicts?open=verdicts:${data[0].id}`).state;
  await reach(desk);
  await reach(desk);
  expect([opened(desk), desk.state.notice]).toEqual([data[0].id, undefined]);
});
