// Links between details: what a request, a delivery, a fault and a verdict lead to, the key that jumps, and the search
// in a detail.

import { describe, expect, test } from "vitest";
import type { LiveEvent } from "../../src/contracts/live-messages.ts";
import { type DetailWriter, detailWriter } from "../../ui/panes/details/detail-lines.ts";
import { recordReference } from "../../ui/panes/details/record-links.ts";
import { requestDetail } from "../../ui/panes/details/request.ts";
import { paneNamed } from "../../ui/panes/index.ts";
import { matchesOf, openDetail, pollDetail } from "../../ui/panes/overlays/detail.ts";
import { initialState } from "../../ui/state/state.ts";
import { openOverlay, topOverlay, update } from "../../ui/state/updates.ts";
import {
  loggedAttempts,
  loggedRequests,
  openTestDashboard,
  PLAIN,
  type TestDashboard,
  typing,
} from "../support/dashboard.ts";
import { attempted, judged, withLiveEvents, withRulesAndWindows } from "../support/live-rows.ts";
import { DECLINE } from "../support/sandbox.ts";
import { openRegistered, settle } from "../support/webhooks.ts";

/** Presses keys. Each key waits for the calls of the key before it. */
async function press(desk: TestDashboard, ...keys: string[]): Promise<string> {
  for (const key of keys) await desk.run(key);
  const { columns, rows } = desk.state.size;
  return desk.screen(columns, rows).join("\n");
}

const title = ({ state }: TestDashboard) => topOverlay(state)?.title;
/** The line of the selected link. */
const selected = (screen: string) =>
  screen
    .split("\n")
    .find((line) => /^│ ▸/.test(line))
    ?.slice(3)
    .replace(/ +│$/, "")
    .trim();

/** Opens a dashboard after a booking was declined twice with one key, and a fault answered a payments call with 429. */
async function declined(columns = 120, rows = 60) {
  const { bench, receiver } = await openRegistered();
  const body = { body: { reason: "full" }, headers: { "idempotency-key": "abc" } };
  await bench.call("POST", DECLINE, body);
  await bench.call("POST", DECLINE, body);
  await bench.control("POST", "/faults", { id: "flt_mine", action: { type: "rate_limit" } });
  await bench.call("GET", "/v1/payments");
  await settle(bench);
  const desk = await openTestDashboard(bench.url, columns, rows);
  // Leaves out attempts, so that opening a link to an attempt fetches it.
  desk.state = withLiveEvents(desk.state, await loggedRequests(bench));
  return { bench, desk, receiver };
}

describe("the trace in details", () => {
  const RULE = { name: "Spring", adjustmentType: "fixed", adjustmentValue: -500, startDate: "2026-03-01" };

  test("lists the request, event, delivery and callback in order, and each step links to the next", async () => {
    const { bench, receiver } = await openRegistered();
    receiver.script((_, outgoing) => {
      const back = bench.call("POST", "/v1/hospitality/pricing-rules", { body: RULE });
      void back.then(() => outgoing.end());
    });
    const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    const { headers } = await bench.call("POST", DECLINE, { body: {}, headers: { traceparent } });
    const declining = String(headers["x-sandbox-request-id"]);
    await settle(bench);
    const desk = await openTestDashboard(bench.url, 140, 70);
    desk.state = withLiveEvents(desk.state, await loggedRequests(bench));
    await desk.run("k", "enter");
    const steps = (opened: string) => {
      const lines = desk.screen(140, 70).map((line) => line.replace(/^│/, "").replace(/ +│$/, ""));
      const found = lines.slice(lines.findIndex((line) => line.trim() === "Trace") + 2).slice(0, 6);
      expect(found.find((line) => line.includes(opened))).toMatch(/^ ▸/);
      return found.map((line) => line.replace(/[▸▹›]/, " ").trimEnd());
    };
    expect(desk.screen(140, 70).join("\n")).toContain("4bf92f3577b34da6a3ce929d0e0e4736");
    expect(steps(declining)).toEqual([
      expect.stringMatching(`^ +request ${declining}  POST ${DECLINE}  200 bkg_pending declined$`),
      expect.stringMatching(/^ +event evt_\w+ {2}booking\.declined {2}1 succeeded$/),
      expect.stringMatching(/^ +delivery whd_\w+ {2}attempt 1 of 6 to http\S+\/hooks {2}200$/),
      expect.stringMatching(
        /^ +perhaps a call back req_\w+ {2}POST \S+\/pricing-rules {2}200 prl_\w+ active {2}\(by time\)$/,
      ),
      expect.stringMatching(/^ +event evt_\w+ {2}pricing_rule\.created {2}1 succeeded$/),
      expect.stringMatching(/^ +delivery whd_\w+ {2}attempt 1 of 6 to http/),
    ]);
    await desk.run("tab", "enter");
    expect(title(desk)).toMatch(/^booking\.declined evt_/);
    steps("booking.declined");
    await desk.run("tab", "tab", "tab", "enter");
    expect(title(desk)).toMatch(/^booking\.declined to http/);
    steps("delivery whd_");
  });

  /** The screen after an attempt has arrived and the open detail was polled. */
  async function polledWith(desk: TestDashboard, attempt: LiveEvent | undefined): Promise<string> {
    desk.state = withLiveEvents(desk.state, attempt ? [attempt] : []);
    await desk.apply(update(desk.state, ...pollDetail(desk.state)));
    return desk.screen().join("\n");
  }

  test.each([
    ["a request", "requests", () => "req_lodge_2"],
    ["an event", "events", (event: string) => event],
    ["a record", "records", () => recordReference("bkg_pending", "mer_lodge").id],
  ])("shows how a pending delivery ended while the details of %s are open", async (_, pane, idFor) => {
    const { bench, receiver } = await openRegistered();
    let respond = () => {};
    receiver.script((_, outgoing) => {
      respond = () => outgoing.end();
    });
    const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    await bench.call("POST", DECLINE, { body: {}, headers: { traceparent } });
    const { data: events } = await bench.control("GET", "/events");
    await receiver.arrived(1);
    const desk = await openTestDashboard(bench.url, 140, 70);
    await desk.apply(paneNamed(pane).openById(desk.state, idFor(events[0].id)));
    expect(desk.screen().join("\n")).toMatch(/booking\.declined {2}1 pending/);
    respond();
    await settle(bench);
    const [first] = await loggedAttempts(bench);
    const after = await polledWith(desk, first);
    expect(after).toMatch(/booking\.declined {2}1 succeeded/);
    expect(after).toMatch(/delivery .*attempt 1 of 6/);
    expect(after).not.toContain("delivery pending");
    expect(pollDetail(desk.state)).toEqual([]);
    await bench.control("POST", `/events/${events[0].id}/replay`);
    await settle(bench);
    expect(await polledWith(desk, (await loggedAttempts(bench))[1])).toMatch(/booking\.declined {2}2 succeeded/);
  });
});

test("a row of a detail is wrapped between words, and a word longer than a line at any character", () => {
  const { row } = detailWriter(PLAIN, 40);
  expect(row("delivery whd_1  attempt 1 of 6  503 The receiver answered 503; only 2xx accepts it.", "    ")).toEqual([
    "    delivery whd_1  attempt 1 of 6",
    "      503 The receiver answered 503;",
    "      only 2xx accepts it.",
  ]);
  expect(row(`POST /${"a".repeat(40)}`)).toEqual(["  POST", `    /${"a".repeat(35)}`, `    ${"a".repeat(5)}`]);
});

describe("a link in a detail", () => {
  test("leads from a request to its delivery and back, even if the lists have no attempts", async () => {
    const { desk, receiver } = await declined();
    const first = await press(desk, "k", "k", "enter");
    expect(selected(first)).toMatch(/^1\/6 +200 .*delivered/);
    const delivery = await press(desk, "enter");
    expect(title(desk)).toBe(`booking.declined to ${receiver.url}`);
    expect(selected(delivery)).toMatch(/^caused by +req_lodge_2/);
    await press(desk, "enter");
    expect(title(desk)).toBe(`POST ${DECLINE}`);
    expect(desk.state.overlays).toHaveLength(1);
    await press(desk, "enter", "escape");
    expect(title(desk)).toBe(`POST ${DECLINE}`);
  });

  test("leads from a replayed response to its original", async () => {
    const { desk } = await declined();
    const replay = await press(desk, "k", "enter");
    expect(replay).toContain("id             req_lodge_3");
    expect(selected(replay)).toBe("replay of      req_lodge_2");
    expect(await press(desk, "enter")).toContain("id             req_lodge_2");
  });

  test("leads to the rate limit, to the fault rule, and from the rule to the requests that it affected", async () => {
    const { desk } = await declined();
    expect(selected(await press(desk, "enter", "tab"))).toBe("remaining      0 of 6,000");
    await press(desk, "enter");
    expect(title(desk)).toBe("Rate limit of mer_lodge");
    expect(selected(await press(desk, "escape", "tab"))).toBe("rule           flt_mine, 429");
    const rule = await press(desk, "enter");
    expect(title(desk)).toBe("Fault flt_mine");
    expect(selected(rule)).toMatch(/^req_lodge_4 .*GET \/v1\/payments +429/);
    await press(desk, "enter");
    expect(title(desk)).toBe("GET /v1/payments");
    expect(desk.state.overlays).toHaveLength(1);
  });

  test("stays selected while links are added above it", async () => {
    const { desk } = await declined(120, 95);
    const before = await press(desk, "k", "k", "enter", "tab", "tab");
    const events = [attempted(9, { eventId: /evt_\w+/.exec(before)?.[0] ?? "" })] as const;
    expect(selected(before)).toMatch(/^remaining/);
    desk.state = withLiveEvents(desk.state, events);
    const after = desk.screen(120, 95).join("\n");
    expect(after.match(/delivered/g)).toHaveLength(2);
    expect(selected(after)).toBe(selected(before));
  });

  test("is selected by j or k if visible, otherwise j or k scrolls; Enter opens only a visible link", async () => {
    const { desk } = await declined(80, 24);
    expect(selected(await press(desk, "k", "k", "enter"))).toMatch(/delivered/);
    const middle = await press(desk, "pagedown");
    expect(selected(middle)).toBeUndefined();
    await press(desk, "enter");
    expect(desk.state.overlays).toHaveLength(1);
    expect(selected(await press(desk, "g"))).toMatch(/delivered/);
    expect(selected(await press(desk, "j"))).toMatch(/^record/);
    const scrolled = await press(desk, "j");
    expect(scrolled).toMatch(/2-\d+ of/);
    expect(selected(scrolled)).toMatch(/^record/);
    desk.screen(80, 95);
    expect(selected(await press(desk, "j"))).toMatch(/^remaining/);
    expect(selected(await press(desk, "k"))).toMatch(/^record/);
  });

  test("to a rule that was removed says so, and opens nothing", async () => {
    const { desk, bench } = await declined();
    await bench.control("DELETE", "/faults");
    desk.state = withRulesAndWindows(desk.state, []);
    await press(desk, "enter", "enter");
    expect(desk.state.notice?.text).toBe("flt_mine is no longer listed");
    expect(desk.state.overlays).toHaveLength(1);
  });

  test("to a request that the request log no longer has shows the reason", async () => {
    const { desk, bench } = await declined();
    desk.state = withLiveEvents(desk.state, [judged(1, { requests: ["req_lodge_77"], calls: [] })]);
    desk.press("5", "J");
    await expect(desk.settle()).rejects.toThrow(
      "The log has no request req_lodge_77. It keeps the newest 10,000, until a reset; " +
        "a crash under load loses the last seconds of the log.",
    );
    expect((await bench.control("GET", "/requests")).data).toHaveLength(4);
  });
});

describe("J", () => {
  test("jumps from a verdict and from a fault to the request", async () => {
    const { desk } = await declined();
    desk.state = withLiveEvents(desk.state, [judged(1, { requests: ["req_lodge_2", "req_lodge_3"] })]);
    expect(await press(desk, "5", "J")).toContain("id             req_lodge_3");
    expect(await press(desk, "escape", "4", "J")).toContain("id             req_lodge_4");
  });

  test("opens nothing if the user has already gone to another pane", async () => {
    const { desk } = await declined();
    await desk.run("k", "k", "J", "2");
    expect(desk.state.overlays).toEqual([]);
  });
});

describe("a search in a detail", () => {
  test("goes to the first match while it is typed, and to other matches with n and N", async () => {
    const { desk } = await declined(80, 24);
    const typed = await press(desk, "k", "k", "enter", "/", ...typing("Declined"));
    expect(typed).toMatch(/\/Declined {2}1 of \d[\s\S]*\/Declined▏/);
    const found = Number(/1 of (\d+)/.exec(typed)?.[1]);
    expect(await press(desk, "enter", "n")).toContain(`/Declined  2 of ${found}`);
    expect(await press(desk, "N", "N")).toContain(`/Declined  ${found} of ${found}`);
    const cleared = await press(desk, "escape");
    expect(cleared).not.toContain("/Declined");
    expect(desk.state.overlays).toHaveLength(1);
    await press(desk, "n");
    expect(desk.state.overlays[0]?.title).toBe(`POST ${DECLINE}`);
    expect(desk.screen(120, 90).join("\n")).toContain("id             req_lodge_3");
  });

  test("says that nothing matches, and Esc returns to where the search began", async () => {
    const { desk } = await declined(80, 24);
    const before = await press(desk, "k", "k", "enter", "pagedown");
    expect(await press(desk, "/", ..."zzz")).toContain("/zzz  no match");
    expect(await press(desk, "escape")).toBe(before);
  });

  test("finds text that is wrapped over two lines, in any case", () => {
    const lines = [
      "  the first line is fu",
      "  ll of text",
      { text: "  and a link", link: { pane: "faults", id: "flt_1" } },
    ];
    expect(matchesOf(lines, "FULL", 22)).toEqual([
      [
        { line: 0, start: 20, end: 22 },
        { line: 1, start: 2, end: 4 },
      ],
    ]);
    expect(matchesOf(lines, "l", 22)).toHaveLength(4);
    expect(matchesOf(lines, "link", 22)).toEqual([[{ line: 2, start: 8, end: 12 }]]);
    expect(matchesOf(lines, "", 22)).toEqual([]);
  });
});

describe("B", () => {
  test("goes to the body of the response, then to the body of the request, and back", async () => {
    const { desk } = await declined(80, 24);
    const response = await press(desk, "k", "k", "enter", "B");
    expect(response.split("\n")[3]).toMatch(/^│ {3}\{/);
    expect(response).toContain('"object": "booking"');
    const sent = await press(desk, "B");
    expect(sent).toContain('"reason": "full"');
    expect(await press(desk, "B")).toBe(response);
  });
});

test("a detail whose reply is from another version is not polled", () => {
  const first = initialState([], {
    target: { url: "", token: undefined },
    theme: PLAIN,
    size: { columns: 80, rows: 24 },
    now: 0,
  });
  const request = requestDetail({ id: "req_1", operation: null } as never);
  const { overlay, effects } = openDetail(request, { pane: "requests", id: "req_1", value: {} }, []);
  const opened = openOverlay(first, overlay);
  const later = effects.reduce(
    (state, effect) => (effect.kind === "call" ? effect.onReply(state, { body: { steps: {} } } as never).state : state),
    opened,
  );
  expect(pollDetail(later)).toEqual([]);
});

test("a detail writes its lines once for each state and width, however often they are needed", () => {
  const size = { columns: 120, rows: 36 };
  const first = initialState([], { target: { url: "", token: undefined }, theme: PLAIN, size, now: 0 });
  const widths: number[] = [];
  const lines = (_: object, { width }: DetailWriter) => {
    widths.push(width);
    return [];
  };
  const { overlay } = openDetail({ title: "A row", lines }, { pane: "requests", id: "req_1", value: {} }, []);
  for (const state of [first, first, { ...first, now: 1 }])
    for (const width of [80, 120]) {
      overlay.content(state, width);
      overlay.lines(state, width);
    }
  expect(widths).toEqual([80, 120, 80, 120]);
});
