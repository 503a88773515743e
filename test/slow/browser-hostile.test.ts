// The page shows hostile names, paths, headers, bodies and responses as text in every view. They neither violate its
// policy nor break its layout.

import { describe, expect, test } from "vitest";
import { browserFile, inBrowser, type Page } from "../support/browser.ts";
import { browserForBlock } from "../support/browser-for-block.ts";
import { type Bench, open } from "../support/sandbox.ts";
import { receive, register, settle } from "../support/webhooks.ts";

const MARKUP = `<img src=x onerror="pwned=1">"><script>pwned=1</script><style>*{display:none}</style>`;
/** Escape sequences, a right-to-left override, zero-width, combining and private-use characters. */
const CONTROL = "\x1b[31mred\x07\u202egnp.exe\u2066\u200b\u0000\u009b2J Z\u0351\u0352\u0353\u0354\u0355\ue000";
const LONG = "W".repeat(3_000);
const HOSTILE = `${MARKUP}${CONTROL}${LONG}`;
/** Hostile text that is valid in a header. */
const IN_HEADER = `${MARKUP} ${"W".repeat(1_000)}`;

/** A sandbox with every kind of row, and hostile text wherever a client, a receiver or a merchant can put it. */
async function openHostile(): Promise<Bench> {
  const bench = await open();
  const receiver = await receive();
  receiver.always({ status: 500, headers: { "x-answer": IN_HEADER }, body: HOSTILE });
  await register(bench, `${receiver.url}/${encodeURIComponent(MARKUP)}?${"w".repeat(500)}`);
  await bench.call("POST", "/v1/merchants", {
    body: { name: `${MARKUP}${CONTROL}`, email: "hostile@example.com", password: "correct horse" },
  });
  await bench.control("POST", "/faults", {
    name: MARKUP,
    action: { type: "rate_limit", retryAfter: 2 },
    match: { operation: "payouts.list" },
  });
  await bench.call("GET", "/v1/payouts");
  await bench.call("GET", "/v1/payouts");
  await bench.call("GET", `/v1/customers/${encodeURIComponent(HOSTILE)}?${encodeURIComponent(HOSTILE)}`);
  // A row shortens a long path in its middle. This path and the error that quotes it are short enough to be shown
  // whole.
  await bench.call("GET", `/v1/customers/${encodeURIComponent("<i onerror=1>")}`);
  const headers = { "idempotency-key": "hostile", "user-agent": IN_HEADER, "x-request-id": IN_HEADER };
  await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline", {
    headers,
    body: { reason: HOSTILE, [MARKUP]: { [CONTROL]: LONG } },
  });
  await bench.call("POST", "/v1/webhook-events/test", {
    body: { type: "payment.succeeded", data: { description: HOSTILE } },
  });
  await bench.call("POST", "/v1/customers", { body: `{"${HOSTILE}` });
  await settle(bench);
  return bench;
}

/** The tabs whose lists have a row with markup. A phone may hide the columns with the markup. */
const HOSTILE_TABS = /Requests|Deliveries|Faults|Merchants|Endpoints/;

/** Finds elements, scripts and control characters that come from data, and content beyond the screen. */
const PROBLEMS = `(() => {
  const problems = [];
  const foreign = "#root img, #root script, #root style, #root iframe, [onerror], [onclick]";
  const strangers = document.querySelectorAll(foreign).length;
  if (strangers > 0) problems.push(strangers + " elements came from data");
  if (window.pwned !== undefined) problems.push("a script of the data ran");
  const { scrollWidth, scrollHeight } = document.scrollingElement;
  if (scrollWidth > innerWidth || scrollHeight > innerHeight)
    problems.push("the page is " + scrollWidth + "x" + scrollHeight);
  const dialog = document.querySelector("dialog[open]")?.getBoundingClientRect();
  if (dialog && (dialog.bottom > innerHeight || dialog.right > innerWidth))
    problems.push("the dialog ends beyond the screen");
  const forbidden = /[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]/;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const { data, parentElement } = walker.currentNode;
    if (forbidden.test(data)) problems.push("a control character in " + parentElement.outerHTML.slice(0, 40));
  }
  for (const one of document.querySelectorAll("[title]"))
    if (forbidden.test(one.title)) problems.push("a control character in the title of " + one.className);
  return problems;
})()`;

describe.runIf(browserFile)(`the dashboard ${inBrowser}`, () => {
  const browser = browserForBlock();

  /** Opens each view, details of each kind and each form at this width, and returns the problems. */
  async function problemsAt(page: Page, width: number): Promise<string[]> {
    const found: string[] = [];
    // A phone shows the same details, so one of each kind is enough.
    const mostRows = width > 1_000 ? 20 : 1;
    const look = async (where: string) =>
      found.push(...(await page.evaluate<string[]>(PROBLEMS)).map((problem) => `${width}, ${where}: ${problem}`));
    await page.resize(width, 740);
    const tabs = await page.evaluate<string[]>(`[...document.querySelectorAll(".tab")].map((one) => one.innerText)`);
    for (const [index, tab] of tabs.entries()) {
      await page.evaluate(`document.querySelectorAll(".tab")[${index}].click()`);
      await page.shows(`document.querySelectorAll(".tab")[${index}].getAttribute("aria-current") === "page"`);
      await look(tab);
      if (width > 1_000 && HOSTILE_TABS.test(tab))
        await page.shows(`document.querySelector(".rows")?.textContent.includes("onerror")`);
      // A list renders only its visible rows.
      const openRow = (row: number) =>
        page.evaluate<boolean>(
          `{ const row = document.querySelectorAll(".list .row:not(.headings, .gap)")[${row}]; ` +
            "row?.click(); row !== undefined }",
        );
      for (let row = 0; row < mostRows && (await openRow(row)); row++) {
        await page.shows(
          'document.querySelector(".detail") !== null && ' +
            '!document.querySelector(".detail").innerText.includes("Loading")',
        );
        await look(`row ${row} of ${tab}`);
        await page.press("Escape");
        await page.shows(`document.querySelector("[aria-label='Esc: close']") === null`);
      }
    }
    await page.press("1");
    for (const key of ["x", "t", "m", "w", "b", "X", ":", "?", "E", "!"]) {
      await page.press(key);
      // Some keys open nothing for this row, so the test cannot wait for a change. The pause lets a form load its data.
      await page.evaluate(`new Promise((resolve) => setTimeout(resolve, 50))`);
      await look(`key ${key}`);
      await page.press("Escape");
      await page.press("Escape");
      await page.shows(`document.querySelector("dialog[open]") === null`);
    }
    await page.write(".filter input", HOSTILE);
    await look("a filter");
    await page.write(".filter input", "");
    await page.press("Escape");
    await sendHostileCall(page);
    await look("the response in the explorer");
    return found;
  }

  /** Calls an operation of the explorer with hostile parameters and a hostile body. */
  async function sendHostileCall(page: Page): Promise<void> {
    await page.click(".tab", "Explorer");
    await page.shows(`document.querySelector(".operation-list button") !== null`);
    // A phone hides the list, so a script clicks the button.
    await page.evaluate(`document.querySelector(".operation-list [title='bookings.decline']").click()`);
    await page.shows(`document.querySelector("#body") !== null`);
    await page.write("#parameter-id", HOSTILE.slice(0, 400));
    await page.write("#body", JSON.stringify({ reason: HOSTILE }));
    await page.evaluate(`document.querySelector("form.operation").requestSubmit()`);
    await page.shows(`document.querySelector(".answer pre")?.textContent.includes("resource_not_found")`);
  }

  test("shows hostile data as text in every view, on a desktop and on a phone", { timeout: 600_000 }, async () => {
    const bench = await openHostile();
    const page = await browser.open(`${bench.url}/_sandbox/ui`);
    await page.shows(`document.querySelectorAll(".list .row").length > 5`);
    const found = [...(await problemsAt(page, 1_440)), ...(await problemsAt(page, 390))];
    expect([...new Set(found)]).toEqual([]);
    // The browser reports that the explorer's call got 404.
    expect(page.complaints.filter((complaint) => !complaint.includes("status of 404"))).toEqual([]);
  });
});
