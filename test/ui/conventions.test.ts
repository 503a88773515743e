// Conventions that hold in every pane: one meaning per key, help and quit always in the key bar, copying through tmux.

import { describe, expect, test } from "vitest";
import { panes } from "../../ui/panes/index.ts";
import { digitOf, handleKey, keyGroups } from "../../ui/panes/keys/key-bindings.ts";
import type { UiState } from "../../ui/state/state.ts";
import { copySequence } from "../../ui/terminal/platform.ts";
import { screenOf as screen } from "../support/dashboard.ts";
import { emptyDashboard, requested, withLiveEvents } from "../support/live-rows.ts";

const withRows = (state: UiState, count: number) =>
  withLiveEvents(
    state,
    Array.from({ length: count }, (_, index) => requested(index + 1)),
  );

describe("a key", () => {
  const state = withRows(emptyDashboard(120, 36), 3);

  test("has at most one binding in each pane", () => {
    for (const { name } of panes) {
      const here = keyGroups({ ...state, pane: name }).flatMap(({ bindings }) => bindings.flatMap(({ keys }) => keys));
      expect([name, here.filter((key, index) => here.indexOf(key) !== index)]).toEqual([name, []]);
    }
  });

  test("that is a digit goes to the same pane in a terminal and on the page", () => {
    for (const digit of "1234567890")
      expect(handleKey({ ...state, isPage: true }, digit).state.pane).toBe(handleKey(state, digit).state.pane);
  });

  test("that is a digit focuses its pane, and Tab cycles through the panes", () => {
    const shown = panes.filter(({ isShown }) => isShown?.(state) ?? true);
    for (const [index, { name }] of shown.entries())
      if (digitOf(index) !== "") expect(handleKey(state, digitOf(index)).state.pane).toBe(name);
    const round = shown.reduce((before) => handleKey(before, "tab").state, state);
    expect(round.pane).toBe(state.pane);
    expect(handleKey(handleKey(state, "tab").state, "shift-tab").state.pane).toBe(state.pane);
  });
});

describe("the key bar", () => {
  const barAt = (columns: number) =>
    screen(withRows(emptyDashboard(columns, 24), 3))
      .at(-1)
      ?.trim() ?? "";

  test("drops keys from the right on narrow screens, and keeps help and quit", () => {
    const words = [60, 80, 100, 140, 200].map(barAt);
    for (const bar of words) expect(bar).toMatch(/\? help {2}q \w[\w ]*$/);
    const items = words.map((bar) => bar.replace(/ {2}\? help.*$/, "").split("  "));
    for (const [index, few] of items.slice(0, -1).entries())
      expect(items[index + 1]?.slice(0, few.length)).toEqual(few);
    expect(items[0]?.length).toBeLessThan(items.at(-1)?.length ?? 0);
  });
});

describe("copying", () => {
  const text = "curl 'http://127.0.0.1:4747' # é";
  const sent = `\x1b]52;c;${Buffer.from(text).toString("base64")}\x07`;

  test("uses OSC 52, and inside tmux also a form that is wrapped for tmux", () => {
    expect(copySequence(text, {})).toBe(sent);
    expect(copySequence(text, { TMUX: "/tmp/tmux-0/default,1,0" })).toBe(`${sent}\x1bPtmux;\x1b${sent}\x1b\\`);
  });
});
