// The details of one row: fetched when opened, scrolled with the movement keys.

import {
  callEffect,
  type Effect,
  type KeyBinding,
  type Overlay,
  replaceTopOverlay,
  type StateUpdate,
  topOverlay,
  type UiState,
} from "../state/state.ts";
import { sanitize, wrap } from "../terminal/cells.ts";
import { styled } from "../terminal/style.ts";
import type { Call } from "../wire/control-calls.ts";

type FetchCalls<Data> = { readonly [Name in keyof Data]?: Call<Data[Name]> };

/** `Data` is the replies to the calls of `fetch` and `fetchMore`, by name. */
export interface Detail<Data extends object = object> {
  title: string;
  /** Calls made when the detail opens. */
  fetch?: FetchCalls<Data>;
  /** Further calls that follow from the first replies. */
  fetchMore?(data: Partial<Data>): FetchCalls<Data>;
  lines(data: Partial<Data>, state: UiState, width: number): string[];
}

interface DetailOverlay extends Overlay {
  readonly id: symbol;
  readonly data: Readonly<Record<string, unknown>>;
  /** Error messages of failed calls, by name. */
  readonly errors: Readonly<Record<string, string>>;
  /** The names of all calls made so far. */
  readonly requested: readonly string[];
}

export function openDetail(detail: Detail, keys: readonly KeyBinding[]): { overlay: Overlay; effects: Effect[] } {
  const id = Symbol("detail");
  const change = (state: UiState, next: (overlay: DetailOverlay) => DetailOverlay): StateUpdate => {
    const index = state.overlays.findIndex((overlay) => (overlay as Partial<DetailOverlay>).id === id);
    const before = state.overlays[index] as DetailOverlay | undefined;
    if (!before) return { state, effects: [] };
    const after = next(before);
    const more = Object.entries<Call>({ ...detail.fetchMore?.(after.data) }).filter(([name]) => !after.requested.includes(name));
    const requested = [...after.requested, ...more.map(([name]) => name)];
    return { state: { ...state, overlays: state.overlays.with(index, withLines({ ...after, requested })) }, effects: more.map(fetch) };
  };
  const fetch = ([name, call]: readonly [string, Call]): Effect =>
    callEffect(
      call,
      (state, { body }) => change(state, (overlay) => ({ ...overlay, data: { ...overlay.data, [name]: body } })),
      (state, message) => change(state, (overlay) => ({ ...overlay, errors: { ...overlay.errors, [name]: message } })),
    );
  const withLines = (overlay: DetailOverlay): DetailOverlay => ({
    ...overlay,
    lines: (state, width) => [...detail.lines(overlay.data, state, width), ...fetchStatus(overlay, state, width)],
  });
  const calls = Object.entries<Call>({ ...detail.fetch });
  const requested = calls.map(([name]) => name);
  const overlay = { id, data: {}, errors: {}, requested, title: sanitize(detail.title), scroll: 0, lines: () => [], keys };
  return { overlay: withLines(overlay), effects: calls.map(fetch) };
}

/** The errors of failed calls, and "Loading …" while a call is pending. */
function fetchStatus({ data, errors, requested }: DetailOverlay, { theme }: UiState, width: number): string[] {
  const problems = Object.values(errors).flatMap((error) => wrap(sanitize(error), width).map((line) => styled(theme, line, "red")));
  const isLoading = requested.some((name) => !(name in data) && !(name in errors));
  return [...(problems.length > 0 ? ["", ...problems] : []), ...(isLoading ? ["", styled(theme, "Loading …", "dim")] : [])];
}

/** Scrolls the top overlay, which has `length` lines and shows `height` of them. */
export function scrollOverlay(state: UiState, by: number | "first" | "last", length: number, height: number): UiState {
  const overlay = topOverlay(state);
  if (!overlay) return state;
  const last = Math.max(0, length - height);
  const to = by === "first" ? 0 : by === "last" ? last : overlay.scroll + by;
  return replaceTopOverlay(state, { ...overlay, scroll: Math.max(0, Math.min(last, to)) });
}
