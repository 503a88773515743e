// What holds wherever one is on the dashboard: a key means one thing, help and the way out are always told, what was dropped is counted, a copy reaches the user.

import { afterAll, describe, expect, test } from "vitest";
import { globalKeys, movementKeys, paneKeys } from "../../ui/keys/key-bindings.ts";
import { handleKey } from "../../ui/keys/key-routing.ts";
import { panes } from "../../ui/panes/index.ts";
import { MAX_ROWS } from "../../ui/state/list.ts";
import type { UiState } from "../../ui/state/state.ts";
import { copySequence } from "../../ui/terminal/clipboard.ts";
import { createFrameRenderer } from "../../ui/view/frame-renderer.ts";
import { emptyDashboard, request, withLiveEvents } from "../support/live-rows.ts";

const frames = createFrameRenderer();
afterAll(() => frames.close());

// biome-ignore lint/suspicious/noControlCharactersInRegex: tints begin with one.
const screen = (state: UiState) => frames.render(state).map((line) => line.replace(/\x1b\[[0-9;]*m/g, ""));
const withRows = (state: UiState, count: number) =>
  withLiveEvents(
    state,
    Array.from({ length: count }, (_, index) => ({ kind: "request" as const, request: request(index + 1) })),
  );

describe("a key", () => {
  const state = withRows(emptyDashboard(120, 36), 3);

  test("means one thing in a pane: nothing else there listens to it", () => {
    for (const { name } of panes) {
      const here = [...paneKeys({ ...state, pane: name }), ...globalKeys].flatMap(({ keys }) => keys);
      expect([name, here.filter((key, index) => here.indexOf(key) !== index)]).toEqual([name, []]);
    }
  });

  test("that moves or leaves means the same in every pane", () => {
    const common = [...movementKeys, ...globalKeys];
    for (const { keys, name } of panes) {
      const taken = keys.flatMap(({ keys }) => keys).filter((key) => common.some(({ keys }) => keys.includes(key)));
      expect([name, taken]).toEqual([name, []]);
    }
  });

  test("by its digit brings its pane, and Tab goes round", () => {
    const shown = panes.filter(({ isShown }) => isShown?.(state) ?? true);
    for (const [index, { name }] of shown.entries()) expect(handleKey(state, String(index + 1)).state.pane).toBe(name);
    const round = shown.reduce((before) => handleKey(before, "tab").state, state);
    expect(round.pane).toBe(state.pane);
    expect(handleKey(handleKey(state, "tab").state, "shift-tab").state.pane).toBe(state.pane);
  });
});

describe("the bar of keys", () => {
  const barAt = (columns: number) =>
    screen(withRows(emptyDashboard(columns, 24), 3))
      .at(-1)
      ?.trim() ?? "";

  test("drops from the right where it is narrow, and keeps help and the way out", () => {
    const words = [60, 80, 100, 140, 200].map(barAt);
    for (const bar of words) expect(bar).toMatch(/\? help {2}q quit$/);
    const items = words.map((bar) => bar.replace(/ {2}\? help.*$/, "").split("  "));
    for (const [index, few] of items.slice(0, -1).entries()) expect(items[index + 1]?.slice(0, few.length)).toEqual(few);
    expect(items[0]?.length).toBeLessThan(items.at(-1)?.length ?? 0);
  });

  test("says that q goes back where something lies over the panes", () => {
    expect(screen(handleKey(withRows(emptyDashboard(120, 36), 3), "?").state).at(-1)).toMatch(/\? help {2}q back/);
  });
});

test("rows that were dropped are counted in the title", () => {
  const many = withRows(emptyDashboard(120, 36), MAX_ROWS + 100);
  expect(screen(many).find((line) => line.includes("1 Requests"))).toContain("last 4,096 of 4,196");
});

describe("a copy", () => {
  const text = "curl 'http://127.0.0.1:4747' # é";
  const sent = `\x1b]52;c;${Buffer.from(text).toString("base64")}\x07`;

  test("is handed to the terminal, and through tmux to the one around it", () => {
    expect(copySequence(text, {})).toBe(sent);
    expect(copySequence(text, { TMUX: "/tmp/tmux-0/default,1,0" })).toBe(`\x1bPtmux;\x1b${sent}\x1b\\`);
  });
});
