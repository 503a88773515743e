// Maps the browser's keys to the names that the dashboard's bindings use, and presses them.

import { enabledBindings } from "../panes/keys/key-bindings.ts";
import { linksOf, selectedLink, topDetail } from "../panes/overlays/detail.ts";
import type { UiState } from "../state/state.ts";
import { topOverlay } from "../state/updates.ts";
import type { BrowserDashboard } from "./browser-dashboard.ts";
import { WIDTH } from "./styled-text.tsx";

/** The keys besides letters that have bindings. */
const NAMED = /^(?:Enter|Escape|Arrow(?:Up|Down|Left|Right)|Home|End|Page(?:Up|Down)|Backspace|Delete)$/;

/** The name of a key; undefined for the browser's own keys, such as Tab and every combination with Ctrl. */
function keyName({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): string | undefined {
  if (key === "k" && (ctrlKey || metaKey) && !altKey) return "ctrl-k";
  if (ctrlKey || metaKey || altKey) return undefined;
  if (key === " ") return "space";
  if (NAMED.test(key)) return key.replace("Arrow", "").toLowerCase();
  return [...key].length === 1 ? key : undefined;
}

/**
 * Values of the `data-keys` attribute: the keys that a focused input leaves to the dashboard. In a list of options,
 * `letters` search the options, as in the terminal.
 */
export const SEARCH_KEYS = "enter escape up down";
export const CHOICE_KEYS = "enter escape left right backspace letters";

/** Whether the focused element leaves this key to the dashboard. */
function isForDashboard(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof HTMLElement)) return true;
  // A focused button handles these keys itself.
  if (!target.matches("input, select, textarea"))
    return !target.matches("button, a, summary") || (key !== "enter" && key !== "space");
  const keys = target.closest<HTMLElement>("[data-keys]")?.dataset.keys?.split(" ") ?? [];
  return keys.includes([...key].length === 1 ? "letters" : key);
}

export function listenForKeys(dashboard: BrowserDashboard): void {
  document.addEventListener("keydown", (event) => {
    const key = keyName(event);
    if (key !== undefined && !event.defaultPrevented && isForDashboard(event.target, key) && pressKey(dashboard, key))
      event.preventDefault();
  });
}

/** The overlap, in pixels, of one page with the next when a key scrolls by a page. */
const KEPT_IN_SIGHT = 40;
const LINE_HEIGHT = 19;

/** Scrolls the topmost text by a movement key. */
function scrollText(key: string): void {
  const text = document.querySelector("dialog[open] .text") ?? document.querySelector(".detail-lines");
  if (!text) return;
  const page = text.clientHeight - KEPT_IN_SIGHT;
  const distances: Record<string, number> = {
    ...{ j: LINE_HEIGHT, down: LINE_HEIGHT, k: -LINE_HEIGHT, up: -LINE_HEIGHT, pagedown: page, pageup: -page },
    ...{ g: -text.scrollHeight, home: -text.scrollHeight, G: text.scrollHeight, end: text.scrollHeight },
  };
  text.scrollTop += distances[key] ?? 0;
}

/** The selected link of the detail with the focus. */
function linkIn(state: UiState): string | undefined {
  const detail = topDetail(state);
  return detail && selectedLink(linksOf(detail.content(state, WIDTH)), detail.selected)?.key;
}

/** Whether a key has selected another link in place of scrolling. */
const hasOnlySelected = (before: UiState, after: UiState) =>
  linkIn(after) !== linkIn(before) && topDetail(after)?.scroll === topDetail(before)?.scroll;

/** Presses a key if it is bound now. */
function pressKey(dashboard: BrowserDashboard, key: string): boolean {
  const { state } = dashboard;
  const overlay = topOverlay(state);
  const isTyped = state.filterLine !== undefined || overlay?.onKey !== undefined;
  const isBound = isTyped || enabledBindings(state).some(({ keys }) => keys.includes(key));
  if (isBound) dashboard.press(key);
  if (overlay && !isTyped && !hasOnlySelected(state, dashboard.state)) scrollText(key);
  return isBound;
}
