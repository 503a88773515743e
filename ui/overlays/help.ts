// Every key and what it does, by where it holds; typing narrows it down.

import { sentences } from "../details/detail-lines.ts";
import { type Action, just, type Overlay, relaid, type State, type Step } from "../state/state.ts";
import { cut, fill, harmless } from "../terminal/cells.ts";
import { textOf } from "../terminal/keys.ts";
import { tint } from "../terminal/style.ts";

export interface KeyGroup {
  title: string;
  actions: readonly Action[];
}

const KEYS = 18;

export function openHelp(groups: readonly KeyGroup[], filter: string | undefined = undefined): Overlay {
  const show = (state: State, next?: string): Step => just(relaid(state, openHelp(groups, next)));
  const typing = filter !== undefined;
  return {
    title: "Keys",
    scroll: 0,
    lines(state, width) {
      const found = groups.flatMap((group) => groupLines(state, group, filter ?? "", width));
      const none = typing && found.length === 0 ? ["", `  No key does ${harmless(filter)}. Esc shows all.`] : [];
      const hint = typing ? `/${harmless(filter)}${state.look.unicode ? "▏" : "_"}` : tint(state.look, "/ looks for a key", "dim");
      return [hint, ...found, ...none];
    },
    actions: [{ keys: ["/"], label: "look for", words: "look for a key", run: (state) => show(state, "") }],
    ...(typing && {
      type(state, key) {
        const text = textOf(key);
        if (key === "escape") return show(state);
        if (key === "backspace") return show(state, [...filter].slice(0, -1).join(""));
        return text === undefined ? undefined : show(state, filter + text);
      },
    }),
  };
}

function groupLines({ look }: State, { title, actions }: KeyGroup, filter: string, width: number): string[] {
  const wanted = filter.toLowerCase();
  const found = actions.filter(({ keys, words }) => `${keys.join(" ")} ${words}`.toLowerCase().includes(wanted));
  if (found.length === 0) return [];
  const lines = found.flatMap(({ keys, words }) => {
    const [first = "", ...rest] = sentences(look, width - KEYS - 1, words).map((line) => line.trimStart());
    return [`  ${tint(look, fill(keys.join(" "), KEYS), "bold")} ${first}`, ...rest.map((line) => " ".repeat(KEYS + 3) + line)];
  });
  return ["", tint(look, cut(title, width), "bold"), ...lines];
}
