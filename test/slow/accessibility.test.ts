// Axe checks the sandbox's pages in a browser: all rules in the light scheme, and the colour rules in the dark scheme.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { describe, expect, test } from "vitest";
import { browserFile, inBrowser, type Page } from "../support/browser.ts";
import { browserForBlock } from "../support/browser-for-block.ts";
import { type Bench, open } from "../support/sandbox.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The rules that depend on colours. */
const OF_COLOURS = ["color-contrast", "link-in-text-block"];

/**
 * The problems that axe finds, each with its element. All rules apply to the light scheme, only OF_COLOURS to the dark.
 */
async function problemsOf(page: Page): Promise<string[]> {
  await page.evaluate(`if (!("axe" in window)) { ${axe}; }`);
  const found: string[] = [];
  for (const [scheme, rules] of [
    ["dark", OF_COLOURS],
    ["light", undefined],
  ] as const) {
    await page.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
    const options = JSON.stringify({ resultTypes: ["violations"], ...(rules && { runOnly: rules }) });
    found.push(
      ...(await page.evaluate<string[]>(`axe.run(document, ${options}).then(({ violations }) =>
        violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) =>
          "${scheme}: " + id + " at " + html.slice(0, 160) + " " + failureSummary)))`)),
    );
  }
  return found;
}

describe.skipIf(!browserFile)(`the pages ${inBrowser}`, () => {
  const browser = browserForBlock();

  const expectAccessible = async (url: string, shown: string) => {
    const page = await browser.open(url);
    await page.shows(shown);
    expect(await problemsOf(page)).toEqual([]);
  };

  /**
   * A sandbox with rejected calls, a fault, a scenario, a failing delivery and verdicts, to fill every part of the
   * report.
   */
  async function busy(): Promise<Bench> {
    const bench = await open();
    await bench.control("POST", "/scenarios/lost-response");
    await bench.control("POST", "/faults", {
      action: { type: "status", status: 503 },
      match: { operation: "payments.list" },
    });
    await bench.call("POST", "/v1/webhooks", { body: { url: "http://127.0.0.1:2/nobody", events: ["*"] } });
    for (const path of ["/v1/payments", "/v1/payments", "/v1/payments?limit=0", "/v1/nothing"])
      await bench.call("GET", path);
    // The scenario resets the connection.
    const headers = { "idempotency-key": "one" };
    await bench
      .call("POST", "/v1/hospitality/bookings/bkg_pending/decline", { body: {}, headers })
      .catch(() => undefined);
    await bench.control("POST", "/clock/advance", { by: "1h" });
    return bench;
  }

  test("the report has no accessibility problem, whether it lists calls or is empty", async () => {
    const [{ url }, unused] = [await busy(), await open()];
    const query = new URLSearchParams({ format: "html", problems: "A verdict failed.", failOn: "verdicts" });
    await expectAccessible(`${url}/_sandbox/report?${query}`, 'document.querySelectorAll("tr").length > 20');
    await expectAccessible(`${unused.url}/_sandbox/report?format=html`, 'document.querySelector("main") !== null');
  });

  test("the dashboard's views, details, forms, palette and help have no accessibility problem", async () => {
    const { url } = await busy();
    const page = await browser.open(`${url}/_sandbox/ui`);
    await page.shows('document.querySelectorAll(".row").length > 3');
    const found: string[] = [];
    const check = async (where: string) =>
      found.push(...(await problemsOf(page)).map((problem) => `${where}: ${problem}`));
    const tabs = await page.evaluate<number>('document.querySelectorAll(".tab").length');
    for (let tab = 0; tab < tabs; tab++) {
      await page.evaluate(`document.querySelectorAll(".tab")[${tab}].click()`);
      await page.shows(`document.querySelectorAll(".tab")[${tab}].getAttribute("aria-current") === "page"`);
      await page.shows(
        'document.querySelector(".explorer") === null || document.querySelector("form.operation") !== null',
      );
      await check(`view ${tab + 1}`);
    }
    await page.click(".tab", "Explorer");
    await page.shows('document.querySelector("form.operation") !== null');
    await page.click("form.operation .primary", "Send");
    await page.shows('document.querySelector(".answer pre") !== null');
    await check("answer in the explorer");
    for (const [key, name] of [
      ["2", "delivery"],
      ["4", "fault"],
      ["5", "verdict"],
      ["1", "request"],
    ]) {
      await page.press(key as string);
      await page.shows('document.querySelector(".list .row:not(.headings, .gap)") !== null');
      // Passed verdicts are collapsed into one line. Enter expands it.
      if (name === "verdict") {
        await page.press("Enter");
        await page.shows('document.querySelectorAll(".row").length > 2');
      }
      await page.press("Enter");
      await page.shows('document.querySelectorAll(".detail .line").length > 5');
      await check(`detail of a ${name}`);
      if (name !== "request") await page.press("Escape");
    }
    for (const [key, shown] of [
      ["x", "dialog .field"],
      ["c", "dialog .field"],
      ["D", "dialog .text"],
      [":", ".commands > *"],
      ["?", "dialog .text"],
    ] as const) {
      await page.press(key);
      await page.shows(
        `document.querySelector("dialog[open]") !== null && document.querySelector(${JSON.stringify(shown)}) !== null`,
      );
      await check(key);
      await page.press("Escape");
      await page.shows('document.querySelector("dialog[open]") === null');
    }
    await page.resize(390, 844);
    await check("detail on a phone");
    await page.press("Escape");
    await check("list on a phone");
    await page.press("x");
    await page.shows('document.querySelector("dialog .curl")?.textContent.includes("/faults")');
    await check("form on a phone");
    expect(found).toEqual([]);
  });

  test("neither the token prompt nor the lesson pane has an accessibility problem", async () => {
    const closed = await open({ host: "0.0.0.0", allowedHost: ["127.0.0.1"] });
    await expectAccessible(`${closed.url}/_sandbox/ui`, 'document.querySelector("#token") !== null');
    const bench = await open();
    await bench.control("POST", "/learners", {});
    await bench.control("POST", "/learners/mer_lodge/lesson", { name: "first-call" });
    await bench.call("GET", "/v1/payments");
    await expectAccessible(
      `${bench.url}/_sandbox/ui`,
      'document.querySelector(".lesson .command pre") !== null && document.querySelectorAll(".row").length === 2',
    );
  });
});
