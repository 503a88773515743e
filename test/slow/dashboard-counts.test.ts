// The dashboard tells the truth: its counts are those of the sandbox, and it never says that nothing matches of rows that it has not looked at.

import { describe, expect, test } from "vitest";
import { browserFile, openBrowser } from "../support/browser.ts";
import { load, pacedLoad } from "../support/load.ts";
import { type Bench, open } from "../support/sandbox.ts";
import { openProgram, USUAL, WIDE } from "../support/terminal.ts";
import { receive, register, settle, trigger } from "../support/webhooks.ts";

const attach = (url: string, size = WIDE) => openProgram(["attach", url], { size });

/** A client that repeats a call at once although Retry-After asks it to wait. */
async function failOnce(bench: Bench): Promise<void> {
  await bench.control("POST", "/faults", { action: { type: "rate_limit", retryAfter: 2 }, trigger: { times: 1 } });
  await bench.call("GET", "/v1/payments");
  await bench.call("GET", "/v1/payments");
  expect((await bench.control("GET", "")).made.verdicts.fail).toBeGreaterThan(0);
}

const unlimited = { rateLimit: "none" } as const;

describe("a dashboard that is attached late", () => {
  test("shows the counts of the sandbox, the failed verdict, pages the log to its start, and finds every match of a filter in it", async () => {
    const bench = await open(unlimited);
    await failOnce(bench);
    await load(bench.url, 2_998, (number) => (number % 400 === 7 ? "/v1/needle" : `/v1/payments?limit=${(number % 100) + 1}`));
    const terminal = attach(bench.url, USUAL);
    await terminal.shows((text) => text.includes("Requests") && /─ 3,000 {2}following/.test(text) && text.includes("limit=98"));
    expect(terminal.text()).toContain("retry_after.honoured failed");
    terminal.type("5");
    await terminal.shows(/✗ 1 failed +retry_after\.honoured/);
    terminal.type("1g");
    await terminal.shows((text) => /429 \* /.test(text) && !text.includes("not shown"));
    terminal.type("/is:fault");
    await terminal.shows(/\/is:fault {2}1 of 3,000/);
    terminal.type("\x1b/status:404");
    await terminal.shows(/\/status:404 {2}8 of 3,000/);
    terminal.type("\x1b/is:cut");
    await terminal.shows("No row matches is:cut");
    terminal.type("\x1bq");
    await terminal.ended;
    const { made } = await bench.control("GET", "");
    expect(terminal.bytes()).toContain(`3,000 requests, 0 delivery attempts, ${made.verdicts.fail} failed verdicts`);
  });
});

/** A text of each pane, which shows that its rows have arrived. */
const PANES = ["6,006", "payment.succeeded", "resets", "exhausted", "passed", "p95", "records", "lost-response"];

/** Every number of the API. */
async function numbersOf(bench: Bench): Promise<Set<number>> {
  const logs = ["/deliveries?limit=100", "/requests?limit=100", "/verdicts", "/trend"];
  const paths = ["", ...logs, "/rate-limits", "/faults", "/merchants", "/scenarios"];
  const replies = await Promise.all(paths.map((path) => bench.control("GET", path)));
  return new Set([0, ...replies.flatMap(numbersIn)]);
}

/** The numbers in a reply and in its sentences, and how many items each of its lists has. */
function numbersIn(value: unknown): number[] {
  if (typeof value === "number") return [value];
  if (typeof value === "string") return value.includes(" ") ? countsIn(value) : [];
  if (typeof value !== "object" || value === null) return [];
  return [...(Array.isArray(value) ? [value.length] : []), ...Object.values(value).flatMap(numbersIn)];
}

/** Not those in ids, times, durations, versions, rates and bodies, nor digits of tabs and numbers of lines. */
const NO_COUNTS = /\b\d\s(?=[A-Z])|[\d,.]+ ?(?:ms|s|min|req\/s|\/s)\b|(?:first |\d+-)\d+ of \d+|"[^"]*": [^│\n]*|\b\d\d-\d\d-/g;

const countsIn = (text: string) =>
  Array.from(text.replace(NO_COUNTS, " ").matchAll(/(?<![\w.:=\-…])\d[\d,]*(?![\w.:-])/g), ([number]) =>
    Number(number.replaceAll(",", "")),
  );

describe("under load", () => {
  test("eight needles among 1,500 requests a second are all shown, and every number in terminals and pages of three widths is one of the API's", async () => {
    const bench = await open(unlimited);
    const [filtered, whole] = [attach(bench.url), attach(bench.url, USUAL)];
    await Promise.all([filtered.shows("LIVE"), whole.shows("LIVE")]);
    filtered.type("/status:404\r");
    await filtered.shows("/status:404");
    await pacedLoad(bench.url, 1_500, 6_000, (number) => (number % 750 === 11 ? `/v1/needle-${number}` : "/v1/payments?limit=1"));
    const { made, kept } = await bench.control("GET", "");
    expect([made, kept]).toMatchObject([{ requests: 6_000 }, { requests: 6_000 }]);
    await filtered.shows(/\/status:404 {2}8 of 6,000/);
    expect(filtered.text().match(/\/v1\/needle-\d+/g)).toHaveLength(8);
    await whole.shows(/─ 6,000 {2}following/);
    await failOnce(bench);
    for (const terminal of [filtered, whole]) await terminal.shows(/6,002/);
    for (const terminal of [filtered, whole]) await terminal.shows("✗ retry_after.honoured failed");
    const receiver = await receive();
    receiver.always(500);
    await register(bench, receiver.url);
    for (let times = 0; times < 3; times++) await trigger(bench);
    await settle(bench);
    const after = await bench.control("GET", "");
    expect(after).toMatchObject({ pendingDeliveries: 3, made: { requests: 6_006, attempts: 3 }, kept: { requests: 6_006, attempts: 3 } });
    await filtered.shows((text) => text.includes("8 of 6,006") && text.includes("3 pending"));
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
    const pages = [1_440, 1_024, 390].map((width) => async (pane: number, shown: string) => {
      await page?.resize(width, 900);
      await page?.evaluate(`document.querySelectorAll(".tab")[${pane}].click()`);
      await page?.shows(`document.querySelector("main").textContent.includes("${shown}")`);
      return page?.evaluate<string>(
        `[...document.querySelectorAll("header, .status, .list, .view")].map((one) => one.innerText).join("\\n")`,
      );
    });
    for (const show of [...terminals, ...pages])
      for (const [pane, shown] of PANES.entries()) {
        const text = (await show(pane, shown)) ?? "";
        expect(
          countsIn(text).filter((number) => !known.has(number)),
          text,
        ).toEqual([]);
      }
    await browser?.close();
  });
});

test("no attempt waits for a next one that was cancelled: its endpoint was deleted or is gone, or its merchant was removed", async () => {
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
  await bench.control("DELETE", `/merchants/${other.merchant}`);
  await terminal.shows(() => waiting() === 2);
  await bench.call("DELETE", `/v1/webhooks/${id}`);
  await terminal.shows(() => waiting() === 1);
  await trigger(bench, "payment.failed");
  await settle(bench);
  await terminal.shows((text) => /payment\.failed .* 410 +✗ failed/.test(text) && waiting() === 0);
  expect(await bench.control("GET", "")).toMatchObject({ pendingDeliveries: 0, made: { attempts: 4 } });
  for (const shown of [terminal, attach(bench.url)]) {
    shown.type("2");
    // The API counts only the failed ones: the title has its number.
    await shown.shows((text) => / 1 failed/.test(text) && text.match(/✗ failed/g)?.length === 1 && text.match(/✗ cancelled/g)?.length === 3);
  }
  // The API would answer each replay with a 409.
  await terminal.shows((text) => !/ [rR] replay/.test(text));
});

test("a wrong address of attach is said instead of how to make the first request", async () => {
  const terminal = attach("http://127.0.0.1:9", USUAL);
  await terminal.shows((text) => text.includes("No sandbox answers at http://127.0.0.1:9: connection refused."));
  expect(terminal.text()).not.toContain("No requests yet");
});
