// Moving in overlays: scrolling, selecting the links of a detail, going to its bodies, and searching it.

import { replaceTopOverlay, type StateUpdate, topOverlay, type UiState, update, withNotice } from "../state/state.ts";
import { sanitize } from "../view/cells.ts";
import { layoutOf } from "../view/layout.ts";
import {
  bodiesOf,
  type DetailOverlay,
  type DetailView,
  type Link,
  linksOf,
  matchesOf,
  selectedLink,
  topDetail,
  withView,
} from "./detail.ts";
import { textOf } from "./field.ts";

/** The size of the text in an overlay. */
const textSize = (state: UiState) => {
  const { width, height } = layoutOf(state).overlay;
  return { width: width - 4, height: height - 2 };
};

const withTopView = (state: UiState, detail: DetailOverlay, view: Partial<DetailView>): UiState =>
  replaceTopOverlay(state, withView(detail, view));

const contentOf = (state: UiState, detail: DetailOverlay) => detail.content(state, textSize(state).width);

/** Scrolls the top overlay. In a detail, one step selects the next link instead if that is visible. */
export function scrollOverlay(state: UiState, by: number | "first" | "last"): UiState {
  const overlay = topOverlay(state);
  if (!overlay) return state;
  const { width, height } = textSize(state);
  const last = Math.max(0, overlay.lines(state, width).length - height);
  const to = by === "first" ? 0 : by === "last" ? last : Math.min(overlay.scroll, last) + by;
  const scroll = Math.max(0, Math.min(last, to));
  const detail = topDetail(state);
  if (!detail) return replaceTopOverlay(state, { ...overlay, scroll });
  const links = linksOf(contentOf(state, detail));
  const selected = selectedLink(links, detail.selected);
  const next = (by === 1 || by === -1) && selected ? links[links.indexOf(selected) + by] : undefined;
  if (next && isVisible(next, detail.scroll, height)) return withTopView(state, detail, { selected: next.key });
  return withTopView(state, detail, { scroll, selected: visibleLink(links, selected, scroll, height)?.key });
}

const isVisible = ({ line }: Link, scroll: number, height: number) => line >= scroll && line < scroll + height;

/** The selected link if it is visible, otherwise the visible one nearest to it. */
function visibleLink(links: readonly Link[], selected: Link | undefined, scroll: number, height: number): Link | undefined {
  if (!selected || isVisible(selected, scroll, height)) return selected;
  const visible = links.filter((link) => isVisible(link, scroll, height));
  return (selected.line < scroll ? visible[0] : visible.at(-1)) ?? selected;
}

/** The link that Enter follows: the selected one, if it is visible. */
export function linkToFollow(state: UiState): Link | undefined {
  const detail = topDetail(state);
  const link = detail && selectedLink(linksOf(contentOf(state, detail)), detail.selected);
  return link && isVisible(link, detail.scroll, textSize(state).height) ? link : undefined;
}

export const hasLinks = (state: UiState) => {
  const detail = topDetail(state);
  return detail !== undefined && linksOf(contentOf(state, detail)).length > 0;
};

/** Selects the next or the previous link, wherever it is. */
export function selectLink(state: UiState, by: 1 | -1): UiState {
  const detail = topDetail(state);
  if (!detail) return state;
  const links = linksOf(contentOf(state, detail));
  const selected = selectedLink(links, detail.selected);
  if (!selected) return state;
  // One that was scrolled out of sight, or that was never visible, is selected before any other.
  const isShown = linkToFollow(state) !== undefined;
  const link = isShown ? links[(links.indexOf(selected) + by + links.length) % links.length] : selected;
  return link ? withTopView(state, detail, { selected: link.key, scroll: scrollTo(state, detail, link.line) }) : state;
}

/** The scroll position that shows a line: the same if it is visible, otherwise one that puts it a third down. */
function scrollTo(state: UiState, { scroll }: DetailOverlay, line: number): number {
  const { height } = textSize(state);
  return line >= scroll && line < scroll + height ? scroll : Math.max(0, line - Math.floor(height / 3));
}

export const hasBody = (state: UiState) => {
  const detail = topDetail(state);
  return detail !== undefined && bodiesOf(contentOf(state, detail)).length > 0;
};

/** Scrolls to the first body, and from there to the next one. */
export function scrollToBody(state: UiState): UiState {
  const detail = topDetail(state);
  const { width, height } = textSize(state);
  if (!detail) return state;
  const content = detail.content(state, width);
  const bodies = bodiesOf(content);
  if (bodies.length === 0) return state;
  const body = (detail.body + 1) % bodies.length;
  const scroll = Math.max(0, Math.min(content.length - height, bodies[body] ?? 0));
  const links = linksOf(content);
  return withTopView(state, detail, {
    body,
    scroll,
    selected: visibleLink(links, selectedLink(links, detail.selected), scroll, height)?.key,
  });
}

export const isSearched = (state: UiState) => (topDetail(state)?.search ?? "") !== "";

export const clearSearch = (state: UiState): UiState => {
  const detail = topDetail(state);
  return detail ? withTopView(state, detail, { search: "", match: 0 }) : state;
};

/** Goes to the next or the previous match. */
export function goToMatch(state: UiState, by: 1 | -1): UiState {
  const detail = topDetail(state);
  if (!detail) return state;
  const matches = matchesOf(contentOf(state, detail), detail.search, textSize(state).width);
  if (matches.length === 0) return withNotice(state, `No match for ${sanitize(detail.search)}`, "yellow");
  const match = (Math.min(detail.match, matches.length - 1) + by + matches.length) % matches.length;
  return withTopView(state, detail, { match, scroll: scrollTo(state, detail, matches[match]?.[0].line ?? 0) });
}

/** Starts a search, which applies while it is typed. */
export function startSearch(state: UiState): UiState {
  const detail = topDetail(state);
  if (!detail) return state;
  const { scroll: from } = detail;
  const edited = (later: UiState, view: Partial<DetailView>, isSearching: boolean): StateUpdate => {
    const current = topDetail(later);
    if (!current) return update(later);
    const { onKey: _, ...closed } = current;
    const next = { ...closed, ...(isSearching && { onKey }) };
    return update(withTopView(later, next, { ...view, isSearching }));
  };
  const search = (later: UiState, text: string): StateUpdate => {
    const current = topDetail(later);
    if (!current) return update(later);
    const matches = matchesOf(contentOf(later, current), text, textSize(later).width);
    const below = matches.findIndex(([{ line }]) => line >= from);
    const match = Math.max(0, below);
    const line = matches[match]?.[0].line;
    const scroll = line === undefined ? from : scrollTo(later, { ...current, scroll: from }, line);
    return edited(later, { search: text, match, scroll }, true);
  };
  const onKey = (later: UiState, key: string): StateUpdate | undefined => {
    const text = topDetail(later)?.search ?? "";
    if (key === "enter") return edited(later, {}, false);
    if (key === "escape") return edited(later, { search: "", match: 0, scroll: from }, false);
    if (key === "backspace") return search(later, [...text].slice(0, -1).join(""));
    if (key === "ctrl-u") return search(later, "");
    const typed = textOf(key);
    return typed === undefined ? undefined : search(later, text + typed);
  };
  return edited(state, { search: "", match: 0 }, true).state;
}
