// Renders a state to a frame of lines. Ink computes the layout when it changes; the lines of each slot are composed without it.

import { Writable } from "node:stream";
import { type DOMElement, render } from "ink";
import { createElement, Fragment } from "react";
import { App, type ScreenLayout, type Slots } from "../app.tsx";
import { topOverlay, type UiState } from "../state/state.ts";
import { toAscii } from "../terminal/cells.ts";
import { layoutOf } from "./layout.ts";
import { slotLines } from "./slot-lines.ts";

export interface FrameRenderer {
  /** One string for each line of the screen. */
  render(state: UiState): string[];
  close(): void;
}

interface PlacedSlot {
  name: string;
  left: number;
  top: number;
  width: number;
  height: number;
}

export function createFrameRenderer(): FrameRenderer {
  const { sink, ink } = openInk();
  const nodes: Slots = new Map();
  let layoutKey = "";
  let slots: PlacedSlot[] = [];
  const layOut = (screen: ScreenLayout) => {
    const key = JSON.stringify(screen);
    if (key === layoutKey) return;
    Object.assign(sink, screen.size);
    ink.rerender(createElement(App, { ...screen, slots: nodes }));
    slots = [...nodes].map(([name, node]) => ({ name, ...positionOf(node) })).sort((one, other) => one.left - other.left);
    layoutKey = key;
  };
  return {
    render(state) {
      layOut({ size: state.size, layout: layoutOf(state), hasOverlay: topOverlay(state) !== undefined });
      const lines = composeFrame(state, slots);
      return state.theme.unicode ? lines : lines.map(toAscii);
    },
    close: () => ink.unmount(),
  };
}

/** Ink writing to nowhere: rasterizing cell by cell costs ten times as much as joining lines. */
function openInk() {
  const sink = new Writable({ write: (_text, _encoding, done) => done() }) as Writable & NodeJS.WriteStream;
  const ink = render(createElement(Fragment), { stdout: sink, debug: true, exitOnCtrlC: false, patchConsole: false });
  return { sink, ink };
}

/** A node's position on the screen: Yoga gives it relative to the parent. */
function positionOf(node: DOMElement): Omit<PlacedSlot, "name"> {
  const position = { left: 0, top: 0, width: node.yogaNode?.getComputedWidth() ?? 0, height: node.yogaNode?.getComputedHeight() ?? 0 };
  for (let ancestor: DOMElement | undefined = node; ancestor; ancestor = ancestor.parentNode) {
    position.left += ancestor.yogaNode?.getComputedLeft() ?? 0;
    position.top += ancestor.yogaNode?.getComputedTop() ?? 0;
  }
  return position;
}

/** Joins the lines of slots side by side; `slots` are sorted from left to right. */
function composeFrame(state: UiState, slots: readonly PlacedSlot[]): string[] {
  const { rows } = state.size;
  const frame = Array.from({ length: rows }, () => "");
  for (const { name, top, width, height } of slots)
    for (const [index, line] of slotLines(name, state, { width, height }).entries()) if (top + index < rows) frame[top + index] += line;
  return frame;
}
