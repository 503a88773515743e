// What a pane is: where its rows come from, how one looks, what Enter opens, and which keys mean something only here.

import type { LiveItem } from "../../src/contracts/live-messages.ts";
import type { FilterFacts } from "../../src/contracts/row-filter.ts";
import { rowsOf } from "../layout.ts";
import { type Detail, openDetail } from "../overlays/detail.ts";
import { choose, chosenRow, isGone, type Row, shownRows } from "../state/list.ts";
import { type Action, just, laid, lifted, listOf, type State, type Step, say, withList } from "../state/state.ts";
import { cut, cutMiddle, fill, harmless } from "../terminal/cells.ts";
import { type Look, type Tone, tint } from "../terminal/style.ts";
import type { Call } from "../wire/control-calls.ts";

export interface Pane {
  name: string;
  title: string;
  follows: boolean;
  /** Whether there is such a pane now; always unless given. */
  isOn?(state: State): boolean;
  /** Text to read instead of rows: what moves a cursor elsewhere scrolls it. */
  reads?(state: State, width: number): string[];
  /** Which of the stream's items are rows of it. */
  hears?: { kind: LiveItem["kind"]; row(item: LiveItem): Row | undefined };
  /** What is asked, every second, where rows are how things stand. */
  asks?: { call: Call; rows(answer: unknown): Row[] };
  /** A word for the title: what must not be overlooked. */
  mark(state: State): string;
  line(row: Row, state: State, width: number): string;
  /** What to do so that there is something to see. */
  empty(state: State): string[];
  actions: readonly Action[];
  /** What Enter opens. */
  open(state: State, row: Row): Step;
}

interface Declaration<Value> {
  name: string;
  title: string;
  isOn?(state: State): boolean;
  id(value: Value): string;
  facts(value: Value): FilterFacts;
  hears?: { kind: LiveItem["kind"]; value(item: LiveItem): Value | undefined };
  asks?: { call: Call; values(answer: unknown): Value[] };
  mark?(state: State): string;
  cells(value: Value, state: State, width: number): Cell[];
  empty(state: State): string[];
  detail(state: State, value: Value): Detail;
  /** Which rows `n` and `p` go to before any other; all unless given. */
  kin?(one: Value, other: Value): boolean;
  /** What keys do with a value: the one under the cursor, or the one whose detail is open. */
  actions?(value: (state: State) => Value | undefined): readonly Action[];
}

/** Declares a pane over values of its own kind. */
export function pane<Value>(declared: Declaration<Value>): Pane {
  const { name, title, isOn, hears, asks, empty } = declared;
  const row = (value: Value): Row => ({ id: declared.id(value), value, facts: declared.facts(value) });
  const actions = declared.actions ?? (() => []);
  const open = (state: State, chosen: Row): Step => {
    const detail = declared.detail(state, chosen.value as Value);
    const own = [...actions(() => chosen.value as Value), ...neighbours(name, chosen, declared.kin as Kin | undefined, open)];
    const { overlay, effects } = openDetail({ ...detail, actions: own });
    // Whoever closes the detail finds the cursor where it was opened.
    const list = choose(listOf(state, name), chosen, rowsOf(state, name));
    return { state: laid(withList(state, name, list), overlay), effects };
  };
  return {
    name,
    title,
    follows: hears !== undefined,
    ...(isOn && { isOn }),
    ...(hears && {
      hears: {
        kind: hears.kind,
        row(item) {
          const value = hears.value(item);
          return value === undefined ? undefined : row(value);
        },
      },
    }),
    ...(asks && { asks: { call: asks.call, rows: (answer) => asks.values(answer).map(row) } }),
    mark: (state) =>
      [declared.mark?.(state) ?? "", isGone(listOf(state, name)) ? "the chosen row has gone" : ""].filter(Boolean).join("  "),
    line: ({ value }, state, width) => columns(declared.cells(value as Value, state, width), width, state.look),
    empty,
    actions: actions((state) => chosenRow(listOf(state, name))?.value as Value | undefined),
    open,
  };
}

/** Declares a pane that is read: it has no rows. */
export const reading = (declared: Pick<Pane, "name" | "title" | "mark" | "actions"> & Required<Pick<Pane, "isOn" | "reads">>): Pane => ({
  ...declared,
  follows: false,
  line: () => "",
  empty: () => [],
  open: just,
});

type Kin = (one: unknown, other: unknown) => boolean;

/** From one detail to the next: first among what belongs together, then among all. */
function neighbours(name: string, { id, value }: Row, kin: Kin = () => true, open: Pane["open"]): Action[] {
  const step = (state: State, forward: boolean): Step => {
    const rows = shownRows(listOf(state, name));
    const index = rows.findLastIndex((row) => row.id === id);
    const others = forward ? rows.slice(index + 1) : rows.slice(0, Math.max(0, index)).reverse();
    const next = others.find((row) => kin(value, row.value)) ?? others[0];
    if (!next) return just(say(state, forward ? "There is none after this one" : "There is none before this one", "yellow"));
    const { state: opened, effects } = open(lifted(state), next);
    const said = kin(value, next.value) ? opened : say(opened, "None of the same kind was left: this is the nearest of all", "yellow");
    return { state: said, effects };
  };
  return [
    { keys: ["n"], label: "next", words: "the next one of the same kind", run: (state) => step(state, true) },
    { keys: ["p"], label: "previous", words: "the one of the same kind before", run: (state) => step(state, false) },
  ];
}

export interface Cell {
  text: string;
  /** In terminal cells; what is left over where it is not given. */
  width?: number;
  align?: "right";
  /** Where it is too long, both ends stay. */
  ends?: boolean;
  tones?: readonly Tone[];
  /** Left out where the line has fewer cells than this. */
  from?: number;
}

/** Cells beside one another, a blank between them, exactly as wide as asked. */
export function columns(cells: readonly Cell[], width: number, look: Look): string {
  const shown = cells.filter(({ from = 0 }) => width >= from);
  const fixed = shown.reduce((sum, cell) => sum + (cell.width ?? 0), 0) + Math.max(0, shown.length - 1);
  const flexible = shown.filter((cell) => cell.width === undefined).length;
  const left = Math.max(0, width - fixed);
  let wide = left - Math.floor(left / Math.max(1, flexible)) * Math.max(0, flexible - 1);
  const drawn = shown.map((cell) => {
    const space = cell.width ?? wide;
    if (cell.width === undefined) wide = Math.floor(left / flexible);
    return tint(look, fill(harmless(cell.text), space, cell.align ?? "left", cell.ends ? cutMiddle : cut), ...(cell.tones ?? []));
  });
  return flexible === 0 ? drawn.join(" ") + " ".repeat(left) : drawn.join(" ");
}
