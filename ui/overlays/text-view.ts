// An overlay with a text to read and copy.

import { wrapped } from "../details/detail-lines.ts";
import { type Overlay, update, withNotice } from "../state/state.ts";

export const textOverlay = (title: string, text: string): Overlay => ({
  title,
  scroll: 0,
  lines: (_, width) => wrapped(text, width),
  keys: [
    { keys: ["y"], label: "copy", help: "copy the text", run: (state) => update(withNotice(state, "Copied"), { kind: "copy", text }) },
  ],
});
