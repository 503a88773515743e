// The details of one row: fetched when opened, drawn with links to other details, and searched.

import type { Call } from "../../../src/client/curl.ts";
import { grouped } from "../../../src/kernel/grouped.ts";
import { oncePerKey } from "../../../src/kernel/once.ts";
import { count } from "../../../src/kernel/text.ts";
import { layoutOf, textSize } from "../../state/layout.ts";
import type { CallEffect, Effect, KeyBinding, Overlay, Reference, StateUpdate, UiState } from "../../state/state.ts";
import { callEffect, pollEffect, topOverlay, update } from "../../state/updates.ts";
import { sanitize, widthOf, wrap } from "../../text/cells.ts";
import { stripStyles, styled, symbols, type TextStyle, type Theme } from "../../text/style.ts";
import { type DetailLine, type DetailWriter, detailWriter } from "../details/detail-lines.ts";

type Calls<Data> = { readonly [Name in keyof Data]?: Call<Data[Name]> };

/** `Data` holds the reply to each call of `fetch` and `outdated`, by name. */
export interface Detail<Data extends object = object> {
  title: string;
  fetch?: Calls<Data>;
  /** Calls whose replies may have changed since they were made. Each poll makes them again. Default: none. */
  outdated?(data: Partial<Data>, state: UiState): Calls<Data>;
  /** A preview shows only the first lines. */
  lines(data: Partial<Data>, write: DetailWriter, state: UiState, isPreview: boolean): DetailLine[];
}

export interface DetailOverlay extends Omit<Overlay, "scroll">, DetailView {
  readonly id: symbol;
  readonly about: Reference & { value: unknown };
  readonly data: Readonly<Record<string, unknown>>;
  readonly errors: Readonly<Record<string, string>>;
  readonly requested: readonly string[];
  content(state: UiState, width: number, isPreview?: boolean): DetailLine[];
  /** Makes the outdated calls again. */
  polls(state: UiState): Effect[];
}

export function topDetail(state: UiState): DetailOverlay | undefined {
  const overlay = topOverlay(state);
  return overlay && isDetail(overlay) ? overlay : undefined;
}

export const isDetail = (overlay: Overlay): overlay is DetailOverlay => "about" in overlay;

/** Polls the topmost detail or, if none is open, the preview. */
export function pollDetail(state: UiState): Effect[] {
  const shown = state.overlays.findLast(isDetail) ?? state.preview?.overlay;
  try {
    return shown && isDetail(shown) ? shown.polls(state) : [];
  } catch {
    // A reply from another version of the sandbox has other fields.
    return [];
  }
}

/** Whether the same detail or pane still has the focus. A reply must not open a detail after the user has moved on. */
export const isStillAt = (from: UiState, later: UiState) =>
  later.pane === from.pane &&
  later.overlays.length === from.overlays.length &&
  topDetail(later)?.id === topDetail(from)?.id;

export function openDetail(
  detail: Detail,
  about: DetailOverlay["about"],
  keys: readonly KeyBinding[],
): { overlay: DetailOverlay; effects: Effect[] } {
  const id = Symbol("detail");
  const change = (state: UiState, next: (overlay: DetailOverlay) => DetailOverlay): StateUpdate => {
    const changed = (overlay: Overlay) =>
      isDetail(overlay) && overlay.id === id ? atWantedBody(state, redrawn(next(overlay))) : overlay;
    const preview = state.preview && { ...state.preview, overlay: changed(state.preview.overlay) };
    return update({ ...state, preview, overlays: state.overlays.map(changed) });
  };
  const addReply =
    (name: string): CallEffect["onReply"] =>
    (state, { body }) =>
      change(state, (overlay) => ({ ...overlay, data: { ...overlay.data, [name]: body } }));
  const fetch = ([name, call]: readonly [string, Call]): Effect =>
    callEffect(call, addReply(name), (state, message) =>
      change(state, (overlay) => ({ ...overlay, errors: { ...overlay.errors, [name]: message } })),
    );
  const redrawn = (overlay: DetailOverlay): DetailOverlay =>
    withView({
      ...overlay,
      content: keptForState((state, width, isPreview) => [
        ...detail.lines(overlay.data, detailWriter(state.theme, width), state, isPreview),
        ...fetchStatus(overlay, state, width),
      ]),
      polls: (state) =>
        Object.entries<Call>({ ...detail.outdated?.(overlay.data, state) }).map(([name, call]) =>
          pollEffect(call, addReply(name)),
        ),
    });
  const calls = Object.entries<Call>({ ...detail.fetch });
  const closed = {
    id,
    about,
    data: {},
    errors: {},
    requested: calls.map(([name]) => name),
    keys,
    content: () => [],
    polls: () => [],
    lines: () => [],
  };
  const view = { scroll: 0, selected: undefined, body: -1, search: "", match: 0 };
  return { overlay: redrawn({ ...closed, ...view, title: sanitize(detail.title) }), effects: calls.map(fetch) };
}

/** Caches the lines of a state, because the screen and each key read them. */
function keptForState(
  write: (state: UiState, width: number, isPreview: boolean) => DetailLine[],
): DetailOverlay["content"] {
  const linesOf = oncePerKey((_: UiState) => new Map<string, DetailLine[]>());
  return (state, width, isPreview = false) => {
    const kept = linesOf(state);
    const key = `${width} ${isPreview}`;
    const lines = kept.get(key) ?? write(state, width, isPreview);
    kept.set(key, lines);
    return lines;
  };
}

/** The target of the selected link in the topmost detail. */
export function selectedReference(state: UiState): Reference | undefined {
  const detail = topDetail(state);
  if (!detail) return undefined;
  const links = linksOf(detail.content(state, textSize(layoutOf(state).overlay).width));
  return selectedLink(links, detail.selected)?.to;
}

/** Scrolls the detail to its next body. After the last body comes the first. */
export function atNextBody(state: UiState, overlay: DetailOverlay): DetailOverlay {
  const { width, height } = textSize(layoutOf(state).overlay);
  const lines = overlay.content(state, width);
  const bodies = bodiesOf(lines);
  const body = (overlay.body + 1) % bodies.length;
  return withView(overlay, {
    body,
    wantsBody: false,
    scroll: Math.max(0, Math.min(lines.length - height, bodies[body] ?? 0)),
  });
}

const atWantedBody = (state: UiState, overlay: DetailOverlay) =>
  overlay.wantsBody && isLoaded(overlay) ? atNextBody(state, overlay) : overlay;

export const isLoaded = ({ data, errors, requested }: DetailOverlay) =>
  requested.every((name) => name in data || name in errors);

/** Redraws a detail after a change of its scroll position, selected link or search. */
export const withView = (overlay: DetailOverlay, view: Partial<DetailView> = {}): DetailOverlay => {
  const next = { ...overlay, ...view };
  return {
    ...next,
    lines: (state, width) => drawDetail(next.content(state, width), next, state.theme, width),
    note: (state, width) => next.search && `/${next.search}  ${searchNote(next.content(state, width), next, width)}`,
  };
};

/** The errors of failed calls, and "Loading …" while a call is pending. */
function fetchStatus(overlay: DetailOverlay, { theme }: UiState, width: number): string[] {
  const { errors } = overlay;
  const problems = Object.values(errors).flatMap((error) =>
    wrap(sanitize(error), width).map((line) => styled(theme, line, "failure")),
  );
  return [
    ...(problems.length > 0 ? ["", ...problems] : []),
    ...(isLoaded(overlay) ? [] : ["", styled(theme, "Loading …", "dim")]),
  ];
}

export interface DetailView {
  readonly scroll: number;
  /** The key of the selected link. Undefined: the first link. */
  readonly selected: string | undefined;
  /** The index of the body last scrolled to; -1 before the first. */
  readonly body: number;
  /** The user pressed the key for the next body before the replies arrived. */
  readonly wantsBody?: boolean;
  readonly search: string;
  readonly match: number;
}

export interface Link {
  /** A key that identifies the link even while lines are added above it. */
  key: string;
  to: Reference;
  line: number;
  length: number;
}

export function linksOf(lines: readonly DetailLine[]): Link[] {
  const links: Link[] = [];
  const seen = new Map<string, number>();
  for (const [index, line] of lines.entries()) {
    if (typeof line === "string" || !("link" in line)) continue;
    const last = links.at(-1);
    if (last?.to === line.link) last.length++;
    else {
      const name = `${line.link.pane} ${line.link.id}`;
      const number = (seen.get(name) ?? 0) + 1;
      seen.set(name, number);
      links.push({ key: `${name} ${number}`, to: line.link, line: index, length: 1 });
    }
  }
  return links;
}

export const bodiesOf = (lines: readonly DetailLine[]): number[] =>
  lines.flatMap((line, index) => (typeof line !== "string" && "isBody" in line ? [index] : []));

export const selectedLink = (links: readonly Link[], selected: string | undefined): Link | undefined =>
  links.find(({ key }) => key === selected) ?? links[0];

interface MatchPiece {
  line: number;
  start: number;
  end: number;
}

/** A match has two pieces where its text is wrapped. */
type Match = readonly [MatchPiece, ...MatchPiece[]];

/**
 * The occurrences of a text, ignoring case. A line as wide as the detail is searched together with the next one,
 * because it may be wrapped.
 */
export function matchesOf(lines: readonly DetailLine[], search: string, width: number): Match[] {
  if (search === "") return [];
  const texts = lines.map((line) => stripStyles(textOf(line)));
  const wanted = search.toLowerCase();
  return texts.flatMap((text, line) => {
    const isWrapped = widthOf(text) >= width - 1;
    const next = isWrapped ? (texts[line + 1] ?? "") : "";
    const indent = next.length - next.trimStart().length;
    const whole = (text + next.slice(indent)).toLowerCase();
    const matches: Match[] = [];
    for (
      let start = whole.indexOf(wanted);
      start !== -1 && start < text.length;
      start = whole.indexOf(wanted, start + wanted.length)
    ) {
      const end = start + wanted.length;
      const rest = { line: line + 1, start: indent, end: indent + end - text.length };
      matches.push([{ line, start, end: Math.min(end, text.length) }, ...(end > text.length ? [rest] : [])]);
    }
    return matches;
  });
}

export const textOf = (line: DetailLine) => (typeof line === "string" ? line : line.text);

function drawDetail(
  lines: readonly DetailLine[],
  { selected, search, match }: DetailView,
  theme: Theme,
  width: number,
): string[] {
  const links = linksOf(lines);
  const current = selectedLink(links, selected);
  const drawn = lines.map(textOf);
  const { cursor, link: marker } = symbols(theme);
  for (const link of links) {
    const isSelected = link === current;
    for (let line = link.line; line < link.line + link.length; line++) {
      const text = drawn[line] ?? "";
      if (isSelected) drawn[line] = selectedText(theme, stripStyles(text), line === link.line ? cursor : " ", width);
      else if (line === link.line) drawn[line] = text.replace(FIRST_SPACE, `$1${marker}`);
    }
  }
  const pieces = matchesOf(lines, search, width).flatMap((one, index) =>
    one.map((piece) => ({ ...piece, isCurrent: index === match })),
  );
  for (const [line, ofLine] of grouped(pieces, (piece) => piece.line))
    drawn[line] = highlighted(theme, stripStyles(drawn[line] ?? ""), ofLine);
  return drawn;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: styles begin with an escape character.
const FIRST_SPACE = /^((?:\x1b\[[\d;]+m)*) /;

const selectedText = (theme: Theme, text: string, marker: string, width: number) =>
  styled(theme, (marker + text.slice(1)).padEnd(text.length + Math.max(0, width - widthOf(text))), "inverse");

function highlighted(theme: Theme, text: string, pieces: readonly (MatchPiece & { isCurrent: boolean })[]): string {
  let result = "";
  let from = 0;
  for (const { start, end, isCurrent } of pieces) {
    const styles: TextStyle[] = isCurrent ? ["inverse"] : ["bold", "yellow"];
    result += text.slice(from, start) + styled(theme, text.slice(start, end), ...styles);
    from = end;
  }
  return result + text.slice(from);
}

/** The number of the current match and of all matches, such as `2 of 5`; empty without a search. */
export function searchNote(lines: readonly DetailLine[], { search, match }: DetailView, width: number): string {
  if (search === "") return "";
  const found = matchesOf(lines, search, width).length;
  return found === 0 ? "no match" : `${count(Math.min(match, found - 1) + 1)} of ${count(found)}`;
}
