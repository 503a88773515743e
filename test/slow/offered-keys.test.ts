// Every key that the key bar offers does what its label says, in each pane, detail, form and text field, on terminals
// of three sizes.

import { expect, test } from "vitest";
import { isForm } from "../../ui/panes/overlays/form.ts";
import {
  loggedAttempts,
  loggedRequests,
  openTestDashboard,
  screenText,
  type TestDashboard,
} from "../support/dashboard.ts";
import { seenAfter } from "../support/key-labels.ts";
import { judged, withLiveEvents } from "../support/live-rows.ts";
import { workplace } from "../support/tasks.ts";

const PANES = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "0"];
const OVERLAYS = ["x", "t", "c", "M", "w", "X", "b", "E", "D", "o", "C", "A", ":", "?", "o\r!"];
/** The keys to press, starting at the list of requests, to reach each view that has keys of its own. */
const VIEWS = [...PANES, ...PANES.map((pane) => `${pane}\r`), "5\r\r", "/", "/404\r", "\r/", "\r/a\r", ...OVERLAYS];

/** The tried keys, by view and label. `npm test` tries each key on one terminal, `npm run fuzz` on all terminals. */
const tried = new Set<string>();
const isTried = (view: string, key: string, label: string) =>
  process.env.FUZZ_RUNS === undefined && tried.size === tried.add(`${view} ${key} ${label}`).size;

const named = (key: string) => ({ "\r": "enter", Esc: "escape" })[key] ?? (key.length === 1 ? key : key.toLowerCase());

/** The keys and their labels in the key bar, which is the last line of the screen. */
const offered = (dashboard: TestDashboard) =>
  (dashboard.screen().at(-1) ?? "")
    .trim()
    .split(/ {2,}/)
    .map((text) => /^(\S+) (.*)/.exec(text)?.slice(1) ?? [text]);

const look = ({ state: { overlays, notice, filterLine }, copied }: TestDashboard) =>
  [
    `open: ${overlays.at(-1)?.title ?? ""}`,
    `notice: ${notice?.text ?? ""}`,
    `typed: ${filterLine?.value ?? "none"}`,
    ...copied.map((text) => `copied: ${text}`),
  ].join("\n");

/** The dashboard of a sandbox with rows in each pane, and the dashboard's state. */
async function openBusyDashboard(columns: number, rows: number) {
  const bench = await workplace();
  await bench.control("POST", "/scenarios/lost-response");
  const dashboard = await openTestDashboard(bench.url, columns, rows);
  // Adds a failed verdict whose requests are in the log, so that the keys of the verdict find its requests.
  const [{ at, ...failed }] = (await bench.control("GET", "/verdicts?verdict=fail")).data;
  const events = [
    ...(await loggedRequests(bench)),
    ...(await loggedAttempts(bench)),
    judged(1, { ...failed, at: Date.parse(at) }),
  ];
  return { dashboard, state: withLiveEvents(dashboard.state, events) };
}

test.each([
  [80, 24],
  [60, 20],
  [120, 36],
])("every offered key works on a terminal of %i columns and %i rows", { timeout: 600_000 }, async (columns, rows) => {
  let fresh: Awaited<ReturnType<typeof openBusyDashboard>> | undefined;
  /** Opens a view in a sandbox that no key has changed yet. */
  const open = async (view: string) => {
    fresh ??= await openBusyDashboard(columns, rows);
    const { dashboard, state } = fresh;
    dashboard.state = state;
    for (const key of view) await dashboard.run(named(key));
    return { dashboard, opened: dashboard.state };
  };
  const silent: string[] = [];
  for (const view of VIEWS) {
    let { dashboard, opened } = await open(view);
    for (const [key = "", label = ""] of offered(dashboard)) {
      if (isTried(view, key, label)) continue;
      if (fresh === undefined) ({ dashboard, opened } = await open(view));
      dashboard.state = opened;
      dashboard.copied.length = 0;
      const before = look(dashboard);
      dashboard.press(named(key));
      if (dashboard.waiting().some(({ method }) => method !== "GET")) fresh = undefined;
      await dashboard.settle();
      const wanted = seenAfter(key === "Enter" && isForm(opened.overlays.at(-1)) ? "send" : label);
      const after = look(dashboard);
      const isDone = wanted.test(after) && (after !== before || screenText(dashboard.state) !== screenText(opened));
      if (!isDone) silent.push(`${view} ${key} ${label}: ${after.split("\n", 3).join()}`);
    }
    // The keys of this view armed a fault, so the next view needs a fresh sandbox.
    if (view.startsWith("o")) fresh = undefined;
  }
  expect(silent).toEqual([]);
});
