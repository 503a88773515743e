// What the dashboard shows at a glance: the preview beside the lists, trends, alarms in tabs, running scenarios, and
// rate limits sorted by their remaining share.

import { describe, expect, test } from "vitest";
import type { SandboxTrendsReply } from "../../generated/control-api.ts";
import { applySandboxIndex } from "../../ui/panes/apply-message.ts";
import { timingLines } from "../../ui/panes/details/request.ts";
import { panes, visiblePanes } from "../../ui/panes/index.ts";
import { handleKey } from "../../ui/panes/keys/key-bindings.ts";
import { updatePreview } from "../../ui/panes/run-effects.ts";
import { sparkline } from "../../ui/panes/trends.ts";
import { placementOf } from "../../ui/state/layout.ts";
import type { UiState } from "../../ui/state/state.ts";
import { stripStyles } from "../../ui/text/style.ts";
import { tabBar } from "../../ui/view/bars.ts";
import { screenOf as screen, screenText as textOf } from "../support/dashboard.ts";
import {
  attempted,
  emptyDashboard,
  INDEX,
  judged,
  rateWindow,
  request,
  requested,
  rule,
  THEME,
  withLiveEvents,
  withRulesAndWindows,
} from "../support/live-rows.ts";

const sized = (state: UiState, columns: number, rows: number): UiState => ({ ...state, size: { columns, rows } });
const three = (columns: number, rows: number) =>
  withLiveEvents(emptyDashboard(columns, rows), [
    requested(1, { operation: "payouts.list" }),
    requested(2),
    requested(3),
  ]);

const span = (requests: number, clientErrors = 0, serverErrors = 0, p95: number | null = requests > 0 ? 2 : null) => ({
  requests,
  clientErrors,
  serverErrors,
  faults: 0,
  p95,
});
const trend = (changes: Partial<SandboxTrendsReply> = {}): SandboxTrendsReply => ({
  seconds: 5,
  elapsed: 5_000,
  total: span(160, 3, 2, 2.5),
  spans: [...Array.from({ length: 57 }, () => span(0)), span(50, 1, 2), span(100, 2), span(10)],
  operations: [],
  ...changes,
});

describe("the preview", () => {
  const opened = (state: UiState, isKey = false) => updatePreview(state, isKey);

  test("shows the newest request on a screen of 160 columns or more, and fetches its detail once", () => {
    const { state, effects } = opened(three(160, 45));
    expect(textOf(state)).toMatch(/┌─ GET \/v1\/payments/);
    expect(textOf(state)).toContain("id             req_3");
    expect(effects.map((effect) => effect.kind === "call" && effect.call.path)).toEqual([
      "/requests/req_3",
      "/deliveries?requestId=req_3&limit=100",
      "/traces/req_3",
      "/assumptions?operation=payments.list",
    ]);
    expect(opened(state).effects).toEqual([]);
    const narrow = opened(sized(state, 159, 45));
    expect([narrow.state.preview, narrow.effects, textOf(narrow.state).includes("id             req_3")]).toEqual([
      undefined,
      [],
      false,
    ]);
  });

  test("moves with the cursor at once, and to new rows at most once in two seconds", () => {
    const { state } = opened(three(160, 45));
    const moved = opened(handleKey(state, "k").state, true).state;
    expect(textOf(moved)).toContain("id             req_2");
    const newer = withLiveEvents(state, [requested(4)]);
    expect(textOf(opened({ ...newer, now: 1_999 }).state)).toContain("id             req_3");
    expect(textOf(opened({ ...newer, now: 2_000 }).state)).toContain("id             req_4");
  });

  test("shows the fetched body of a response, but not its headers", () => {
    const { state, effects } = opened(three(160, 45));
    const [effect] = effects;
    if (effect?.kind !== "call") throw new Error("no call");
    const message = { headers: { "x-note": "n" }, body: '{"paid":1}', bytes: 10 };
    const body = {
      ...request(3),
      at: INDEX.clock.now,
      key: null,
      stages: [],
      events: [],
      request: { ...message, body: "", bytes: 0 },
      response: message,
    };
    const later = effect.onReply(state, { status: 200, body }).state;
    expect(textOf(later)).toContain('"paid": 1');
    expect(textOf(later)).not.toContain("x-note");
    const detail = handleKey(later, "enter").state;
    expect(textOf(effect.onReply(detail, { status: 200, body }).state)).not.toContain("x-note");
  });

  test("shows a row of the focused pane, and is empty without rows", () => {
    expect(opened(emptyDashboard(160, 45)).effects).toEqual([]);
    const focused = { ...withLiveEvents(three(160, 45), [attempted(1)]), pane: "deliveries" };
    expect(textOf(opened(focused, true).state)).toContain("event          payment.succeeded  evt_1");
  });
});

describe("the wide layout", () => {
  test.each([110, 160, 220])(
    "with %i columns, shows verdicts beside the requests, and any pane that has the focus",
    (columns) => {
      const state = withLiveEvents(three(columns, 45), [judged(1)]);
      for (const { name } of panes.filter(({ name }) => name !== "lesson"))
        expect([name, placementOf({ ...state, pane: name }, name).width > 0]).toEqual([name, true]);
      const text = textOf(state);
      for (const shown of ["1 Requests", "2 Deliveries", "3 Rate limits", "4 Faults", "5 Verdicts", "✗ 1 failed"])
        expect(text).toContain(shown);
    },
  );

  test("with 120 columns, shows the whole hint for listing passed and inconclusive verdicts", () => {
    const judgedTwice = [judged(1, { verdict: "pass" }), judged(2, { verdict: "inconclusive" })];
    const state = withLiveEvents(emptyDashboard(120, 36), judgedTwice);
    expect(textOf(state)).toMatch(/✓ 1 passed +Enter lists them\./);
    expect(textOf(state)).toMatch(/~ 1 inconclusive +Enter lists them\./);
  });

  test("names in the notice line only failed rules that fit whole, and counts the others", () => {
    const rules = ["retry_after.honoured", "idempotency.key_reused", "webhook.ack_fast"];
    const state = withLiveEvents(
      emptyDashboard(80, 24),
      rules.map((rule, index) => judged(index, { rule })),
    );
    expect(screen(state).at(-2)?.trimEnd()).toBe(" verdicts   ✗ retry_after.honoured failed   +2 more");
    expect(textOf(sized(state, 120, 36))).toContain("✗ webhook.ack_fast failed");
  });

  test("leaves trends out of a low screen, unless they have the focus and so replace deliveries", () => {
    const low = three(110, 15);
    expect([placementOf(low, "trends").width, placementOf(low, "deliveries").width > 0]).toEqual([0, true]);
    const focused = { ...low, pane: "trends" };
    expect([placementOf(focused, "trends").width > 0, placementOf(focused, "deliveries").width]).toEqual([true, 0]);
  });
});

describe("trends", () => {
  const shown = (state: UiState, changes: Partial<SandboxTrendsReply> = {}): UiState => ({
    ...state,
    pane: "trends",
    trends: trend(changes),
  });

  test("show the current rate, and the errors and 95th percentile of five minutes, each with a chart", () => {
    const text = textOf(shown(three(100, 24)));
    expect(text).toContain("6 Trends");
    expect(text).toContain("last 5 min");
    expect(text).toMatch(/rate +11\/s +▄█▁ +max 20\/s +│/);
    expect(text).toMatch(/4xx 5xx +3 2 +█▆ +max 0\.6\/s +│/);
    expect(text).toMatch(/p95 +2\.5 ms +███/);
  });

  test("join spans on a narrow pane, so that the whole time is shown", () => {
    const spans = Array.from({ length: 60 }, (_, index) => span(index === 0 ? 10 : 0));
    const lines = screen(shown(three(120, 36), { spans }));
    const rate = lines.find((one) => one.includes("rate  "));
    expect(rate).toMatch(/rate +0\/s █ +│/);
    expect(lines.find((one) => one.includes("4xx 5xx"))).not.toContain("█");
  });

  test("have an axis, their maximum where there is room, and each operation's totals, the slowest first", () => {
    const operations = ["payments.list", "payouts.list"].map((operation, index) => ({
      operation,
      ...span(1_204, index, 0, 1 + index),
    }));
    const text = textOf(shown(three(100, 24), { operations }));
    expect(text).toMatch(/rate .* max \S+\/s +│\n│ 4xx.*\n│ p95 .* max 2\.0 ms +│\n│ +-5 min +now +│/);
    expect(text).toMatch(
      /operation +requests +4xx +5xx +p95 +│\n│ payouts\.list +1,204 +1 +0 +2\.0 ms +│\n│ payments\.list +1,204 +0 +0 +1\.0 ms/,
    );
    expect(textOf(shown(three(60, 24)))).not.toContain(" max ");
  });

  test("have a cell for each value, which is blank only for zero", () => {
    expect(sparkline(THEME, [0, 0.001, 50, 100])).toBe(" ▁▄█");
    expect(sparkline(THEME, [0, 0])).toBe("  ");
    expect(sparkline({ ...THEME, unicode: false }, [0, 1, 8])).toBe(" _#");
  });
});

describe("alarms and running scenarios", () => {
  const running = (columns: number) =>
    applySandboxIndex(three(columns, 24), {
      ...INDEX,
      scenarios: [{ name: "lost-response", merchant: null, score: 5, points: 10, verdict: "fail" }],
    });

  test("are shown in the tabs and in the first line", () => {
    const state = running(100);
    const failed = withRulesAndWindows(
      withLiveEvents({ ...state, sandbox: { ...INDEX, ...state.sandbox, failedDeliveries: 1 } }, [
        judged(1),
        judged(2),
      ]),
      [rule(1)],
      [rateWindow({ remaining: 0 })],
    );
    const [status, tabs] = screen(failed);
    expect(tabs?.trim()).toBe(
      "[1 Requests] 2 Deliveries ✗1 3 Limits ✗1 4 Faults *1 5 Verdicts ✗2 6 Trends 7 Merchants 8 9 0",
    );
    expect(status).toMatch(/LIVE {2}429 on payments\.list 2 left {2}lost-response 5\/10 {2}http/);
    expect(screen(sized(failed, 80, 24))[1]?.trim()).toBe(
      "[1 Requests] 2 Deliveries ✗1 3 Limits ✗1 4 Faults *1 5 Verdicts ✗2 6 7 8 9 0",
    );
    expect(screen({ ...sized(failed, 60, 15), pane: "endpoints" })[1]?.trim()).toBe(
      "1 Requests 2 ✗1 3 ✗1 4 *1 5 ✗2 6 7 8 [9 Endpoints] 0",
    );
    expect(screen(sized(failed, 160, 40))[1]).toContain(
      "5 Verdicts ✗2 6 Trends 7 Merchants 8 Scenarios 9 Endpoints 0 Events",
    );
  });

  test("are in tabs that, like the pane's title, show the digit of the pane's key", () => {
    const shown = textOf(handleKey(three(120, 36), "0").state);
    expect(shown).toContain("[0 Events]");
    expect(shown).toMatch(/─ ▸ 0 Events ─/);
  });

  test("leave room for every tab, whichever pane has the focus", () => {
    const state = withRulesAndWindows(withLiveEvents(three(60, 20), [judged(1)]), [rule(1), rule(2)]);
    for (let columns = 60; columns <= 120; columns++) {
      for (const { name, title } of visiblePanes(state)) {
        const tabs = stripStyles(tabBar(sized({ ...state, pane: name }, columns, 20)));
        expect(tabs.length).toBeLessThanOrEqual(columns);
        expect([...tabs.replace(/[*✗]\d/g, "").matchAll(/\d/g)].join("")).toBe("1234567890");
        expect(tabs).toMatch(new RegExp(`\\[(\\d )?${title.replace("Rate limits", "Limits")}`));
      }
    }
  });

  test("name the scenario and its score in the first line at every width, which also shows that life is off", () => {
    expect(screen(running(200))[0]).toMatch(/LIVE {2}lost-response 5\/10 .* {2}sk_test_lodge .* {2}clock .* {2}page/);
    const still = running(200);
    expect(screen({ ...still, sandbox: { ...INDEX, life: "off" } })[0]).toMatch(/ {2}clock .* {2}life off {2}page/);
    for (const columns of [60, 80, 120]) expect(screen(running(columns))[0]).toContain("LIVE  lost-response 5/10");
    expect(textOf(three(80, 24))).not.toContain("lost-response");
  });
});

test("rate limits are sorted by their remaining share, and the title counts them", () => {
  const windows = Array.from({ length: 50 }, (_, index) =>
    rateWindow({ merchant: `mer_${index}`, remaining: ((index * 7) % 50) * 100, limit: 5_000 }),
  );
  const state = { ...withRulesAndWindows(three(80, 24), [], windows), pane: "limits" };
  const left = screen(state).flatMap((line) => /(\S+)\/5,000/.exec(line)?.[1] ?? []);
  expect(left.slice(0, 4)).toEqual(["0", "100", "200", "300"]);
  expect(textOf(state)).toContain("50 windows, 1 exhausted");
});

test("the timing of a request has a bar for each stage, which starts where the previous bar ends", () => {
  const stages = [
    { name: "checks", ms: 0.5 },
    { name: "operation", ms: 1 },
    { name: "response", ms: 3.5 },
  ] as const;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: styles begin with an escape character.
  const lines = timingLines(THEME, [...stages], 49).map((line) => line.replace(/\x1b\[\d+m/g, ""));
  expect(lines).toEqual([
    "  checks            0.50 ms  ██",
    "  operation          1.0 ms    ████",
    "  response           3.5 ms        ██████████████",
  ]);
});
