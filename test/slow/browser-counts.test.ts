// Two browsers and a terminal at one sandbox show the same counts as its API, during and after 1,000 requests a second.

import { expect, test } from "vitest";
import { realDelay } from "../../src/kernel/clock.ts";
import { browserFile, inBrowser, openBrowser, type Page } from "../support/browser.ts";
import { load, pacedLoad } from "../support/load.ts";
import { type Bench, open } from "../support/sandbox.ts";
import { openProgram, WIDE } from "../support/terminal.ts";
import { receive, register, settle, trigger } from "../support/webhooks.ts";

const PER_SECOND = 1_000;
const REQUESTS = 3_000;
/** Each 25th request is refused. */
const pathOf = (number: number) => (number % 25 === 7 ? "/v1/nowhere" : "/v1/payments?limit=1");

/** The number of requests in the title of the list. */
const shownRequests = (page: Page) =>
  page.evaluate<number>(`Number(/([\\d,]+) following/.exec(document.querySelector(".note").innerText)?.[1].replace(",", "") ?? 0)`);

/** Reads the count that a page shows, and then that of the sandbox, again and again while requests arrive. */
async function watch(bench: Bench, page: Page, isOver: () => boolean): Promise<{ shown: number; made: number }[]> {
  const read: { shown: number; made: number }[] = [];
  while (!isOver()) {
    const shown = await shownRequests(page);
    read.push({ shown, made: (await bench.control("GET", "")).made.requests });
    // The page paints ten times a second.
    await realDelay(100);
  }
  return read;
}

/** Deliveries that fail and wait for their retry, and a client that ignores Retry-After. */
async function fail(bench: Bench): Promise<void> {
  const receiver = await receive();
  receiver.always(503);
  await register(bench, receiver.url);
  for (let times = 0; times < 5; times++) await trigger(bench);
  await bench.control("POST", "/faults", { action: { type: "rate_limit", retryAfter: 2 }, match: { operation: "payouts.list" } });
  await bench.call("GET", "/v1/payouts");
  await bench.call("GET", "/v1/payouts");
  await settle(bench);
}

const summaryHas = (text: string) =>
  `[".status", ".notice"].some((part) => document.querySelector(part).innerText.replaceAll("\\n", " ").includes(${JSON.stringify(text)}))`;
const noted = (text: string) => `document.querySelector(".note").innerText.startsWith(${JSON.stringify(text)})`;
const count = (value: number) => value.toLocaleString("en-US");

test.runIf(browserFile)(
  `two browsers and a terminal agree on every count under ${PER_SECOND} requests a second, ${inBrowser}`,
  async () => {
    const bench = await open({ rateLimit: "none" });
    // One request, so that the lists are there.
    await load(bench.url, 1, pathOf);
    const browser = await openBrowser(browserFile as string);
    try {
      const [whole, filtered] = [await browser.open(`${bench.url}/_sandbox/ui`), await browser.open(`${bench.url}/_sandbox/ui`)];
      const terminal = openProgram(["attach", bench.url], { size: WIDE });
      await terminal.shows("LIVE");
      for (const page of [whole, filtered]) await page.shows(noted("1 following"));
      await filtered.press("/");
      for (const letter of "status:404") await filtered.press(letter);
      let isOver = false;
      const watching = watch(bench, whole, () => isOver);
      await Promise.all([pacedLoad(bench.url, PER_SECOND, REQUESTS, pathOf), fail(bench)]);
      isOver = true;

      const read = await watching;
      for (const [index, { shown, made }] of read.entries()) {
        expect(shown).toBeLessThanOrEqual(made);
        expect(shown).toBeGreaterThanOrEqual(read[index - 1]?.shown ?? 0);
      }

      const { made, pendingDeliveries } = await bench.control("GET", "");
      const { failures, pass: passed } = made.verdicts;
      expect([made.attempts, pendingDeliveries, failures["retry_after.honoured"]]).toEqual([5, 5, 1]);
      const requests = count(made.requests);
      await whole.shows(noted(`${requests} following`));
      await filtered.shows(noted(`${REQUESTS / 25} of ${requests}`));
      const lists = new RegExp(`1 Requests ─+ ${requests} {2}following[\\s\\S]*2 Deliveries ─+ 5 {2}following`);
      await terminal.shows(lists);
      const verdicts = Object.keys(failures).map((rule) => `✗ ${rule} failed`);
      for (const text of [...verdicts, `✓ ${count(passed)} passed`, "5 pending"]) {
        for (const page of [whole, filtered]) await page.shows(summaryHas(text));
        await terminal.shows(text);
      }
      await whole.press("2");
      await whole.shows(noted("5 following"));
      await whole.press("6");
      terminal.type("6");
      const { clientErrors, serverErrors } = (await bench.control("GET", "/trend")).total;
      await whole.shows(`document.body.innerText.includes("${count(clientErrors)} and ${count(serverErrors)}")`);
      await terminal.shows(new RegExp(`4xx 5xx +${count(clientErrors)} ${count(serverErrors)}`));
      for (const page of [whole, filtered]) expect(page.complaints).toEqual([]);
    } finally {
      await browser.close();
    }
  },
);
