// Every key and what it does; typing narrows it down.

import { type Action, just, type Overlay, relaid } from "../state/state.ts";
import { fill } from "../terminal/cells.ts";
import { textOf } from "../terminal/keys.ts";
import { tint } from "../terminal/style.ts";

export function openHelp(actions: readonly Action[], filter: string | undefined = undefined): Overlay {
  const typing = filter !== undefined;
  const wanted = (filter ?? "").toLowerCase();
  const found = actions.filter(({ keys, words }) => `${keys.join(" ")} ${words}`.toLowerCase().includes(wanted));
  return {
    title: "Keys",
    scroll: 0,
    lines: ({ look }, width) => [
      typing ? `/${filter}` : tint(look, "/ looks for a key", "dim"),
      "",
      ...found.map(({ keys, words }) => `${tint(look, fill(keys.join(" "), 20), "bold")} ${fill(words, width - 21)}`),
      ...(found.length === 0 ? [`No key does ${filter}. Esc shows all.`] : []),
    ],
    actions: [{ keys: ["/"], label: "look for", words: "look for a key", run: (state) => just(relaid(state, openHelp(actions, ""))) }],
    ...(typing && {
      type(state, key) {
        const text = textOf(key);
        if (key === "escape") return just(relaid(state, openHelp(actions)));
        if (key === "backspace") return just(relaid(state, openHelp(actions, filter.slice(0, -1))));
        return text === undefined ? undefined : just(relaid(state, openHelp(actions, filter + text)));
      },
    }),
  };
}
