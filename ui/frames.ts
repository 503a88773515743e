// Ink, used for what it is good at: it lays out the tree and gives one whole frame each time, which somebody else paints.

import { Writable } from "node:stream";
import { render } from "ink";
import { createElement } from "react";
import { App } from "./app.tsx";
import type { State } from "./state/state.ts";
import { plainLetters } from "./terminal/cells.ts";

export interface Frames {
  /** The frame of a state, line by line. */
  of(state: State): string[];
  close(): void;
}

export function createFrames(first: State): Frames {
  let frame = "";
  // Ink writes a whole frame at each change where it believes that it is being debugged; as no key goes through it, it never changes by itself.
  const sink = new Writable({
    decodeStrings: false,
    write(text, _, done) {
      if (text !== "") frame = String(text);
      done();
    },
  }) as Writable & NodeJS.WriteStream;
  const resize = ({ size }: State) => Object.assign(sink, size);
  resize(first);
  const options = { stdout: sink, debug: true, exitOnCtrlC: false, patchConsole: false } as const;
  const ink = render(createElement(App, { state: first }), options);
  return {
    of(state) {
      resize(state);
      ink.rerender(createElement(App, { state }));
      const lines = frame.split("\n");
      return state.look.unicode ? lines : lines.map(plainLetters);
    },
    close: () => ink.unmount(),
  };
}
