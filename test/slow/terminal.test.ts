// The dashboard in a pseudo-terminal: its layout at each size, its keys, and how little it repaints.

import { describe, expect, test } from "vitest";
import { COLOUR_QUERY } from "../../ui/view/style.ts";
import { attempted } from "../support/attacks.ts";
import { call, control, NOON } from "../support/sandbox.ts";
import { LEAST, openDashboard, openProgram, type TestTerminal, USUAL, WIDE } from "../support/terminal.ts";
import { receive } from "../support/webhooks.ts";

const get = (url: string, path: string, headers = {}) => call(url, "GET", path, { headers });
const RULES = "/v1/hospitality/pricing-rules";
const rule = { name: "x", adjustmentType: "fixed", adjustmentValue: 1 };

/** Frozen clock: only the test changes anything. */
const frozen = (size = WIDE, words: string[] = []) => openDashboard(["--clock", NOON, ...words], { size });

describe("the screen shows", () => {
  test("on a wide screen all panes, exactly as large as the screen", async () => {
    const terminal = await frozen();
    const text = await terminal.shows("lodge");
    for (const words of ["sk_test_lodge", "Requests", "Rate limits", "Faults", "Deliveries", "? help  q quit", "No requests yet"])
      expect(text).toContain(words);
    expect(terminal.lines().at(-1)).toContain("q quit");
    expect(terminal.lines().filter((line) => line.startsWith("┌"))).toHaveLength(2);
  });

  test("on a usual and on the smallest screen, one pane and the names of the others", async () => {
    for (const size of [USUAL, LEAST]) {
      const terminal = openProgram(["start", "--memory", "--port", "0"], { size });
      const text = await terminal.shows("No requests yet");
      expect(text).toMatch(/\[1 Requests\] +2 .*3 .*4 .*5/);
      expect(terminal.lines().filter((line) => line.startsWith("┌"))).toHaveLength(1);
      expect(terminal.lines().at(-1)).toContain("? help  q quit");
      terminal.type("2");
      await terminal.shows("No deliveries yet");
    }
  });

  test("on a screen that is too small, the required size; and everything again after it grows", async () => {
    const terminal = await frozen();
    for (const size of [
      { columns: 50, rows: 36 },
      { columns: 120, rows: 10 },
      { columns: 12, rows: 3 },
      { columns: 1, rows: 1 },
    ]) {
      terminal.resize(size);
      await terminal.shows((text) =>
        text.startsWith(`${size.columns}x${size.rows} is too small: resize to 60x15 or larger`.slice(0, size.columns - 1)),
      );
      expect(terminal.text()).not.toContain("┌");
    }
    terminal.resize(LEAST);
    await terminal.shows("No requests yet");
    terminal.resize({ columns: 50, rows: 10 });
    await terminal.shows("too small");
    terminal.type("q");
    expect(await terminal.ended).toMatchObject({ code: 0 });
  });

  test("a request immediately", async () => {
    const terminal = await frozen();
    await get(terminal.url, "/v1/payments?limit=3");
    expect(await terminal.shows("/v1/payments?limit=3")).toMatch(/12:00:00\.000 GET +\/v1\/payments\?limit=3 +200 .* ms lodge/);
  });

  test("a filter while it is typed, and everything again without it", async () => {
    const terminal = await frozen();
    await get(terminal.url, "/v1/payments");
    await get(terminal.url, "/v1/payouts");
    await get(terminal.url, "/v1/nowhere");
    await terminal.shows("nowhere");
    terminal.type("/status:4xx");
    await terminal.shows((text) => text.includes("1 of 3") && !text.includes("/v1/payouts") && text.includes("/v1/nowhere"));
    terminal.type("\r\x1b");
    await terminal.shows("/v1/payouts");
  });

  test("an armed fault and the response it caused", async () => {
    const terminal = await frozen();
    await control(terminal.url, "POST", "/faults", { action: { type: "status", status: 503 }, name: "planted" });
    await terminal.shows("planted");
    expect((await get(terminal.url, "/v1/payments")).status).toBe(503);
    expect(await terminal.shows(/\/v1\/payments +✗503/)).toMatch(/\/v1\/payments +✗503 \*/);
  });

  test("a delivery to a real receiver, and its replay by a key", async () => {
    const receiver = await receive();
    const terminal = await frozen();
    await call(terminal.url, "POST", "/v1/webhooks", { body: { url: receiver.url, events: ["*"] } });
    await call(terminal.url, "POST", "/v1/webhook-events/test", { body: { type: "payment.succeeded" } });
    await terminal.shows(/payment\.succeeded .*1\/\d .*200.*✓ delivered/);
    terminal.type("2r");
    const [first, second] = await receiver.arrived(2);
    expect(second?.headers["x-webhook-id"]).toBe(first?.headers["x-webhook-id"]);
    await terminal.shows(/payment\.succeeded .*✓ delivered.*payment\.succeeded .*✓ delivered/s);
  });

  test("that a paste is ignored outside an input, and fills a filter", async () => {
    const terminal = await openDashboard();
    const paste = (text: string) => terminal.type(`\x1b[200~${text}\x1b[201~`);
    paste("export X=1; curl -d '{}' http://127.0.0.1:4747/_sandbox/clock\r");
    await terminal.shows("Nothing was pasted");
    terminal.type("/");
    paste("status:429");
    await terminal.shows("/status:429");
  });

  test("a fault armed by keys, which affects the next call", async () => {
    const terminal = await frozen();
    terminal.type("o");
    await terminal.shows(/outage/i);
    terminal.type("\r");
    await terminal.shows(/1 armed/);
    expect((await get(terminal.url, "/v1/payments")).status).toBe(503);
    await terminal.shows(/\/v1\/payments +✗503 \*/);
    terminal.type("u");
    await terminal.shows((text) => !/\d armed/.test(text));
    expect((await get(terminal.url, "/v1/payments")).status).toBe(200);
  });
});

test("a resize in each direction leaves nothing of the old screen", async () => {
  const terminal = await frozen(WIDE);
  for (let limit = 1; limit <= 30; limit++) await get(terminal.url, `/v1/payments?limit=${limit}`);
  // The rate covers ten seconds.
  const rested = (text: string) =>
    text.includes("limit=30") && /LIVE/.test(text) && /\b0 req\/s/.test(text) && /limits|Requests\]/.test(text);
  await terminal.shows(rested);
  const lower = { columns: 120, rows: 20 };
  const higher = { columns: 120, rows: 50 };
  for (const size of [USUAL, WIDE, lower, higher, { columns: 200, rows: 20 }, { columns: 111, rows: 60 }]) {
    terminal.resize(size);
    const fresh = openProgram(["attach", terminal.url], { size });
    await Promise.all([terminal.shows(rested), fresh.shows(rested)]);
    await same(terminal, fresh);
    fresh.type("q");
    await fresh.ended;
  }
});

/** Waits until both screens are equal, cell by cell: polls run every second. */
async function same(one: TestTerminal, other: TestTerminal): Promise<void> {
  const equal = () => one.cells().join("\n") === other.cells().join("\n");
  await Promise.race([one.shows(equal), other.shows(equal)]).catch(() => expect(one.cells()).toEqual(other.cells()));
}

describe("untrusted text", () => {
  const TITLE = "\u001b]0;pwned\u0007";
  const CLEAR = "\u001b[2J\u009b3J";

  test("is shown without its escapes in a path, a header and a body", async () => {
    const terminal = await frozen();
    attempted("Escape sequences in a terminal", 3);
    await get(terminal.url, `/v1/${encodeURIComponent(TITLE)}?x=${encodeURIComponent(CLEAR)}`, { "idempotency-key": "\u009b2Jkey" });
    await call(terminal.url, "POST", RULES, { body: { ...rule, name: TITLE + CLEAR }, headers: { "idempotency-key": "\u009b2J" } });
    await terminal.shows(/POST +\/v1\S+ +400/);
    terminal.type("\r");
    await terminal.shows("checks");
    terminal.type("BB");
    await terminal.shows("pwned");
    expect(terminal.text()).toContain("\\u001b");
    terminal.type("qk\r");
    await terminal.shows(/pwned/);
    expectTame(terminal);
  });

  test("and in the response of a receiver and the name of a program", async () => {
    const receiver = await receive();
    receiver.always((_, outgoing) => outgoing.writeHead(500, { "X-Note": "\u009b2J" }).end(TITLE + CLEAR));
    const terminal = await frozen();
    await call(terminal.url, "POST", "/v1/webhooks", { body: { url: receiver.url, events: ["*"] } });
    attempted("Escape sequences in a terminal", 2);
    await control(terminal.url, "POST", "/faults", { action: { type: "status", status: 503 }, name: `${TITLE}named` });
    await terminal.shows("named");
    await call(terminal.url, "POST", "/v1/webhook-events/test", { body: { type: "payment.succeeded" } });
    await control(terminal.url, "DELETE", "/faults");
    await call(terminal.url, "POST", "/v1/webhook-events/test", { body: { type: "payment.succeeded" } });
    await terminal.shows(/payment\.succeeded .*500/);
    terminal.type("2\r");
    await terminal.shows("X-Webhook-Id");
    terminal.type("G");
    await terminal.shows("pwned");
    expectTame(terminal);
  });

  /** Checks that only escape sequences of the dashboard reached the terminal. */
  function expectTame(terminal: TestTerminal): void {
    expect(terminal.titles).toEqual([]);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for them.
    const own = /\x1b\[\?(?:1049|25|7|2004|2026)[hl]|\x1b\[\d+;1H|\x1b\[2K|\x1b\[2J(?=\x1b\[1;1H)|\x1b\[\d*m/g;
    const rest = terminal.bytes().replaceAll(COLOUR_QUERY, "").replaceAll(own, "");
    expect(rest).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
    expect(terminal.lines().filter((line) => line.startsWith("┌")).length).toBeGreaterThan(0);
  }
});

describe("the output", () => {
  test("is empty while nothing changes", async () => {
    const terminal = await frozen();
    await terminal.shows((text) => /resets/.test(text) && /\b0 req\/s/.test(text));
    const before = terminal.bytes().length;
    // Two polling intervals.
    await new Promise((resolve) => setTimeout(resolve, 2_200));
    expect(terminal.bytes().slice(before)).toBe("");
  });

  test("has no colours with NO_COLOR, and the same text", async () => {
    for (const [words, variables] of [
      [[], { NO_COLOR: "1" }],
      [["--no-color"], {}],
    ] as const) {
      const terminal = openProgram(["start", "--memory", "--port", "0", ...words], { variables });
      const text = await terminal.shows("LIVE");
      const { url } = { url: /http:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0] ?? "" };
      await get(url, "/v1/nowhere");
      await terminal.shows(/\/v1\/nowhere +404/);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: a colour begins with one.
      expect(terminal.bytes()).not.toMatch(/\x1b\[(?:3\d|4\d|9\d|10\d)(?:;\d+)*m/);
    }
  });

  test("has colours that are readable on the background that the terminal reports", async () => {
    const terminal = await frozen();
    await get(terminal.url, RULES);
    // Another pane: the selected row has one tone.
    terminal.type("3");
    await terminal.shows(() => terminal.cells().some((line) => line.includes("GET")));
    terminal.type("\x1b]11;rgb:ffff/ffff/ffff\x07");
    await terminal.shows(() => terminal.cells().some((line) => line.includes("G{23,")));
    terminal.type("\x1b]4;6;rgb:0000/6060/6060\x1b\\");
    await terminal.shows(() => terminal.cells().some((line) => line.includes("G{6,")));
  });

  test("uses ASCII lines on a terminal without Unicode", async () => {
    const terminal = openProgram(["start", "--memory", "--port", "0"], { variables: { LANG: "C" } });
    await terminal.shows("LIVE");
    expect(terminal.text()).toMatch(/^\+-/m);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: everything that is not plain.
    expect(terminal.text()).not.toMatch(/[^\x00-\x7f]/);
  });

  test("does not capture the mouse, so text can be selected and copied", async () => {
    const terminal = await frozen();
    for (const mode of [9, 1000, 1002, 1003, 1005, 1006, 1015]) expect(terminal.modes.has(mode)).toBe(false);
  });
});
