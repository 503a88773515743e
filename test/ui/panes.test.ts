// Panes and details: frames with known rows at three sizes, and the keys on rows of a real sandbox.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import stringWidth from "string-width";
import { describe, expect, test } from "vitest";
import type { SandboxOverviewReply } from "../../generated/control-api.ts";
import type { LiveEvent } from "../../src/contracts/live-messages.ts";
import { applyPolledRows, applySandboxIndex } from "../../ui/panes/apply-message.ts";
import { columnWidths } from "../../ui/panes/columns.ts";
import { failedDeliveries } from "../../ui/panes/deliveries.ts";
import { attemptLines } from "../../ui/panes/details/row-lines.ts";
import { paneNamed } from "../../ui/panes/index.ts";
import { handleKey } from "../../ui/panes/keys/key-bindings.ts";
import { loadRows } from "../../ui/panes/run-effects.ts";
import { addPage } from "../../ui/state/list.ts";
import { listOf, type UiState } from "../../ui/state/state.ts";
import { withList } from "../../ui/state/updates.ts";
import { stripStyles } from "../../ui/text/style.ts";
import {
  loggedAttempts,
  loggedRequests,
  openSandboxDashboard,
  openTestDashboard,
  screenOf as screen,
  type TestDashboard,
  screenText as textOf,
} from "../support/dashboard.ts";
import {
  attempt,
  attempted,
  emptyDashboard,
  INDEX,
  judged,
  rateWindow,
  requested,
  rule,
  withLiveEvents,
  withRulesAndWindows,
} from "../support/live-rows.ts";
import { type Bench, NOON_SECONDS, open } from "../support/sandbox.ts";
import { advance, deliver, openRegistered, receive, register, settle, trigger } from "../support/webhooks.ts";

const run = promisify(execFile);

/** The lines that contain all of these parts. */
const lineWith = (state: UiState, ...parts: string[]) =>
  screen(state).filter((line) => parts.every((part) => line.includes(part)));
const press = (state: UiState, ...keys: string[]) => keys.reduce((before, key) => handleKey(before, key).state, state);

const busy = (columns: number, rows: number) =>
  withRulesAndWindows(
    withLiveEvents(emptyDashboard(columns, rows), [
      requested(1, { query: "limit=25", durationMs: 1.24 }),
      requested(2, {
        method: "POST",
        path: "/v1/hospitality/bookings/bkg_pending/decline",
        status: 409,
        durationMs: 1_204,
      }),
      requested(3, { method: "POST", path: "/v1/employees/payroll", replayOf: "req_2", merchant: "mer_market" }),
      requested(4, { status: 429, fault: "flt_1" }),
      requested(5, { status: 0, fault: "flt_2" }),
      attempted(1, {
        delivery: 1,
        attempt: 2,
        status: "failed",
        responseStatus: 503,
        nextAttemptAt: NOON_SECONDS + 5,
        eventId: "evt_a",
      }),
      attempted(2, {
        delivery: 1,
        attempt: 3,
        status: "failed",
        responseStatus: 503,
        nextAttemptAt: NOON_SECONDS + 4,
        eventId: "evt_a",
      }),
      attempted(3, {
        attempt: 6,
        status: "failed",
        responseStatus: null,
        errorCode: "connection_refused",
        eventId: "evt_b",
      }),
      attempted(4),
      judged(1, { fault: "flt_2" }),
      judged(2, { rule: "idempotency.key_reused", verdict: "pass" }),
    ]),
    [
      rule(1, { ttl: "10m", endsAt: "2026-01-05T12:09:41.000Z" }),
      rule(2, { name: "lost payroll", status: "spent", remaining: 0, fired: 1 }),
      rule(3, { enabled: false, action: { type: "outage" }, match: {} }),
    ],
    [rateWindow(), rateWindow({ merchant: "mer_market", remaining: 0 })],
  );

test("a list has aligned columns with characters of any width", () => {
  const wide = withLiveEvents(emptyDashboard(80, 24), [
    requested(1, { path: "/v1/customers/日本語" }),
    requested(2, { path: "/v1/customers/e\u0301👩🏨" }),
    requested(3, { path: "/v1/customers/שלום" }),
    requested(4, { path: "/v1/customers/plain" }),
  ]);
  const places = lineWith(wide, "/v1/customers", "200").map((line) => stringWidth(line.slice(0, line.indexOf("200"))));
  expect(places).toHaveLength(4);
  expect(new Set(places).size).toBe(1);
});

describe("rows of requests", () => {
  test("show time, method, path, status, replay or fault, duration and merchant", () => {
    const wide = busy(200, 36);
    expect(lineWith(wide, "12:00:00.001")[0]).toMatch(
      /12:00:00\.001 GET {4}\/v1\/payments\?limit=25 +200 +payments\.list +lodge/,
    );
    expect(lineWith(wide, "12:00:00.003")[0]).toMatch(/payroll +200 ↻ .* market/);
    expect(lineWith(wide, "12:00:00.004")[0]).toMatch(/429 \* /);
    expect(lineWith(wide, "12:00:00.005")[0]).toMatch(/cut \* /);
  });

  test("show why a request failed and what a write changed, rather than the operation", () => {
    const state = withLiveEvents(emptyDashboard(100, 24), [
      requested(1, { status: 409, summary: "invalid_state: Paid already." }),
      requested(2, { method: "POST", summary: "pay_9 refunded" }),
      requested(3),
    ]);
    expect(textOf(state)).toMatch(
      /409 +invalid_state: Paid alread\S+[\s\S]*200 +pay_9 refunded[\s\S]*200 +payments\.list/,
    );
  });

  test("drop the less important columns on a narrow screen, and cut a path in the middle", () => {
    expect(lineWith(busy(80, 24), "decline")[0]).toMatch(/│ {2}POST {3}\/v1\/\S+bkg_pending\/decline {2}409 +payme/);
    const [line] = lineWith(busy(60, 15), "decline");
    expect(line).toMatch(/POST {3}\/v1\/hosp\S*…\S*decline {2}409/);
    expect(line).not.toContain("12:00");
  });

  test("at 80 columns, show the whole code of an error beside a long path", () => {
    const state = withLiveEvents(emptyDashboard(80, 24), [
      requested(1, {
        path: "/v1/hospitality/bookings/bkg_pending/decline",
        status: 400,
        summary: "validation_failed: x",
      }),
    ]);
    expect(lineWith(state, "bkg_pending/decline")[0]).toContain(" 400   validation_failed: x");
  });

  test("give the width of an empty column to other columns, and leave out a column before they cut a path", () => {
    const state = withLiveEvents(emptyDashboard(100, 30), [requested(1, { path: "/v1/hospitality/bookings/bkg_1" })]);
    expect(lineWith(state, "bkg_1")[0]).toMatch(/12:00:00 .*\/v1\/hospitality\/bookings\/bkg_1 +200 +payments\.list/);
  });
});

describe("rows of deliveries", () => {
  const shown = (columns: number, height: number): UiState => ({ ...busy(columns, height), pane: "deliveries" });

  test.each([
    [120, 36],
    [80, 24],
  ] as const)("at %ix%i, show each delivery once, with its event, endpoint, result and outcome", (columns, height) => {
    const state = shown(columns, height);
    expect(lineWith(state, "payment.succeeded", "hooks")).toHaveLength(3);
    expect(lineWith(state, "3/6")[0] ?? lineWith(state, "next in")[0]).toMatch(
      /payment\.succeeded +:3000\/hooks .*503 .*~ next in 4 s/,
    );
    expect(lineWith(state, "refused")[0]).toMatch(/refused .*✗ failed 12:00/);
    expect(lineWith(state, "delivered", "hooks")[0]).toMatch(/ 200 .*✓ delivered/);
  });

  const HOOKS = "http://localhost:3000/hooks/for/the/shop";
  const failedAt = (number: number, endpointId: string, url: string) =>
    attempted(number, { endpointId, url, status: "failed", responseStatus: 500, summary: "database is down" });

  test.each([
    [120, 36],
    [80, 24],
  ] as const)("at %ix%i, name the endpoint of each row if there are several endpoints", (columns, height) => {
    const state = withLiveEvents({ ...emptyDashboard(columns, height), pane: "deliveries" }, [
      failedAt(1, "we_1", `${HOOKS}/payments`),
      failedAt(2, "we_2", `${HOOKS}/bookings`),
    ]);
    expect(lineWith(state, "ayments ", " 500 ")).toHaveLength(1);
    expect(lineWith(state, "ookings ", " 500 ")).toHaveLength(1);
  });

  test("show the reason of a failure rather than a long URL if there is only one endpoint", () => {
    const state = withLiveEvents({ ...emptyDashboard(100, 30), pane: "deliveries" }, [
      failedAt(1, "we_1", `${HOOKS}/${"x".repeat(20)}`),
    ]);
    expect(lineWith(state, "database is down")).not.toHaveLength(0);
  });

  test("list in their details why each attempt failed, or its URL if the endpoint has moved since", () => {
    const attempts = [
      attempt(3, { attempt: 3, delivery: 1, summary: "database is still down" }),
      attempt(2, { attempt: 2, delivery: 1, summary: "database is down" }),
      attempt(1, { attempt: 1, delivery: 1, url: "http://localhost:9/old", summary: "no such page" }),
    ];
    const lines = attemptLines(emptyDashboard(), attempts, () => false, 100, "whd_3").map((line) =>
      stripStyles(typeof line === "string" ? line : line.text),
    );
    expect(lines).toEqual([
      expect.stringMatching(/1\/6 .* http:\/\/localhost:9\/old +$/),
      expect.stringMatching(/2\/6 .* database is down +$/),
      expect.stringMatching(/3\/6 .* database is still down +$/),
    ]);
  });

  test("have a mark for each try, and show why the last try failed", () => {
    const state = withLiveEvents({ ...emptyDashboard(170, 36), pane: "deliveries" }, [
      attempted(1, { delivery: 1, status: "failed", responseStatus: 500, summary: "earlier" }),
      attempted(2, { delivery: 1, attempt: 2, status: "failed", responseStatus: 500, summary: "database is down" }),
      attempted(3, { delivery: 2, attempt: 3 }),
      attempted(4, { delivery: 3, attempt: 11, maxAttempts: 20, status: "failed" }),
    ]);
    expect(lineWith(state, "database is down")[0]).toMatch(/✗✗ +2\/6 +500/);
    expect(textOf(state)).toMatch(/✗✗✓ +3\/6[\s\S]*✗×10✗ +11\/20/);
    expect(textOf(state)).not.toContain("earlier");
  });

  test("count failed deliveries in the title until they are replayed", () => {
    const counted = applySandboxIndex(busy(80, 24), { ...INDEX, failedDeliveries: 1 });
    expect(textOf({ ...counted, pane: "deliveries" })).toContain("1 failed");
    const replayed = withLiveEvents(busy(80, 24), [attempted(5, { eventId: "evt_b", trigger: "replay" })]);
    expect(lineWith({ ...replayed, pane: "deliveries" }, "refused")[0]).toContain("✗ replayed");
  });

  test("count as failed if their replay fails too, until another replay succeeds", () => {
    const replay = {
      eventId: "evt_b",
      trigger: "replay",
      status: "failed",
      responseStatus: 500,
      maxAttempts: 1,
    } as const;
    const state = { ...withLiveEvents(busy(80, 24), [attempted(5, replay)]), pane: "deliveries" };
    expect(lineWith(state, "refused")[0]).toContain("✗ replay failed");
    expect(failedDeliveries(listOf(state, "deliveries").rows).map(({ delivery }) => delivery)).toEqual([5]);
    const again = withLiveEvents(state, [attempted(6, { eventId: "evt_b", trigger: "replay" })]);
    expect(lineWith(again, "refused")[0]).toContain("✗ replayed");
    expect(failedDeliveries(listOf(again, "deliveries").rows)).toEqual([]);
  });

  test.each([
    [80, 24],
    [120, 36],
    [170, 36],
  ] as const)("at %ix%i, show the number of the last try, or that the delivery is a replay", (columns, height) => {
    const state = withLiveEvents(shown(columns, height), [
      attempted(5, {
        eventId: "evt_b",
        trigger: "replay",
        status: "failed",
        summary: "The database is down, and so on",
      }),
    ]);
    expect(textOf(state)).toMatch(/ try .*[\s\S]* 3\/6 [\s\S]* replay /);
  });

  test("show a pending delivery and a failed replay of its event as two rows", () => {
    const replay = attempt(6, {
      eventId: "evt_a",
      trigger: "replay",
      status: "failed",
      responseStatus: 500,
      maxAttempts: 1,
    });
    const state = withLiveEvents(busy(80, 24), [{ kind: "attempt", attempt: replay }]);
    const lines = lineWith({ ...state, pane: "deliveries" }, "payment.succeeded", "50");
    expect(lines.map((line) => /[~✗] \w+( in 4 s)?/.exec(line)?.[0])).toEqual(["~ next in 4 s", "✗ failed"]);
    expect(failedDeliveries(listOf(state, "deliveries").rows).map(({ eventId }) => eventId)).toEqual(["evt_b"]);
  });

  test("count down to the next attempt with the sandbox clock", () => {
    const running = applySandboxIndex(
      { ...busy(80, 24), now: 1_000 },
      { ...INDEX, clock: { ...INDEX.clock, mode: "real" } },
    );
    const later = { ...running, now: 3_000, pane: "deliveries" };
    expect(lineWith(later, "503")[0]).toContain("next in 2 s");
    expect(lineWith({ ...later, now: 9_000 }, "503")[0]).toContain("due now");
  });
});

describe("rate limits, faults and verdicts", () => {
  test("are below a status bar with armed faults, URL, API keys, clock and version, as far as these fit", () => {
    const [wide = "", usual = "", narrow = ""] = [160, 120, 80].map((columns) => screen(busy(columns, 36))[0]);
    expect(wide).toMatch(
      /^ LIVE {2}429 on payments\.list 9:41 {2}http\S+ {2}sk_test_lodge \+1 more {2}clock .* {2}v\S+ .*req\/s/,
    );
    expect(usual).toMatch(/^ LIVE {2}429 .* {2}http\S+ {2}sk_test_lodge \+1 more {2}clock frozen .*req\/s/);
    expect(narrow).toMatch(/^ LIVE {2}429 on payments\.list 9:41 {2}http\S+ .*req\/s/);
  });

  test("are below a status bar that, at 80 columns, shows a frozen clock, or else the API key", () => {
    const frozen = emptyDashboard(80, 24);
    expect(screen(frozen)[0]).toMatch(/^ LIVE {2}http\S+ {2}clock frozen /);
    const real = applySandboxIndex(frozen, { ...INDEX, clock: { ...INDEX.clock, mode: "real" } });
    expect(screen(real)[0]).toMatch(/^ LIVE {2}http\S+ {2}sk_test_lodge \+1 more /);
  });

  test("show what remains of a rate limit, and for how long it is exhausted", () => {
    const state = { ...busy(80, 24), pane: "limits" };
    expect(lineWith(state, "lodge", "6,000")[0]).toMatch(/█+░+ 4,812\/6,000 resets 16 s/);
    expect(lineWith(state, "market")[0]).toMatch(/░+ {5}0\/6,000 429 for 16 s/);
  });

  test("show how often a rule may still fire, when it ends, and its verdict", () => {
    const state = { ...busy(80, 24), pane: "faults" };
    expect(textOf(state)).toMatch(/fault +left +state +fired +verdict/);
    expect(textOf(state)).toMatch(/\* 429 on payments\.list +2\/3 +ends in 9:41 +1/);
    expect(lineWith(state, "lost payroll")[0]).toMatch(/exhausted +1 +✗? ?fail/);
    expect(lineWith(state, "outage")[0]).toMatch(/ {2}outage .*disabled/);
    expect(textOf(state)).toContain("1 armed");
    expect(textOf(busy(120, 36))).toMatch(/\* 429 on payments\.list +\S* +ends in 9:41/);
  });

  test("show failed verdicts by rule, newest first, and passed verdicts in one line that Enter opens", () => {
    const many = withLiveEvents(busy(109, 60), [
      judged(3, { rule: "effect.single", message: "req_9 took effect twice.", hint: "Send the same key again." }),
      judged(4, { verdict: "pass" }),
      judged(5, { message: "The newest one." }),
    ]);
    const state = { ...many, pane: "verdicts" };
    const rows = (shown: UiState) =>
      screen(shown).flatMap((line) => /[✗✓~] (?:\d+ )?(?:failed|passed|fail|pass) .*/.exec(line)?.[0] ?? []);
    expect(rows(state)[0]).toMatch(/✗ 2 failed +retry_after\.honoured +The newest one\./);
    expect(rows(state)[1]).toMatch(/✗ 1 failed +effect\.single +req_9 took effect twice/);
    expect(rows(state).slice(2, 3).join()).toMatch(/✓ 2 passed +Enter lists them\./);
    expect(textOf(state)).toContain("5 Verdicts ─");
    const passes = press(state, "G", "enter");
    expect(listOf(passes, "verdicts").filter).toBe("verdict:pass");
    expect(rows(passes).filter((row) => row.startsWith("✓ pass"))).toHaveLength(2);
    expect(rows(press(passes, "escape"))[0]).toContain("✗ 2 failed");
    const detail = textOf(press(state, "enter"));
    for (const words of ["How to fix it", "Failures of this rule: 2", "The newest one."])
      expect(detail).toContain(words);
  });
});

describe("an empty pane says what to do", () => {
  test.each([
    ["requests", "curl http://127.0.0.1:4747/v1/payments --oauth2-bearer sk_test_lodge"],
    ["deliveries", "npx merchant-sandbox listen --forward-to localhost:3000/hooks"],
    ["verdicts", "Press x to arm a fault"],
    ["faults", "Loading …"],
    ["endpoints", "Loading …"],
  ])("%s", (pane, words) => {
    const text = screen({ ...emptyDashboard(80, 24), pane })
      .map((line) => line.slice(3, -3))
      .join("\n");
    expect(text).toContain(words);
  });

  test.each([
    ["faults", "npx merchant-sandbox fault add 429"],
    ["endpoints", "No endpoints. Run:"],
    ["limits", "No merchants. Press M to create one."],
  ])("after its rows have loaded: %s", (pane, words) => {
    expect(textOf(applyPolledRows({ ...emptyDashboard(80, 24), pane }, pane, []))).toContain(words);
  });

  test("a pane whose filter matches no row says how to clear the filter", () => {
    const state = press(busy(80, 24), "/", "n", "o", "n", "e");
    expect(textOf(state)).toContain("No row matches none. Press Esc to clear the filter.");
    expect(textOf(press(state, "escape"))).toContain("bkg_pending");
  });
});

test("a phone shows the reason of a failed request beside a long path", () => {
  const state = withLiveEvents({ ...emptyDashboard(100, 24), isPage: true }, [
    requested(1, { path: "/v1/customers/cus_nobody/cards", status: 404, summary: "resource_not_found: No such one." }),
    requested(2, { fault: "flt_1" }),
  ]);
  const columns = listOf(state).rows.map((row) => paneNamed("requests").columns(row, state, 48));
  const widths = columnWidths(columns, 48);
  const byHeading = columns[0]?.map(({ heading = "mark" }, index) => [heading, widths[index]]);
  expect(Object.fromEntries(byHeading ?? [])).toMatchObject({ path: 20, result: 13, code: 4, mark: 1, time: 0 });
});

describe("a filter", () => {
  test("counts its matches among all rows, including rows that the stream left out", () => {
    const many = withLiveEvents(
      emptyDashboard(80, 24),
      Array.from({ length: 100 }, (_, index) => requested(index, { status: index < 41 ? 404 : 200 })),
      13_159,
    );
    const state = press(many, "/", ..."status:4xx");
    expect(textOf(state)).toContain("/status:4xx  41+ of 13,259");
    expect(textOf(many)).toContain("13,259  following");
    const trimmed = applySandboxIndex(many, {
      ...INDEX,
      made: { ...INDEX.made, requests: 13_259 },
      kept: { ...INDEX.kept, requests: 10_000 },
    });
    expect(textOf(trimmed)).toContain("13,259, 10,000 kept  following");
    expect(textOf(press(trimmed, "/", ..."status:4xx"))).toContain("/status:4xx  41+ of 10,000 kept");
  });

  test("says that no row matches only after all rows have been searched", () => {
    const many = withLiveEvents(emptyDashboard(80, 24), [requested(1)], 50);
    const state = press(many, "/", ..."is:cut");
    expect(textOf(state)).toContain("Searching the log for is:cut …");
    expect(textOf(state)).not.toMatch(/No row|not shown/);
    const list = addPage(listOf(state), { rows: [], hasMore: false, before: undefined, filter: "is:cut" });
    expect(textOf(withList(state, "requests", list))).toContain(
      "No row matches is:cut. Press Esc to clear the filter.",
    );
  });
});

test("a filter set during a flood of requests loads its only match from the log, and shows only that row", async () => {
  const bench = await open();
  const desk = await openTestDashboard(bench.url);
  for (let number = 0; number < 90; number++)
    await bench.call("GET", number === 20 ? "/v1/payments/pay_nope" : "/v1/payments?limit=1");
  // During a flood, digests contain only the newest rows.
  const logged = await loggedRequests(bench);
  const flooded = withLiveEvents(withLiveEvents(desk.state, [], 30), logged.slice(30, 50), 30);
  desk.state = press(withLiveEvents(flooded, logged.slice(80)), "/", ..."status:404");
  expect(textOf(desk.state)).toMatch(/status:404 {2}0\+ of 90.*Searching the log/s);
  await desk.apply(loadRows(desk.state));
  expect(lineWith(desk.state, "▸", "/v1/payments/pay_nope")).toHaveLength(1);
  expect(textOf(desk.state)).toContain("/status:404  1 of 90  following");
  expect(textOf(desk.state)).not.toMatch(/not shown|limit=1/);
  expect(loadRows(desk.state).effects).toEqual([]);
});

describe("the line of a filter", () => {
  const lineOf = (state: UiState) => screen(state).at(-2);

  test("rejects an unknown field while it is typed, and lists the known fields", () => {
    const state = press(busy(120, 24), "/", ..."colour:red");
    expect(lineOf(state)).toMatch(
      /\/colour:red▏ {2}There is no field colour:\. The fields are id:, method:, path:, status:/,
    );
    expect(lineOf(press(state, "enter"))).toContain("/colour:red▏");
  });

  test("has a caret that the cursor keys move", () => {
    const state = press(busy(120, 24), "/", ..."status:404", "left", "backspace", "home", "!", "end");
    expect(lineOf(state)).toContain("/!status:44▏");
    expect(lineOf(press(state, "left", "left"))).toContain("/!status:▏44");
    expect(listOf(press(state, "enter")).filter).toBe("!status:44");
  });

  test("recalls the filter of failed rows if there is no earlier filter", () => {
    const state = press(busy(120, 24), "/");
    expect(screen(state).at(-1)).toContain("Up failed, earlier");
    expect(listOf(press(state, "up", "enter")).filter).toBe("is:failed");
  });

  test("skips an earlier filter that equals the current one", () => {
    const kept = press(busy(120, 24), "/", ..."status:4xx", "enter", "/", "up");
    expect(listOf(kept).filter).toBe("is:failed");
    expect(listOf(press(kept, "down")).filter).toBe("status:4xx");
  });

  test("recalls earlier filters, newest first", () => {
    const state = ["status:4xx", "is:fault"].reduce(
      (before, filter) => press(before, "/", ...filter, "enter", "escape"),
      busy(120, 24),
    );
    const filters = ["up", "up", "up", "up", "down", "down", "down"].map(
      (_, index, keys) => listOf(press(state, "/", ...keys.slice(0, index + 1))).filter,
    );
    expect(filters).toEqual(["is:fault", "status:4xx", "is:failed", "is:failed", "status:4xx", "is:fault", ""]);
  });
});

describe("the cursor", () => {
  test("is a symbol, and stops the list from following: new rows are only counted", () => {
    const state = press(busy(80, 24), "k", "k");
    expect(lineWith(state, "▸", "payroll")).toHaveLength(1);
    const more = Array.from({ length: 212 }, (_, index) => requested(100 + index));
    const later = withLiveEvents(state, more);
    expect(lineWith(later, "▸", "payroll")).toHaveLength(1);
    expect(textOf(later)).toContain("NOT FOLLOWING, 212 new");
    expect(textOf(press(later, "f"))).toContain("following");
  });

  test("stays on a row that has left the list, and the pane says so", () => {
    const gone = withRulesAndWindows({ ...press({ ...busy(80, 24), pane: "faults" }, "j") }, [rule(1)]);
    expect(textOf(gone)).toContain("selected row no longer listed");
    expect(lineWith(gone, "▸", "lost payroll")).toHaveLength(1);
  });

  test("is dropped by a reset, and the list follows again", () => {
    const paused = press(busy(120, 36), "k", "k");
    const reset = withLiveEvents(paused, [{ kind: "reset", merchant: null }, requested(100)]);
    expect(textOf(paused)).toMatch(/1 Requests.*NOT FOLLOWING/);
    expect(textOf(reset)).toMatch(/1 Requests.*following/);
  });

  test("does not stay on a removed row that the user never selected, in a pane without focus", () => {
    const before = withRulesAndWindows(busy(120, 36), [rule(1), rule(2)]);
    const gone = withRulesAndWindows(before, [rule(2)]);
    expect(textOf(gone)).not.toContain("selected row no longer listed");
  });
});

describe("the help", () => {
  test("groups the keys, and finds keys by a search", () => {
    const help = press(busy(120, 50), "?");
    const text = textOf(help);
    for (const words of ["Requests", "resend the request", "All panes", "page down"]) expect(text).toContain(words);
    const found = textOf(press(help, "/", ..."curl"));
    expect(found).toContain("copy the request as curl");
    expect(found).not.toContain("page down");
  });
});

/** Adds to the dashboard the requests and attempts that the sandbox has logged since the last call. */
async function loadNewRows(desk: TestDashboard, bench: Bench): Promise<void> {
  const known = new Set(
    ["requests", "deliveries"].flatMap((pane) => listOf(desk.state, pane).rows.map(({ id }) => id)),
  );
  const logged = [...(await loggedRequests(bench)), ...(await loggedAttempts(bench))];
  const idOf = (event: LiveEvent) => {
    if (event.kind === "request") return event.request.id;
    return event.kind === "attempt" ? event.attempt.id : "";
  };
  desk.state = applySandboxIndex(desk.state, (await bench.control("GET", "")) as SandboxOverviewReply);
  desk.state = withLiveEvents(
    desk.state,
    logged.filter((event) => !known.has(idOf(event))),
  );
}

async function pressAll(desk: TestDashboard, ...keys: string[]): Promise<string> {
  await desk.run(...keys);
  return desk.screen(120, 90).join("\n");
}

/** Runs a copied line in a shell, and returns its output. */
const shell = async (line: string, environment: Record<string, string> = {}) =>
  (await run("bash", ["-c", line], { env: { ...process.env, ...environment } })).stdout.trim();

describe("a request of a real sandbox", () => {
  const decline = { body: { reason: "full", "zoë'sign": 1 }, headers: { "idempotency-key": "abc" } };

  async function declined() {
    const { bench, receiver } = await openRegistered();
    await bench.call("GET", "/v1/payments");
    await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline", decline);
    await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline", decline);
    await bench.call("GET", "/v1/payouts?limit=2");
    await settle(bench);
    const desk = await openTestDashboard(bench.url);
    await loadNewRows(desk, bench);
    return { bench, desk, receiver };
  }

  test("shows request, response, idempotency, rate limit, warnings, and events with deliveries", async () => {
    const { desk, receiver } = await declined();
    const first = await pressAll(desk, "k", "k", "enter");
    for (const words of [
      "operation      bookings.decline",
      "merchant       mer_lodge, API key …odge",
      "Stored: a retry with this key",
      "5,997 of 6,000",
      "unknown fields zo%C3%AB",
      "booking.declined  evt_",
      `✓ delivered       ${receiver.url}`,
      "authorization: …redacted…",
      '    "reason": "full",',
      '    "status": "declined",',
    ])
      expect(first).toContain(words);
    const second = await pressAll(desk, "n");
    expect(second).toContain("Replayed: the stored response of req_lodge_3");
    expect(desk.state.overlays).toHaveLength(1);
    expect(await pressAll(desk, "p")).toContain("Stored: a retry with this key");
  });

  test("says why there is no operation: no such route, or a response before routing", async () => {
    const bench = await open();
    await bench.call("GET", "/v1/nowhere");
    await bench.control("POST", "/faults", { action: { type: "outage" } });
    await bench.call("GET", "/v1/payments");
    const desk = await openTestDashboard(bench.url);
    await loadNewRows(desk, bench);
    expect(await pressAll(desk, "enter")).toContain("operation      none: the response was sent before routing");
    expect(await pressAll(desk, "escape", "k", "enter")).toContain("operation      none: no such route");
  });

  test("leads with n to the next request of the same operation, or else to the nearest request", async () => {
    const { desk } = await declined();
    desk.press("g", "enter");
    const other = await pressAll(desk, "n");
    expect(other).toContain("request        GET /v1/payments");
    expect(desk.state.notice?.text).toContain("showing the nearest row");
  });

  test("is copied as curl with its API key", async () => {
    const { desk, bench } = await declined();
    await pressAll(desk, "k", "k", "y");
    const answer = JSON.parse(await shell(desk.copied.at(-1) ?? ""));
    expect(answer).toMatchObject({ id: "bkg_pending", status: "declined" });
    const [newest] = (await bench.control("GET", "/requests?limit=1")).data;
    expect(newest).toMatchObject({
      operation: "bookings.decline",
      idempotencyKey: "abc",
      replayOf: "req_lodge_3",
      status: 200,
    });
  });

  test("is resent with the same path, query, body and Idempotency-Key", async () => {
    const { desk, bench } = await declined();
    await pressAll(desk, "k", "k", "r");
    expect(desk.state.notice?.text).toBe("Resent req_lodge_3: 200");
    expect((await bench.control("GET", "/requests?limit=1")).data[0]).toMatchObject({
      idempotencyKey: "abc",
      replayOf: "req_lodge_3",
    });
    expect(desk.state.lastCall).toMatchObject({
      method: "POST",
      path: "/v1/hospitality/bookings/bkg_pending/decline",
      body: JSON.stringify(decline.body),
    });
    await pressAll(desk, "G", "r");
    expect((await bench.control("GET", "/requests?limit=1")).data[0]).toMatchObject({
      path: "/v1/payouts",
      query: "limit=2",
      status: 200,
    });
  });

  test("that rotated a secret is resent only after a question", async () => {
    const bench = await open();
    const { body } = await bench.call("POST", "/v1/webhooks", { body: { url: "http://localhost:9/", events: ["*"] } });
    await bench.call("POST", `/v1/webhooks/${body.id}/rotate-secret`);
    const desk = await openTestDashboard(bench.url);
    await loadNewRows(desk, bench);
    expect(await pressAll(desk, "r")).toContain("y Rotate the secret  n Keep it");
    await pressAll(desk, "n");
    expect((await bench.control("GET", "/requests")).data).toHaveLength(2);
    await pressAll(desk, "r");
    await pressAll(desk, "y");
    expect((await bench.control("GET", "/requests")).data).toHaveLength(3);
  });

  test("is not resent when the request log truncated or masked it", async () => {
    const bench = await open();
    await bench.call("POST", "/v1/merchants/login", { body: { email: "a@b.c", password: "geheim" } });
    const desk = await openTestDashboard(bench.url);
    await loadNewRows(desk, bench);
    const detail = await pressAll(desk, "enter");
    expect(detail).not.toContain("geheim");
    await pressAll(desk, "r");
    expect(desk.state.notice?.text).toContain(
      "Cannot resend req_lodge_1: the request log truncated or masked parts of it",
    );
    await pressAll(desk, "y");
    expect(desk.copied.at(-1)).not.toContain("geheim");
    expect((await bench.control("GET", "/requests")).data).toHaveLength(1);
  });

  test("stays open while rows arrive, and is the selected row after its detail is closed", async () => {
    const { desk, bench } = await declined();
    desk.press("k", "j");
    const before = await pressAll(desk, "enter");
    await bench.call("GET", "/v1/customers/cus_zoe");
    await loadNewRows(desk, bench);
    expect(desk.screen(120, 90).slice(2, -2)).toEqual(before.split("\n").slice(2, -2));
    expect(await pressAll(desk, "escape")).toMatch(/▸\S* ?GET {4}\/v1\/payouts/);
  });

  test("lets its list follow again after the detail is closed, unless n or p moved the cursor", async () => {
    const { desk } = await declined();
    await pressAll(desk, "enter");
    expect(await pressAll(desk, "escape")).toMatch(/1 Requests.*following/);
    await pressAll(desk, "enter", "p");
    expect(await pressAll(desk, "escape")).toMatch(/1 Requests.*NOT FOLLOWING/);
  });
});

describe("a delivery of a real sandbox", () => {
  async function delivered(status: number) {
    const bench = await open();
    const receiver = await receive();
    receiver.always({ status, body: `{"taken":${status}}` });
    const { secret, id } = await register(bench, receiver.url);
    await deliver(bench, "payment.succeeded", { note: "it's 100 % \\ `true` $HOME", name: "Zoë 🏨" });
    const desk = await openTestDashboard(bench.url);
    desk.state = { ...desk.state, pane: "deliveries" };
    await loadNewRows(desk, bench);
    return { bench, desk, receiver, secret, endpoint: id };
  }

  test("shows all attempts, the request, the response and the next attempt", async () => {
    const { desk, bench, receiver, endpoint } = await delivered(503);
    await advance(bench, "5s");
    await loadNewRows(desk, bench);
    const text = await pressAll(desk, "enter");
    for (const words of [
      `endpoint       ${endpoint}  ${receiver.url}`,
      "▸ 2/6     503",
      "next attempt",
      `POST ${receiver.url}`,
      "X-Webhook-Signature: ",
      '      "note": "it\'s 100 %',
      "To verify it, set MERCHANT_WEBHOOK_SECRET",
      '    "taken": 503',
    ])
      expect(text).toContain(words);
  });

  test("has a signature that the command copied by v verifies in a real shell", async () => {
    const { desk, secret } = await delivered(200);
    await pressAll(desk, "v");
    const line = desk.copied.at(-1) ?? "";
    expect(line).not.toContain(secret);
    expect(await shell(line, { MERCHANT_WEBHOOK_SECRET: secret })).toBe("valid");
    expect(await shell(line, { MERCHANT_WEBHOOK_SECRET: `${secret}x` })).toBe("invalid");
    expect(await shell(line.replace("payment.succeeded", "payment.failed"), { MERCHANT_WEBHOOK_SECRET: secret })).toBe(
      "invalid",
    );
  });

  test("is copied as curl exactly as it was sent", async () => {
    const { desk, receiver } = await delivered(200);
    await pressAll(desk, "y");
    await shell(desk.copied.at(-1) ?? "");
    const [first, second] = receiver.arrivals;
    expect(second?.body).toEqual(first?.body);
    for (const name of ["content-type", "x-webhook-signature", "x-webhook-id", "x-webhook-event"])
      expect(second?.headers[name]).toBe(first?.headers[name]);
  });

  test("shows what a fault did, and what would have been sent without it", async () => {
    const { bench } = await openRegistered();
    await bench.control("POST", "/faults", { action: { type: "signature", as: "wrong_secret" } });
    await deliver(bench);
    const desk = await openTestDashboard(bench.url);
    desk.state = { ...desk.state, pane: "deliveries" };
    await loadNewRows(desk, bench);
    const text = await pressAll(desk, "enter");
    expect(text).toMatch(/signature +flt_\w+ \{"as":"wrong_secret"\}/);
    expect(text).toContain("Without the fault");
    expect(text.match(/X-Webhook-Signature: [0-9a-f]{64}/g)).toHaveLength(2);
  });

  test("is replayed by r; R replays all failed deliveries after a confirmation", async () => {
    const { desk, bench, receiver } = await delivered(200);
    await pressAll(desk, "r");
    expect(desk.state.notice?.text).toContain("Replayed payment.succeeded");
    await settle(bench);
    expect(receiver.arrivals).toHaveLength(2);
    receiver.always(500);
    await trigger(bench);
    await trigger(bench);
    await advance(bench, "1h");
    const failed = receiver.arrivals.length;
    await loadNewRows(desk, bench);
    expect(desk.screen().join("\n")).toContain("2 failed");
    receiver.always(200);
    const asked = await pressAll(desk, "R");
    expect(asked).toContain("Replay 2 failed deliveries?");
    await pressAll(desk, "n");
    await settle(bench);
    expect(receiver.arrivals).toHaveLength(failed);
    expect(asked).toMatch(/Replay 2 failed deliveries\?[\s\S]*Each one is a call like this:[│\s]+curl /);
    await pressAll(desk, "R", "y");
    await settle(bench);
    expect(receiver.arrivals).toHaveLength(failed + 2);
    await loadNewRows(desk, bench);
    expect(await pressAll(desk, "G", "enter")).toMatch(/✓ 200 .*replay {2}✓ delivered[\s\S]*▸ replay +200 /);
    const compared = await pressAll(desk, "tab", "=");
    expect(compared).toMatch(/Compare whd_\w+ and whd_\w+[\s\S]*request +the same\s/);
  });
});

test("R asks before it replays one failed delivery, and shows the call", () => {
  const failed = { status: "failed", responseStatus: 500, summary: "database is down" } as const;
  const state = withLiveEvents({ ...emptyDashboard(120, 36), pane: "deliveries" }, [attempted(1, failed)]);
  expect(textOf(press(state, "R"))).toMatch(/Replay 1 failed delivery\?[\s\S]*The call:[│\s]+curl .*\/whd_1\/replay/);
});

describe("fault rules, rate limits and verdicts of a real sandbox", () => {
  test("a rule is described and shown as JSON, and d removes it", async () => {
    const bench = await open();
    await bench.control("POST", "/faults", {
      id: "flt_mine",
      name: "no money",
      match: { operation: "payments.list" },
      trigger: { times: 3, skip: 1 },
      action: { type: "rate_limit", retryAfter: 2 },
      ttl: "10m",
    });
    const desk = await openTestDashboard(bench.url);
    desk.state = { ...desk.state, pane: "faults" };
    const text = await pressAll(desk, "enter");
    for (const words of [
      "Sends a 429 as if the rate limit were exceeded",
      "rule           flt_mine, no money",
      "arms           rate_limit (retryAfter 2) on payments.list, 3 times, after skipping 1",
      '"ttl": "10m"',
    ])
      expect(text).toContain(words);
    await pressAll(desk, "d");
    expect((await bench.control("GET", "/faults")).data).toEqual([]);
    expect(desk.screen().join("\n")).toContain("status         removed");
  });

  test("e exhausts a rate limit, and the next call gets 429", async () => {
    const { bench, desk } = await openSandboxDashboard();
    desk.state = { ...desk.state, pane: "limits" };
    await pressAll(desk, "e");
    expect(desk.state.lastCall).toEqual({ method: "PUT", path: "/rate-limits/mer_lodge", body: { remaining: 0 } });
    expect((await bench.call("GET", "/v1/payments")).status).toBe(429);
    const text = await pressAll(desk, "enter");
    expect(text).toContain("remaining      0 of 6,000");
    expect(text).toMatch(/API keys +sk_test_lodge/);
    expect(text).toContain("Requests get 429 until it resets");
  });

  test("the detail of a verdict shows its rule, the fix and the evidence", async () => {
    const { desk } = await openSandboxDashboard();
    desk.state = {
      ...withLiveEvents(desk.state, [requested(1, { status: 429 }), judged(1)]),
      pane: "verdicts",
    };
    const text = await pressAll(desk, "enter");
    for (const words of [
      "✗ fail (error)",
      "The client waits at least as long as Retry-After says.",
      "Wait for as many seconds",
      "confirmed by the order on connections",
      "req_1  12:00:00.001  GET /v1/payments  429",
      "req_2, on connection 2 after 41 ms",
      "waited         41.0 ms",
      "asked          2,000 ms",
    ])
      expect(text).toContain(words);
  });
});
