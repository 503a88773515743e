// Makes frames: Ink finds out where things stand whenever that changes, and ready lines are put there each time.

import { Writable } from "node:stream";
import { type DOMElement, render } from "ink";
import { createElement, Fragment } from "react";
import { App, type Arrangement, type Slots } from "./app.tsx";
import { layoutOf } from "./layout.ts";
import { slotLines } from "./slot-lines.ts";
import { overlayOf, type State } from "./state/state.ts";
import { plainLetters } from "./terminal/cells.ts";

export interface Frames {
  /** The frame of a state, line by line. */
  of(state: State): string[];
  close(): void;
}

interface Placed {
  name: string;
  left: number;
  top: number;
  width: number;
  height: number;
}

export function createFrames(): Frames {
  const { sink, ink } = openInk();
  const slots: Slots = new Map();
  let laidOut = "";
  let places: Placed[] = [];
  const lay = (arrangement: Arrangement) => {
    const wanted = JSON.stringify(arrangement);
    if (wanted === laidOut) return;
    Object.assign(sink, arrangement.size);
    ink.rerender(createElement(App, { ...arrangement, slots }));
    places = [...slots].map(([name, node]) => ({ name, ...placeOf(node) })).sort((one, other) => one.left - other.left);
    laidOut = wanted;
  };
  return {
    of(state) {
      lay({ size: state.size, layout: layoutOf(state), covered: overlayOf(state) !== undefined });
      const lines = composed(state, places);
      return state.look.unicode ? lines : lines.map(plainLetters);
    },
    close: () => ink.unmount(),
  };
}

/** Ink with nobody to write to: what it would write, cell by cell, costs ten times what putting lines together does. */
function openInk() {
  const sink = new Writable({ write: (_text, _encoding, done) => done() }) as Writable & NodeJS.WriteStream;
  const ink = render(createElement(Fragment), { stdout: sink, debug: true, exitOnCtrlC: false, patchConsole: false });
  return { sink, ink };
}

/** Where a node stands on the screen: Ink knows it only within what surrounds it. */
function placeOf(node: DOMElement): Omit<Placed, "name"> {
  const place = { left: 0, top: 0, width: node.yogaNode?.getComputedWidth() ?? 0, height: node.yogaNode?.getComputedHeight() ?? 0 };
  for (let around: DOMElement | undefined = node; around; around = around.parentNode) {
    place.left += around.yogaNode?.getComputedLeft() ?? 0;
    place.top += around.yogaNode?.getComputedTop() ?? 0;
  }
  return place;
}

/** The lines of each slot beside those of its neighbours; `places` come from left to right. */
function composed(state: State, places: readonly Placed[]): string[] {
  const { rows } = state.size;
  const frame = Array.from({ length: rows }, () => "");
  for (const { name, top, width, height } of places)
    for (const [index, line] of slotLines(name, state, { width, height }).entries()) if (top + index < rows) frame[top + index] += line;
  return frame;
}
