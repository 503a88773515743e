// Every key that the key bar offers does what its label says: in each pane, detail, form and text, on terminals of three sizes.

import { expect, test } from "vitest";
import { listOf } from "../../ui/state/state.ts";
import { loggedAttempts, loggedRequests, openTestDashboard, type TestDashboard } from "../support/dashboard.ts";
import { judged, withLiveEvents } from "../support/live-rows.ts";
import { workplace } from "../support/tasks.ts";

const PANES = ["1", "2", "3", "4", "5", "6", "7", "8"];
const OVERLAYS = ["x", "t", "c", "m", "w", "X", "T", "b", "E", "D", ":", "?", "o!"];
/** The keys from the list of requests to each view that has keys of its own. */
const VIEWS = [...PANES, ...PANES.map((pane) => `${pane}\r`), "5\r\r", "/", "/404\r", "\r/", "\r/a\r", ...OVERLAYS];

/** What there is to see after a key with this label, beside a change. */
const SEEN: readonly [RegExp, ...labels: string[]][] = [
  [
    /^open: [^\n]/m,
    "details",
    "open link",
    "clock",
    "fault",
    "merchant",
    "rate limit",
    "trigger",
    "help",
    "quit",
    "next",
    "previous",
    "body",
  ],
  [/^open: [^\n]|caused no delivery/m, "jump"],
  [
    /^open: [^\n]*\nnotice: (?:Cancelled)?$/m,
    "next pane",
    "next field",
    "choose",
    "more",
    "back",
    "next match",
    "clear filter",
    "clear search",
  ],
  [/^typed: none/m, "apply", "keep", "clear"],
  [/^typed: (?!none)|^open: Commands/m, "filter", "search"],
  [/^copied: curl /m, "copy curl"],
  [/^copied: .*curl/m, "copy"],
  [/^copied: .*openssl/m, "verify"],
  [/^notice: Armed outage|^notice: Ended the outage/m, "outage"],
  [/^notice: Armed lost_response/m, "cut"],
  [/^notice: Armed .*its score/m, "scenario"],
  [/^notice: (?:Armed|Advanced|Clock|Created|Saved|Started|Triggered|Booking|\w+ has )|^open: Confirm/m, "send"],
  [/^notice: Exhausted/m, "exhaust"],
  [/^notice: Removed|^open: Confirm/m, "remove", "confirm"],
  [/^notice: Replayed/m, "replay"],
  [/^notice: Resent/m, "resend"],
  [/^notice: Suspended/m, "suspend, reactivate"],
  [/^notice: Display frozen/m, "freeze"],
  [/^notice: Undone/m, "undo fault"],
  [/^notice: (?:Copied|Cancelled)/m, "run", "cancel"],
];

const named = (key: string) => ({ "\r": "enter", Esc: "escape", Space: "space" })[key] ?? (key.length === 1 ? key : key.toLowerCase());

/** The keys of the bar, the last line of the screen, with their labels. */
const offered = (desk: TestDashboard) =>
  (desk.screen().at(-1) ?? "")
    .trim()
    .split(/ {2,}/)
    .map((text) => /^(\S+) (.*)/.exec(text)?.slice(1) ?? [text]);

function look(desk: TestDashboard): string {
  const { overlays, notice, filterLine } = desk.state;
  const parts = {
    open: overlays.at(-1)?.title ?? "",
    notice: notice?.text ?? "",
    typed: filterLine?.value ?? "none",
    list: listOf(desk.state).filter,
  };
  const copied = desk.copied.map((text) => `copied: ${text}`);
  return [...Object.entries(parts).map(([name, text]) => `${name}: ${text}`), ...copied, ...desk.screen()].join("\n");
}

/** A sandbox with something in each pane, and its dashboard. */
async function openBusyDashboard(columns: number, rows: number) {
  const bench = await workplace();
  await bench.control("POST", "/scenarios/lost-response");
  const desk = await openTestDashboard(bench.url, columns, rows);
  const state = withLiveEvents(desk.state, [...(await loggedRequests(bench)), ...(await loggedAttempts(bench)), judged(1)]);
  return { desk, state };
}

test.each([
  [60, 20],
  [80, 24],
  [120, 36],
])("on a terminal of %i columns and %i rows", { timeout: 600_000 }, async (columns, rows) => {
  let fresh: Awaited<ReturnType<typeof openBusyDashboard>> | undefined;
  /** Opens a view in a sandbox that no key has changed yet. */
  const open = async (view: string) => {
    const { desk, state } = fresh ?? (await openBusyDashboard(columns, rows));
    fresh = view.startsWith("o") ? undefined : { desk, state };
    desk.state = state;
    desk.copied.length = 0;
    for (const key of view) await desk.run(named(key));
    return desk;
  };
  const silent: string[] = [];
  for (const view of VIEWS)
    for (const [key = "", label = ""] of offered(await open(view))) {
      const desk = await open(view);
      const before = look(desk);
      desk.press(named(key));
      if (desk.waiting().some(({ method }) => method !== "GET")) fresh = undefined;
      await desk.settle();
      const [wanted] = SEEN.find(([, ...labels]) => labels.includes(label)) ?? [/^$/];
      const after = look(desk);
      if (after === before || !wanted.test(after)) silent.push(`${view} ${key} ${label}: ${after.split("\n", 3).join()}`);
    }
  expect(silent).toEqual([]);
});
