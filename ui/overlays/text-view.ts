// An overlay with a text to read and copy.

import { wrapped } from "../details/detail-lines.ts";
import { copyText, type Overlay } from "../state/state.ts";

export const textOverlay = (title: string, text: string): Overlay => ({
  title,
  scroll: 0,
  lines: (_, width) => wrapped(text, width),
  keys: [{ keys: ["y"], label: "copy", help: "copy the text", run: (state) => copyText(state, text, "the text") }],
});
