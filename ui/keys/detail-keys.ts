// The keys of overlays: scroll; in a detail also follow its links, go to its bodies and search it; and jump between a request and its delivery.

import type { DetailLine } from "../details/detail-lines.ts";
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
} from "../overlays/detail.ts";
import { editSearch } from "../overlays/field.ts";
import { boundTo, type KeyBinding, type RowKey, type StateUpdate, type UiState } from "../state/state.ts";
import { replaceTopOverlay, topOverlay, update, withNotice } from "../state/updates.ts";
import { sanitize } from "../view/cells.ts";
import { layoutOf, textSize } from "../view/layout.ts";
import { canJump, jump, openReference } from "./references.ts";

/** The detail that has the focus, as it is on the screen. */
interface OpenDetail {
  detail: DetailOverlay;
  lines: readonly DetailLine[];
  links: readonly Link[];
  /** The selected link, visible or not. */
  selected: Link | undefined;
  width: number;
  height: number;
}

function openDetailOf(state: UiState): OpenDetail | undefined {
  const detail = topDetail(state);
  if (!detail) return undefined;
  const size = textSize(layoutOf(state).overlay);
  const lines = detail.content(state, size.width);
  const links = linksOf(lines);
  return { detail, lines, links, selected: selectedLink(links, detail.selected), ...size };
}

function changeView(state: UiState, view: Partial<DetailView>): StateUpdate {
  const detail = topDetail(state);
  return update(detail ? replaceTopOverlay(state, withView(detail, view)) : state);
}

/** Before a detail's own keys: `n` is the next match while there is a search. */
export const detailKeys: readonly KeyBinding[] = detailBindings().map((key) => boundTo(key, openDetailOf));

function detailBindings(): readonly RowKey<OpenDetail>[] {
  const isSearched = (_: UiState, { detail }: OpenDetail) => detail.search !== "";
  const hasLinks = (_: UiState, { links }: OpenDetail) => links.length > 0;
  return [
    {
      keys: ["enter"],
      label: "open link",
      help: "open the selected link",
      isEnabled: (_, opened) => visibleSelection(opened) !== undefined,
      run(state, opened) {
        const link = visibleSelection(opened);
        return link ? openReference(state, link.to) : update(state);
      },
    },
    {
      keys: ["n"],
      label: "next match",
      help: "next match of the search",
      isEnabled: isSearched,
      run: (state, opened) => goToMatch(state, opened, 1),
    },
    { keys: ["N"], help: "previous match of the search", isEnabled: isSearched, run: (state, opened) => goToMatch(state, opened, -1) },
    {
      keys: ["escape"],
      label: "clear search",
      help: "clear the search",
      isEnabled: isSearched,
      run: (state) => changeView(state, { search: "", match: 0 }),
    },
    {
      keys: ["B"],
      label: "body",
      help: "go to the body, then to the next one",
      isEnabled: (_, { lines }) => bodiesOf(lines).length > 0,
      run: scrollToBody,
    },
    { keys: ["/"], label: "search", help: "search the details", run: startSearch },
    { keys: ["tab"], help: "next link", isEnabled: hasLinks, run: (state, opened) => selectLink(state, opened, 1) },
    { keys: ["shift-tab"], help: "previous link", isEnabled: hasLinks, run: (state, opened) => selectLink(state, opened, -1) },
  ];
}

/** In panes and in details. */
export const jumpKey: KeyBinding = {
  keys: ["J"],
  label: "jump",
  help: "jump from a request to its delivery, and from a delivery, a verdict or a fault to its request",
  isEnabled: canJump,
  run: jump,
};

/** Scrolls the top overlay. In a detail, one step selects the next link instead if that is visible. */
export function scrollOverlay(state: UiState, by: number | "first" | "last"): StateUpdate {
  const overlay = topOverlay(state);
  if (!overlay) return update(state);
  const { width, height } = textSize(layoutOf(state).overlay);
  const last = Math.max(0, overlay.lines(state, width).length - height);
  const to = by === "first" ? 0 : by === "last" ? last : Math.min(overlay.scroll, last) + by;
  const scroll = Math.max(0, Math.min(last, to));
  const opened = openDetailOf(state);
  if (!opened) return update(replaceTopOverlay(state, { ...overlay, scroll }));
  const { links, selected } = opened;
  const next = (by === 1 || by === -1) && selected ? links[links.indexOf(selected) + by] : undefined;
  if (next && isVisible(next, overlay.scroll, height)) return changeView(state, { selected: next.key });
  return changeView(state, { scroll, selected: linkAt(opened, scroll)?.key });
}

const isVisible = ({ line }: Link, scroll: number, height: number) => line >= scroll && line < scroll + height;

/** The selected link if it is visible after scrolling, otherwise the visible one nearest to it. */
function linkAt({ links, selected, height }: OpenDetail, scroll: number): Link | undefined {
  if (!selected || isVisible(selected, scroll, height)) return selected;
  const visible = links.filter((link) => isVisible(link, scroll, height));
  return (selected.line < scroll ? visible[0] : visible.at(-1)) ?? selected;
}

/** The link that Enter follows. */
const visibleSelection = ({ detail, selected, height }: OpenDetail): Link | undefined =>
  selected && isVisible(selected, detail.scroll, height) ? selected : undefined;

/** Selects the next or the previous link, wherever it is; first of all the selected one, if it is out of sight. */
function selectLink(state: UiState, opened: OpenDetail, by: 1 | -1): StateUpdate {
  const { links, selected, detail } = opened;
  const from = visibleSelection(opened);
  const link = from ? links[(links.indexOf(from) + by + links.length) % links.length] : selected;
  return link ? changeView(state, { selected: link.key, scroll: scrollTo(opened, link.line, detail.scroll) }) : update(state);
}

/** The scroll position that shows a line: `from` if it is visible there, otherwise one that puts it a third down. */
const scrollTo = ({ height }: OpenDetail, line: number, from: number): number =>
  line >= from && line < from + height ? from : Math.max(0, line - Math.floor(height / 3));

/** Scrolls to the first body, and from there to the next one. */
function scrollToBody(state: UiState, opened: OpenDetail): StateUpdate {
  const { detail, lines, height } = opened;
  const bodies = bodiesOf(lines);
  const body = (detail.body + 1) % bodies.length;
  const scroll = Math.max(0, Math.min(lines.length - height, bodies[body] ?? 0));
  return changeView(state, { body, scroll, selected: linkAt(opened, scroll)?.key });
}

function goToMatch(state: UiState, opened: OpenDetail, by: 1 | -1): StateUpdate {
  const { detail, lines, width } = opened;
  const matches = matchesOf(lines, detail.search, width);
  if (matches.length === 0) return update(withNotice(state, `No match for ${sanitize(detail.search)}`, "yellow"));
  const match = (Math.min(detail.match, matches.length - 1) + by + matches.length) % matches.length;
  return changeView(state, { match, scroll: scrollTo(opened, matches[match]?.[0].line ?? 0, detail.scroll) });
}

/** Starts a search, which applies while it is typed. Esc returns to where it began. */
function startSearch(state: UiState, { detail: { scroll: from } }: OpenDetail): StateUpdate {
  const ended = { isSearching: false, onKey: undefined };
  const onKey = (later: UiState, key: string): StateUpdate | undefined => {
    const opened = openDetailOf(later);
    if (key === "enter") return changeView(later, ended);
    if (key === "escape") return changeView(later, { ...ended, search: "", match: 0, scroll: from });
    const search = editSearch(opened?.detail.search ?? "", key);
    if (!opened || search === undefined) return undefined;
    const matches = matchesOf(opened.lines, search, opened.width);
    const match = Math.max(
      0,
      matches.findIndex(([{ line }]) => line >= from),
    );
    const line = matches[match]?.[0].line;
    return changeView(later, { search, match, scroll: line === undefined ? from : scrollTo(opened, line, from) });
  };
  return changeView(state, { search: "", match: 0, isSearching: true, onKey });
}
