// The dashboard shows the actual state: the rate, one duration for an attempt, resets, stale rows and offered actions.

import { describe, expect, test } from "vitest";
import type { LiveEvent } from "../../src/contracts/live-messages.ts";
import type { VerdictMessage } from "../../src/contracts/verdict.ts";
import { afterRealTime } from "../../src/kernel/clock.ts";
import { createEventBuffer, selectItems } from "../../src/live/digest.ts";
import { addressOf, goToAddress, pageUrl, reachAddress } from "../../ui/panes/address.ts";
import { applyConnection, applyMessage, applyTime, requestRate } from "../../ui/panes/apply-message.ts";
import { attemptRow } from "../../ui/panes/details/delivery.ts";
import { handleKey } from "../../ui/panes/keys/key-bindings.ts";
import { topFormView, writeField } from "../../ui/panes/overlays/form.ts";
import { freeze, moveCursor, unseenCount } from "../../ui/state/list.ts";
import { listOf, type UiState } from "../../ui/state/state.ts";
import { withList, withNotice } from "../../ui/state/updates.ts";
import { hasDesktop } from "../../ui/terminal/platform.ts";
import { duration } from "../../ui/text/format.ts";
import { loggedRequests, openSandboxDashboard, openTestDashboard, screenOf, screenText } from "../support/dashboard.ts";
import {
  attempted,
  emptyDashboard,
  INDEX,
  judged,
  rateWindow,
  request,
  requested,
  rule,
  withLiveEvents,
  withRulesAndWindows,
} from "../support/live-rows.ts";
import { open } from "../support/sandbox.ts";
import { deliver, receive, register } from "../support/webhooks.ts";

const asked = (number: number, merchant: string): LiveEvent => requested(number, { merchant });
const idsIn = (state: UiState) => listOf(state, "requests").rows.map(({ id }) => id);
const verdictsIn = (state: UiState) =>
  listOf(state, "verdicts").rows.flatMap(({ id, value, gap }) =>
    gap ? [] : [`${id} ${(value as VerdictMessage).verdict}`],
  );
const reset = (merchant: string | null): LiveEvent => ({ kind: "reset", merchant });

describe("the notice after a replay", () => {
  const replay = { method: "POST", path: "/deliveries/whd_1/replay", key: null } as const;
  const replayed = (change: object) => attempted(7, { trigger: "replay", eventType: "payment.succeeded", ...change });

  test.each([
    [{ status: "failed", responseStatus: 500, summary: "database is down" }, "failed: 500 database is down"],
    [{ status: "succeeded", responseStatus: 200, summary: null }, "succeeded: 200"],
  ])("says how the receiver responded: %j", (change, said) => {
    const state = withLiveEvents({ ...emptyDashboard(), lastCall: replay }, [replayed(change)]);
    expect(state.notice?.text).toBe(`The replay of payment.succeeded ${said}`);
  });

  test("appears only in the dashboard that asked for the replay, and only if it was one attempt", () => {
    const event = replayed({ status: "succeeded", responseStatus: 200, summary: null });
    expect(withLiveEvents(emptyDashboard(), [event]).notice).toBeUndefined();
    expect(withLiveEvents({ ...emptyDashboard(), lastCall: replay }, [event, event]).notice).toBeUndefined();
  });
});

describe("the rate", () => {
  test.each([
    [10, 100],
    [1_000, 100],
    [1_000, 400],
    [10_000, 400],
  ])(
    "of %i requests a second is shown exactly with digests every %i ms, and falls to 0 after the last digest",
    (rate, interval) => {
      let state: UiState = { ...emptyDashboard(), run: "r" };
      const digest = (requests: number) => {
        const made = { ...state.made, requests };
        state = applyMessage(state, { type: "digest", seq: state.lastSeq + 1, made, completeFor: {}, items: [] });
      };
      for (let now = 0; now <= 8_000; now += 50) {
        state = applyTime(state, 100_000 + now);
        if (now % interval === 0) digest((rate * now) / 1_000);
        if (now >= 3_000) expect([now, requestRate(state)]).toEqual([now, rate]);
      }
      expect(requestRate(applyTime(state, 111_000))).toBe(0);
    },
  );
});

test("an attempt has the same duration in the log, the list and its detail", async () => {
  const bench = await open();
  const receiver = await receive();
  // The receiver takes real time, so the duration cannot come from the sandbox's frozen clock.
  receiver.always((_, outgoing) => void afterRealTime(30, () => outgoing.writeHead(200).end()));
  await register(bench, receiver.url);
  await deliver(bench);
  const { data } = await bench.control("GET", "/deliveries");
  const took = duration(data[0].durationMs);
  const desk = await openTestDashboard(bench.url);
  desk.state = withLiveEvents(desk.state, [{ kind: "attempt", attempt: attemptRow(data[0]) }]);
  desk.press("2");
  const shown = () => desk.screen(260, 60).join("\n").split(took).length - 1;
  expect([data[0].durationMs > 20, shown()]).toEqual([true, 1]);
  await desk.run("enter");
  expect(shown()).toBe(2);
});

describe("a reset of everything", () => {
  const busy = () => {
    const events = [asked(1, "mer_lodge"), attempted(1), judged(1)] as LiveEvent[];
    const state = withLiveEvents({ ...emptyDashboard(120, 40), run: "r" }, events);
    const counts = {
      failedDeliveries: 1,
      pendingDeliveries: 4,
      made: { ...state.made, requests: 900 },
      kept: { ...INDEX.kept, requests: 1 },
    };
    return { ...state, sandbox: { ...INDEX, ...counts } };
  };

  test("is announced once, and no title shows a count from before the reset", async () => {
    const { desk } = await openSandboxDashboard(120, 40);
    desk.state = busy();
    expect(desk.screen().join("\n")).toMatch(/1 failed[\s\S]*✗ retry_after/);
    desk.state = withLiveEvents(desk.state, [reset(null)]);
    const screen = desk.screen().join("\n");
    expect(screen.match(/reset/g)).toHaveLength(1);
    expect(screen).not.toMatch(/failed|kept|✗|[1-9]\d* pending|not shown/);
  });

  test("shows only the reply if this dashboard caused it, and a notice if another client did", () => {
    const here = withNotice({ ...busy(), lastCall: { method: "POST", path: "/reset", body: {} } }, "Reset everything");
    expect(withLiveEvents(here, [reset(null)]).notice?.text).toBe("Reset everything");
    const restore: UiState["lastCall"] = { method: "POST", path: "/snapshots/before/restore", body: {} };
    const restored = withNotice({ ...busy(), lastCall: restore }, "Restored before");
    expect(withLiveEvents(restored, [reset(null)]).notice?.text).toBe("Restored before");
    expect(withLiveEvents({ ...here, notice: undefined }, [reset(null)]).notice).toMatchObject({
      text: "The sandbox was reset or restored",
      isNews: true,
    });
  });

  test("is kept for clients that reconnect after the buffer has dropped it, as are other removals of rows", () => {
    const buffer = createEventBuffer(2);
    for (const event of [reset("mer_lodge"), reset("mer_market"), reset("mer_lodge"), asked(1, "mer_lodge")])
      buffer.push(event);
    for (let number = 2; number < 9; number++) buffer.push(asked(number, "mer_lodge"));
    expect(buffer.missed(0)).toMatchObject([
      { seq: 2, merchant: "mer_market" },
      { seq: 3, merchant: "mer_lodge" },
    ]);
    expect(buffer.missed(2)).toMatchObject([{ seq: 3 }]);
    const cancelled = (endpoint: string): LiveEvent => ({ kind: "cancellation", merchant: "mer_stage", endpoint });
    for (const event of [cancelled("one"), cancelled("two"), cancelled("one")]) buffer.push(event);
    for (let number = 1; number < 9; number++) buffer.push(asked(number, "mer_lodge"));
    expect(buffer.missed(11)).toMatchObject([{ endpoint: "two" }, { endpoint: "one", seq: 14 }]);
    buffer.push({ kind: "removal", merchant: "mer_stage" });
    for (let number = 1; number < 9; number++) buffer.push(asked(number, "mer_lodge"));
    expect(buffer.missed(11)).toMatchObject([{ kind: "removal" }]);
    buffer.push(reset(null));
    expect(buffer.missed(0)).toEqual([]);
    for (let number = 9; number < 16; number++) buffer.push(asked(number, "mer_lodge"));
    expect(buffer.missed(0)).toMatchObject([{ merchant: null }]);
  });
});

describe("a failed verdict that a later call turned into a pass", () => {
  const revisions = [...[judged(3), judged(9)], ...[judged(3, { verdict: "pass" }), judged(9, { verdict: "pass" })]];

  test("does not show as a failure in the list, in whatever order verdicts are revised", () => {
    const versions = () =>
      revisions.reduce((state, event) => withLiveEvents(state, [event]), withLiveEvents(emptyDashboard(), [judged(1)]));
    expect(verdictsIn(versions())).toEqual(["vrd_1 fail", "vrd_3 pass", "vrd_9 pass"]);
    expect(verdictsIn(withLiveEvents(emptyDashboard(), revisions))).toEqual(["vrd_3 pass", "vrd_9 pass"]);
  });

  test("is sent as a pass, however many verdicts a digest leaves out", () => {
    const buffer = createEventBuffer(1_000);
    for (const event of revisions) buffer.push(event);
    for (let number = 100; number < 200; number++) buffer.push(judged(number, { verdict: "pass" }));
    const sent = (since: number) =>
      buffer
        .since(since)
        .flatMap((message) => (message.type === "batch" ? selectItems(message.items, {}).items.slice(0, 2) : []));
    for (const since of [0, 2]) expect(sent(since)).toMatchObject(revisions.slice(2));
  });
});

describe("a reset of one merchant", () => {
  const rows = [1, 2, 3, 4, 5, 6].map((number) => asked(number, number % 2 === 0 ? "mer_market" : "mer_lodge"));
  /** The state after these events, when the sandbox counts `requests` remaining requests. */
  const afterReset = (state: UiState, events: LiveEvent[], requests: number) =>
    withLiveEvents({ ...state, made: { ...state.made, requests } }, events);

  test("removes exactly the merchant's rows, and keeps the cursor, the pause and the count of unseen rows", () => {
    const filled = withLiveEvents({ ...emptyDashboard(), run: "r" }, rows.slice(0, 4));
    const pinned = withList(filled, "requests", moveCursor(listOf(filled, "requests"), -3, 10));
    const paused = withLiveEvents(pinned, rows.slice(4));
    expect([listOf(paused, "requests").cursor?.id, unseenCount(listOf(paused, "requests"))]).toEqual(["req_1", 2]);
    const state = afterReset(paused, [reset("mer_market"), asked(7, "mer_market")], 3);
    const list = listOf(state, "requests");
    expect(idsIn(state)).toEqual(["req_1", "req_3", "req_5", "req_7"]);
    expect([list.cursor?.id, list.total, unseenCount(list), state.notice?.text]).toEqual([
      "req_1",
      4,
      2,
      "mer_market was reset",
    ]);
  });

  test("moves a cursor on a removed row to the next row above, and removes rows from a frozen display too", () => {
    const filled = withLiveEvents({ ...emptyDashboard(), run: "r" }, rows);
    const frozen = withList(filled, "requests", freeze(moveCursor(listOf(filled, "requests"), -2, 10)));
    expect(listOf(frozen, "requests").cursor?.id).toBe("req_4");
    const list = listOf(afterReset(frozen, [reset("mer_market")], 3), "requests");
    expect([list.cursor?.id, list.frozen?.rows.map(({ id }) => id), unseenCount(list)]).toEqual([
      "req_3",
      ["req_1", "req_3", "req_5"],
      0,
    ]);
  });

  test("empties a list that has gaps, and loads it again from the log, because the missing rows are unknown", () => {
    const filled = withLiveEvents(withLiveEvents({ ...emptyDashboard(), run: "r" }, rows.slice(0, 3)), rows.slice(3));
    const gapped = applyMessage(filled, {
      type: "digest",
      seq: 99,
      made: { ...filled.made, requests: 20 },
      completeFor: {},
      items: [{ seq: 99, nth: 20, kind: "request", request: request(20) }],
    });
    expect(idsIn(gapped)).toContain("gap:20");
    const list = listOf(afterReset(gapped, [reset("mer_market")], 9), "requests");
    expect(list.rows.map(({ id, gap }) => [id, gap?.missing])).toEqual([["gap:top", 9]]);
  });
});

describe("without a connection", () => {
  test("the first line and the title say that the rows are stale, until the connection is back", async () => {
    const { desk } = await openSandboxDashboard(80, 24);
    const seen = withLiveEvents({ ...emptyDashboard(80, 24), run: "r" }, [asked(1, "mer_lodge")]);
    desk.state = applyConnection(seen, { phase: "reconnecting", retryInMs: 3_000, reason: "connection refused" });
    expect(desk.screen().join("\n")).toMatch(/data is stale[\s\S]*1 Requests ─.*─ 1 {2}stale {2}following/);
    desk.state = applyConnection(desk.state, { phase: "live" });
    expect(desk.screen().join("\n")).not.toContain("stale");
  });
});

describe("keys, forms and messages:", () => {
  const first = (state: UiState) => screenOf(state)[0];
  const bar = (state: UiState) => screenOf(state).at(-1) ?? "";
  const pressed = (state: UiState, ...keys: string[]) =>
    keys.reduce((before, key) => handleKey(before, key).state, state);
  const shown = () => withLiveEvents(emptyDashboard(120, 36), [asked(1, "mer_lodge"), asked(2, "mer_lodge")]);

  test("the key bar lists what works while typing, and a digit in details opens its pane", () => {
    expect(bar(pressed(shown(), "/"))).toBe(" Enter apply  Esc clear  Up failed, earlier");
    expect(bar(pressed(shown(), "/", "a", "enter", "/"))).toBe(" Enter apply  Esc clear  Up failed, earlier");
    expect(bar(pressed(shown(), "enter", "/"))).toBe(" Enter keep  Esc clear");
    const verdicts = pressed(shown(), "enter", "5");
    expect([verdicts.pane, verdicts.overlays]).toEqual(["verdicts", []]);
  });

  test("the key that goes to the body of a detail works while the detail is still loading", async () => {
    const bench = await open();
    await bench.call("GET", "/v1/payments?limit=1");
    const desk = await openTestDashboard(bench.url, 100, 20);
    desk.state = withLiveEvents(desk.state, await loggedRequests(bench));
    desk.press("enter", "B");
    await desk.settle();
    expect(desk.screen().slice(0, 8).join("\n")).toContain('"object": "list"');
  });

  test("the key bar offers undo, with the name of the change, only while a change can be undone", async () => {
    const { desk } = await openSandboxDashboard(200, 36);
    expect(bar(desk.state)).not.toContain("u undo");
    await desk.run("o", "enter");
    expect(bar(desk.state)).toContain("u undo fault");
    expect(first(desk.state)).toMatch(/^ OUTAGE 30 s: o ends it /);
    await desk.run("u");
    expect([bar(desk.state).includes("u undo"), first(desk.state)?.startsWith(" LIVE ")]).toEqual([false, true]);
  });

  test("a form arms exactly what its sentence says, for any fault, and names the row that prefilled it", async () => {
    const { bench, desk } = await openSandboxDashboard(160, 60);
    desk.state = withLiveEvents(desk.state, [asked(7, "mer_lodge")]);
    const { oneOf } = await bench.control("GET", "/faults/schema.json");
    for (const { title } of oneOf as { title: string }[]) {
      await desk.run("x");
      expect(desk.state.overlays.at(-1)?.title).toBe("Arm a fault, prefilled from req_7");
      desk.state = writeField(desk.state, { name: "action", help: "" }, title).state;
      const { sentence } = topFormView(desk.state);
      await desk.run("enter");
      const armed = desk.state.overlays.length === 0 && desk.state.notice?.text;
      if (armed) expect(armed).toContain(sentence.replace(/^Arms (.*)\.$/, "Armed $1, as flt_"));
      desk.state = { ...desk.state, overlays: [] };
    }
    expect((await bench.control("GET", "/faults")).data.length).toBeGreaterThan(15);
  });

  test("a form that is prefilled from a delivery attempt names the attempt in its title", () => {
    const state = { ...withLiveEvents(emptyDashboard(), [attempted(1)]), pane: "deliveries" };
    expect(handleKey(state, "x").state.overlays.at(-1)?.title).toBe("Arm a fault, prefilled from whd_1");
  });

  test("a message that is too long keeps its action, and a window that is too small shows the needed size", () => {
    const notice = withNotice(
      { ...shown(), size: { columns: 80, rows: 24 } },
      `Armed ${"x".repeat(200)}. Press u to undo it`,
    );
    expect(screenOf(notice).at(-2)).toMatch(/^ Armed x+… Press u to undo it *$/);
    const named = withNotice(
      shown(),
      "Armed rate_limit on payments.list of mer_lodge, 1 time, as flt_1. Press u to undo it",
    );
    expect(screenOf({ ...named, size: { columns: 70, rows: 24 } }).at(-2)).toMatch(/mer_lodge … Press u to undo it *$/);
    expect(screenOf({ ...shown(), size: { columns: 40, rows: 10 } }).join("\n")).toContain(
      "Needs 60x15, is 40x10.\nResize it, or press q to quit.",
    );
  });
});

test("numbers are not rounded, and a part of a list is shown with the total", () => {
  const many = Array.from({ length: 12 }, (_, index) => requested(index + 1, { fault: "flt_1" }));
  const windows = [
    rateWindow({ remaining: 5_999 }),
    rateWindow({ merchant: "mer_market", limit: 1_000_000_000, remaining: 999_999_990 }),
  ];
  const state = withRulesAndWindows(withLiveEvents(emptyDashboard(120, 60), many), [rule(1, { fired: 812 })], windows);
  expect(screenText(handleKey({ ...state, pane: "faults" }, "enter").state)).toContain(
    "Affected requests: newest 10 of 812, oldest first",
  );
  const limits = screenText({ ...state, pane: "limits", size: { columns: 80, rows: 24 } });
  expect(limits).toMatch(/lodge +█+ 5,999\/6,000/);
  expect(limits).toMatch(/market +█+ +none/);
});

test("the address of a view has its filter, row and detail, and opens them in another dashboard", async () => {
  const bench = await open();
  for (const limit of [1, 2]) await bench.call("GET", `/v1/payments?limit=${limit}`);
  const desk = await openTestDashboard(bench.url);
  desk.state = withLiveEvents(desk.state, await loggedRequests(bench));
  await desk.run("/", "l", "i", "m", "i", "t", "enter", "k", "enter");
  const address = addressOf(desk.state);
  expect([address, pageUrl(desk.state)]).toEqual([
    "#requests?filter=limit&open=requests%3Areq_lodge_1",
    `${bench.url}/#requests?filter=limit&open=requests%3Areq_lodge_1`,
  ]);
  const other = await openTestDashboard(bench.url);
  await other.apply(reachAddress(goToAddress(other.state, address).state));
  expect([addressOf(other.state), other.screen().join("\n")]).toEqual([
    address,
    expect.stringContaining("id             req_lodge_1"),
  ]);
  expect(goToAddress(other.state, "#nowhere?row=x").state.pane).toBe("requests");
  const desktops = [{}, { DISPLAY: ":0" }, { DISPLAY: ":0", SSH_CONNECTION: "x" }].map(hasDesktop);
  if (process.platform === "linux") expect(desktops).toEqual([false, true, false]);
});

test("the details of a request list its operation's assumptions, and the values that options have set", async () => {
  const bench = await open({ assumptions: { "bookings.decline.status": 202 } });
  await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline");
  const desk = await openTestDashboard(bench.url, 120, 120);
  desk.state = withLiveEvents(desk.state, await loggedRequests(bench));
  await desk.run("enter");
  const shown = screenText(desk.state);
  expect(shown).toContain("status 202, set instead of 200");
  expect(shown).toContain("body.accepted, body.reason, body.other_fields");
  expect(shown).toContain("The service's documentation does not show this body.");
});
