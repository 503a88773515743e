// In a browser, the dashboard's page shows the step of a lesson and its commands beside the panes, and accepts the keys
// of the lesson.

import { describe, expect, test } from "vitest";
import { browserFile, inBrowser } from "../support/browser.ts";
import { browserForBlock } from "../support/browser-for-block.ts";
import { open } from "../support/sandbox.ts";

const seen = (selector: string) => `document.querySelector(${JSON.stringify(selector)})?.textContent`;
const STEP = seen(".lesson h3");

async function learn() {
  const bench = await open();
  await bench.control("POST", "/learners", { hintAfter: "0s" });
  await bench.control("POST", "/learners/mer_lodge/lesson", { name: "first-call" });
  return bench;
}

describe.runIf(browserFile)(inBrowser, () => {
  const browser = browserForBlock();

  test("the page shows the learner's step and commands beside the requests, and follows the learner", async () => {
    const bench = await learn();
    const page = await browser.open(`${bench.url}/_sandbox/ui`);
    await page.shows(`${STEP} === "1. Ask who you are"`);
    expect(
      await page.evaluate(`[...document.querySelectorAll(".lesson dd code")].map((one) => one.textContent)`),
    ).toEqual(["sk_test_lodge", `${bench.url}/v1`]);
    expect(await page.evaluate(seen(".lesson .command pre"))).toBe(
      `curl -s ${bench.url}/v1/merchants/me -H "Authorization: Bearer sk_test_lodge"`,
    );
    await bench.call("GET", "/v1/merchants/me");
    await page.shows(
      `[...document.querySelectorAll(".row")].some((row) => row.textContent.includes("/v1/merchants/me"))`,
    );
    await page.click(".lesson button", "next step");
    await page.shows(`${STEP} === "2. Read a list"`);
    await page.click(".lesson button", "hint");
    await page.shows(`${seen(".lesson-hint")}?.includes("The URL is quoted")`);
    await page.click(".row", "/v1/merchants/me");
    await page.shows(`${seen(".detail h2")} === "GET /v1/merchants/me"`);
    const again = await browser.open(`${bench.url}/_sandbox/ui`);
    await again.shows(`${STEP} === "2. Read a list"`);
    await again.press("S");
    await again.shows(`${STEP} === "3. Request a missing record"`);
    expect([...page.complaints, ...again.complaints]).toEqual([]);
  });

  test("without a learner, the page has no lesson", async () => {
    const bench = await open();
    const page = await browser.open(`${bench.url}/_sandbox/ui`);
    await page.shows(`${seen(".connection")} === "LIVE"`);
    expect(await page.evaluate(`document.querySelector(".lesson")`)).toBeNull();
  });
});
