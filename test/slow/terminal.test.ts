// The dashboard in a pseudo-terminal: its layout at each size, its keys as a terminal sends them, and its output while
// nothing changes.

import { expect, test } from "vitest";
import { call, control, NOON, open } from "../support/sandbox.ts";
import { LEAST, openDashboard, openProgram, type TestTerminal, USUAL, WIDE } from "../support/terminal.ts";
import { receive, register, trigger } from "../support/webhooks.ts";

const get = (url: string, path: string) => call(url, "GET", path);
const RIGHT = "\x1b[C";

/** With a frozen clock, only the test changes anything. */
const frozen = (size = WIDE) => openDashboard(["--clock", NOON], { size });

/** A dashboard attached to a sandbox in this process. */
async function attached() {
  const bench = await open();
  const terminal = openProgram(["attach", bench.url], { size: WIDE });
  await terminal.shows(/LIVE/);
  return { bench, terminal };
}

const panesOf = (terminal: TestTerminal) => terminal.lines().filter((line) => line.startsWith("┌")).length;

test("a wide screen shows two panes, a narrow screen one pane, and a smaller screen the required size", async () => {
  const terminal = await frozen();
  const text = await terminal.shows(/lodge[\s\S]*resets/);
  for (const words of [
    "sk_test_lodge",
    "Requests",
    "Rate limits",
    "Faults",
    "Deliveries",
    "? help  q ",
    "No requests yet",
  ])
    expect(text).toContain(words);
  expect(terminal.lines().at(-1)).toMatch(/q (?:stop or )?leave/);
  expect(panesOf(terminal)).toBe(2);
  // Text can be selected and copied only while the program leaves the mouse to the terminal.
  for (const mode of [9, 1000, 1002, 1003, 1005, 1006, 1015]) expect(terminal.modes.has(mode)).toBe(false);

  const before = terminal.bytes().length;
  // The dashboard writes nothing during two polling intervals without a change.
  await new Promise((resolve) => setTimeout(resolve, 2_200));
  expect(terminal.bytes().slice(before)).toBe("");

  for (const size of [USUAL, LEAST]) {
    terminal.resize(size);
    await terminal.shows(
      (shown) =>
        /\[1 Requests\] *2 .*3 .*4 .*5/.test(shown) && terminal.lines().at(-1)?.includes("? help  q ") === true,
    );
    expect(panesOf(terminal)).toBe(1);
    terminal.type("2");
    await terminal.shows("No deliveries yet");
    terminal.type("1");
    await terminal.shows("No requests yet");
  }
  for (const size of [
    { columns: 50, rows: 36 },
    { columns: 120, rows: 10 },
    { columns: 12, rows: 3 },
    { columns: 1, rows: 1 },
  ]) {
    terminal.resize(size);
    const needed = `Needs 60x15, is ${size.columns}x${size.rows}.`.slice(0, size.columns - 1);
    await terminal.shows((shown) => shown.startsWith(needed));
    expect(panesOf(terminal)).toBe(0);
  }
  terminal.resize(LEAST);
  await terminal.shows("No requests yet");
  terminal.resize({ columns: 50, rows: 10 });
  await terminal.shows("Needs 60x15");
  terminal.type("q");
  expect(await terminal.ended).toMatchObject({ code: 0 });
});

test("the screen shows requests, faults and deliveries as they arrive; keys filter, copy and replay them", async () => {
  const { bench, terminal } = await attached();
  const { url } = bench;
  await get(url, "/v1/payments?limit=3");
  expect(await terminal.shows("/v1/payments?limit=3")).toMatch(
    /12:00:00\S* GET +\/v1\/payments\?limit=3 +200 +payments\.list/,
  );
  await get(url, "/v1/nowhere");
  await terminal.shows("nowhere");
  terminal.type("/status:4xx");
  await terminal.shows((text) => text.includes("1 of 2") && !text.includes("limit=3") && text.includes("/v1/nowhere"));
  terminal.type("\r\x1b");
  await terminal.shows("limit=3");
  terminal.type("y");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the sequence that copies begins with ESC.
  await terminal.shows(() => /\x1b\]52;c;[\w+/=]+/.test(terminal.bytes()));

  const paste = (text: string) => terminal.type(`\x1b[200~${text}\x1b[201~`);
  paste("export X=1; curl -d '{}' http://127.0.0.1:4747/_sandbox/clock\r");
  await terminal.shows("Nothing was pasted");
  terminal.type("/");
  paste("status:429");
  await terminal.shows("/status:429");
  terminal.type("\x1b");

  await bench.control("POST", "/faults", { action: { type: "status", status: 503 }, name: "planted" });
  await terminal.shows("planted");
  expect((await get(url, "/v1/payments")).status).toBe(503);
  await terminal.shows((text) => /\/v1\/payments +✗503 \*/.test(text) && !/\d armed/.test(text));

  const receiver = await receive();
  await register(bench, receiver.url);
  await trigger(bench);
  await terminal.shows(/2 Deliveries ─+ 1 attempt [\s\S]*payment\.succeeded .*200.*✓ delivered/);
  terminal.type("2r");
  const [first, second] = await receiver.arrived(2);
  expect(second?.headers["x-webhook-id"]).toBe(first?.headers["x-webhook-id"]);
  await terminal.shows(/payment\.succeeded .*✓ delivered.*payment\.succeeded .*✓ delivered/s);

  // The dashboard chooses colours that are readable on the background that the terminal reports. The test selects
  // another pane, because a selected row has only one colour.
  terminal.type("3");
  const shows = (cells: string) => terminal.shows(() => terminal.cells().some((line) => line.includes(cells)));
  await terminal.shows("▸ 3 ");
  terminal.type("\x1b]11;rgb:ffff/ffff/ffff\x07");
  await shows(" {94,");
  terminal.type("\x1b]4;3;rgb:6060/6060/0000\x1b\\");
  await shows(" {3,");
});

test("forms and the palette take keys as a terminal sends them, and q asks before data is lost", async () => {
  const terminal = await frozen(USUAL);
  const openForm = async () => {
    terminal.type("x");
    await terminal.shows("429 rate_limit");
  };
  await openForm();
  terminal.type("o");
  await terminal.shows("< outage >");
  expect(terminal.bytes()).not.toContain("\x07");
  terminal.type("%");
  expect(await terminal.shows("o%: no match for fault")).not.toContain("< outage >");
  expect(terminal.bytes()).toContain("\x07");
  terminal.type("\x1b");
  await terminal.shows((text) => !text.includes("Arm a fault"));

  terminal.type(":outage of\r");
  await terminal.shows("Arms outage");
  terminal.type("\r");
  await terminal.shows("Armed outage");
  // The rules arrive after this message. Until then, the screen says LIVE, as it does after the outage.
  await terminal.shows(/^ OUTAGE /m);
  expect((await get(terminal.url, "/v1/payments")).status).toBe(503);
  await terminal.shows(/\/v1\/payments +✗503/);
  await control(terminal.url, "DELETE", "/faults");
  // The form takes the merchant from the selected row only after the rule that affected this row is removed.
  await terminal.shows(/^ LIVE +http/m);

  await openForm();
  terminal.type("o\t20s");
  await terminal.shows('"for":"20s"');
  terminal.type("\r");
  await terminal.shows("Armed outage on all operations of mer_lodge, every match");
  await openForm();
  terminal.type(`lost_\t${RIGHT}${RIGHT}\r`);
  await terminal.shows("Armed lost_response (as empty)");
  const { data } = await control(terminal.url, "GET", "/faults");
  expect(data).toMatchObject([{ trigger: { for: "20s" } }, { action: { type: "lost_response", as: "empty" } }]);
  terminal.type("q");
  await terminal.shows("what is in memory is lost");
  terminal.type("q");
  await terminal.shows("1 Requests");
  terminal.type("qs");
  expect(await terminal.ended).toMatchObject({ code: 0 });
});

test("a resize in each direction leaves nothing of the old screen", async () => {
  const bench = await open();
  for (let limit = 1; limit <= 30; limit++) await get(bench.url, `/v1/payments?limit=${limit}`);
  const rested = (text: string) => text.includes("limit=30") && /LIVE/.test(text) && /limits|Requests\]/.test(text);
  const terminal = openProgram(["attach", bench.url], { size: WIDE });
  await terminal.shows(rested);
  for (const size of [USUAL, { columns: 200, rows: 20 }, { columns: 111, rows: 60 }]) {
    terminal.resize(size);
    const fresh = openProgram(["attach", bench.url], { size });
    await Promise.all([terminal.shows(rested), fresh.shows(rested)]);
    await same(terminal, fresh);
    fresh.type("q");
    await fresh.ended;
  }
});

/** Waits until both screens have equal cells, because each dashboard polls its sandbox every second. */
async function same(one: TestTerminal, other: TestTerminal): Promise<void> {
  const equal = () => one.cells().join("\n") === other.cells().join("\n");
  await Promise.race([one.shows(equal), other.shows(equal)]).catch(() => expect(one.cells()).toEqual(other.cells()));
}

test.each<[string, string[], Record<string, string>]>([
  ["NO_COLOR and LANG=C has no colours and only ASCII characters", [], { NO_COLOR: "1", LANG: "C" }],
  ["--no-color has no colours", ["--no-color"], {}],
])("the output with %s", async (_, words, variables) => {
  const bench = await open();
  await get(bench.url, "/v1/nowhere");
  const terminal = openProgram(["attach", bench.url, ...words], { variables });
  await terminal.shows(/\/v1\/nowhere +404/);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the sequence of a colour begins with ESC.
  expect(terminal.bytes()).not.toMatch(/\x1b\[(?:3\d|4\d|9\d|10\d)(?:;\d+)*m/);
  if (variables.LANG === undefined) return;
  expect(terminal.text()).toMatch(/^\+-/m);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern finds characters outside of ASCII.
  expect(terminal.text()).not.toMatch(/[^\x00-\x7f]/);
});
