// Completes the tasks of docs/dashboard.md in a browser, once with the keys of the terminal and once with a few clicks.

import { describe, expect, test } from "vitest";
import { type Browser, browserFile, inBrowser, type Page } from "../support/browser.ts";
import { browserForBlock, COUNT_CALLS, idle } from "../support/browser-for-block.ts";
import { type Bench, NOON } from "../support/sandbox.ts";
import { RESULTS, tasks, workplace } from "../support/tasks.ts";

/** One step of a task. `click` clicks an element, `letters` are typed, and `choose` selects an option of a list. */
type Step = { click: string; text?: string } | { letters: string } | { choose: string; option: string };

interface BrowserTask {
  steps: readonly Step[];
  /**
   * Expected text of the page, of the clipboard (after `copied: `) or of the current tab (after `tab: `). Default: the
   * text expected in the terminal.
   */
  seen?: RegExp;
  /** Prepares the sandbox. */
  before?(bench: Bench): Promise<unknown>;
  /** Whether the sandbox has the state that the task produces. */
  isDone?(bench: Bench): Promise<unknown>;
}

const row = (text: string): Step => ({ click: ".row:not(.headings, .gap)", text });
const tab = (text: string): Step => ({ click: ".tab", text });
const command = (text: string): Step => ({ click: "[aria-label=Commands] button", text });
const inPalette = (text: string): Step => ({ click: "[role=option]", text });
const filter: Step = { click: ".filter input" };
const send: Step = { click: "dialog .primary" };

const faultsOf = async (bench: Bench) =>
  (await bench.control("GET", "/faults")).data as { action: { type: string; ms?: number } }[];
const isArmed = (type: string) => async (bench: Bench) =>
  (await faultsOf(bench)).some(({ action }) => action.type === type);
const nowOf = async (bench: Bench) => (await bench.control("GET", "/clock")).now as string;

const TASKS: Readonly<Record<string, BrowserTask>> = {
  "see requests arrive": { steps: [], seen: /POST\n+\/v1\/hospitality\/bookings\n?\/bkg_pending\/decline/ },
  "pause on a row": { steps: [row("nowhere")] },
  "filter by a status": { steps: [filter, { letters: "404" }], seen: /Requests\n+1 of \d+/ },
  "see only cut connections": { steps: [filter, { letters: "cut" }], seen: /Requests\n+1 of \d+/ },
  "see the body of a response": {
    steps: [row("decline"), command("B body")],
    seen: /in sight: [\s\S]*"status": "declined"/,
  },
  "see the time of each stage": { steps: [row("decline")], seen: /operation\s+[\d.,]+ m?s\s+response\s/ },
  "search in a body": {
    steps: [row("decline"), command("search"), { letters: "ful" }],
    seen: /1 of \d[\s\S]*in sight: [\s\S]*"full"/,
  },
  "go from a request to its delivery": { steps: [command("jump")], seen: /booking\.declined to http/ },
  "go from a delivery to its request": {
    steps: [tab("Deliveries"), command("jump")],
    seen: /tab: [\s\S]*Esc[\s\S]*mer_lodge, API key/,
  },
  "copy a request as curl": { steps: [command("copy curl")], seen: /copied: curl .*POST[\s\S]*decline/ },
  "copy a body": { steps: [command("copy body")] },
  "replay a delivery": {
    steps: [tab("Deliveries"), command("replay")],
    isDone: async (bench) => (await bench.control("GET", "")).made.attempts > 1,
  },
  "see whether a delivery arrived": { steps: [] },
  "answer an operation with 429": {
    steps: [command("fault"), send],
    isDone: isArmed("rate_limit"),
  },
  "start an outage of 30 s": { steps: [command("outage"), send], isDone: isArmed("outage") },
  "lose a response": {
    steps: [command("cut"), send],
    isDone: isArmed("lost_response"),
  },
  "slow a call by 500 ms": {
    steps: [command("fault"), { choose: "action", option: "latency" }, send],
    isDone: async (bench) => (await faultsOf(bench)).some(({ action }) => action.ms === 500),
  },
  "use up a rate limit": {
    steps: [tab("Rate limits"), command("exhaust")],
    isDone: async (bench) =>
      (await bench.control("GET", "/rate-limits")).data.some(({ remaining }: { remaining: number }) => remaining === 0),
  },
  "remove all faults": {
    steps: [command("find"), inPalette("remove all faults"), send],
    seen: /Removed 1 fault/,
    before: (bench) => bench.control("POST", "/faults", { action: { type: "outage" } }),
    isDone: async (bench) => (await faultsOf(bench)).length === 0,
  },
  "make a payment succeed": {
    steps: [command("trigger"), send],
    isDone: async (bench) =>
      (await bench.control("GET", "/events?limit=1")).data.some(
        ({ type }: { type: string }) => type === "payment.succeeded",
      ),
  },
  "advance the clock by a minute": {
    steps: [command("c clock"), send],
    isDone: async (bench) => (await nowOf(bench)).startsWith("2026-01-05T12:01"),
  },
  "advance the clock by an hour": {
    steps: [command("c clock"), { choose: "do", option: "advance 1h" }, send],
    isDone: async (bench) => (await nowOf(bench)).startsWith("2026-01-05T13:00"),
  },
  "arm a scenario, and see its score": {
    steps: [command("scenario"), send],
    seen: /[a-z-]+ 0\/\d+/,
    isDone: async (bench) =>
      (await bench.control("GET", "/scenarios")).data.some(({ armed }: { armed: boolean }) => armed),
  },
  "see failed verdicts": { steps: [tab("Verdicts")], seen: /tab: [\s\S]*Verdicts[\s\S]*✗ fail/ },
  "follow one merchant in all panes": { steps: [command("one merchant")] },
  "create a merchant and copy its key": {
    steps: [command("new merchant"), send],
    isDone: async (bench) => (await bench.control("GET", "")).merchants.length > 4,
  },
  "reset the sandbox": {
    steps: [command("reset"), send, send],
    isDone: async (bench) => (await bench.control("GET", "")).made.requests === 0,
  },
  "list the keys": { steps: [command("help")], seen: /show all keys/ },
  "start an outage, and see its call as curl": {
    steps: [command("outage"), send, command("find"), inPalette("show the last call as curl")],
    seen: /Last call as curl[\s\S]*curl [\s\S]*\/_sandbox\/faults/,
  },
};

/** The text in which `seen` is searched. */
const SEEN = `(() => {
  const lines = [...document.querySelectorAll(".detail-lines > *")];
  const view = document.querySelector(".detail-lines")?.getBoundingClientRect();
  const inSight = lines.filter((one) => {
    const { top, bottom } = one.getBoundingClientRect();
    return top >= view.top - 1 && bottom <= view.bottom + 1;
  });
  return ["tab: " + document.querySelector(".tab[aria-current]")?.innerText, document.body.innerText,
    "copied: " + window.copied, "in sight: " + inSight.map((one) => one.innerText).join("\\n")].join("\\n");
})()`;

/** Stores copied text in the page, because other programs share the machine's clipboard. */
const KEEP_COPIES = `navigator.clipboard.writeText = async (text) => void (window.copied = text)`;

async function openPage(browser: Pick<Browser, "open">, bench: Bench): Promise<Page> {
  const page = await browser.open(`${bench.url}/_sandbox/ui`);
  await page.resize(1_440, 900);
  await page.shows(`document.querySelector("#root").textContent.includes("decline")`);
  await page.evaluate(COUNT_CALLS);
  await page.evaluate(KEEP_COPIES);
  return page;
}

/** Shows the list of requests and follows it. Removes all faults, and sets the clock to noon. */
async function prepare(page: Page, bench: Bench, { before }: BrowserTask): Promise<void> {
  for (const { id } of (await bench.control("GET", "/faults")).data) await bench.control("DELETE", `/faults/${id}`);
  await bench.control("PUT", "/clock", { mode: "frozen", now: NOON });
  await before?.(bench);
  for (const key of ["Escape", "Escape", "Escape", "1", "f"]) await page.press(key);
  await page.shows(`document.querySelector(".note")?.textContent.includes("following")`);
  await page.evaluate(`window.copied = ""`);
  await idle(page);
}

async function take(page: Page, step: Step): Promise<void> {
  if ("letters" in step) for (const letter of step.letters) await page.press(letter);
  else if ("click" in step) {
    // The next frame renders the polled rows. Only then does the page have buttons for the keys of a row.
    const [selector, text] = [JSON.stringify(step.click), JSON.stringify(step.text ?? "")];
    await page.shows(
      `[...document.querySelectorAll(${selector})].some(({ innerText }) => innerText.includes(${text}))`,
    );
    await page.click(step.click, step.text);
  } else
    await page.evaluate(`{ const list = document.querySelector("[name=${step.choose}]"); list.focus();
      list.value = [...list.options].find(({ value }) => value.startsWith(${JSON.stringify(step.option)})).value;
      list.dispatchEvent(new Event("change", { bubbles: true })); }`);
  await idle(page);
}

async function expectDone(
  page: Page,
  bench: Bench,
  name: string,
  { seen = RESULTS[name], isDone = async () => true }: BrowserTask,
): Promise<void> {
  await page.shows(`${seen}.test(${SEEN})`).catch(async (error: Error) => {
    throw new Error(`${name}: ${error.message}\n${await page.evaluate(SEEN)}`);
  });
  expect(await isDone(bench), name).toBe(true);
}

function clicksOf(step: Step): number {
  if ("click" in step) return 1;
  return "choose" in step ? 2 : 0;
}
const sum = (numbers: number[]) => numbers.reduce((one, other) => one + other, 0);

test("every task of docs/dashboard.md takes at most five clicks", () => {
  expect(Object.keys(TASKS)).toEqual(tasks.map(({ name }) => name));
  const clicks = Object.entries(TASKS).map(([name, { steps }]) => [name, sum(steps.map(clicksOf))] as const);
  expect(clicks.filter(([, count]) => count > 5)).toEqual([]);
});

describe.runIf(browserFile)(`the dashboard ${inBrowser}`, () => {
  const browser = browserForBlock();

  test("keeps the newest request in view when deliveries appear below the list and shrink it", async () => {
    const bench = await workplace();
    for (let limit = 1; limit <= 60; limit++) await bench.call("GET", `/v1/payments?limit=${limit}`);
    const page = await browser.open(`${bench.url}/_sandbox/ui`);
    await page.resize(1_440, 900);
    const isNewestShown = `(() => { const rows = [...document.querySelectorAll(".list .row")];
      return document.querySelector(".note")?.textContent.includes("following") &&
        rows.at(-1)?.innerText.includes("limit=60") && rows.at(-1).getBoundingClientRect().bottom <=
        document.querySelector(".rows").getBoundingClientRect().bottom + 1; })()`;
    await page.shows(isNewestShown);
    // Simulates a scroll event that arrives after the list has shrunk, but before the page has measured the list.
    await page.evaluate(
      `{ const rows = document.querySelector(".rows"); rows.style.maxHeight = "200px"; ` +
        `rows.dispatchEvent(new Event("scroll")); }`,
    );
    await page.evaluate(
      `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve))))`,
    );
    await page.shows(isNewestShown);
  });

  test("scrolls a detail and the help by the movement keys", async () => {
    const bench = await workplace();
    const page = await openPage(browser, bench);
    await page.resize(1_440, 400);
    const place = (
      selector: string,
    ) => `(() => { const { scrollTop, scrollHeight, clientHeight } = document.querySelector("${selector}");
      return scrollTop === 0 ? "top" : scrollTop + clientHeight >= scrollHeight - 1 ? "end" : "between"; })()`;
    for (const [key, selector] of [
      ["Enter", ".detail-lines"],
      ["?", "dialog .text"],
    ] as const) {
      await page.press(key);
      await page.shows(`document.querySelector("${selector}") !== null`);
      await idle(page);
      for (const [move, reached] of [
        ["PageDown", "between"],
        ["G", "end"],
        ["k", "between"],
        ["g", "top"],
      ] as const) {
        await page.press(move);
        expect(await page.evaluate(place(selector)), `${move} in ${selector}`).toBe(reached);
      }
      await page.press("Escape");
    }
  });

  test.each(["keys", "pointer"] as const)(
    "lets a user complete each task by %s",
    async (by) => {
      const bench = await workplace();
      const page = await openPage(browser, bench);
      for (const { name, keys } of tasks) {
        const task = TASKS[name] as BrowserTask;
        await prepare(page, bench, task);
        if (by === "pointer") for (const step of task.steps) await take(page, step);
        else
          for (const key of keys) {
            await page.press(key.length > 1 ? key[0]?.toUpperCase() + key.slice(1) : key);
            await idle(page);
          }
        await expectDone(page, bench, name, task);
      }
      expect(page.complaints).toEqual([]);
    },
    120_000,
  );
});
