// How the page of the dashboard is served, and how its views behave in a real browser.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { catalogue } from "../../src/areas/index.ts";
import { browserFile, inBrowser, type Page } from "../support/browser.ts";
import { browserForBlock } from "../support/browser-for-block.ts";
import { folder, linesOf } from "../support/program.ts";
import { type Bench, open } from "../support/sandbox.ts";

const PATH = "/_sandbox/ui";
const get = (bench: Bench, path: string, headers: Record<string, string> = {}) =>
  bench.call("GET", path, { key: null, headers });

describe("the page", () => {
  test("is one document, and its policy allows only its own script, style and origin", async () => {
    const bench = await open();
    const { status, headers, text } = await get(bench, PATH);
    expect([status, headers["content-type"], headers["x-content-type-options"]]).toEqual([
      200,
      "text/html; charset=utf-8",
      "nosniff",
    ]);
    expect(String(headers["content-security-policy"]).replaceAll(/'sha256-[^']+'/g, "HASH")).toBe(
      "default-src 'none'; script-src HASH; style-src HASH HASH; connect-src 'self'; img-src data:; " +
        "require-trusted-types-for 'script'; trusted-types 'none'; base-uri 'none'; form-action 'none'; " +
        "frame-ancestors 'none'",
    );
    expect(text).not.toMatch(/<script src|<link rel="stylesheet"|style="/);
  });

  test("is compressed to less than 150 kB, and answered with 304 while it is unchanged", async () => {
    const bench = await open();
    const whole = await get(bench, PATH);
    const { headers } = await get(bench, PATH, { "accept-encoding": "br, gzip;q=0.9, identity;q=0.5" });
    expect([headers["content-encoding"], headers.etag]).toEqual(["gzip", whole.headers.etag]);
    expect(Number(headers["content-length"])).toBeLessThan(150_000);
    expect((await get(bench, PATH, { "accept-encoding": "gzip;q=0, *" })).headers["content-encoding"]).toBeUndefined();
    const again = await get(bench, PATH, { "if-none-match": String(whole.headers.etag) });
    expect([again.status, again.text]).toEqual([304, ""]);
  });

  test("is the target to which / redirects browsers; other clients get a 404", async () => {
    const bench = await open();
    const browser = await get(bench, "/", { accept: "text/html,application/xhtml+xml" });
    expect([browser.status, browser.headers.location]).toEqual([302, PATH]);
    expect((await get(bench, "/", { accept: "*/*" })).body.code).toBe("route_not_found");
  });
});

/** Whether the status of the explorer's response is in view. */
const IS_IN_VIEW = `{ const chip = document.querySelector(".answer output");
  const { left, top } = chip.getBoundingClientRect();
  chip.contains(document.elementFromPoint(left + 4, top + 8)); }`;

describe.runIf(browserFile)(`the dashboard ${inBrowser}`, () => {
  const browser = browserForBlock();

  const rowCount = (page: Page) =>
    page.evaluate<number>(`document.querySelectorAll(".row:not(.headings, .gap)").length`);
  const rowsShown = (count: number) => `document.querySelectorAll(".row:not(.headings, .gap)").length === ${count}`;
  /** Searches #root only, because the document's body also contains the script with all messages. */
  const bodyHas = (text: string) => `document.querySelector("#root").textContent.includes(${JSON.stringify(text)})`;
  const click = (page: Page, selector: string, text = "") =>
    page.evaluate(
      `void [...document.querySelectorAll(${JSON.stringify(selector)})].find((one) => ` +
        `one.textContent.includes(${JSON.stringify(text)})).click()`,
    );
  const choose = (page: Page, selector: string, value: string) =>
    page.evaluate(`{ const list = document.querySelector(${JSON.stringify(selector)});
      list.value = ${JSON.stringify(value)};
      list.dispatchEvent(new Event("change", { bubbles: true })); }`);

  async function openWithRequests() {
    const bench = await open();
    for (const limit of [1, 2, 3]) await bench.call("GET", `/v1/payments?limit=${limit}`);
    await bench.call("GET", "/v1/customers/cus_nobody");
    const page = await browser.open(`${bench.url}/`);
    await page.shows(rowsShown(4));
    return { bench, page };
  }

  test("opens a detail by pointer and by keyboard, and follows its reference to the rate limit", async () => {
    const { page } = await openWithRequests();
    await click(page, ".row", "cus_nobody");
    await page.shows(`document.querySelector(".detail h2")?.textContent === "GET /v1/customers/cus_nobody"`);
    await page.shows(bodyHas("resource_not_found"));
    expect(await page.evaluate<string>(`document.querySelector(".detail-lines").innerText`)).toContain(
      '\n  "code": "resource_not_found"',
    );
    await click(page, ".detail .link", "remaining");
    await page.shows(`document.querySelector(".detail h2")?.textContent !== "GET /v1/customers/cus_nobody"`);
    await page.press("Escape");
    await page.press("Escape");
    await page.shows(`document.querySelector(".detail") === null`);
    const announced: unknown[] = [];
    for (const key of ["k", "k"]) {
      await page.press(key);
      announced.push(await page.evaluate(`document.querySelector(".rows").getAttribute("aria-activedescendant")`));
    }
    expect(announced).toEqual(["row-2", "row-1"]);
    await page.press("Enter");
    await page.shows(`document.querySelector(".detail h2")?.textContent === "GET /v1/payments"`);
    await page.resize(390, 844);
    await page.click("[aria-label='Search the details']");
    for (const letter of "Data") await page.press(letter);
    await page.shows(`/1 of \\d/.test(document.querySelector(".detail .note").textContent)`);
    expect(page.complaints).toEqual([]);
  });

  test("has one Tab stop per toolbar, and moves between the buttons by the arrow keys", async () => {
    const { page } = await openWithRequests();
    const focused = `(document.activeElement.closest("[role=toolbar], [role=grid]") ??
      document.activeElement).ariaLabel`;
    const stops: string[] = [];
    for (let stop = 0; stop < 4; stop++) {
      await page.press("Tab");
      stops.push(await page.evaluate(focused));
    }
    expect(stops).toEqual(["Views", "Requests", "Filter rows", "Commands"]);
    const buttons = await page.evaluate<string[]>(
      `[...document.querySelectorAll(".keys button")].map(({ textContent }) => textContent)`,
    );
    const reached: string[] = [];
    for (const key of ["Right", "Left", "Left", "Right", "Right"]) {
      await page.press(key);
      reached.push(await page.evaluate("document.activeElement.textContent"));
    }
    expect(reached).toEqual([1, 0, -1, 0, 1].map((place) => buttons.at(place)));
    // On the tabs, the arrow keys open the next tab.
    await page.evaluate(`document.querySelector(".tab[aria-current]").focus()`);
    await page.press("Right");
    await page.shows(`document.querySelector(".tab[aria-current]").textContent.includes("Deliveries")`);
    expect(await page.evaluate("document.activeElement.ariaCurrent")).toBe("page");
  });

  test("shows the number of failures in its tabs at every width, and in its title", async () => {
    const bench = await open();
    const body = { url: "http://127.0.0.1:2/nobody", events: ["*"] };
    await bench.call("POST", "/v1/webhooks", { body });
    await bench.control("POST", "/faults", { action: { type: "rate_limit", retryAfter: 2 }, trigger: { times: 2 } });
    for (let times = 0; times < 2; times++) await bench.call("GET", "/v1/payments");
    await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline", { body: {} });
    await bench.control("POST", "/faults", { action: { type: "rate_limit" }, match: { operation: "payouts.list" } });
    await bench.control("POST", "/clock/advance", { by: "7d" });
    const page = await browser.open(`${bench.url}/`);
    const alarms = `[...document.querySelectorAll(".tab :is(.alarm, .chip)")].filter((one) => {
      const { left, top, right, bottom } = one.getBoundingClientRect();
      return one.contains(document.elementFromPoint((left + right) / 2, (top + bottom) / 2)); })
      .map((one) => one.closest(".tab").textContent.replace(/^\\d/, "")).join(" ")`;
    for (const width of [390, 1_024, 1_440]) {
      await page.resize(width, 844);
      await page.shows(`/^Deliveries✗\\d+ Faults\\*1 Verdicts✗1$/.test(${alarms})`);
    }
    expect(await page.evaluate("document.title")).toMatch(/^✗\d+ Deliveries · ✗1 Verdicts · merchant-sandbox$/);
  });

  test("filters while the user types, and says what is wrong with a filter", async () => {
    const { page } = await openWithRequests();
    await page.write(".filter input", "status:4xx");
    await page.shows(rowsShown(1));
    await page.write(".filter input", "nosuch:1");
    await page.shows(`document.querySelector(".filter .problem") !== null`);
    expect(await rowCount(page)).toBe(1);
    expect(await page.evaluate<string>(`document.querySelector(".note").innerText`)).toMatch(/^1 of 4/);
  });

  test("keeps the list, the preview and the footer in place while a filter is typed", async () => {
    const { page } = await openWithRequests();
    const places = `[".filter input", ".list", ".detail", "footer"].map((one) =>
      JSON.stringify(document.querySelector(one)?.getBoundingClientRect()))`;
    await page.resize(1_440, 900);
    await page.shows(`document.querySelector(".detail h2") !== null`);
    const before = await page.evaluate<string[]>(places);
    await page.click(".filter input");
    for (const letter of "declin") {
      await page.press(letter);
      expect(await page.evaluate<string[]>(places)).toEqual(before);
    }
    await page.shows(rowsShown(0));
    expect(await page.evaluate<string[]>(places)).toEqual(before);
  });

  test("previews the newest row, but keeps the preview while the focus or the pointer is in it", async () => {
    const { bench, page } = await openWithRequests();
    await page.resize(1_440, 900);
    await page.shows(`document.querySelector(".row.shown")?.textContent.includes("cus_nobody")`);
    const previews = (path: string) => `document.querySelector(".detail h2")?.textContent === "GET ${path}"`;
    const focus = `(document.querySelector(".detail-lines").focus(), true)`;
    await page.shows(`${previews("/v1/customers/cus_nobody")} && ${focus}`);
    // The page previews a newer row only after three seconds. Moves the page's time forward by three seconds.
    await page.evaluate(`{ const now = performance.now.bind(performance); performance.now = () => now() + 3_000; }`);
    await bench.call("GET", "/v1/merchants/me");
    await page.shows(rowsShown(5));
    // The page decides what to preview before each poll.
    const nextPoll = `new Promise((resolve) => { const { fetch } = window;
      window.fetch = (...given) => { resolve(); return fetch(...given); }; })`;
    await page.evaluate(nextPoll);
    expect(await page.evaluate(previews("/v1/customers/cus_nobody"))).toBe(true);
    await page.evaluate("document.activeElement.blur()");
    await page.shows(previews("/v1/merchants/me"));
    // The preview also stays while the pointer is over it.
    await page.send("Input.dispatchMouseEvent", { type: "mouseMoved", x: 1_200, y: 400 });
    await page.shows(`document.querySelector(".detail").matches(":hover")`);
    await page.evaluate(`{ const now = performance.now.bind(performance); performance.now = () => now() + 3_000; }`);
    await bench.call("GET", "/v1/payouts");
    await page.shows(rowsShown(6));
    await page.evaluate(nextPoll);
    expect(await page.evaluate(previews("/v1/merchants/me"))).toBe(true);
    // A narrow page shows no preview, even while the pointer is at its position.
    await page.resize(1_024, 768);
    await page.shows(`document.querySelector(".detail") === null`);
    await page.resize(1_440, 900);
    await page.shows(previews("/v1/payouts"));
    expect(page.complaints).toEqual([]);
  });

  test("shows the preview only on a wide page, even if no row matches the filter", async () => {
    const { page } = await openWithRequests();
    await page.resize(1_440, 900);
    await page.shows(`document.querySelector(".detail h2") !== null`);
    await page.write(".filter input", "nosuchrow");
    await page.shows(`${rowsShown(0)} && document.querySelector(".detail .hint") !== null`);
    await page.resize(1_024, 768);
    await page.shows(`document.querySelector(".detail") === null`);
    await page.resize(1_440, 900);
    await page.shows(`document.querySelector(".detail .hint") !== null`);
    await page.write(".filter input", "");
    await page.shows(`document.querySelector(".detail h2")?.textContent === "GET /v1/customers/cus_nobody"`);
    // Without a preview, the line below the list says why the request failed.
    await page.resize(1_024, 768);
    await page.shows(`document.querySelector(".notice").textContent.startsWith("✗ 404 resource_not_found: No such")`);
  });

  test("immediately previews a row that the filter selects, without waiting for the next poll", async () => {
    const { bench, page } = await openWithRequests();
    for (let limit = 1; limit <= 100; limit++) await bench.call("GET", `/v1/payouts?limit=${limit}`);
    await page.resize(1_440, 900);
    const second = await browser.open(`${bench.url}/`);
    await second.resize(1_440, 900);
    await second.shows(`document.querySelector(".detail-lines")?.textContent.includes("Timing")`);
    // From here on no timer fires, so the page does not poll.
    await second.evaluate("void (window.setTimeout = () => 0)");
    await second.write(".filter input", "cus_nobody");
    await second.shows(`document.querySelector(".detail h2")?.textContent === "GET /v1/customers/cus_nobody" &&
      document.querySelector(".detail-lines").textContent.includes("Timing")`);
  });

  test("arms a fault with the form, which can show rare fields, and undoes it", async () => {
    const { bench, page } = await openWithRequests();
    await page.press("x");
    await page.shows(
      'document.querySelector("dialog[open] select") !== null && ' +
        'document.querySelector(".curl").textContent.includes("/faults")',
    );
    const fieldCount = `document.querySelectorAll("dialog .fields input, dialog .fields select").length`;
    const common = await page.evaluate<number>(fieldCount);
    await page.click("dialog .fields button", "more field");
    await page.shows(`${fieldCount} > ${common}`);
    await page.evaluate(`document.querySelector("dialog form").requestSubmit()`);
    await page.shows(`document.querySelector("dialog[open]") === null`);
    expect((await bench.control("GET", "/faults")).data).toHaveLength(1);
    await page.press("u");
    await page.shows(bodyHas("Undone"));
    expect((await bench.control("GET", "/faults")).data).toHaveLength(0);
    expect(page.complaints).toEqual([]);
  });

  test("downloads a merchant as the same fixture file that `fixture save` writes", async () => {
    const { bench, page } = await openWithRequests();
    const downloadPath = folder();
    await page.downloadTo(downloadPath);
    await linesOf(bench, "fixture", "save", "lodge", join(downloadPath, "expected.json"));
    await page.press("7");
    await page.shows(bodyHas("sk_test_lodge"));
    await page.click(".keys button", "fixture");
    await page.shows(bodyHas("Downloaded lodge.json: mer_lodge with "));
    const read = (name: string) => readFileSync(join(downloadPath, name), "utf8");
    await vi.waitFor(() => expect(read("lodge.json")).toBe(read("expected.json")), 10_000);
    expect(page.complaints).toEqual([]);
  });

  test("calls an operation in the explorer with the example body, and opens the logged request", async () => {
    const { bench, page } = await openWithRequests();
    for (const key of ["1", "Left"]) await page.press(key);
    await page.shows(`document.querySelector(".operation-list button") !== null`);
    expect(await page.evaluate(`document.querySelectorAll(".operation-list button").length`)).toBe(catalogue.length);
    await click(page, ".operation-list button", "Decline a pending booking");
    await page.shows(`document.querySelector("#body")?.value.includes("reason")`);
    await page.write("#body-reason", "No heating");
    await page.shows(
      `/^curl -sS -X POST .*"reason": "No heating"/s.test(document.querySelector("[aria-label=Code] pre").textContent)`,
    );
    await page.shows(
      '/declineReason[^]*"declined"[^]*409 ' +
        'Conflict[^]*invalid_state/.test(document.querySelector("[aria-label=Responses]").textContent)',
    );
    await page.evaluate(`document.querySelector("form.operation").requestSubmit()`);
    await page.shows(`document.querySelector(".answer pre")?.textContent.includes('"status": "declined"')`);
    expect(await page.evaluate(`document.querySelector(".answer output").textContent`)).toMatch(
      /^200 \d.* ms, at \d\d:\d\d:\d\d UTC$/,
    );
    expect(await page.evaluate(IS_IN_VIEW)).toBe(true);
    // If the body has a mistake, the page keeps the typed text and the values of the fields.
    const broken = '{\n  "reason": "No heating",\n  "notifyGuest": tru\n}';
    await page.write("#body", broken);
    await page.shows(`document.querySelector("#body-help").textContent ===
      'Line 3, column 18: expected a value, received "tru"'`);
    expect(
      await page.evaluate(`[document.querySelector("#body").value, document.querySelector("#body-reason").value,
        document.querySelector("#body-reason").matches(":disabled")]`),
    ).toEqual([broken, "No heating", true]);
    await page.write("#body", "{}");
    await page.shows(`document.querySelector("#body-reason:enabled")?.value === ""`);
    await click(page, "[aria-label='Sent before'] button");
    await page.shows(`document.querySelector("#body-reason").value === "No heating"`);
    await click(page, ".answer button");
    await page.shows(`document.querySelector(".detail")?.textContent.includes("booking.declined")`);
    expect((await bench.control("GET", "/requests?limit=1")).data[0]).toMatchObject({
      operation: "bookings.decline",
      status: 200,
    });
    expect(page.complaints).toEqual([]);
  });

  test("on a phone, lists the operations in a menu of the explorer, and sends a path parameter", async () => {
    const { page } = await openWithRequests();
    await page.resize(390, 844);
    for (const key of ["1", "Left"]) await page.press(key);
    await page.shows(`document.querySelector("[aria-label=Operation] option") !== null`);
    const options = `document.querySelectorAll("[aria-label=Operation] option").length`;
    expect(await page.evaluate(options)).toBe(catalogue.length);
    await choose(page, "[aria-label=Operation]", "customers.get");
    await page.shows(`document.querySelector("#parameter-id")?.value.startsWith("cus_")`);
    await page.write("#parameter-id", "cus_/nobody");
    await page.click("form.operation .primary", "Send");
    await page.shows(`document.querySelector(".answer pre")?.textContent.includes("cus_/nobody")`);
    expect(await page.evaluate(IS_IN_VIEW)).toBe(true);
    const cut = `[...document.querySelectorAll(".explorer *")].filter((one) =>
      one.checkVisibility() && one.getBoundingClientRect().right > 390 && !one.closest("pre"))`;
    expect(await page.evaluate(`${cut}.map((one) => one.outerHTML.slice(0, 90))`)).toEqual([]);
  });

  test("has a URL for each view, filter, row and detail, so Back, Forward and other windows work", async () => {
    const { bench, page } = await openWithRequests();
    const isAt = (address: string) => `location.hash === ${JSON.stringify(`#${address}`)}`;
    const hasFilter = `document.querySelector(".filter input").value === "status:404"`;
    await page.write(".filter input", "status:404");
    await click(page, ".row", "cus_nobody");
    await page.shows(isAt("requests?filter=status%3A404&open=requests%3Areq_lodge_4"));
    await page.press("5");
    await page.shows(isAt("verdicts"));
    await page.evaluate("void history.back()");
    await page.shows(
      `${hasFilter} && document.querySelector(".detail h2").textContent === "GET /v1/customers/cus_nobody"`,
    );
    const address = await page.evaluate<string>("location.href");
    await page.evaluate("void history.forward()");
    await page.shows(
      `${isAt("verdicts")} && document.querySelector(".tab[aria-current]").textContent.includes("Verdicts")`,
    );
    const second = await browser.open(address);
    await second.shows(
      `${hasFilter} && document.querySelector(".detail-lines")?.textContent.includes("resource_not_found")`,
    );
    await second.shows(rowsShown(1));
    await second.press("Escape");
    await second.shows(isAt("requests?filter=status%3A404&row=req_lodge_4"));
    const third = await browser.open(`${bench.url}/#explorer?operation=service%20bookings.decline`);
    await third.shows(`document.querySelector("form.operation h2")?.textContent === "Decline a pending booking"`);
    expect([page, second, third].flatMap(({ complaints }) => complaints)).toEqual([]);
  });

  test("opens Explorer and Scenarios from the palette, and draws bars as elements, not as characters", async () => {
    const { page } = await openWithRequests();
    for (const view of ["Explorer", "Scenarios"]) {
      await page.press(":");
      await page.shows(`document.querySelector(".palette input") !== null`);
      await page.write(".palette input", view);
      await page.shows(`document.querySelectorAll(".commands > *").length === 1`);
      await click(page, ".commands > *");
      await page.shows(`document.querySelector("main section[aria-label=${view}]") !== null`);
    }
    await page.press("3");
    await page.shows(`document.querySelector(".row .bar").getBoundingClientRect().width > 20`);
    expect(await page.evaluate<string>(`document.querySelector("#root").textContent`)).not.toMatch(/[▁-█░]/);
  });

  test("draws the trends as stacked bars, and filters requests by a time span chosen by pointer or keys", async () => {
    const { bench, page } = await openWithRequests();
    await page.resize(1_440, 900);
    await bench.control("POST", "/faults", { action: { type: "status", status: 503 }, trigger: { times: 1 } });
    await bench.call("GET", "/v1/payments");
    await page.press("6");
    await page.shows(`document.querySelector("[role=img]")?.ariaLabel.includes("5 requests, 1 4xx, 1 5xx") &&
      [".ok", ".client-error", ".server-error", ".by-fault", "path.p95"].every((one) =>
        document.querySelector(".plot " + one) !== null)`);
    expect(await page.evaluate<string>(`document.querySelector(".totals").innerText`)).toMatch(
      /payments\.list\s+4\s+0\s+1\s/,
    );
    const gaps = `Object.values(Object.groupBy(
      document.querySelectorAll(".plot :is(.ok, .client-error, .server-error)"),
      (one) => one.getAttribute("x"))).map((bar) => bar.reduce((below, one) =>
        Math.abs(below - Number(one.getAttribute("y")) - Number(one.getAttribute("height"))) < 0.01
          ? Number(one.getAttribute("y")) : NaN, 100))`;
    expect((await page.evaluate<(number | null)[]>(gaps)).every((top) => top !== null && top < 100)).toBe(true);
    const isFiltered = `document.querySelector(".filter input")?.value ===
      "time>2026-01-05T12:00:00 time<2026-01-05T12:00:01" && ${rowsShown(5)}`;
    const { left, top, width } = await page.evaluate<{ left: number; top: number; width: number }>(
      `document.querySelector(".spans").getBoundingClientRect().toJSON()`,
    );
    const drag = async (from: number, to: number) => {
      const at = (x: number) => ({ x: left + x * width, y: top + 50, button: "left", clickCount: 1 });
      for (const [type, x] of [
        ["mousePressed", from],
        ["mouseMoved", to],
        ["mouseReleased", to],
      ] as const)
        await page.send("Input.dispatchMouseEvent", { type, ...at(x) });
    };
    await drag(0.01, 0.1);
    await page.shows(bodyHas("ago: no requests"));
    await drag(0.99, 0.01);
    await page.shows(isFiltered);
    await page.press("6");
    await page.shows(bodyHas("The requests are filtered"));
    await page.evaluate(`document.querySelector(".spans").focus()`);
    await page.press("Escape");
    await page.shows(bodyHas("Left and Right choose a span of time"));
    for (const key of ["Left", "Home"]) await page.press(key);
    await page.shows(`document.querySelector(".spans").ariaValueText.endsWith("ago: no requests")`);
    await page.press("Right");
    expect(await page.evaluate("document.querySelector('.spans').ariaValueNow")).toBe("1");
    await page.press("Home");
    await page.press("End", { shift: true });
    await page.press("Enter");
    await page.shows(isFiltered);
    await page.press("Escape");
    await page.shows(`document.querySelector(".filter input").value === "" && location.hash === "#requests"`);
    expect(page.complaints).toEqual([]);
  });

  test("asks for the token if the sandbox listens beyond loopback, and keeps the token only in the tab", async () => {
    const bench = await open({ host: "0.0.0.0", allowedHost: ["127.0.0.1"] });
    await bench.call("GET", "/v1/payments");
    const page = await browser.open(`${bench.url}${PATH}`);
    await page.shows(`document.querySelector("#token") !== null`);
    await page.evaluate(`document.querySelector("#token").value = ${JSON.stringify(bench.controlToken)}`);
    const reloaded = page.evaluate(`document.querySelector("form").requestSubmit()`).catch(() => undefined);
    await reloaded;
    // The page reloads, which aborts every evaluation. So `showsLater` polls from outside of the page.
    const showsLater = async (condition: string) => {
      for (let tries = 0; tries < 1_200 && !(await page.evaluate(condition).catch(() => false)); tries++)
        await new Promise((resolve) => setTimeout(resolve, 50));
      expect(await page.evaluate(condition)).toBe(true);
    };
    await showsLater(rowsShown(1));
    expect(await page.evaluate(`[localStorage.length, document.cookie]`)).toEqual([0, ""]);
    await page.press("o");
    await page.press("!");
    await page.shows(bodyHas("Bearer $MERCHANT_SANDBOX_CONTROL_TOKEN"));
    await page.press("Escape");
    for (const key of ["1", "Left"]) await page.press(key);
    await page.shows(`document.querySelector("[aria-label=API]") !== null`);
    await choose(page, "[aria-label=API]", "control");
    await page.shows(bodyHas("Bearer $MERCHANT_SANDBOX_CONTROL_TOKEN"));
    await page.shows(`document.querySelector("form.operation h2")?.textContent === "Get an overview of the sandbox"`);
    await page.evaluate(`document.querySelector("form.operation").requestSubmit()`);
    await page.shows(`document.querySelector(".answer pre")?.textContent.includes('"version"')`);
    expect(await page.evaluate<string>(`document.body.textContent`)).not.toContain(bench.controlToken);
    // Opens the report in this tab instead of a new one. The page's policy must allow the report's style.
    await page.evaluate(`void (window.open = (url) => { location.assign(url); return window; })`);
    const complaintsBefore = page.complaints.length;
    await click(page, ".keys button", "report");
    await showsLater(`document.querySelector(".tile") !== null`);
    expect(await page.evaluate(`document.querySelector(".tile").textContent`)).toMatch(
      new RegExp(`^1 of ${catalogue.length}`),
    );
    expect(
      await page.evaluate(`[location.protocol, getComputedStyle(document.querySelector(".tiles")).display]`),
    ).toEqual(["blob:", "grid"]);
    expect(page.complaints.slice(complaintsBefore)).toEqual([]);
  });
});
