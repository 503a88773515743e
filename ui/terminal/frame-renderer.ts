// Renders a state to the lines of a frame: Ink draws into a string, and the painter writes what changed of it.

import { Writable } from "node:stream";
import { render } from "ink";
import { createElement, Fragment } from "react";
import type { UiState } from "../state/state.ts";
import { App } from "./app.tsx";
import { toAscii } from "./cells.ts";

export interface FrameRenderer {
  /** One string for each line of the screen. */
  render(state: UiState): string[];
  close(): void;
}

export function createFrameRenderer(): FrameRenderer {
  let frame = "";
  const write = (text: string, _encoding: string, done: () => void) => {
    frame = text;
    done();
  };
  const stdout = new Writable({ decodeStrings: false, write }) as Writable & NodeJS.WriteStream;
  // With `debug`, Ink writes each frame whole and at once, without escape sequences that move the cursor.
  const ink = render(createElement(Fragment), { stdout, debug: true, exitOnCtrlC: false, patchConsole: false });
  return {
    render(state) {
      Object.assign(stdout, state.size);
      ink.rerender(createElement(App, { state }));
      const lines = frame.split("\n");
      return state.theme.unicode ? lines : lines.map(toAscii);
    },
    close: () => ink.unmount(),
  };
}
