// The keys of overlays: they scroll any overlay. In a detail, they also follow links, go to bodies, search, and jump
// between a request and its delivery.

import type { FaultRule, RateWindow } from "../../../generated/control-api.ts";
import type { AttemptMessage, RequestMessage } from "../../../src/contracts/live-messages.ts";
import type { VerdictMessage } from "../../../src/contracts/verdict.ts";
import { layoutOf, textSize } from "../../state/layout.ts";
import { type CursorMove, selectedRow } from "../../state/list.ts";
import type { Reference } from "../../state/state.ts";
import { boundTo, type KeyBinding, listOf, type RowKey, type StateUpdate, type UiState } from "../../state/state.ts";
import { callEffect, closeTopOverlay, replaceTopOverlay, topOverlay, update, withNotice } from "../../state/updates.ts";
import { sanitize } from "../../text/cells.ts";
import { attemptCall } from "../details/delivery.ts";
import { affectedRequests } from "../details/fault.ts";
import { causedAttemptsCall } from "../details/request.ts";
import { paneNamed } from "../index.ts";
import {
  atNextBody,
  bodiesOf,
  type DetailView,
  isDetail,
  isLoaded,
  isStillAt,
  type Link,
  linksOf,
  matchesOf,
  selectedLink,
  topDetail,
  withView,
} from "../overlays/detail.ts";
import { refusedRequests } from "../rate-limits.ts";

/**
 * Opens a detail. If it is directly below the top detail, closes the top one instead, so that going back and forth does
 * not stack details.
 */
export function openReference(state: UiState, { pane, id }: Reference): StateUpdate {
  const below = state.overlays.at(-2);
  const isBelow = below && isDetail(below) && below.about.pane === pane && below.about.id === id;
  if (isBelow && topDetail(state)) return update(closeTopOverlay(state));
  return paneNamed(pane).openById(state, id);
}

/** The row that has the focus: the row of the top detail, or else the selected row. */
function focused(state: UiState): { pane: string; value: unknown } | undefined {
  const detail = topDetail(state);
  if (detail) return detail.about;
  const row = selectedRow(listOf(state));
  return row && !row.gap ? { pane: state.pane, value: row.value } : undefined;
}

const notify = (state: UiState, text: string) => update(withNotice(state, text, "yellow"));
const toRequest = (state: UiState, id: string | undefined) =>
  id === undefined ? notify(state, "This row has no request") : openReference(state, { pane: "requests", id });

const jumps: Record<string, (state: UiState, value: never) => StateUpdate> = {
  requests(state, { id }: RequestMessage) {
    const effect = callEffect(causedAttemptsCall(id, 1), (later, { body }) => {
      const [newest] = body.data;
      if (!isStillAt(state, later)) return update(later);
      return newest
        ? openReference(later, { pane: "deliveries", id: newest.id })
        : notify(later, `${id} caused no delivery yet`);
    });
    return update(state, effect);
  },
  deliveries(state, { id, eventId }: AttemptMessage) {
    const effect = callEffect(attemptCall(id), (later, { body: { request } }) => {
      if (!isStillAt(state, later)) return update(later);
      return request === null ? notify(later, `No request caused ${eventId}`) : toRequest(later, request);
    });
    return update(state, effect);
  },
  verdicts(state, { requests, attempts }: VerdictMessage) {
    const [attempt] = attempts.slice(-1);
    if (requests.length > 0 || attempt === undefined) return toRequest(state, requests.at(-1));
    return openReference(state, { pane: "deliveries", id: attempt });
  },
  faults: (state, { id }: FaultRule) => toRequest(state, affectedRequests(state, id).at(-1)?.id),
  limits: (state, { merchant }: RateWindow) => toRequest(state, refusedRequests(state, merchant).at(-1)?.id),
};

/**
 * The focused detail as it appears on the screen: its lines, its links, the selected link (which may not be visible),
 * and the size of its text.
 */
function openDetailOf(state: UiState) {
  const detail = topDetail(state);
  if (!detail) return undefined;
  const size = textSize(layoutOf(state).overlay);
  const lines = detail.content(state, size.width);
  const links = linksOf(lines);
  return { detail, lines, links, selected: selectedLink(links, detail.selected), ...size };
}

type OpenDetail = NonNullable<ReturnType<typeof openDetailOf>>;

function changeView(state: UiState, view: Partial<DetailView>): StateUpdate {
  const detail = topDetail(state);
  return update(detail ? replaceTopOverlay(state, withView(detail, view)) : state);
}

/** Bindings that take precedence over a detail's own keys: during a search, `n` goes to the next match. */
export const detailKeys: readonly KeyBinding[] = [
  boundTo(
    {
      keys: ["enter"],
      label: "open link",
      help: "open the selected link",
      run: (state, { to }) => openReference(state, to),
    },
    (state) => {
      const opened = openDetailOf(state);
      return opened && visibleSelection(opened);
    },
  ),
  ...detailBindings().map((key) => boundTo(key, openDetailOf)),
];

function detailBindings(): readonly RowKey<OpenDetail>[] {
  const isSearched = (_: UiState, { detail }: OpenDetail) => detail.search !== "";
  const hasLinks = (_: UiState, { links }: OpenDetail) => links.length > 0;
  return [
    {
      keys: ["n"],
      label: "next match",
      help: "next match of the search",
      isEnabled: isSearched,
      run: (state, opened) => goToMatch(state, opened, 1),
    },
    {
      keys: ["N"],
      help: "previous match of the search",
      isEnabled: isSearched,
      run: (state, opened) => goToMatch(state, opened, -1),
    },
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
      isEnabled: (_, { lines, detail }) => bodiesOf(lines).length > 0 || !isLoaded(detail),
      run: scrollToBody,
    },
    { keys: ["tab"], help: "next link", isEnabled: hasLinks, run: (state, opened) => selectLink(state, opened, 1) },
    {
      keys: ["shift-tab"],
      help: "previous link",
      isEnabled: hasLinks,
      run: (state, opened) => selectLink(state, opened, -1),
    },
  ];
}

export const jumpKey: KeyBinding = {
  keys: ["J"],
  label: "jump",
  help: "jump from a request to its delivery, or from any other row to its request",
  isEnabled: (state) => jumps[focused(state)?.pane ?? ""] !== undefined,
  run(state) {
    const { pane = "", value } = focused(state) ?? {};
    return jumps[pane]?.(state, value as never) ?? update(state);
  },
};

/** The first visible line after scrolling; `last` is the first visible line at the end of the text. */
export function scrolledBy(from = 0, by: CursorMove, last: number): number {
  if (by === "first") return 0;
  if (by === "last") return Math.max(0, last);
  return Math.max(0, Math.min(last, Math.min(from, last) + by));
}

/**
 * Scrolls the top overlay. In a detail, a step of one line selects the next link instead if that link is visible. After
 * a larger movement, a visible link is selected, except on the page: the browser would scroll to that link.
 */
export function scrollOverlay(state: UiState, by: CursorMove): StateUpdate {
  const overlay = topOverlay(state);
  if (!overlay) return update(state);
  const { width, height } = textSize(layoutOf(state).overlay);
  const last = Math.max(0, overlay.lines(state, width).length - height);
  const from = overlay.scroll ?? 0;
  const scroll = scrolledBy(from, by, last);
  const opened = openDetailOf(state);
  if (!opened) return update(replaceTopOverlay(state, { ...overlay, scroll }));
  const { links, selected } = opened;
  const isStep = by === 1 || by === -1;
  const next = isStep && selected ? links[links.indexOf(selected) + by] : undefined;
  if (next && isVisible(next, from, height)) return changeView(state, { selected: next.key });
  return changeView(state, state.isPage && !isStep ? { scroll } : { scroll, selected: linkAt(opened, scroll)?.key });
}

const isVisible = ({ line }: Link, scroll: number, height: number) => line >= scroll && line < scroll + height;

/** The selected link if it is visible after scrolling, or else the nearest visible link. */
function linkAt({ links, selected, height }: OpenDetail, scroll: number): Link | undefined {
  if (!selected || isVisible(selected, scroll, height)) return selected;
  const visible = links.filter((link) => isVisible(link, scroll, height));
  return (selected.line < scroll ? visible[0] : visible.at(-1)) ?? selected;
}

/** The link that Enter follows. */
const visibleSelection = ({ detail, selected, height }: OpenDetail): Link | undefined =>
  selected && isVisible(selected, detail.scroll, height) ? selected : undefined;

/** Selects the next or the previous link, visible or not. If the selected link is not visible, returns to it first. */
function selectLink(state: UiState, opened: OpenDetail, by: 1 | -1): StateUpdate {
  const { links, selected, detail } = opened;
  const from = visibleSelection(opened);
  const link = from ? links[(links.indexOf(from) + by + links.length) % links.length] : selected;
  return link
    ? changeView(state, { selected: link.key, scroll: scrollTo(opened, link.line, detail.scroll) })
    : update(state);
}

/** Returns `from` if the line is visible there; otherwise a position that shows the line a third down the screen. */
const scrollTo = ({ height }: OpenDetail, line: number, from: number): number =>
  line >= from && line < from + height ? from : Math.max(0, line - Math.floor(height / 3));

function scrollToBody(state: UiState, opened: OpenDetail): StateUpdate {
  const { detail, lines } = opened;
  if (bodiesOf(lines).length === 0) return changeView(state, { wantsBody: true });
  const { body, scroll } = atNextBody(state, detail);
  return changeView(state, { body, scroll, selected: linkAt(opened, scroll)?.key });
}

function goToMatch(state: UiState, opened: OpenDetail, by: 1 | -1): StateUpdate {
  const { detail, lines, width } = opened;
  const matches = matchesOf(lines, detail.search, width);
  if (matches.length === 0) return update(withNotice(state, `No match for ${sanitize(detail.search)}`, "yellow"));
  const match = (Math.min(detail.match, matches.length - 1) + by + matches.length) % matches.length;
  return changeView(state, { match, scroll: scrollTo(opened, matches[match]?.[0].line ?? 0, detail.scroll) });
}

export function searchDetail(state: UiState, search: string, from: number): StateUpdate {
  const opened = openDetailOf(state);
  if (!opened) return update(state);
  const matches = matchesOf(opened.lines, search, opened.width);
  const first = matches.findIndex(([{ line }]) => line >= from);
  const match = Math.max(0, first);
  const line = matches[match]?.[0].line;
  return changeView(state, { search, match, scroll: line === undefined ? from : scrollTo(opened, line, from) });
}
