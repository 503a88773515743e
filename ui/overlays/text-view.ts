// A text to read, and to copy.

import { plain } from "../details/detail-lines.ts";
import type { Overlay } from "../state/state.ts";
import { also, say } from "../state/state.ts";

export const openText = (title: string, text: string): Overlay => ({
  title,
  scroll: 0,
  lines: (_, width) => plain(text, width),
  actions: [{ keys: ["y"], label: "copy", words: "copy the text", run: (state) => also(say(state, "Copied"), { kind: "copy", text }) }],
});
