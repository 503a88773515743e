// The pane of the user's app: the last lines of its output, while `dev` runs it.

import { APP_PANE } from "../state/app.ts";

import { sanitize, wrap } from "../text/cells.ts";
import { textPane } from "./pane.ts";

export const app = textPane({
  name: APP_PANE,
  title: "App",
  followsEnd: true,
  isShown: (state) => state.app !== undefined,
  titleNote: (state) => sanitize(state.app?.status ?? ""),
  textLines: (state, width) => (state.app?.lines ?? []).flatMap((line) => wrap(sanitize(line), width)),
  keys: [],
});
