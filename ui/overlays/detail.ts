// The details of one row: fetched when opened, with links to other details and a search.

import type { DetailLine, Reference } from "../details/detail-lines.ts";
import {
  callEffect,
  type Effect,
  type KeyBinding,
  type Overlay,
  type StateUpdate,
  topOverlay,
  type UiState,
  update,
} from "../state/state.ts";
import { sanitize, wrap } from "../terminal/cells.ts";
import { styled } from "../terminal/style.ts";
import type { Call } from "../wire/control-calls.ts";
import { type DetailView, drawDetail, searchNote } from "./detail-view.ts";

type FetchCalls<Data> = { readonly [Name in keyof Data]?: Call<Data[Name]> };

/** `Data` is the replies to the calls of `fetch`, by name. */
export interface Detail<Data extends object = object> {
  title: string;
  /** Calls made when the detail opens. */
  fetch?: FetchCalls<Data>;
  /** A preview shows only the first lines. */
  lines(data: Partial<Data>, state: UiState, width: number, isPreview: boolean): DetailLine[];
}

export interface DetailOverlay extends Overlay, DetailView {
  readonly id: symbol;
  /** The row whose detail it is. */
  readonly about: Reference & { value: unknown };
  readonly data: Readonly<Record<string, unknown>>;
  /** Error messages of failed calls, by name. */
  readonly errors: Readonly<Record<string, string>>;
  /** The names of all calls. */
  readonly requested: readonly string[];
  content(state: UiState, width: number, isPreview?: boolean): DetailLine[];
}

/** The detail that has the focus. */
export function topDetail(state: UiState): DetailOverlay | undefined {
  const overlay = topOverlay(state);
  return overlay && isDetail(overlay) ? overlay : undefined;
}

export const isDetail = (overlay: Overlay): overlay is DetailOverlay => "about" in overlay;

/** Whether the same detail or pane still has the focus: a reply that opens a detail must not open it elsewhere. */
export const isStillAt = (from: UiState, later: UiState) =>
  later.pane === from.pane && later.overlays.length === from.overlays.length && topDetail(later)?.id === topDetail(from)?.id;

export function openDetail(
  detail: Detail,
  about: DetailOverlay["about"],
  keys: readonly KeyBinding[],
): { overlay: DetailOverlay; effects: Effect[] } {
  const id = Symbol("detail");
  const change = (state: UiState, next: (overlay: DetailOverlay) => DetailOverlay): StateUpdate => {
    const changed = (overlay: Overlay) => (isDetail(overlay) && overlay.id === id ? redrawn(next(overlay)) : overlay);
    const preview = state.preview && { ...state.preview, overlay: changed(state.preview.overlay) };
    return update({ ...state, preview, overlays: state.overlays.map(changed) });
  };
  const fetch = ([name, call]: readonly [string, Call]): Effect =>
    callEffect(
      call,
      (state, { body }) => change(state, (overlay) => ({ ...overlay, data: { ...overlay.data, [name]: body } })),
      (state, message) => change(state, (overlay) => ({ ...overlay, errors: { ...overlay.errors, [name]: message } })),
    );
  const redrawn = (overlay: DetailOverlay): DetailOverlay =>
    withView({
      ...overlay,
      content: (state, width, isPreview = false) => [
        ...detail.lines(overlay.data, state, width, isPreview),
        ...fetchStatus(overlay, state, width),
      ],
    });
  const calls = Object.entries<Call>({ ...detail.fetch });
  const closed = { id, about, data: {}, errors: {}, requested: calls.map(([name]) => name), keys, content: () => [], lines: () => [] };
  const view = { scroll: 0, selected: undefined, body: -1, search: "", match: 0 };
  return { overlay: redrawn({ ...closed, ...view, title: sanitize(detail.title) }), effects: calls.map(fetch) };
}

/** Draws the overlay as its view says: the selected link, and the matches of the search. */
export const withView = (overlay: DetailOverlay, view: Partial<DetailView> = {}): DetailOverlay => {
  const next = { ...overlay, ...view };
  return {
    ...next,
    lines: (state, width) => drawDetail(next.content(state, width), next, state.theme, width),
    note: (state, width) => searchNote(next.content(state, width), next, state.theme, width),
  };
};

/** The errors of failed calls, and "Loading …" while a call is pending. */
function fetchStatus({ data, errors, requested }: DetailOverlay, { theme }: UiState, width: number): string[] {
  const problems = Object.values(errors).flatMap((error) => wrap(sanitize(error), width).map((line) => styled(theme, line, "failure")));
  const isLoading = requested.some((name) => !(name in data) && !(name in errors));
  return [...(problems.length > 0 ? ["", ...problems] : []), ...(isLoading ? ["", styled(theme, "Loading …", "dim")] : [])];
}
