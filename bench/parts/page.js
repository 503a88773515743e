// The cost of the page to its browser while a thousand requests a second arrive, compared with an empty page that reads
// the same stream.

import { setTimeout as wait } from "node:timers/promises";
import { browserOfTests } from "../../scripts/browser-of-tests.js";
import { steadyLoad } from "../load.js";
import { figure, inTurn, MINUTES, median, open, RUNS, ratio } from "../measure.js";
import { GET, LIST, POST } from "../sample-record.js";
import { servePage } from "../static-page.js";

const RATE = 1_000;
/** Seconds between two readings of the two pages. */
const READING = 10;
/** After this time, the list of requests is full, so memory must no longer grow. */
const FULL_AFTER_SECONDS = 120;
const POLL_MS = 50;

const EMPTY = "an empty page that reads the same stream";
const PAGE = "address to first row of the page";
const STATIC = "the same rows in a static page";

const row = (what, against, target, read) => ({
  what,
  against,
  target,
  read: (results) => ({ figure: read(results) }),
});

const shareRow = (what, field, target) =>
  row(what, EMPTY, target, ({ readings }) => {
    const [shown, empty] = ["shown", "empty"].map(
      (name) => median(readings.map((reading) => reading[name][field])) * 100,
    );
    return `${figure(shown - empty, " %")} more (${figure(shown, " %")} beside ${figure(empty, " %")})`;
  });

const growthRow = (what, field) =>
  row(what, "when its lists were full", "<= 1.1", ({ readings }) => {
    const full = readings.slice(Math.min(readings.length - 1, FULL_AFTER_SECONDS / READING));
    return figure(full.at(-1).shown[field] / full[0].shown[field]);
  });

export const page = {
  name: "page",
  rows: [
    shareRow("CPU of a core in the renderer of the page, at 1,000 requests a second", "process", "<= 5 %"),
    shareRow("CPU of a core in the main thread of the page", "thread", ""),
    row("longest task of the page", "", "<= 100 ms", ({ readings }) => {
      const longest = readings.map((reading) => reading.longest);
      const middle = figure(median(longest), " ms");
      return `${figure(Math.max(...longest), " ms")} (median of spans of 10 s: ${middle})`;
    }),
    row(PAGE, STATIC, "<= 3", ({ first }) => figure(ratio(first, PAGE, STATIC, "time"))),
    growthRow("heap of the page in use, at the end", "heap"),
    growthRow("DOM nodes of the page, at the end", "nodes"),
  ],
  async measure() {
    const { browserFile, openBrowser } = await browserOfTests();
    if (!browserFile) throw new Error("The part page needs Chromium in PATH.");
    // The browser is started first. Later, it would be pinned to the same cores as this process.
    const browser = await openBrowser(browserFile);
    const server = await open("memory");
    const load = steadyLoad({ port: server.port, rate: RATE, requests: mixed });
    try {
      const measured = { ...(await underLoad(browser, server)), first: await firstRows(browser, server) };
      const rate = await load.end();
      if (rate < 0.9 * RATE)
        throw new Error(`The server answered ${figure(rate)} requests a second instead of ${RATE}.`);
      return measured;
    } finally {
      await browser.close();
      await server.close();
    }
  },
};

/** A write, a list, a failure and seven reads. */
const mixed = (count) => [POST, LIST, { ...GET, path: "/v1/customers/cus_nobody" }][count % 10] ?? GET;

const addressOf = ({ port }, path, host = "127.0.0.1") => `http://${host}:${port}/_sandbox/${path}`;

async function underLoad(browser, server) {
  // A document of the sandbox without a script, at another name of this machine, because two pages of one site may
  // share a renderer.
  const empty = await browser.open(addressOf(server, "health", "localhost"));
  await empty.evaluate(
    `void (new WebSocket("ws://" + location.host + "/_sandbox/live?digest=1")` +
      `.onmessage = ({ data }) => JSON.parse(data))`,
  );
  const shown = await browser.open(addressOf(server, "ui"));
  const pages = { empty, shown };
  for (const one of Object.values(pages)) {
    await one.resize(1_440, 900);
    await one.send("Performance.enable");
  }
  await shown.evaluate(OBSERVE_TASKS);
  await wait(READING * 1_000);
  const readings = [];
  for (let second = 0; second < MINUTES * 60; second += READING) {
    const before = { empty: await metricsOf(empty), shown: await metricsOf(shown) };
    await shown.evaluate("void (globalThis.longest = 0)");
    await wait(READING * 1_000);
    const reading = { longest: await shown.evaluate("globalThis.longest") };
    for (const [name, one] of Object.entries(pages)) reading[name] = await readingOf(one, before[name]);
    readings.push(reading);
  }
  await shown.send("Page.close");
  return { readings };
}

/** The shares of a core since the previous metrics, and the memory in use. */
async function readingOf(one, before) {
  const after = await metricsOf(one);
  const share = (field) => (after[field] - before[field]) / (after.Timestamp - before.Timestamp);
  await one.send("HeapProfiler.collectGarbage");
  const { JSHeapUsedSize: heap, Nodes: nodes } = await metricsOf(one);
  return { thread: share("ThreadTime"), process: share("ProcessTime"), heap, nodes };
}

/** Opens each page in a new window with an empty cache, while the stream continues. */
async function firstRows(browser, server) {
  const filled = await browser.open(addressOf(server, "ui"));
  await filled.resize(1_440, 900);
  await filled.shows(FIRST_ROW);
  const html = await filled.evaluate(
    `document.querySelectorAll("script").forEach((one) => one.remove()), document.documentElement.outerHTML`,
  );
  await filled.send("Page.close");
  const fixed = await servePage(`<!doctype html>${html}`);
  const cases = [
    { name: STATIC, url: fixed.url },
    { name: PAGE, url: addressOf(server, "ui") },
  ];
  const first = await inTurn(cases, ({ url }) => timeToFirstRow(browser, url), RUNS);
  await fixed.close();
  return first;
}

async function timeToFirstRow(browser, url) {
  const opened = await browser.open("about:blank");
  await opened.resize(1_440, 900);
  await opened.send("Page.addScriptToEvaluateOnNewDocument", { source: NOTE_FIRST_ROW });
  await opened.send("Network.setCacheDisabled", { cacheDisabled: true });
  await opened.send("Page.navigate", { url });
  const seen = () => opened.evaluate("globalThis.firstRow");
  // This loop runs outside the page, because the navigation would end a call within the page.
  for (let time = await seen(); ; time = await seen()) {
    if (time === undefined) await wait(POLL_MS);
    else {
      await opened.send("Page.close");
      return { time };
    }
  }
}

const OBSERVE_TASKS = `void new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) globalThis.longest = Math.max(globalThis.longest, duration);
}).observe({ type: "longtask" })`;

const FIRST_ROW = `document.querySelector(".row:not(.headings, .gap)")`;
/** Records the time from the navigation to the frame after the first row. */
const NOTE_FIRST_ROW = `new MutationObserver((_, observer) => {
  if (!${FIRST_ROW}) return;
  observer.disconnect();
  requestAnimationFrame(() => setTimeout(() => (globalThis.firstRow = performance.now())));
}).observe(document, { subtree: true, childList: true });`;

async function metricsOf(one) {
  const { metrics } = await one.send("Performance.getMetrics");
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
}
