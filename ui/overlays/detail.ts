// A detail: what is known of one row, fetched when it is opened, read with the keys of a list.

import type { Action, Effect, Overlay, State, Step } from "../state/state.ts";
import { overlayOf, relaid } from "../state/state.ts";
import { harmless, wrap } from "../terminal/cells.ts";
import { tint } from "../terminal/style.ts";
import type { Call } from "../wire/control-calls.ts";

export interface Detail<Answers extends Record<string, unknown> = Record<string, unknown>> {
  title: string;
  /** What is asked for it, each under a name. */
  asks: Readonly<Record<string, Call>>;
  /** What is asked besides once something is known. */
  more?(known: Partial<Answers>): Readonly<Record<string, Call>>;
  lines(known: Partial<Answers>, state: State, width: number): string[];
  actions?: readonly Action[];
}

/** A detail with what came in so far. */
interface Opened extends Overlay {
  readonly id: symbol;
  readonly known: Readonly<Record<string, unknown>>;
  /** Why something that was asked for did not come. */
  readonly missed: Readonly<Record<string, string>>;
  readonly asked: readonly string[];
}

/** The overlay, and the calls that fill it. */
export function openDetail<Answers extends Record<string, unknown>>(detail: Detail<Answers>): { overlay: Overlay; effects: Effect[] } {
  const { asks, actions = [] } = detail;
  const id = Symbol("detail");
  const learn = (state: State, learnt: (opened: Opened) => Opened): Step => {
    const index = state.overlays.findIndex((overlay) => (overlay as Partial<Opened>).id === id);
    const before = state.overlays[index] as Opened | undefined;
    if (!before) return { state, effects: [] };
    const after = learnt(before);
    const more = Object.entries(detail.more?.(after.known as Partial<Answers>) ?? {}).filter(([name]) => !after.asked.includes(name));
    const asked = [...after.asked, ...more.map(([name]) => name)];
    return { state: { ...state, overlays: state.overlays.with(index, lined({ ...after, asked })) }, effects: more.map(ask) };
  };
  const ask = ([name, call]: readonly [string, Call]): Effect => ({
    kind: "call",
    call,
    done: (state, { body }) => learn(state, (opened) => ({ ...opened, known: { ...opened.known, [name]: body } })),
    failed: (state, message) => learn(state, (opened) => ({ ...opened, missed: { ...opened.missed, [name]: message } })),
  });
  const lined = (opened: Opened): Opened => ({
    ...opened,
    lines: (state, width) => [...detail.lines(opened.known as Partial<Answers>, state, width), ...outstanding(opened, state, width)],
  });
  const asked = Object.keys(asks);
  const overlay = lined({ id, known: {}, missed: {}, asked, title: harmless(detail.title), scroll: 0, lines: () => [], actions });
  return { overlay, effects: Object.entries(asks).map(ask) };
}

/** What is still under way, and what could not be had. */
function outstanding({ known, missed, asked }: Opened, { look }: State, width: number): string[] {
  const problems = Object.values(missed).flatMap((why) => wrap(harmless(why), width).map((line) => tint(look, line, "red")));
  const waits = asked.some((name) => !(name in known) && !(name in missed));
  return [...(problems.length > 0 ? ["", ...problems] : []), ...(waits ? ["", tint(look, "Fetching …", "dim")] : [])];
}

/** Scrolls what lies on top; `height` lines of it are seen at once. */
export function scrolled(state: State, by: number | "first" | "last", length: number, height: number): State {
  const overlay = overlayOf(state);
  if (!overlay) return state;
  const last = Math.max(0, length - height);
  const to = by === "first" ? 0 : by === "last" ? last : overlay.scroll + by;
  return relaid(state, { ...overlay, scroll: Math.max(0, Math.min(last, to)) });
}
