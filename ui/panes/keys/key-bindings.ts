// The keys that work in every pane: move, switch panes, filter, freeze, open, help, quit.

import { curlOf } from "../../../src/client/curl.ts";
import { filterProblem } from "../../../src/client/row-filter.ts";
import { layoutOf, placementOf, visibleRowCount } from "../../state/layout.ts";
import { LESSON_PANE } from "../../state/learning.ts";
import { type CursorMove, follow, freeze, moveCursor, selectedRow, unfreeze, withFilter } from "../../state/list.ts";
import type { Row } from "../../state/rows.ts";
import {
  boundTo,
  type FilterLine,
  type KeyBinding,
  listOf,
  type Overlay,
  type StateUpdate,
  type UiState,
} from "../../state/state.ts";
import { closeTopOverlay, openOverlay, topOverlay, update, withList, withNotice } from "../../state/updates.ts";
import { pageUrl } from "../address.ts";
import { controlGroups } from "../controls/index.ts";
import { explorer, paneNamed, visiblePanes } from "../index.ts";
import { topDetail } from "../overlays/detail.ts";
import { editText, isPaste } from "../overlays/field.ts";
import { type Commands, helpOverlay, type KeyGroup, paletteOverlay } from "../overlays/key-lists.ts";
import { textOverlay } from "../overlays/text-view.ts";
import { loadGap } from "../run-effects.ts";
import { detailKeys, jumpKey, scrolledBy, scrollOverlay, searchDetail } from "./detail-keys.ts";
import { clearFilter, followMerchant, withinMerchant } from "./follow-merchant.ts";
import { leaveLabel, quit } from "./leave.ts";
import { placesFor } from "./places.ts";

function move(state: UiState, by: CursorMove | "page" | "-page" | "half" | "-half"): StateUpdate {
  const overlay = topOverlay(state);
  const { textLines, followsEnd } = paneNamed(state.pane);
  const placement = placementOf(state, state.pane);
  const paneLines = textLines ? placement.height - 2 : visibleRowCount(state, state.pane);
  const page = overlay ? layoutOf(state).overlay.height - 2 : paneLines;
  const half = Math.ceil(page / 2);
  const pages: Record<string, number> = { page, "-page": -page, half, "-half": -half };
  const distance = (pages[by] ?? by) as CursorMove;
  if (overlay) return scrollOverlay(state, distance);
  if (textLines) {
    const last = Math.max(0, textLines(state, placement.width - 4).length - page);
    const scroll = scrolledBy(state.scrolls[state.pane] ?? (followsEnd ? last : 0), distance, last);
    const { [state.pane]: _, ...others } = state.scrolls;
    // If the pane follows the end, no scroll position is stored there, so that the pane shows new lines.
    const isAtEnd = followsEnd && scroll >= last;
    return update({ ...state, scrolls: isAtEnd ? others : { ...others, [state.pane]: scroll } });
  }
  return update(withList(state, state.pane, moveCursor(listOf(state), distance, page)));
}

const followRows = (state: UiState): StateUpdate => update(withList(state, state.pane, follow(listOf(state))));

const movementKeys: readonly KeyBinding[] = [
  { keys: ["j", "down"], help: "move down", run: (state) => move(state, 1) },
  { keys: ["k", "up"], help: "move up", run: (state) => move(state, -1) },
  { keys: ["g", "home"], help: "go to the top", run: (state) => move(state, "first") },
  { keys: ["pagedown", "ctrl-f"], help: "page down", run: (state) => move(state, "page") },
  { keys: ["pageup", "ctrl-b"], help: "page up", run: (state) => move(state, "-page") },
  { keys: ["ctrl-d"], help: "half page down", run: (state) => move(state, "half") },
  { keys: ["ctrl-u"], help: "half page up", run: (state) => move(state, "-half") },
  {
    keys: ["G", "end"],
    help: "go to the end and follow new rows",
    run: (state) => (topOverlay(state) || !paneNamed(state.pane).follows ? move(state, "last") : followRows(state)),
  },
];

function switchPane(state: UiState, by: number): StateUpdate {
  const panes = visiblePanes(state);
  const index = panes.findIndex(({ name }) => name === state.pane);
  return focusPane(state, panes[(index + by + panes.length) % panes.length]?.name ?? state.pane);
}

/** Focuses a pane, and polls at once for the rows of a pane that was not visible. */
const focusPane = (state: UiState, pane: string): StateUpdate =>
  update(closeTopOverlay({ ...state, pane, overlays: state.overlays.slice(0, 1) }), { kind: "refresh" });

export const openRow = (state: UiState, row: Row): StateUpdate =>
  row.gap ? loadGap(state, state.pane, row) : paneNamed(state.pane).openRow(state, row);

function toggleFreeze(state: UiState): StateUpdate {
  const isFrozen = listOf(state).frozen !== undefined;
  const toggle = isFrozen ? unfreeze : freeze;
  const lists = Object.fromEntries(Object.entries(state.lists).map(([name, list]) => [name, toggle(list)]));
  return update(
    withNotice({ ...state, lists }, isFrozen ? "Display resumed" : "Display frozen. Press Space to resume", "yellow"),
  );
}

const commonPaneKeys: readonly KeyBinding[] = [
  {
    keys: ["m"],
    label: "one merchant",
    help: "show only the selected row's merchant in all panes, or all again",
    run: followMerchant,
  },
  boundTo({ keys: ["enter"], label: "details", help: "open details", run: openRow }, (state) =>
    selectedRow(listOf(state)),
  ),
  jumpKey,
  {
    keys: ["/"],
    label: "filter",
    help: "filter rows: text, status:4xx, path:, ms>100, time>12:04, is:failed, is:fault; ! excludes",
    isEnabled: (state) => !paneNamed(state.pane).textLines,
    needs: () => "a pane with rows",
    // Adds a blank after the filter, so that the user types a new term.
    run: (state) => update({ ...state, filterLine: lineOf(listOf(state).filter.replace(/\S$/, "$& ")) }),
  },
  {
    keys: ["escape"],
    label: "clear filter",
    help: "clear the filter, then the limit to one merchant",
    isEnabled: (state) => listOf(state).filter !== "",
    needs: () => "a filter",
    run: clearFilter,
  },
  {
    keys: ["space"],
    label: (state) => (listOf(state).frozen ? "resume" : "freeze"),
    help: "freeze or resume the display; the sandbox keeps running",
    run: toggleFreeze,
  },
  {
    keys: ["f"],
    label: "follow",
    help: "follow new rows",
    isEnabled: (state) => paneNamed(state.pane).follows && !listOf(state).follows,
    needs: () => "a list of new rows that is paused",
    run: followRows,
  },
  { keys: ["tab", "right"], label: "next pane", help: "next pane", run: (state) => switchPane(state, 1) },
  { keys: ["shift-tab", "left"], help: "previous pane", run: (state) => switchPane(state, -1) },
];

/** The digit of a tab; none after the tenth. */
export const digitOf = (index: number): string => "1234567890"[index] ?? "";

export const tabDigits = (state: UiState): readonly KeyBinding[] =>
  visiblePanes(state).map(({ name, title }, index) => {
    const digit = digitOf(index);
    return { keys: digit === "" ? [] : [digit], help: `go to ${title}`, run: (later) => focusPane(later, name) };
  });

/**
 * The keys of the lesson that the page shows beside every pane: next, back, hint, skip and another lesson. The lesson's
 * other keys have other meanings in the panes.
 */
export const besideLessonKeys = ({ isPage, learning }: UiState): readonly KeyBinding[] =>
  isPage && learning
    ? paneNamed(LESSON_PANE).keys.filter(({ keys: [key = ""] }) => ["n", "p", "H", "S", "L"].includes(key))
    : [];

/** The keys that work in panes and overlays alike, last in the key bar. */
const globalKeys: readonly KeyBinding[] = [
  {
    keys: ["!"],
    help: "show the last call as curl, or the text copied since",
    isEnabled: ({ lastCall, lastCopy }) => lastCall !== undefined || lastCopy !== undefined,
    needs: () => "a call or a copied text before",
    run: showLast,
  },
  {
    keys: [":", "ctrl-k"],
    label: "find",
    help: "find a command, an id, an event type, an operation or a path; Enter goes there",
    run: (state) => update(openOverlay(state, paletteOverlay(commandsOf(state)))),
  },
  {
    keys: ["O"],
    label: "link",
    help: "open the page at this view, and copy its address; in a browser or without a desktop, copy it only",
    run: (state) => update(state, { kind: "open", url: pageUrl(state) }),
  },
  { keys: ["ctrl-l"], help: "redraw the screen", run: (state) => update(state, { kind: "repaint" }) },
  { keys: ["ctrl-z"], help: "suspend", run: (state) => update(state, { kind: "suspend" }) },
  {
    keys: ["ctrl-r"],
    label: "restart app",
    help: "restart your app",
    isEnabled: ({ app }) => app !== undefined,
    run: (state) => update(state, { kind: "restart" }),
  },
  { keys: ["s"], help: "switch to plain lines and back", run: (state) => update(state, { kind: "plain" }) },
  {
    keys: ["?", "h"],
    label: "help",
    help: "show all keys",
    run: (state) => update(openOverlay(state, helpOverlay(keyGroups(state), commandsOf(state)))),
  },
  {
    keys: ["q"],
    label: leaveLabel,
    help: "go back; from the panes, quit the dashboard, and choose what becomes of a sandbox that it started",
    run: (state) => (topOverlay(state) ? update(closeTopOverlay(state)) : quit(state)),
  },
];

function showLast(state: UiState): StateUpdate {
  const { lastCall, lastCopy, target } = state;
  if (lastCopy !== undefined) return update(openOverlay(state, textOverlay("Last copied text", lastCopy)));
  return update(lastCall ? openOverlay(state, textOverlay("Last call as curl", curlOf(target, lastCall))) : state);
}

const searchKey: KeyBinding = {
  keys: ["/"],
  label: "search",
  help: "search the details",
  run: (state) => writeLine(state, "", topDetail(state)?.scroll ?? 0),
};

const overlayBindings = (state: UiState, overlay: Overlay): readonly KeyBinding[] => [
  ...(topDetail(state) ? [...detailKeys, searchKey, jumpKey] : []),
  ...overlay.keys,
  { keys: ["escape"], label: "back", help: "go back", run: (later) => update(closeTopOverlay(later)) },
];

/**
 * Whether a key is left out on the page, because the browser uses it itself or because it needs a terminal. Ctrl-O and
 * Ctrl-Y stay, because forms show them as buttons.
 */
const isLeftOutOnPage = (key: string) => ["tab", "shift-tab", "s"].includes(key) || /^ctrl-[^oyk]/.test(key);

/** The bindings as the help shows them. If several have the same key, the first enabled one applies. */
export const keyGroups = (state: UiState): KeyGroup[] =>
  [...localGroups(state), ...controlGroups, { title: "Everywhere", bindings: globalKeys }].map(
    ({ bindings, ...group }: KeyGroup) => ({
      ...group,
      bindings: state.isPage ? bindings.flatMap((binding) => bindingOnPage(state, binding)) : bindings,
    }),
  );

/** A binding without the browser's keys; none if no key is left. Without an overlay, `q` has nothing to close. */
function bindingOnPage(state: UiState, binding: KeyBinding): KeyBinding[] {
  const keys = binding.keys.filter((key) => !isLeftOutOnPage(key) && (key !== "q" || topOverlay(state) !== undefined));
  return keys.length === 0 && binding.keys.length > 0 ? [] : [{ ...binding, keys }];
}

function localGroups(state: UiState): KeyGroup[] {
  const overlay = topOverlay(state);
  if (overlay)
    return [
      {
        title: overlay.title,
        bindings: [...overlayBindings(state, overlay), ...(topDetail(state) ? tabDigits(state) : [])],
      },
      { title: "Scrolling", bindings: movementKeys },
    ];
  const { name, title, legend, keys } = paneNamed(state.pane);
  // The explorer has no rows, and the browser scrolls it.
  if (name === explorer.name) return [{ title: "Panes", bindings: tabDigits(state) }];
  return [
    { title, legend, bindings: [...keys, ...besideLessonKeys(state)] },
    { title: "All panes", bindings: [...commonPaneKeys, ...tabDigits(state), ...movementKeys] },
  ];
}

function commandsOf(state: UiState): Commands {
  const bindings = enabledBindings(state).filter(
    (binding) => !movementKeys.includes(binding) && !binding.keys.includes(":"),
  );
  const helps = new Set(bindings.map(({ help }) => help));
  return { bindings, elsewhere: bindingsElsewhere(state, helps), placesFor: (search) => placesFor(state, search) };
}

/**
 * The commands of the other panes, with the keys that reach them, such as `9 Y`. `helpsHere` has the help texts of the
 * commands that work in this pane, which are left out.
 */
const bindingsElsewhere = (state: UiState, helpsHere: ReadonlySet<string>): readonly KeyBinding[] =>
  visiblePanes(state).flatMap(({ name, title, keys }, index) =>
    keys
      .filter(({ help }) => name !== state.pane && !helpsHere.has(help))
      .map(({ keys: [key = ""], help }) => ({
        keys: [`${digitOf(index)} ${key}`.trim()],
        help: `${help} (in ${title})`,
        run: (later) => focusPane(later, name),
      })),
  );

export const enabledBindings = (state: UiState): readonly KeyBinding[] =>
  keyGroups(state)
    .flatMap(({ bindings }) => bindings)
    .filter(({ isEnabled }) => isEnabled?.(state) ?? true);

export function handleKey(before: UiState, key: string): StateUpdate {
  if (key === "ctrl-c") return update(before, { kind: "interrupt" });
  const state = { ...before, notice: undefined };
  if (state.filterLine) return editFilterLine(state, state.filterLine, key);
  const handled = topOverlay(state)?.onKey?.(state, key);
  if (handled) return handled;
  if (isPaste(key)) return update(withNotice(state, "Nothing was pasted. Open a filter (/) or a form first", "yellow"));
  const binding = enabledBindings(state).find(({ keys }) => keys.includes(key));
  if (binding) return binding.run(state);
  // Escape closes what is open. If nothing is open, no message is shown.
  return update(key === "escape" ? state : withNotice(state, unboundText(state, key), "yellow"));
}

/** Why a key does nothing now: what it needs, or where it works. */
function unboundText(state: UiState, key: string): string {
  const name = key === "space" ? "Space" : key;
  const disabled = keyGroups(state)
    .flatMap(({ bindings }) => bindings)
    .find(({ keys }) => keys.includes(key));
  // A narrow line is cut at its end, so the help of the key stands last.
  if (disabled) return `${name} needs ${disabled.needs?.(state) ?? "something else on the screen"} (${disabled.help})`;
  const elsewhere = visiblePanes(state).find(({ keys }) => keys.some((one) => one.keys.includes(key)));
  if (elsewhere && !topOverlay(state)) return `${name} works in ${elsewhere.title}`;
  return `${name} does nothing here. Press ? for the keys`;
}

/** The keys that work while a filter or a search is typed; undefined at other times. */
export function typingKeys(state: UiState): readonly KeyBinding[] | undefined {
  const { filterLine } = state;
  if (!filterLine) return undefined;
  const isFilter = filterLine.searchesFrom === undefined;
  const labels = {
    enter: isFilter ? "apply" : "keep",
    escape: "clear",
    ...(isFilter && historyOf(state).length > 0 && { up: "failed, earlier" }),
  };
  return Object.entries(labels).map(([key, label]) => ({
    keys: [key],
    label,
    help: label,
    run: (later) => handleKey(later, key),
  }));
}

const MAX_HISTORY = 50;

const lineOf = (value: string): FilterLine => ({ value, caretFromEnd: 0, isSelected: false });

/** Replaces the whole filter, or the search of the details, which begins at the line `searchesFrom`. */
export const writeLine = (state: UiState, text: string, searchesFrom?: number): StateUpdate =>
  apply(state, text, { ...lineOf(text), searchesFrom });

export function lineProblem(state: UiState): string | undefined {
  const { pane, filterLine } = state;
  const vocabulary = paneNamed(pane).vocabulary(state);
  return filterLine?.searchesFrom === undefined && filterLine && vocabulary
    ? filterProblem(filterLine.value, vocabulary)
    : undefined;
}

function editFilterLine(state: UiState, line: FilterLine, key: string): StateUpdate {
  if (key === "escape") {
    const cleared = line.searchesFrom === undefined ? withinMerchant(state, "") : "";
    return apply(state, cleared, undefined, line.searchesFrom);
  }
  if (key === "enter") return lineProblem(state) === undefined ? update(closed(state, line)) : update(state);
  const isRecall = (key === "up" || key === "down") && line.searchesFrom === undefined;
  if (isRecall) return recall(state, line, key === "up" ? 1 : -1);
  const edited = editText(line, key);
  return edited ? apply(state, edited.value, { ...line, ...edited }) : update(state);
}

function closed(state: UiState, { value, searchesFrom }: FilterLine): UiState {
  const text = value.trim();
  const next = { ...state, filterLine: undefined };
  if (searchesFrom !== undefined || text === "") return next;
  return { ...next, filterHistory: [...state.filterHistory.filter((one) => one !== text), text].slice(-MAX_HISTORY) };
}

const FAILED = "is:failed";

/** The filters that `Up` recalls, newest last. The oldest is `is:failed`, in panes whose rows can fail. */
function historyOf(state: UiState): readonly string[] {
  const { filterHistory } = state;
  const hasFailed = paneNamed(state.pane).vocabulary(state)?.marks.includes("failed") === true;
  return hasFailed && !filterHistory.includes(FAILED) ? [FAILED, ...filterHistory] : filterHistory;
}

/**
 * Recalls a filter `by` steps before the filter in the line, or before the end of the history. A step forward from the
 * newest filter clears the line. Each filter stays limited to the merchant that every pane follows.
 */
function recall(state: UiState, { value }: FilterLine, by: number): StateUpdate {
  const history = historyOf(state);
  const written = history.map((one) => withinMerchant(state, one));
  const at = written.indexOf(value.trim());
  const text = written[Math.max(0, (at === -1 ? history.length : at) - by)] ?? withinMerchant(state, "");
  return apply(state, text, lineOf(text));
}

/** Searches the details, or filters the rows; an invalid filter keeps the last valid one. */
function apply(
  state: UiState,
  text: string,
  filterLine: FilterLine | undefined,
  searchesFrom = filterLine?.searchesFrom,
): StateUpdate {
  const next = { ...state, filterLine };
  if (searchesFrom !== undefined) return searchDetail(next, text, searchesFrom);
  if (lineProblem(next) !== undefined || text === listOf(state).filter) return update(next);
  return update(withList(next, state.pane, withFilter(listOf(state), text)), { kind: "subscribe" });
}
