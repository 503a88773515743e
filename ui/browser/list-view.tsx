// A pane of rows: its filter, its columns, and the rows on the screen. The dashboard's state has the selected row and
// the filter.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Column, columnWidths } from "../panes/columns.ts";
import { paneNamed } from "../panes/index.ts";
import { lineProblem, openRow, writeLine } from "../panes/keys/key-bindings.ts";
import { type DetailOverlay, isDetail } from "../panes/overlays/detail.ts";
import type { Pane } from "../panes/pane.ts";
import { filteredRows, follow, type List, select, selectedRow } from "../state/list.ts";
import { type Row, refOf } from "../state/rows.ts";
import { listOf, type UiState } from "../state/state.ts";
import { update, withList } from "../state/updates.ts";
import { cutMiddle, sanitize } from "../text/cells.ts";
import { stripStyles } from "../text/style.ts";
import { emptyText, isLiteral, isStale, listNote } from "../view/pane-content.ts";
import type { BrowserDashboard, DashboardProps } from "./browser-dashboard.ts";
import { SEARCH_KEYS } from "./keyboard.ts";
import { Head } from "./shared-parts.tsx";
import { Text } from "./styled-text.tsx";

const ROW_HEIGHT = 28;
/**
 * Each row gets an id of its own, because a screen reader announces a newly selected row only if its id has changed.
 */
const rowId = (index: number) => `row-${index}`;
/** The width of a character of the rows, in pixels. */
const CHARACTER = 7.3;

export function ListView({ dashboard }: DashboardProps) {
  const { state } = dashboard;
  const pane = paneNamed(state.pane);
  const list = listOf(state);
  return (
    <section class={`list ${isStale(state) ? "stale" : ""}`} aria-label={pane.title}>
      <Head title={pane.title} note={listNote(state, pane, list, "counts")} />
      <Rows key={pane.name} dashboard={dashboard} pane={pane} list={list} />
      {/* After the rows, so that Tab goes from the views to them. The style sheet places it in the head. */}
      <Filter dashboard={dashboard} />
    </section>
  );
}

/** The input for the filter, or for the search in open details. It applies on every keystroke; `/` focuses it. */
export function Filter({ dashboard, detail }: DashboardProps & { detail?: DetailOverlay }) {
  const { state, change } = dashboard;
  const { filterLine } = state;
  const input = useRef<HTMLInputElement>(null);
  const isOpen = filterLine !== undefined && (filterLine.searchesFrom !== undefined) === (detail !== undefined);
  const text = isOpen ? filterLine.value : (detail?.search ?? listOf(state).filter);
  const problem = isOpen ? lineProblem(state) : undefined;
  const fields = (paneNamed(state.pane).vocabulary(state)?.fields ?? []).slice(0, 3);
  const write = (written: string) => change((before) => writeLine(before, written, detail && 0));
  // A layout effect runs before the browser paints, so the next key already goes to the input.
  useLayoutEffect(() => {
    if (isOpen) input.current?.focus();
    else input.current?.blur();
  }, [isOpen]);
  return (
    <span class="filter">
      <input
        ref={input}
        type="search"
        aria-label={detail ? "Search the details" : "Filter rows"}
        aria-invalid={problem !== undefined}
        placeholder={detail ? "Search" : `Filter by text${fields.map((name) => `, ${name}:`).join("")}`}
        value={text}
        onFocus={() => !isOpen && write(text)}
        onInput={({ currentTarget: { value } }) => write(value)}
        onBlur={() => change((before) => update({ ...before, filterLine: undefined }))}
        data-keys={SEARCH_KEYS}
        spellcheck={false}
      />
      {problem !== undefined && <span class="problem">{problem}</span>}
    </span>
  );
}

function Rows({ dashboard, pane, list }: DashboardProps & { pane: Pane; list: List }) {
  const { state } = dashboard;
  const scroller = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState({ width: 900, height: 600 });
  const [, setTop] = useState(0);
  const rows = filteredRows(list);
  const cursor = selectedRow(list);
  const selected = cursor ? rows.findLastIndex(({ id }) => id === cursor.id) : -1;
  useSize(scroller, rows.length > 0, (next) => {
    setSize(next);
    dashboard.resize(Math.floor(next.height / ROW_HEIGHT) - 1);
  });
  useScrollPosition(scroller, list, rows, selected, size.height);
  // Screen readers announce the selected row of the element with the focus.
  const isMoving = selected !== -1 && !list.follows;
  useLayoutEffect(() => {
    if (isMoving && document.activeElement === document.body) scroller.current?.focus({ preventScroll: true });
  }, [isMoving, selected]);
  if (rows.length === 0) return <Empty lines={emptyText(state, pane, list)} />;
  const shown = Math.ceil(size.height / ROW_HEIGHT);
  const first = Math.max(
    0,
    list.follows ? rows.length - shown : Math.floor((scroller.current?.scrollTop ?? 0) / ROW_HEIGHT) - 4,
  );
  const last = Math.min(rows.length, first + shown + 8);
  // A row has 24 pixels of padding.
  const width = Math.floor((size.width - 24) / CHARACTER);
  const onScroll = ({ currentTarget }: { currentTarget: HTMLDivElement }) => {
    // A list that follows shows its newest rows whatever its scroll position is.
    if (!list.follows) setTop(currentTarget.scrollTop);
    // If the height differs from the measured height, the list was resized, not scrolled. The resize observer then
    // measures the list, and a list that follows scrolls to its newest row.
    if (currentTarget.clientHeight === size.height) afterScroll(dashboard, pane, currentTarget);
  };
  const visible = rows.slice(first, last);
  const columns = visible.map((row) => (row.gap ? [] : pane.columns(row, state, width)));
  const filled = columns.filter(({ length }) => length > 0);
  const widths = columnWidths(filled, width);
  return (
    <div
      class="rows"
      role="grid"
      aria-label={pane.title}
      aria-rowcount={rows.length + 1}
      aria-activedescendant={isMoving ? rowId(selected) : undefined}
      ref={scroller}
      onScroll={onScroll}
      tabIndex={0}
    >
      {filled[0] && <Headings columns={filled[0]} widths={widths} />}
      <div role="presentation" style={{ height: `${first * ROW_HEIGHT}px` }} />
      {visible.map((row, index) => (
        // A list that follows reuses its elements by position. All its rows may be new, but most texts stay the same.
        <RowLine
          key={list.follows ? index : row.id}
          {...{
            dashboard,
            pane,
            row,
            width,
            columns: columns[index] ?? [],
            widths,
            index: first + index,
            hasCursor: first + index === selected,
          }}
        />
      ))}
      <div role="presentation" style={{ height: `${(rows.length - last) * ROW_HEIGHT}px` }} />
    </div>
  );
}

type ElementRef = { current: HTMLElement | null };

/** Measures the element when it is mounted, and whenever its size changes. */
function useSize(
  element: ElementRef,
  isThere: boolean,
  apply: (size: { width: number; height: number }) => void,
): void {
  useLayoutEffect(() => {
    const { current } = element;
    if (!current) return undefined;
    const measure = () => apply({ width: current.clientWidth, height: current.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    measure();
    return () => observer.disconnect();
  }, [isThere]);
}

/**
 * Keeps the newest row visible while the list follows; otherwise scrolls to the selected row when the selection moves.
 */
function useScrollPosition(
  scroller: ElementRef,
  list: List,
  rows: readonly Row[],
  selected: number,
  height: number,
): void {
  const known = useRef<{ id: string | undefined; place: number }>({ id: undefined, place: -1 });
  useLayoutEffect(() => {
    const { current: element } = scroller;
    if (!element) return;
    const id = rows[selected]?.id;
    const { current: before } = known;
    // Scrolls in the next frame, which computes the layout anyway. Scrolling now would compute the layout twice.
    if (list.follows) requestAnimationFrame(() => element.scrollTo(0, element.scrollHeight));
    else if (id !== before.id) scrollTo(element, selected);
    // Rows were added or dropped above the selected row: keep its position on the screen.
    else if (selected !== before.place && selected !== -1) element.scrollTop += (selected - before.place) * ROW_HEIGHT;
    known.current = { id: list.follows ? undefined : id, place: selected };
  }, [rows, list.follows, selected, height]);
}

function scrollTo(element: HTMLElement, index: number): void {
  const y = index * ROW_HEIGHT;
  const room = element.clientHeight - 2 * ROW_HEIGHT;
  if (y < element.scrollTop) element.scrollTop = y;
  else if (y > element.scrollTop + room) element.scrollTop = y - room;
}

/**
 * Scrolling away from the end pauses the list; scrolling to the end makes it follow again. The cursor stays visible.
 */
function afterScroll(dashboard: BrowserDashboard, pane: Pane, element: HTMLElement): void {
  const list = listOf(dashboard.state);
  const rows = filteredRows(list);
  const first = Math.ceil(element.scrollTop / ROW_HEIGHT);
  const height = Math.max(1, Math.floor(element.clientHeight / ROW_HEIGHT) - 1);
  const isAtEnd = element.scrollTop + element.clientHeight >= element.scrollHeight - ROW_HEIGHT;
  if (list.follows && isAtEnd) return;
  if (!list.follows && isAtEnd && pane.follows && element.scrollTop > 0) {
    dashboard.change((before) => update(withList(before, pane.name, follow(listOf(before)))));
    return;
  }
  const cursor = rows.findLastIndex(({ id }) => id === selectedRow(list)?.id);
  const visible = rows[Math.max(first, Math.min(first + height - 1, cursor))];
  if (!visible || (!list.follows && cursor >= first && cursor < first + height)) return;
  dashboard.change((before) => update(withList(before, pane.name, select(listOf(before), visible, height))));
}

type Table = { columns: readonly Column[]; widths: readonly number[] };

/** The columns that have a width, each with its width in characters. */
const shownColumns = ({ columns, widths }: Table) =>
  columns.flatMap((column, index) => (widths[index] ? [{ ...column, cells: widths[index] }] : []));

const gridOf = (columns: readonly (Column & { cells: number })[]) =>
  columns.map(({ cells, grows }) => (grows ? `minmax(0, ${cells}fr)` : `${cells}ch`)).join(" ");

function Headings(table: Table) {
  const shown = shownColumns(table);
  return (
    <div role="row" class="row headings" style={{ gridTemplateColumns: gridOf(shown) }}>
      {shown.map(({ heading = "", align }, index) => (
        <span key={index} role={heading === "" ? "none" : "columnheader"} class={align === "right" ? "number" : ""}>
          {heading}
        </span>
      ))}
    </div>
  );
}

/** Whether the details beside the list belong to this row; undefined if no details are shown. */
function isPreviewed({ pane, overlays, preview }: UiState, row: Row): boolean | undefined {
  const overlay = overlays.findLast(isDetail) ?? preview?.overlay;
  return overlay && isDetail(overlay) ? overlay.about.pane === pane && overlay.about.id === refOf(row) : undefined;
}

type RowLineProps = DashboardProps & Table & { pane: Pane; row: Row; width: number; index: number; hasCursor: boolean };

function RowLine({ dashboard, pane, row, width, index, hasCursor, ...table }: RowLineProps) {
  const { state } = dashboard;
  const isSelected = hasCursor && !listOf(state, pane.name).follows;
  const isShown = isPreviewed(state, row) ?? hasCursor;
  const columns = row.gap
    ? [{ text: stripStyles(pane.gapText(row, state, width)), cells: width, grows: true as const }]
    : shownColumns(table);
  const open = () =>
    dashboard.change((before) =>
      openRow({ ...before, overlays: row.gap ? before.overlays : [], notice: undefined }, row),
    );
  return (
    <div
      role="row"
      id={isSelected ? rowId(index) : undefined}
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      class={`row ${row.gap ? "gap" : ""} ${isSelected ? "selected" : ""} ${isShown ? "shown" : ""}`}
      style={{ gridTemplateColumns: gridOf(columns) }}
      onClick={open}
    >
      {columns.map((column, place) => (
        <Cell key={place} {...column} />
      ))}
    </div>
  );
}

/** The last one or two segments of a path: they stay visible while the browser cuts the segments before them. */
const ENDING = /^(.+?)((?:\/[^/]{1,20})?\/[^/]{1,24})$/;

function Cell({ text, align, styles = [], truncate, cells }: Column & { cells: number }) {
  const whole = sanitize(text.trim());
  // The browser can only cut the end of a text, and ids differ at their ends.
  const shown = truncate === "middle" ? cutMiddle(whole, cells) : whole;
  const [, start = shown, end = ""] = (shown.startsWith("/") && ENDING.exec(shown)) || [];
  const aligned = align === "right" ? "number" : "";
  const kind = end === "" ? aligned : "path";
  return (
    <span role="gridcell" class={kind} title={whole.length > 12 ? whole : undefined}>
      <span class={styles.join(" ")}>
        <Text text={start} />
      </span>
      {end !== "" && <span class={styles.join(" ")}>{end}</span>}
    </span>
  );
}

const Empty = ({ lines }: { lines: readonly string[] }) => (
  <div class="empty">
    {lines
      .filter((line) => line !== "")
      .map((line) => (isLiteral(line) ? <pre key={line}>{line}</pre> : <p key={line}>{line}</p>))}
  </div>
);
