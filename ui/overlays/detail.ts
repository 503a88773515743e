// A detail: what is known of one row, fetched when it is opened, read with the keys of a list.

import type { Action, Effect, Overlay, State } from "../state/state.ts";
import { overlayOf, relaid, say } from "../state/state.ts";
import type { Call } from "../wire/calls.ts";

interface Detail<Answers extends Record<string, unknown>> {
  title: string;
  /** What is asked for it, each under a name; a call that fails leaves its name out. */
  asks: { [Name in keyof Answers]: Call };
  lines(known: Partial<Answers>, state: State, width: number): string[];
  actions?: readonly Action[];
}

/** The overlay, and the calls that fill it. */
export function openDetail<Answers extends Record<string, unknown>>(detail: Detail<Answers>): { overlay: Overlay; effects: Effect[] } {
  const id = Symbol(detail.title);
  const made = (known: Partial<Answers>): Overlay & { id: symbol; known: Partial<Answers> } => ({
    id,
    known,
    title: detail.title,
    scroll: 0,
    lines: (state, width) => detail.lines(known, state, width),
    actions: detail.actions ?? [],
  });
  const take = (state: State, name: string, body: unknown): State => {
    const index = state.overlays.findIndex((overlay) => (overlay as { id?: symbol }).id === id);
    const before = state.overlays[index] as ReturnType<typeof made> | undefined;
    if (!before) return state;
    const after = { ...made({ ...before.known, [name]: body }), scroll: before.scroll };
    return { ...state, overlays: state.overlays.with(index, after) };
  };
  const effects = Object.entries(detail.asks).map(
    ([name, call]): Effect => ({
      kind: "call",
      call,
      done: (state, { body }) => ({ state: take(state, name, body), effects: [] }),
      failed: (state, message) => ({ state: say(state, message, "red"), effects: [] }),
    }),
  );
  return { overlay: made({}), effects };
}

/** Scrolls what lies on top; `height` lines of it are seen at once. */
export function scrolled(state: State, by: number | "first" | "last", length: number, height: number): State {
  const overlay = overlayOf(state);
  if (!overlay) return state;
  const last = Math.max(0, length - height);
  const to = by === "first" ? 0 : by === "last" ? last : overlay.scroll + by;
  return relaid(state, { ...overlay, scroll: Math.max(0, Math.min(last, to)) });
}
