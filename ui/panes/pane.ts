// What a pane is: where its rows come from, how one looks, what Enter opens, and which keys mean something only here.

import type { LiveItem } from "../../src/kernel/messages.ts";
import type { FilterFacts } from "../../src/kernel/row-filter.ts";
import { chosenRow, type Row } from "../state/list.ts";
import { type Action, laid, listOf, type Overlay, type State, type Step } from "../state/state.ts";
import { fill, harmless } from "../terminal/cells.ts";
import { type Look, type Tone, tint } from "../terminal/style.ts";
import type { Call } from "../wire/calls.ts";

export interface Pane {
  name: string;
  title: string;
  follows: boolean;
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
  id(value: Value): string;
  facts(value: Value): FilterFacts;
  hears?: { kind: LiveItem["kind"]; value(item: LiveItem): Value | undefined };
  asks?: { call: Call; values(answer: unknown): Value[] };
  mark?(state: State): string;
  cells(value: Value, state: State): Cell[];
  empty(state: State): string[];
  detail(state: State, value: Value): { overlay: Overlay; effects: Step["effects"] };
  actions?: readonly Action[];
}

/** Declares a pane over values of its own kind. */
export function pane<Value>(declared: Declaration<Value>): Pane {
  const { name, title, hears, asks, empty, actions = [] } = declared;
  const row = (value: Value): Row => ({ id: declared.id(value), value, facts: declared.facts(value) });
  return {
    name,
    title,
    follows: hears !== undefined,
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
    mark: declared.mark ?? (() => ""),
    line: ({ value }, state, width) => columns(declared.cells(value as Value, state), width, state.look),
    empty,
    actions,
    open(state, { value }) {
      const { overlay, effects } = declared.detail(state, value as Value);
      return { state: laid(state, overlay), effects };
    },
  };
}

export interface Cell {
  text: string;
  /** In terminal cells; what is left over where it is not given. */
  width?: number;
  align?: "right";
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
    return tint(look, fill(harmless(cell.text), space, cell.align ?? "left"), ...(cell.tones ?? []));
  });
  return flexible === 0 ? drawn.join(" ") + " ".repeat(left) : drawn.join(" ");
}

/** The value under the cursor of the pane with the keys. */
export const chosenValue = <Value>(state: State): Value | undefined => chosenRow(listOf(state))?.value as Value | undefined;
