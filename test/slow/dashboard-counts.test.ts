// The dashboard's numbers equal the sandbox's counts, and a filter reports no match only after searching all rows.

import { describe, expect, test } from "vitest";
import { tryParseJson } from "../../src/kernel/attempt.ts";
import { operationsOf } from "../../ui/browser/api-document.ts";
import { browserFile, openBrowser, type Page } from "../support/browser.ts";
import { load, pacedLoad } from "../support/load.ts";
import { type Bench, call, open } from "../support/sandbox.ts";
import { workplace } from "../support/tasks.ts";
import { openProgram, type TestTerminal, USUAL, WIDE } from "../support/terminal.ts";
import { receive, register, settle, trigger } from "../support/webhooks.ts";

const attach = (url: string, size = WIDE) => openProgram(["attach", url], { size });

/** Causes a failed verdict: repeats a call at once although Retry-After demands a pause. */
async function failOnce(bench: Bench): Promise<void> {
  await bench.control("POST", "/faults", { action: { type: "rate_limit", retryAfter: 2 }, trigger: { times: 1 } });
  await bench.call("GET", "/v1/payments");
  await bench.call("GET", "/v1/payments");
  expect((await bench.control("GET", "")).made.verdicts.fail).toBeGreaterThan(0);
}

const unlimited = { rateLimit: "none" } as const;

describe("a dashboard that is attached after 1,500 requests", () => {
  test("shows the counts and the failed verdict, scrolls to the first request, and filters the whole log", async () => {
    const bench = await open(unlimited);
    await failOnce(bench);
    await load(bench.url, 1_498, (number) =>
      number % 200 === 7 ? "/v1/needle" : `/v1/payments?limit=${(number % 100) + 1}`,
    );
    const terminal = attach(bench.url, USUAL);
    await terminal.shows(
      (text) => text.includes("Requests") && /─ 1,500 {2}following/.test(text) && text.includes("limit=98"),
    );
    expect(terminal.text()).toContain("retry_after.honoured failed");
    terminal.type("5");
    await terminal.shows(/✗ 1 failed +retry_after\.honoured/);
    terminal.type("1g");
    await terminal.shows((text) => /429 \* /.test(text) && !text.includes("not shown"));
    terminal.type("/is:fault");
    await terminal.shows(/\/is:fault {2}1 of 1,500/);
    terminal.type("\x1b/status:404");
    await terminal.shows(/\/status:404 {2}8 of 1,500/);
    terminal.type("\x1b/is:cut");
    await terminal.shows("No row matches is:cut");
    terminal.type("\x1bq");
    await terminal.ended;
    const { made } = await bench.control("GET", "");
    expect(terminal.bytes()).toContain(`1,500 requests, 0 delivery attempts, ${made.verdicts.fail} failed verdicts`);
  });
});

/** For each pane, a text that appears once its rows have arrived. */
const PANES = ["3,006", "payment.succeeded", "resets", "exhausted", "passed", "p95", "records", "lost-response"];

/** All numbers in the API's replies. */
async function numbersOf(bench: Pick<Bench, "control">): Promise<Set<number>> {
  const logs = ["/deliveries?limit=100", "/requests?limit=100", "/verdicts", "/trends"];
  const paths = ["", ...logs, "/rate-limits", "/faults", "/merchants", "/scenarios"];
  const replies = await Promise.all(paths.map((path) => bench.control("GET", path)));
  return new Set([0, ...replies.flatMap(numbersIn)]);
}

/** All numbers in a reply, including those in field names and texts, and the length of each list. */
function numbersIn(value: unknown): number[] {
  if (typeof value === "number") return [value];
  if (typeof value === "string") {
    if (/^[[{]/.test(value)) return numbersIn(tryParseJson(value));
    return /^\d+$| /.test(value) ? countsIn(value) : [];
  }
  if (typeof value !== "object" || value === null) return [];
  return [...(Array.isArray(value) ? [value.length] : []), ...Object.entries(value).flat().flatMap(numbersIn)];
}

/** Numbers that are not counts: digits of tabs, durations, rates, positions of lines, values in bodies, and dates. */
const NO_COUNTS =
  /\b\d\s(?=[A-Z])|[\d,.]+ ?(?:ms|s|min|req\/s|\/s)\b|(?:first |\d+-)\d+ of \d+|"[^"]*": [^│\n]*|\b\d\d-\d\d-/g;

const countsIn = (text: string) =>
  Array.from(text.replace(NO_COUNTS, " ").matchAll(/(?<![\w.:=\-…])\d[\d,]*(?![\w.:-])/g), ([number]) =>
    Number(number.replaceAll(",", "")),
  );

const SIZES = [USUAL, { columns: 120, rows: 36 }, { columns: 180, rows: 50 }];
const WIDTHS = [1_440, 1_024, 390];

function expectKnown(text: string, known: Iterable<number>): void {
  const all = new Set(known);
  // Removes the line of tabs, because a narrow terminal shows tabs as digits without titles.
  expect(
    countsIn(text.replaceAll(/^ .*\[\d \w.*$/gm, "")).filter((number) => !all.has(number)),
    text,
  ).toEqual([]);
}

/** The text on the screen of a terminal, or all pages of the text if it is longer than the screen. */
async function wholeText(terminal: TestTerminal): Promise<string> {
  const pages = [terminal.text()];
  for (;;) {
    const [part = "", last, all] = /\d+-(\d+) of (\d+)/.exec(pages.at(-1) ?? "") ?? [];
    if (last === all) return pages.join("\n");
    terminal.type("\x1b[6~");
    pages.push(await terminal.shows((text) => !text.includes(part)));
  }
}

const shownBy = (page: Page, parts: string) =>
  page.evaluate<string>(
    `[...document.querySelectorAll("header, .status, ${parts}")].map((one) => one.innerText).join("\\n")`,
  );

/**
 * For each pane: its digit, a text of its rows, and the title and a text of its first row's detail. The smallest
 * terminal shows the last text on its first screen once all data has arrived.
 */
const DETAILS = [
  ["1", "decline", "POST /v1/hosp", "✓ delivered"],
  ["2", "booking.declined", "booking.declined to", "caused by"],
  ["3", "resets", "Rate limit of mer_", "window"],
  ["4", "exhausted", "Fault", "matched"],
  ["5", "passed", "retry", "How to fix it"],
  ["7", "active", "Merchant mer_", "API keys"],
  ["8", "brownout", "Scenario", "Score"],
] as const;

describe("at three widths of terminals and pages, every number", () => {
  test("in open details comes from the API, and in the explorer also from the OpenAPI document", async () => {
    const bench = await workplace();
    await bench.control("POST", "/scenarios/lost-response");
    const logged = await Promise.all(
      ["requests", "deliveries"].map(async (log) =>
        (await bench.control("GET", `/${log}`)).data.map(({ id }: { id: string }) => `/${log}/${id}`),
      ),
    );
    const replies = await Promise.all(logged.flat().map((path) => bench.control("GET", path)));
    const known = [...(await numbersOf(bench)), ...replies.flatMap(numbersIn)];
    const terminal = attach(bench.url);
    await terminal.shows("LIVE");
    for (const size of SIZES) {
      terminal.resize(size);
      for (const [digit, row, title, shown] of DETAILS) {
        terminal.type(digit);
        await terminal.shows((text) => text.includes(`▸ ${digit} `) && text.includes(row));
        terminal.type("\r");
        await terminal.shows((text) => text.includes(`▸ ${title}`) && text.includes(shown));
        expectKnown(await wholeText(terminal), known);
      }
    }
    if (browserFile === undefined) return;
    const browser = await openBrowser(browserFile);
    const page = await browser.open(bench.url);
    await page.shows(`document.querySelectorAll(".row").length > 3`);
    const document = await bench.control("GET", "/openapi.json");
    const documented = [...known, ...numbersIn(document)];
    for (const [nth, width] of WIDTHS.entries()) {
      await page.resize(width, 900);
      for (const [digit, row, title, shown] of DETAILS) {
        await page.press(digit);
        await page.shows(
          `document.querySelector(".tab[aria-current]").textContent.startsWith("${digit}") && ` +
            `document.querySelector(".list").textContent.includes("${row}")`,
        );
        await page.press("Enter");
        await page.shows(
          `document.querySelector(".detail h2")?.textContent.includes("${title}") && ` +
            `document.querySelector(".detail-lines").innerText.includes("${shown}")`,
        );
        expectKnown(await shownBy(page, ".detail"), known);
      }
      for (const { id, summary } of operationsOf("service", document).filter(
        (_, index) => index % WIDTHS.length === nth,
      )) {
        await page.evaluate(`void (location.hash = "explorer?operation=service%20${id}")`);
        await page.shows(`document.querySelector("form.operation h2")?.textContent === ${JSON.stringify(summary)}`);
        expectKnown(await shownBy(page, ".operation"), documented);
      }
    }
    await browser.close();
  });

  test("in a lesson comes from the API", async () => {
    const terminal = openProgram(["learn", "--port", "0"]);
    const first = await terminal.shows("1. Ask who you are");
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(first)?.[0] ?? "";
    const control = async (method: string, path: string) =>
      (await call(url, method, `/_sandbox${path}`, { key: null })).body;
    for (let times = 0; times < 3; times++) await call(url, "GET", "/v1/payments", { key: "sk_test_market" });
    const lesson = await Promise.all(["/learners", "/lessons/first-call"].map((path) => control("GET", path)));
    const known = [...(await numbersOf({ control })), ...lesson.flatMap(numbersIn)];
    for (const size of SIZES) {
      terminal.resize(size);
      await terminal.shows((text) => text.split("\n").some((line) => line.length === size.columns));
      expectKnown(await wholeText(terminal), known);
    }
    if (browserFile === undefined) return;
    const browser = await openBrowser(browserFile);
    const page = await browser.open(`${url}/_sandbox/ui`);
    for (const width of WIDTHS) {
      await page.resize(width, 900);
      await page.shows(`/Ask who you are/.test(document.body.innerText)`);
      expectKnown(await shownBy(page, ".lesson, .list"), known);
    }
    await browser.close();
  });
});

describe("under load", () => {
  test("a filter finds all matches at 1,500 requests a second, and all numbers equal the API's", async () => {
    const bench = await open(unlimited);
    const [filtered, whole] = [attach(bench.url), attach(bench.url, USUAL)];
    await Promise.all([filtered.shows("LIVE"), whole.shows("LIVE")]);
    filtered.type("/status:404\r");
    await filtered.shows("/status:404");
    await pacedLoad(bench.url, 1_500, 3_000, (number) =>
      number % 375 === 11 ? `/v1/needle-${number}` : "/v1/payments?limit=1",
    );
    const { made, kept } = await bench.control("GET", "");
    expect([made, kept]).toMatchObject([{ requests: 3_000 }, { requests: 3_000 }]);
    await filtered.shows(/\/status:404 {2}8 of 3,000/);
    // The path of the selected row appears twice, because the line with the row's reason also contains the path.
    const needlesOn = (terminal: TestTerminal) => new Set(terminal.text().match(/\/v1\/needle-\d+/g)).size;
    expect(needlesOn(filtered)).toBe(8);
    await whole.shows(/─ 3,000 {2}following/);
    whole.type("/status:404");
    await whole.shows(/\/status:404 {2}8 of 3,000/);
    expect(needlesOn(whole)).toBe(8);
    expect(whole.text()).not.toMatch(/not shown|limit=1/);
    whole.type("\x1b");
    await failOnce(bench);
    for (const terminal of [filtered, whole]) await terminal.shows(/3,002/);
    // The line below the panes says why the selected row failed.
    await filtered.shows(/✗ 1 failed +retry_after\.honoured/);
    await whole.shows("✗ retry_after.honoured failed");
    const receiver = await receive();
    receiver.always(500);
    await register(bench, receiver.url);
    for (let times = 0; times < 3; times++) await trigger(bench);
    await settle(bench);
    const after = await bench.control("GET", "");
    expect(after).toMatchObject({
      pendingDeliveries: 3,
      made: { requests: 3_006, attempts: 3 },
      kept: { requests: 3_006, attempts: 3 },
    });
    await filtered.shows((text) => text.includes("8 of 3,006") && text.includes("3 pending"));
    filtered.type("\x1b");
    const known = await numbersOf(bench);
    const terminals = [filtered, whole, attach(bench.url, { columns: 180, rows: 50 })].map(
      (terminal) => async (pane: number, shown: string) => {
        terminal.type(String(pane + 1));
        return terminal.shows((text) => text.includes(`▸ ${pane + 1} `) && text.includes(shown));
      },
    );
    const browser = browserFile === undefined ? undefined : await openBrowser(browserFile);
    const page = await browser?.open(bench.url);
    const pages = WIDTHS.map((width) => async (pane: number, shown: string) => {
      await page?.resize(width, 900);
      await page?.evaluate(`document.querySelectorAll(".tab")[${pane}].click()`);
      await page?.shows(`document.querySelector("main").textContent.includes("${shown}")`);
      return page && shownBy(page, ".list, .view");
    });
    for (const show of [...terminals, ...pages])
      for (const [pane, shown] of PANES.entries()) expectKnown((await show(pane, shown)) ?? "", known);
    await browser?.close();
  });
});

test("after an endpoint is removed or disabled, or its merchant removed, no attempt announces a retry", async () => {
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
  await terminal.shows((text) => waiting() === 3 && text.includes("r replay"));
  await bench.control("DELETE", `/merchants/${other.id}`);
  await terminal.shows(() => waiting() === 2);
  await bench.call("DELETE", `/v1/webhooks/${id}`);
  await terminal.shows(() => waiting() === 1);
  await trigger(bench, "payment.failed");
  await settle(bench);
  await terminal.shows((text) => /payment\.failed .* 410 .*✗ failed/.test(text) && waiting() === 0);
  expect(await bench.control("GET", "")).toMatchObject({ pendingDeliveries: 0, made: { attempts: 4 } });
  for (const shown of [terminal, attach(bench.url)]) {
    shown.type("2");
    // The title shows the API's number, which counts only the failed deliveries.
    await shown.shows(
      (text) =>
        / 1 failed/.test(text) && text.match(/✗ failed/g)?.length === 1 && text.match(/✗ cancelled/g)?.length === 3,
    );
  }
  // The dashboard offers no replay, because the API would answer it with a 409.
  await terminal.shows((text) => !/ [rR] replay/.test(text));
});

test("attach shows an error for a wrong address, and no hint about the first request", async () => {
  const terminal = attach("http://127.0.0.1:9", USUAL);
  await terminal.shows((text) => text.includes("No sandbox answers at http://127.0.0.1:9: connection refused."));
  expect(terminal.text()).not.toContain("No requests yet");
});
