// What keys do everywhere: move, choose a pane, filter, freeze, look closer, leave.

import { controls } from "./controls/index.ts";
import { layoutOf, placeOf, rowsOf } from "./layout.ts";
import { scrolled } from "./overlays/detail.ts";
import { type KeyGroup, openHelp } from "./overlays/help.ts";
import { openText } from "./overlays/text-view.ts";
import { paneNamed, panesOf } from "./panes/index.ts";
import { chosenRow, filtered, follow, freeze, type Move, move, thaw } from "./state/list.ts";
import { type Action, also, just, laid, lifted, listOf, overlayOf, type State, type Step, say, withList } from "./state/state.ts";
import { curlOf } from "./wire/control-calls.ts";

const isFrozen = (state: State) => listOf(state).frozen !== undefined;

/** Moves the cursor of the pane, or what lies on top of it. */
function moving(state: State, by: Move | "page" | "-page" | "half" | "-half"): Step {
  const overlay = overlayOf(state);
  const { width, height } = layoutOf(state).overlay;
  const seen = overlay ? height - 2 : rowsOf(state, state.pane);
  const pages: Record<string, number> = { page: seen, "-page": -seen, half: Math.ceil(seen / 2), "-half": -Math.ceil(seen / 2) };
  const distance = (pages[by] ?? by) as Move;
  if (overlay) return just(scrolled(state, distance, overlay.lines(state, width - 4).length, seen));
  const { reads } = paneNamed(state.pane);
  if (reads) return just(read(state, distance, reads(state, placeOf(state, state.pane).width - 4).length - seen));
  return just(withList(state, state.pane, move(listOf(state), distance, seen)));
}

/** Scrolls a pane that is read; `last` is the line that is first when the end is seen. */
function read(state: State, by: Move, last: number): State {
  const from = Math.min(state.scrolls[state.pane] ?? 0, Math.max(0, last));
  const to = by === "first" ? 0 : by === "last" ? last : from + by;
  return { ...state, scrolls: { ...state.scrolls, [state.pane]: Math.max(0, Math.min(last, to)) } };
}

/** Keys that scroll what lies on top, or move the cursor where nothing does. */
export const moves: readonly Action[] = [
  { keys: ["j", "down"], words: "one down", run: (state) => moving(state, 1) },
  { keys: ["k", "up"], words: "one up", run: (state) => moving(state, -1) },
  { keys: ["g", "home"], words: "to the first", run: (state) => moving(state, "first") },
  { keys: ["pagedown", "ctrl-f"], words: "a page down", run: (state) => moving(state, "page") },
  { keys: ["pageup", "ctrl-b"], words: "a page up", run: (state) => moving(state, "-page") },
  { keys: ["ctrl-d"], words: "half a page down", run: (state) => moving(state, "half") },
  { keys: ["ctrl-u"], words: "half a page up", run: (state) => moving(state, "-half") },
  {
    keys: ["G", "end"],
    words: "to the last, and follow what is new",
    run: (state) => (overlayOf(state) || !paneNamed(state.pane).follows ? moving(state, "last") : following(state)),
  },
];

const following = (state: State): Step => just(withList(state, state.pane, follow(listOf(state))));

const turned = (state: State, by: number): Step => {
  const panes = panesOf(state);
  const index = panes.findIndex(({ name }) => name === state.pane);
  return just({ ...state, pane: panes[(index + by + panes.length) % panes.length]?.name ?? state.pane });
};

const open = (state: State): Step => {
  const row = chosenRow(listOf(state));
  return row ? paneNamed(state.pane).open(state, row) : just(state);
};

const pane: readonly Action[] = [
  { keys: ["enter"], label: "detail", words: "look closer", can: (state) => chosenRow(listOf(state)) !== undefined, run: open },
  {
    keys: ["/"],
    label: "filter",
    words: "filter the pane: words, status:4xx, path:, key:, ms>100, ! for the opposite",
    can: (state) => !paneNamed(state.pane).reads,
    run: (state) => just({ ...state, typing: true }),
  },
  {
    keys: ["escape"],
    label: "all",
    words: "drop the filter",
    can: (state) => listOf(state).filter !== "",
    run: (state) => also(withList(state, state.pane, filtered(listOf(state), "")), { kind: "wish" }),
  },
  { keys: ["space"], label: "freeze", words: "freeze the picture, or let it go on; the sandbox never stops", run: frozen },
  {
    keys: ["f"],
    label: "follow",
    words: "follow what is new",
    can: (state) => paneNamed(state.pane).follows && !listOf(state).follows,
    run: following,
  },
  { keys: ["tab", "l", "right"], label: "pane", words: "the next pane", run: (state) => turned(state, 1) },
  { keys: ["shift-tab", "h", "left"], words: "the pane before", run: (state) => turned(state, -1) },
];

const digits = (state: State): readonly Action[] =>
  panesOf(state).map(({ name, title }, index) => ({
    keys: [String(index + 1)],
    words: title,
    run: (later) => just({ ...later, pane: name }),
  }));

function frozen(state: State): Step {
  const turn = isFrozen(state) ? thaw : freeze;
  const lists = Object.fromEntries(Object.entries(state.lists).map(([name, list]) => [name, turn(list)]));
  return just(say({ ...state, lists }, isFrozen(state) ? "The picture goes on" : "Frozen: space goes on", "yellow"));
}

/** Where nothing lies over the panes. */
export const paneActions = (state: State): readonly Action[] => [...paneNamed(state.pane).actions, ...pane, ...digits(state), ...moves];

/** What is possible wherever no text is asked for; these stand at the end of the key bar. */
export const everywhere: readonly Action[] = [
  ...controls,
  {
    keys: ["!"],
    words: "the last call as curl, for a script",
    can: ({ lastCall }) => lastCall !== undefined,
    run: (state) => just(state.lastCall ? laid(state, openText("As curl", curlOf(state.target, state.lastCall))) : state),
  },
  { keys: ["ctrl-l"], words: "paint everything anew", run: (state) => also(state, { kind: "repaint" }) },
  { keys: ["ctrl-z"], words: "suspend", run: (state) => also(state, { kind: "suspend" }) },
  { keys: ["s"], words: "plain lines instead of panes, and back", run: (state) => also(state, { kind: "plain" }) },
  { keys: ["?"], label: "help", words: "every key", run: (state) => just(laid(state, openHelp(keyGroups(state)))) },
  {
    keys: ["q"],
    label: "quit",
    words: "one level back; from the panes, quit",
    run: (state) => (overlayOf(state) ? just(lifted(state)) : also(state, { kind: "quit" })),
  },
];

/** Where something lies over the panes. */
export const overlaid: readonly Action[] = [
  { keys: ["escape"], label: "back", words: "one level back", run: (state) => just(lifted(state)) },
];

/** Every key by where it holds: on what is seen now, on every list, wherever nobody writes. */
function keyGroups(state: State): KeyGroup[] {
  const overlay = overlayOf(state);
  const here = overlay ? [...overlay.actions, ...overlaid] : paneNamed(state.pane).actions;
  return [
    { title: `Here: ${overlay?.title ?? paneNamed(state.pane).title}`, actions: here },
    { title: "In every list and text", actions: overlay ? moves : [...pane, ...digits(state), ...moves] },
    { title: "Everywhere", actions: everywhere },
  ];
}
