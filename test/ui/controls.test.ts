// The keys that change the sandbox: each makes exactly one call, and the curl command shown for it makes the same call.

import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { SandboxOverviewReply } from "../../generated/control-api.ts";
import { type Call, curlOf } from "../../src/client/curl.ts";
import { describeRule } from "../../src/client/rule-text.ts";
import { handleKey } from "../../ui/panes/keys/key-bindings.ts";
import { topDetail } from "../../ui/panes/overlays/detail.ts";
import { focusField, topFormView } from "../../ui/panes/overlays/form.ts";
import type { StateUpdate, UiState } from "../../ui/state/state.ts";
import { topOverlay } from "../../ui/state/updates.ts";
import { widthOf } from "../../ui/text/cells.ts";
import {
  openSandboxDashboard,
  openTestDashboard,
  screenText,
  type TestDashboard,
  typing,
} from "../support/dashboard.ts";
import { attempted, requested, withLiveEvents } from "../support/live-rows.ts";
import { folder } from "../support/program.ts";
import { type Bench, open } from "../support/sandbox.ts";
import { deliver, receive, register } from "../support/webhooks.ts";

const list = (bench: Bench) => bench.call("GET", "/v1/payments?limit=1");

/** Presses the keys. Expects exactly the call `expected`, and a success notice after its reply. */
async function does(desk: TestDashboard, keys: string[], expected: Call): Promise<void> {
  const [letter = "", ...rest] = keys;
  desk.press(letter);
  // Ends the calls that fill the form, so that only the call that the form sends is pending.
  if (rest.length > 0) await desk.settle();
  desk.press(...rest);
  expect(desk.waiting()).toEqual([expected]);
  expect(desk.state.lastCall).toEqual(expected);
  expect(desk.state.notice?.text).toBe(`${expected.method} ${expected.path} …`);
  await desk.settle();
  expect(desk.state.notice?.style).toBe("green");
  // An advance of the clock may open the list of its changes.
  if (topDetail(desk.state)?.title === "Changes by the clock") await desk.run("escape");
  expect(topOverlay(desk.state)).toBeUndefined();
}

const fault = (body: object): Call => ({ method: "POST", path: "/faults", body });

describe("faults", () => {
  const armed: [string, string[], object][] = [
    [
      "a 429 for one operation",
      ["x", "4", "tab", ...typing("paym"), "enter"],
      { match: { operation: "payments.list" }, action: { type: "rate_limit" } },
    ],
    [
      "a 503 for two calls of one operation",
      ["x", "5", "tab", "tab", ...typing("payouts.l"), "tab", "tab", "2", "enter"],
      { match: { operation: "payouts.list" }, trigger: { times: 2 }, action: { type: "status", status: 503 } },
    ],
    [
      "an empty response",
      ["x", "l", "tab", "right", "right", "enter"],
      { action: { type: "lost_response", as: "empty" } },
    ],
  ];

  test.each(armed)("x arms %s", async (_, keys, body) => {
    const { bench, desk } = await openSandboxDashboard();
    await does(desk, keys, fault(body));
    expect((await bench.control("GET", "/faults")).data).toMatchObject([{ ...body, status: "armed" }]);
    expect(desk.state.notice?.text).toMatch(/^Armed .*, as flt_/);
  });

  test("on a selected request, the form is prefilled with a fault that repeats its failure", async () => {
    const { desk } = await openSandboxDashboard();
    desk.state = withLiveEvents(desk.state, [
      requested(1, { operation: "payouts.list", merchant: "mer_market", status: 503 }),
    ]);
    await does(
      desk,
      ["x", "enter"],
      fault({ match: { operation: "payouts.list", merchant: "mer_market" }, action: { type: "status", status: 503 } }),
    );
  });

  test("on a selected delivery, delivery faults come first", async () => {
    const { desk } = await openSandboxDashboard();
    desk.state = { ...withLiveEvents(desk.state, [attempted(1, { eventType: "payout.paid" })]), pane: "deliveries" };
    const match = { event: "payout.paid", merchant: "mer_lodge" };
    await does(desk, ["x", ...typing("dup"), "enter"], fault({ match, action: { type: "duplicate" } }));
  });

  test.each([
    ["outage", "o", "operation"],
    ["slow", "s", "min"],
  ])("the form for %s does not offer a field that the action rejects", async (_, letter, field) => {
    const { desk } = await openSandboxDashboard();
    await desk.run("x");
    desk.press(letter, "ctrl-o");
    expect(desk.screen(120, 60).join("\n")).not.toMatch(new RegExp(`│ +${field} `));
  });

  test("x in a list that follows new rows copies the fault of the newest row", async () => {
    const bench = await open();
    const rule = {
      match: { operation: ["payments.list", "payouts.list"], header: { "X-Shop": { present: true } } },
      trigger: { times: null, every: 2, for: "1h" },
      action: { type: "latency", distribution: "uniform", min: "1ms", max: "2ms" },
    };
    const { id } = await bench.control("POST", "/faults", rule);
    const desk = await openTestDashboard(bench.url);
    desk.state = withLiveEvents(desk.state, [requested(1, { fault: id })]);
    const { trigger, ...same } = rule;
    await does(desk, ["x", "enter"], fault({ ...same, trigger: { every: 2, for: "1h" } }));
    const [first, second] = (await bench.control("GET", "/faults")).data;
    for (const one of [first, second]) expect(one).toMatchObject(rule);
    expect(desk.state.notice?.text).toContain(`Armed ${describeRule(second)}, as ${second.id}`);
  });

  test("o starts and ends an outage, and u starts it again; the list shows the ended rule as removed", async () => {
    const { bench, desk } = await openSandboxDashboard();
    await does(desk, ["o", "enter"], fault({ action: { type: "outage" }, trigger: { for: "30s" } }));
    desk.press("4", "g");
    expect(desk.screen().join("\n")).toMatch(/OUTAGE 30 s/);
    await desk.run("o");
    expect((await list(bench)).status).toBe(200);
    expect(desk.screen().join("\n")).toMatch(/outage .*removed/);
    expect(desk.screen().join("\n")).not.toMatch(/ttl/);
    expect(desk.state.notice?.text).toMatch(
      /^Ended the outage; it fired 0 times \(flt_\w+\)\. Press u to arm it again$/,
    );
    expect(desk.screen(200, 36).at(-1)).toMatch(/ o outage .* u arm again/);
    await desk.run("u");
    expect(desk.screen(200, 36).at(-1)).toContain(" o end outage ");
    expect((await list(bench)).status).toBe(503);
    expect(desk.state.notice?.text).toBe("Armed again: outage on all operations, every match, for 30s");
    desk.press("u");
    expect(desk.state.notice?.text).toBe("Nothing to undo");
  });

  test("after o ended an outage, u undoes a later change, and another u leaves the outage ended", async () => {
    const { bench, desk } = await openSandboxDashboard();
    await desk.run("o", "enter");
    await desk.run("o");
    await does(desk, ["w", "tab", "0", "enter"], {
      method: "PUT",
      path: "/rate-limits/mer_lodge",
      body: { remaining: 0 },
    });
    await desk.run("u");
    expect(desk.state.notice?.text).toMatch(/^Undone: mer_lodge has /);
    await desk.run("u");
    expect(desk.state.notice?.text).toBe("Nothing to undo");
    expect((await list(bench)).status).toBe(200);
  });

  test("D asks first: y removes every fault, and any other key removes none", async () => {
    const { bench, desk } = await openSandboxDashboard();
    await bench.control("POST", "/faults", { action: { type: "outage" } });
    for (const key of ["n", "escape", "enter", "D", "q"]) {
      desk.press("D");
      expect(desk.screen().join("\n")).toContain("Remove all fault rules");
      desk.press(key);
      expect(desk.waiting()).toEqual([]);
      expect(desk.state).toMatchObject({ overlays: [], notice: { text: "Cancelled" } });
    }
    await does(desk, ["D", "y"], { method: "DELETE", path: "/faults" });
    expect(desk.state.notice?.text).toBe("Removed 1 fault");
    expect((await list(bench)).status).toBe(200);
  });
});

describe("the other controls", () => {
  test.each([
    [
      [...typing("payment.f"), "tab", "tab", ...typing('{"amount": 12}')],
      { type: "payment.failed", data: { amount: 12 } },
      /^Triggered payment\.failed of pay_\w+ as evt_\w+: 1 delivery$/,
    ],
    [
      [...typing("payment.f"), "tab", "tab", "tab", "right"],
      { type: "payment.failed", synthetic: true },
      /^Triggered payment\.failed as evt_\w+: 1 delivery$/,
    ],
    [
      typing("paymet.succeeded"),
      { type: "paymet.succeeded" },
      /^The sandbox never sends paymet\.succeeded\. Did you mean payment\.succeeded\?.* No endpoint is subscribed: triggered paymet\.succeeded as evt_\w+$/,
    ],
  ])("t and the keys %j trigger %j, and the notice says what happened", async (keys, { type, ...rest }, notice) => {
    const { bench, desk } = await openSandboxDashboard();
    await register(bench, (await receive()).url, ["payment.failed"]);
    await does(desk, ["t", ...keys, "enter"], {
      method: "POST",
      path: "/events",
      body: { type, merchant: "mer_lodge", ...rest },
    });
    expect(desk.state.notice?.text).toMatch(notice);
  });

  const clock = (body: object): Call => ({ method: "PUT", path: "/clock", body });
  const advance = (by: string): Call => ({ method: "POST", path: "/clock/advance", body: { by } });

  test.each([
    [["enter"], advance("1m"), { mode: "frozen", now: "2026-01-05T12:01:00.000Z" }],
    [["right", "enter"], advance("1h"), { mode: "frozen", now: "2026-01-05T13:00:00.000Z" }],
    [[...typing("24"), "enter"], advance("24h"), { mode: "frozen", now: "2026-01-06T12:00:00.000Z" }],
    [
      [...typing("by"), "tab", ...typing("90s"), "enter"],
      advance("90s"),
      { mode: "frozen", now: "2026-01-05T12:01:30.000Z" },
    ],
    [[...typing("2d"), "enter"], advance("2d"), { mode: "frozen", now: "2026-01-07T12:00:00.000Z" }],
    [["f", "enter"], clock({ mode: "frozen" }), { mode: "frozen", now: "2026-01-05T12:00:00.000Z" }],
    [
      ["f", "tab", ...typing("2027-01-01T00:00:00Z"), "enter"],
      clock({ mode: "frozen", now: "2027-01-01T00:00:00Z" }),
      { mode: "frozen", now: "2027-01-01T00:00:00.000Z" },
    ],
    [
      ["s", "tab", ...typing("2027-01-01T00:00:00Z"), "enter"],
      clock({ mode: "offset", now: "2027-01-01T00:00:00Z" }),
      { mode: "offset" },
    ],
    [["r", "enter"], clock({ mode: "real" }), { mode: "real" }],
  ] as [string[], Call, object][])("c and %j change the clock, and u restores it", async (keys, expected, after) => {
    const { bench, desk } = await openSandboxDashboard();
    await does(desk, ["c", ...keys], expected);
    expect(await bench.control("GET", "/clock")).toMatchObject(after);
    await does(desk, ["u"], clock({ mode: "frozen", now: "2026-01-05T12:00:00.000Z" }));
    expect(await bench.control("GET", "/clock")).toMatchObject({ mode: "frozen", now: "2026-01-05T12:00:00.000Z" });
  });

  test("u restores the clock even when the stream reports the change before the reply arrives", async () => {
    const { desk } = await openSandboxDashboard();
    desk.press("c", "enter");
    const sandbox = desk.state.sandbox as SandboxOverviewReply;
    desk.state = {
      ...desk.state,
      sandbox: { ...sandbox, clock: { ...sandbox.clock, now: "2026-01-05T12:01:00.000Z" } },
    };
    await desk.settle();
    await does(desk, ["u"], clock({ mode: "frozen", now: "2026-01-05T12:00:00.000Z" }));
  });

  test("M creates a merchant and copies its API key, and u removes it", async () => {
    const { bench, desk } = await openSandboxDashboard();
    await does(desk, ["M", ...typing("mark"), "enter"], {
      method: "POST",
      path: "/merchants",
      body: { fixture: "market" },
    });
    const key = desk.copied[0] ?? "";
    const mine = await bench.call("GET", "/v1/merchants/me", { key });
    expect(mine.status).toBe(200);
    expect(desk.state.notice?.text).toContain(`Created ${mine.body.id}`);
    await does(desk, ["u"], { method: "DELETE", path: `/merchants/${mine.body.id}` });
    expect((await bench.call("GET", "/v1/merchants/me", { key })).status).toBe(401);
  });

  test("X resets everything or one merchant after a confirmation, and a reset cannot be undone", async () => {
    const { desk } = await openSandboxDashboard();
    desk.press("X", "enter");
    expect(desk.screen().join("\n")).toContain("Reset everything: data, endpoints, clock, faults and verdicts?");
    desk.press("n");
    expect(desk.waiting()).toEqual([]);
    desk.press("escape");
    await does(desk, ["X", ...typing("mer_mar"), "enter", "y"], {
      method: "POST",
      path: "/reset",
      body: { merchant: "mer_market" },
    });
    await does(desk, ["o", "enter"], fault({ action: { type: "outage" }, trigger: { for: "30s" } }));
    expect(desk.state.undo).toMatchObject([{ call: undefined }, { call: {} }]);
    await does(desk, ["X", "enter", "y"], { method: "POST", path: "/reset", body: {} });
    expect(desk.state.undo).toEqual([]);
  });

  test.each([
    [["X", "enter"], "y Reset everything  n Keep everything"],
    [["X", ...typing("mer_mar"), "enter"], "y Reset mer_market  n Keep it"],
    [["b", "r", "enter"], "y Restore before  n Keep everything"],
    [["b", "d", "enter"], "y Delete before  n Keep it"],
    [["D"], "y Remove all faults  n Keep them"],
    [["7", "d"], "y Remove mer_lodge  n Keep it"],
  ])("the keys %s open a question, and both answers say what they do", async (keys, answers) => {
    const { desk } = await openSandboxDashboard();
    await desk.run("b", "enter");
    for (const key of keys) await desk.run(key);
    const screen = desk.screen();
    expect(screen.at(-1)).toContain(answers);
    const [, action = "", refusal = ""] = /^y (.+) {2}n (.+)$/.exec(answers) ?? [];
    expect(screen.join("\n")).toMatch(new RegExp(`y +${action} [^]*any other key +${refusal} `));
  });

  test("Ctrl-Y in a question copies its call as curl, and the question stays open", async () => {
    const { desk } = await openSandboxDashboard();
    await desk.run("D", "ctrl-y");
    expect(desk.copied.at(-1)).toMatch(/^curl -sS -X DELETE .*\/_sandbox\/faults/);
    expect(desk.state.notice?.text).toBe("Copied the call as curl. Press ! to show it");
    const screen = desk.screen();
    expect(screen.join("\n")).toMatch(/Ctrl-Y +copy the call as curl[\s\S]*The call:[│\s]+curl /);
    expect(screen.at(-1)).toContain("Ctrl-Y copy curl");
    expect(desk.waiting()).toEqual([]);
  });

  test("u undoes one change at a time, newest first, and says when a change cannot be undone", async () => {
    const { desk } = await openSandboxDashboard();
    await desk.run("7", "z");
    await desk.run("3", "e");
    const window = { limit: 6000, window: "60000ms", remaining: 6000 };
    await does(desk, ["u"], { method: "PUT", path: "/rate-limits/mer_lodge", body: window });
    expect(desk.state.notice?.text).toBe("Undone: mer_lodge has 6,000 of 6,000 requests left again");
    await desk.run("t", "enter");
    desk.press("u");
    expect(desk.waiting()).toEqual([]);
    expect(desk.state.notice?.text).toMatch(
      /^Cannot undo: No endpoint .*\. Press u again to undo the change before it$/,
    );
    await desk.run("u");
    expect(desk.state.notice?.text).toBe("Undone: mer_lodge is active again");
  });

  test("w exhausts the rate limit of a merchant", async () => {
    const { desk } = await openSandboxDashboard();
    const window = (body: object): Call => ({ method: "PUT", path: "/rate-limits/mer_market", body });
    await does(
      desk,
      ["w", ...typing("mer_mar"), "tab", "0", "tab", ...typing("9s"), "enter"],
      window({ remaining: 0, resetIn: "9s" }),
    );
  });

  test("b saves a snapshot, and restores or deletes it after a confirmation", async () => {
    const { desk } = await openSandboxDashboard();
    await does(desk, ["b", "enter"], { method: "PUT", path: "/snapshots/before" });
    await does(desk, ["b", "r", "enter", "y"], { method: "POST", path: "/snapshots/before/restore" });
    await does(desk, ["b", "d", "enter", "y"], { method: "DELETE", path: "/snapshots/before" });
  });

  test("b asks before it replaces a snapshot, and rejects restore while there is no snapshot", async () => {
    const { desk } = await openSandboxDashboard();
    await desk.run("b");
    desk.press("r");
    expect([desk.rings(), desk.screen().at(-1)]).toEqual([1, expect.stringContaining("Enter save")]);
    await desk.run("backspace", "enter");
    expect(desk.state.notice?.text).toMatch(/^Saved the snapshot before to /);
    await desk.run("b");
    desk.press("enter");
    expect([desk.waiting(), desk.screen().at(-1)]).toEqual([
      [],
      expect.stringContaining("y Replace before  n Keep it"),
    ]);
    await desk.run("y");
    expect(desk.state.overlays).toEqual([]);
  });
});

describe("a form", () => {
  test("shows the control API's error at its field, which gets the focus, and can be sent again", async () => {
    const { desk } = await openSandboxDashboard();
    await desk.run("x");
    await desk.run("o", "tab", "tab", "tab", "tab", "0", "up", "up", "enter");
    expect(desk.screen().join("\n")).toMatch(/▸ times.*✗ trigger\.times must be at least 1/);
    expect(desk.state.notice?.style).toBe("failure");
    desk.press("ctrl-u", "2", "enter");
    expect(desk.waiting()).toEqual([fault({ trigger: { times: 2, for: "30s" }, action: { type: "outage" } })]);
  });

  test("shows that the sandbox cannot be reached, and can be closed", async () => {
    const { bench, desk } = await openSandboxDashboard();
    desk.press("M");
    await bench.close();
    await desk.run("enter", "enter");
    expect(desk.state).toMatchObject({
      notice: { text: expect.stringMatching(/^No sandbox answers at http:\/\/127\.0\.0\.1:\d+$/), style: "failure" },
      overlays: [{ title: "Create a merchant" }],
    });
    desk.press("escape");
    expect(desk.state.overlays).toEqual([]);
  });

  test("sends one call however often Enter is pressed, and applies a reply that arrives after Esc", async () => {
    const { desk } = await openSandboxDashboard();
    desk.press("M", "enter", "enter", "enter", "escape");
    expect(desk.waiting()).toHaveLength(1);
    await desk.settle();
    expect(desk.state.overlays).toEqual([]);
    expect(desk.copied).toHaveLength(1);
  });

  test("edits text at the caret", async () => {
    const { desk } = await openSandboxDashboard();
    desk.press("b", "tab", "ctrl-u", ...typing("bfore"), "home", "right", "e", "end", "x", "backspace");
    desk.press("left", "left", "delete", "r", "enter");
    expect(desk.waiting().at(-1)).toEqual({ method: "PUT", path: "/snapshots/before" });
  });

  test("selects an option by typed letters, and rings the bell if no option matches", async () => {
    const { desk } = await openSandboxDashboard();
    await desk.run("x");
    const form = () => desk.screen().find((line) => line.includes("< "));
    desk.press(...typing("lost"), "tab", "h");
    expect([form(), desk.rings()]).toEqual([expect.stringContaining("< hang >"), 0]);
    desk.press("5");
    expect([form(), desk.rings()]).toEqual([undefined, 1]);
    expect(desk.state.notice?.text).toBe("h5: no match for as");
    const armed = desk.waiting().length;
    desk.press("x", "enter", "down");
    expect([desk.waiting().length, desk.state.notice?.text]).toEqual([armed, "h5x: no match for as"]);
    expect(desk.screen().join("\n")).toMatch(/▸ as +h5x: no match for as/);
    desk.press("backspace", "backspace", "backspace", "5");
    expect(form()).toContain("< 502 >");
  });

  test("moves between fields with up and down, and between options with left and right, which wrap", async () => {
    const { desk } = await openSandboxDashboard();
    const form = () => desk.screen().join("\n");
    desk.press("b", "right", "right");
    expect(form()).toMatch(/▸ action +< delete >/);
    desk.press("down");
    expect(form()).toMatch(/ {2}action +delete[\s\S]*▸ name/);
    desk.press("down", "up");
    expect(form()).toMatch(/▸ name/);
    desk.press("up", "right");
    expect(form()).toMatch(/▸ action +< save >/);
    desk.press("left", "left", "left", "down", ...typing("later"), "enter");
    expect(desk.waiting().at(-1)).toEqual({ method: "PUT", path: "/snapshots/later" });
  });

  test("scrolls options that do not fit, and says which part of them it shows", async () => {
    const { desk } = await openSandboxDashboard(60, 16);
    await desk.run("x");
    desk.press("4", "tab");
    const part = () => /(\d+)-(\d+) of (\d+)/.exec(desk.screen().join("\n"))?.slice(1).map(Number) ?? [];
    const [from, to = 0, all = 0] = part();
    expect([from, to > 3, to < all]).toEqual([1, true, true]);
    desk.press(...Array<string>(all).fill("pagedown"));
    expect(part().slice(1)).toEqual([all, all]);
    expect(desk.screen().join("\n")).toMatch(/▸ operation/);
  });

  test("shows the defaults of empty fields", async () => {
    const { desk } = await openSandboxDashboard(120, 40);
    await desk.run("x");
    desk.press(...typing("lost"), "ctrl-o");
    expect(desk.screen().join("\n")).toMatch(/as +default: reset/);
    expect(desk.screen().join("\n")).toMatch(/priority +default: 0/);
  });
});

test("a form shows its main fields, Ctrl-O shows or hides the others, and a filled field is never hidden", async () => {
  const { desk } = await openSandboxDashboard(120, 60);
  await desk.run("x");
  desk.press("4");
  const labels = () => topFormView(desk.state).fields.map(({ label }) => label);
  const folded = labels();
  expect(folded).toEqual(["fault", "operation", "merchant", "times", "for", "retryAfter"]);
  expect(desk.screen(120, 60).join("\n")).toMatch(/\d+ more fields … Ctrl-O/);
  desk.press("ctrl-o");
  expect(labels()).toContain("skip");
  desk.state = focusField(desk.state, { name: "trigger.skip", help: "" }).state;
  desk.press("2", "ctrl-o", "tab");
  expect(labels()).toEqual([...folded, "skip"]);
});

test("a form shows its call as curl, and Ctrl-Y copies the call", async () => {
  const { desk } = await openSandboxDashboard(160, 40);
  await desk.run("x");
  await desk.run("4", "tab", ...typing("payments.l"), "tab", "tab", "3", "ctrl-y");
  const [curl = ""] = desk.copied;
  // Removes borders and blanks, so that the wrapped command is one line again.
  expect(desk.screen().join("").replace(/[│ ]/g, "")).toContain(curl.replaceAll(" ", ""));
  desk.press("enter");
  expect(curl).toBe(curlOf(desk.state.target, desk.waiting()[0] as Call));
});

describe("every form fits the screen", () => {
  test.each([
    [120, 36],
    [60, 15],
  ])("%i by %i, with any input", async (columns, rows) => {
    const bench = await open();
    const desk = await openTestDashboard(bench.url, columns, rows);
    for (const key of ["x", "t", "c", "M", "X", "w", "b"]) {
      await desk.run(key);
      for (const more of [
        [],
        ["tab"],
        typing("payroll.item"),
        ["tab", "tab"],
        typing("語".repeat(90)),
        ["shift-tab"],
      ]) {
        desk.press(...more);
        const screen = desk.screen(columns, rows);
        expect(screen).toHaveLength(rows);
        expect(screen.map(widthOf).filter((width) => width > columns)).toEqual([]);
        expect(screen.join("\n")).toContain("curl -sS");
        expect(screen.filter((line) => line.includes(" ▸ ")).length).toBeGreaterThanOrEqual(2);
        expect(screen.at(-1)).toMatch(/^ Enter (?:arm|trigger|advance|create|reset|change|save) /);
      }
      desk.press("escape");
      expect(topOverlay(desk.state)).toBeUndefined();
    }
    desk.press("D");
    expect(desk.screen(columns, rows).join("\n")).toContain("curl -sS -X DELETE");
  });
});

describe("the palette", () => {
  test("finds a command whatever its keys, and rejects a search that matches no command", async () => {
    const { desk } = await openSandboxDashboard();
    desk.state = withLiveEvents(desk.state, [requested(1)]);
    for (const [search, shown] of [
      ["edit", "edit the request and resend it"],
      ["compare", "compare the request with the first try of the same call"],
      ["restore", "save, restore or delete a snapshot"],
    ] as const) {
      desk.press(":", ...typing(search));
      expect(desk.screen()[5]).toContain(shown);
      desk.press("escape");
    }
    desk.press(":", ...typing("outag?"), "enter");
    expect([desk.rings(), desk.waiting()]).toEqual([1, []]);
    expect(desk.screen().join("\n")).toMatch(/:outag\?▏[\s\S]*No command matches outag\?/);
  });

  test("finds a command of another pane, shows the keys that reach it, and goes to that pane", async () => {
    const { desk } = await openSandboxDashboard();
    desk.press(":", ...typing("secret"));
    expect(desk.screen().join("\n")).toMatch(/▸ 9 Y +copy the endpoint's secret \(in Endpoints\)/);
    desk.press("enter");
    expect([desk.state.pane, desk.copied]).toEqual(["endpoints", []]);
    desk.press(":", ...typing("secret"));
    expect(desk.screen().join("\n")).not.toContain("(in Endpoints)");
    desk.press("escape", ":");
    expect(desk.screen().join("\n")).not.toContain("(in ");
  });

  test.each(["q", "quit"])(
    "finds the quit command in every pane by typing %s; a search matches only at the start of a word",
    async (search) => {
      const { desk } = await openSandboxDashboard();
      for (const digit of "1234579") {
        await desk.run(digit, ":", ...typing(search), "enter");
        expect(desk.screen().join("\n")).toContain("Stop the sandbox");
        desk.press("escape");
      }
      desk.press(":", ...typing("wq"), "enter");
      expect([desk.rings(), desk.waiting()]).toEqual([1, []]);
    },
  );

  test("in a detail, runs the chosen command on the row of the detail", async () => {
    const bench = await open();
    await list(bench);
    const desk = await openTestDashboard(bench.url);
    desk.state = withLiveEvents(desk.state, [requested(1)]);
    desk.press("enter", ":", ...typing("copy the merchant's"), "enter");
    expect(desk.copied).toEqual([]);
    await desk.settle();
    expect(desk.copied).toEqual(["sk_test_lodge"]);
    expect(topOverlay(desk.state)?.title).toBe("GET /v1/payments");
  });
});

describe("leaving", () => {
  const kinds = (state: UiState, ...keys: string[]) =>
    keys
      .reduce((before, key) => handleKey(before.state, key), { state, effects: [] } as StateUpdate)
      .effects.map(({ kind }) => kind);

  test("q asks what to do with a sandbox that this terminal started, and leaves any other without asking", async () => {
    const { desk } = await openSandboxDashboard();
    const { sandbox } = desk.state;
    if (!sandbox) throw new Error("no sandbox");
    expect([kinds(desk.state, "q"), kinds(desk.state, "q", "escape")]).toEqual([[], []]);
    expect(kinds(desk.state, "q", "s")).toEqual(["quit"]);
    expect(screenText({ ...desk.state, canLeave: true })).toContain("q stop or leave");
    const attached = { ...desk.state, sandbox: { ...sandbox, pid: sandbox.pid + 1 } };
    expect(kinds(attached, "q")).toEqual(["quit"]);
    expect(screenText(attached)).toContain("q leave");
  });

  test("a sandbox with a file can be left running; otherwise the question says that a file is needed", async () => {
    const { desk } = await openSandboxDashboard();
    const inMemory = handleKey({ ...desk.state, canLeave: true }, "q").state;
    expect(screenText(inMemory)).toContain("needs a sandbox with a file");
    expect(kinds(inMemory, "l")).toEqual([]);
    const sandbox = { ...desk.state.sandbox, database: "/tmp/sandbox.db" } as SandboxOverviewReply;
    expect(kinds({ ...desk.state, canLeave: true, sandbox }, "q", "l")).toEqual(["leave"]);
  });

  test("the question says that a sandbox that is left running loses its faults and verdicts", async () => {
    const { bench, desk } = await openSandboxDashboard();
    const asked = () => {
      const sandbox = { ...desk.state.sandbox, database: "/tmp/sandbox.db" } as SandboxOverviewReply;
      return screenText(handleKey({ ...desk.state, canLeave: true, sandbox }, "q").state).replaceAll(/[\s│]+/g, " ");
    };
    expect(asked()).toContain("The sandbox restarts there: verdicts are lost Esc");
    for (const _ of [1, 2]) await bench.control("POST", "/faults", { action: { type: "outage" } });
    await desk.apply({ state: desk.state, effects: [{ kind: "refresh" }] });
    expect(asked()).toContain(
      "The sandbox restarts there: verdicts and 2 armed faults are lost, except faults from --faults or --scenario",
    );
  });

  test("q does not offer to leave running a sandbox that ends with its command, such as dev", async () => {
    const { desk } = await openSandboxDashboard();
    const sandbox = { ...desk.state.sandbox, database: "/tmp/sandbox.db" } as SandboxOverviewReply;
    const asked = screenText(handleKey({ ...desk.state, sandbox }, "q").state);
    expect(asked).toContain("Stop the sandbox?");
    expect(asked).not.toMatch(/leave it running|needs a sandbox/);
    const app = { status: "process 7", lines: [] };
    const askedInDev = screenText(handleKey({ ...desk.state, sandbox, app }, "q").state);
    expect(askedInDev).toContain("Stop the sandbox and the app?");
    expect(askedInDev).toContain("s  stop the sandbox and the app; the database file keeps the data");
    expect(kinds({ ...desk.state, sandbox }, "q", "l")).toEqual([]);
  });

  test("a key that cannot act says what it needs, or where it works", async () => {
    const { desk } = await openSandboxDashboard();
    const said = (key: string) => handleKey({ ...desk.state, undo: [] }, key).state.notice?.text;
    expect(said("y")).toMatch(/^y needs a selected row \(copy the request as curl.*\)$/);
    expect(said("e")).toBe("e works in Rate limits");
    expect(said("!")).toMatch(/^! needs a call or a copied text before \(/);
    expect(said("#")).toBe("# does nothing here. Press ? for the keys");
    expect(handleKey(desk.state, "h").state.overlays.at(-1)?.title).toBe("Keys");
  });

  test("C, o and A arm nothing before their form is sent", async () => {
    const { desk } = await openSandboxDashboard();
    for (const [key, title] of [
      ["C", "Arm a fault"],
      ["o", "Arm a fault"],
      ["A", "Start a scenario"],
    ] as const) {
      await desk.run(key);
      expect([desk.waiting(), topOverlay(desk.state)?.title]).toEqual([[], title]);
      desk.press("escape");
    }
  });
});

test("W asks, and then sends the held deliveries that came with a snapshot", async () => {
  const receiver = await receive();
  receiver.script(500);
  const before = await open();
  await register(before, receiver.url);
  await deliver(before);
  const snapshot = join(folder(), "owing.db");
  copyFileSync((await before.control("PUT", "/snapshots/owing")).file, snapshot);
  await before.close();

  const bench = await open({ snapshot, life: "off" });
  const desk = await openTestDashboard(bench.url);
  expect(screenText(desk.state)).toContain("1 delivery held: W sends");
  await desk.run("W");
  expect(screenText(desk.state)).toContain("Send 1 delivery that came with the file");
  await desk.run("y");
  await receiver.arrived(2);
  expect((await bench.control("GET", "")).heldDeliveries).toBe(0);
});

test("W says what it needs if no deliveries are held", async () => {
  const { desk } = await openSandboxDashboard();
  await desk.run("W");
  expect(desk.state.notice?.text).toContain("deliveries that came with a file");
  expect(desk.waiting()).toEqual([]);
});
