// The lists of keys: the help with every key, and the command palette, which finds commands as the user types.

import { layoutOf } from "../../state/layout.ts";
import type { KeyBinding, Overlay, StateUpdate, UiState } from "../../state/state.ts";
import { closeTopOverlay, replaceTopOverlay, update, withNotice } from "../../state/updates.ts";
import { cut, fitTo, sanitize } from "../../text/cells.ts";
import { styled, symbols, type Theme } from "../../text/style.ts";
import { paragraph } from "../details/detail-lines.ts";
import { editText } from "./field.ts";

export interface KeyGroup {
  title: string;
  legend?: ((theme: Theme) => string) | undefined;
  bindings: readonly KeyBinding[];
}

const KEYS_WIDTH = 18;

/** The palette finds commands by their words, and places by an id, an event type, an operation or a path. */
export interface Commands {
  bindings: readonly KeyBinding[];
  /** The bindings of the other panes. Running one goes to its pane, where its key acts on the selected row. */
  elsewhere: readonly KeyBinding[];
  placesFor(search: string): readonly KeyBinding[];
}

/** The help with every key. `/` replaces it with the palette, to search the commands. */
export const helpOverlay = (groups: readonly KeyGroup[], commands: Commands): Overlay => ({
  title: "Keys",
  lines: (state, width) => [
    styled(state.theme, "Press / to find a command.", "dim"),
    ...groups.filter(({ bindings }) => bindings.length > 0).flatMap((group) => groupLines(state, group, width)),
  ],
  keys: [
    {
      keys: ["/"],
      label: "search",
      help: "find a command by typing",
      run: (state) => update(replaceTopOverlay(state, paletteOverlay(commands))),
    },
  ],
});

/** If several bindings share a key, lists only the one that is enabled now, or else the first. */
function withoutHidden(state: UiState, bindings: readonly KeyBinding[]): readonly KeyBinding[] {
  const isOn = (binding: KeyBinding) => binding.isEnabled?.(state) ?? true;
  const taker = (key: string) => {
    const sharing = bindings.filter(({ keys }) => keys.includes(key));
    return sharing.find(isOn) ?? sharing[0];
  };
  return bindings.filter((one) => one.keys.length === 0 || one.keys.some((key) => taker(key) === one));
}

function groupLines(state: UiState, { title, legend, bindings }: KeyGroup, width: number): string[] {
  const { theme } = state;
  // A phone shows only keys with short names, so their column is narrow.
  const room = width < 50 ? 11 : KEYS_WIDTH;
  const lines = withoutHidden(state, bindings).flatMap(({ keys, help }) => {
    const [first = "", ...rest] = paragraph(theme, width - room - 1, help).map((line) => line.trimStart());
    return [
      `  ${styled(theme, fitTo(keys.join(" ") || ": find", room), "bold")} ${first}`,
      ...rest.map((line) => " ".repeat(room + 3) + line),
    ];
  });
  return [
    "",
    styled(theme, cut(title, width), "bold"),
    ...(legend ? paragraph(theme, width, legend(theme), "dim") : []),
    ...lines,
  ];
}

/** The border, the search and the line below it. */
const OTHER_LINES = 4;

/**
 * The parts of the palette that the page shows: all commands, those that match the search, and the index of the chosen
 * one.
 */
export interface PaletteOverlay extends Overlay {
  readonly palette: { commands: Commands; search: string; found: readonly KeyBinding[]; chosen: number };
}

export const isPalette = (overlay: Overlay | undefined): overlay is PaletteOverlay =>
  overlay !== undefined && "palette" in overlay;

/** `index` is the index of the chosen command among the matches of the search. */
export function paletteOverlay(commands: Commands, search = "", index = 0): PaletteOverlay {
  const { bindings, elsewhere, placesFor } = commands;
  const found = [
    ...matchingBindings(bindings, search),
    ...(search.trim() === "" ? [] : matchingBindings(elsewhere, search)),
    ...placesFor(search.trim()),
  ];
  const chosen = Math.max(0, Math.min(found.length - 1, index));
  const change = (state: UiState, ...next: [search: string, index?: number]): StateUpdate =>
    update(replaceTopOverlay(state, paletteOverlay(commands, ...next)));
  return {
    title: "Commands",
    palette: { commands, search, found, chosen },
    lines: (state, width) => [
      `:${sanitize(search)}${symbols(state.theme).caret}`,
      "",
      ...commandLines(state, found, chosen, search, width),
    ],
    keys: [
      {
        keys: ["enter"],
        label: "run",
        help: "run the command",
        run: (state) => runCommand(state, found[chosen], search),
      },
      { keys: ["down"], label: "next", help: "next command", run: (state) => change(state, search, chosen + 1) },
      { keys: ["up"], help: "previous command", run: (state) => change(state, search, chosen - 1) },
    ],
    onKey(state, key) {
      const edited = editText({ value: search, caretFromEnd: 0, isSelected: false }, key)?.value;
      return edited === undefined ? undefined : change(state, edited);
    },
  };
}

/** Runs a command of the palette. If the search matches none, the search stays and nothing runs. */
export function runCommand(state: UiState, binding: KeyBinding | undefined, search = ""): StateUpdate {
  if (!binding) return update(withNotice(state, `No command matches ${search}`, "yellow"), { kind: "bell" });
  return binding.run(closeTopOverlay(state));
}

/**
 * Finds the bindings whose key is the search, or whose label and help contain words that start with each word of the
 * search. Text inside a word does not match, because it would find commands that were not meant. A matching key comes
 * first, then bindings whose label or help starts with the search; `endpoints` also counts as the start of `go to
 * Endpoints`.
 */
function matchingBindings(bindings: readonly KeyBinding[], search: string): readonly KeyBinding[] {
  const wanted = search.trim();
  const words = wanted.toLowerCase().split(/\s+/);
  const nameOf = ({ label }: KeyBinding) => (typeof label === "string" ? label : "");
  const textOf = (binding: KeyBinding) =>
    ` ${nameOf(binding)} ${binding.help}`.toLowerCase().replace(/[^\p{L}\p{N}._-]+/gu, " ");
  const rankOf = (binding: KeyBinding) => {
    if (binding.keys.includes(wanted)) return 0;
    const texts = [nameOf(binding), binding.help, binding.help.replace(/^go to /, "")];
    if (texts.some((text) => text.toLowerCase().startsWith(wanted.toLowerCase()))) return 1;
    return words.every((word) => textOf(binding).includes(` ${word}`)) ? 2 : 3;
  };
  return bindings
    .map((binding) => ({ binding, rank: rankOf(binding) }))
    .filter(({ rank }) => rank < 3)
    .sort((one, other) => one.rank - other.rank)
    .map(({ binding }) => binding);
}

function commandLines(
  state: UiState,
  found: readonly KeyBinding[],
  chosen: number,
  search: string,
  width: number,
): string[] {
  const { theme } = state;
  if (found.length === 0) return [`  No command matches ${sanitize(search)}.`];
  const height = Math.max(1, layoutOf(state).overlay.height - OTHER_LINES);
  const top = Math.max(0, Math.min(chosen - Math.floor(height / 2), found.length - height));
  return found.slice(top, top + height).map(({ keys, help }, row) => {
    const isChosen = top + row === chosen;
    const line =
      `${isChosen ? symbols(theme).cursor : " "} ${fitTo(keys.join(" "), KEYS_WIDTH)} ` +
      `${cut(help, Math.max(0, width - KEYS_WIDTH - 3))}`;
    return isChosen ? styled(theme, line, "bold") : line;
  });
}
