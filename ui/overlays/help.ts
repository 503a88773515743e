// The help overlay: every key and its effect, with a search.

import { paragraph } from "../details/detail-lines.ts";
import type { KeyBinding, Overlay, StateUpdate, UiState } from "../state/state.ts";
import { replaceTopOverlay, update } from "../state/updates.ts";
import { cut, fitTo, sanitize } from "../view/cells.ts";
import { styled, symbols } from "../view/style.ts";
import { editSearch } from "./field.ts";

export interface KeyGroup {
  title: string;
  bindings: readonly KeyBinding[];
}

const KEYS_WIDTH = 18;

/** `search` is undefined until `/` is pressed. */
export function helpOverlay(groups: readonly KeyGroup[], search?: string): Overlay {
  const withSearch = (state: UiState, next?: string): StateUpdate => update(replaceTopOverlay(state, helpOverlay(groups, next)));
  return {
    title: "Keys",
    scroll: 0,
    lines({ theme }, width) {
      const found = groups.flatMap((group) => groupLines({ theme }, group, search ?? "", width));
      if (search === undefined) return [styled(theme, "Press / to search.", "dim"), ...found];
      const none = found.length === 0 ? ["", `  No key matches ${sanitize(search)}. Press Esc to show all.`] : [];
      return [`/${sanitize(search)}${symbols(theme).caret}`, ...found, ...none];
    },
    keys: [{ keys: ["/"], label: "search", help: "search keys", run: (state) => withSearch(state, "") }],
    ...(search !== undefined && {
      onKey(state, key) {
        if (key === "escape") return withSearch(state);
        const edited = editSearch(search, key);
        return edited === undefined ? undefined : withSearch(state, edited);
      },
    }),
  };
}

function groupLines({ theme }: Pick<UiState, "theme">, { title, bindings }: KeyGroup, search: string, width: number): string[] {
  const wanted = search.toLowerCase();
  const found = bindings.filter(({ keys, help }) => `${keys.join(" ")} ${help}`.toLowerCase().includes(wanted));
  if (found.length === 0) return [];
  const lines = found.flatMap(({ keys, help }) => {
    const [first = "", ...rest] = paragraph(theme, width - KEYS_WIDTH - 1, help).map((line) => line.trimStart());
    return [
      `  ${styled(theme, fitTo(keys.join(" ") || ": only", KEYS_WIDTH), "bold")} ${first}`,
      ...rest.map((line) => " ".repeat(KEYS_WIDTH + 3) + line),
    ];
  });
  return ["", styled(theme, cut(title, width), "bold"), ...lines];
}
