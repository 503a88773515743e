// How a pane is declared: `listPane` for rows under a cursor, `textPane` for text that scrolls.

import type { Call } from "../../src/client/curl.ts";
import type { FilterFacts, FilterVocabulary } from "../../src/client/row-filter.ts";
import type { LiveItem } from "../../src/contracts/live-messages.ts";
import { PROGRAM } from "../../src/kernel/program-name.ts";
import { count } from "../../src/kernel/text.ts";
import { visibleRowCount } from "../state/layout.ts";
import { type Fold, filteredRows, isCursorGone, select, selectedRow, withFilter } from "../state/list.ts";
import { type Gap, type Row, refOf } from "../state/rows.ts";
import { boundTo, type KeyBinding, listOf, type RowKey, type StateUpdate, type UiState } from "../state/state.ts";
import { closeTopOverlay, loadThen, openOverlay, update, withList, withNotice } from "../state/updates.ts";
import { fitTo, sanitize } from "../text/cells.ts";
import { joinNotes } from "../text/format.ts";
import { styled, type Theme } from "../text/style.ts";
import type { Column } from "./columns.ts";
import { type Detail, isStillAt, openDetail } from "./overlays/detail.ts";

/** A command of the program for this sandbox. Without `--url`, the program finds a sandbox on the default port. */
export const programCommand = ({ target }: UiState, words: string) =>
  `${PROGRAM} ${words}${target.url === "http://127.0.0.1:4747" ? "" : ` --url ${target.url}`}`;

export interface Pane {
  /** Unique among the panes. */
  name: string;
  title: string;
  /** Whether new rows are appended and followed; otherwise every poll replaces the rows. */
  follows: boolean;
  /** Default: shows each row. */
  fold?: Fold | undefined;
  /** The noun for a row of the log, such as `attempt`. Default: the noun for a row of the list. */
  counts?: string;
  /** Default: always. */
  isShown?(state: UiState): boolean;
  textLines?(state: UiState, width: number): string[];
  /** Shows the newest lines of a text until the user scrolls up. */
  followsEnd?: boolean | undefined;
  vocabulary(state: UiState): FilterVocabulary | undefined;
  stream?: { kind: LiveItem["kind"]; row(item: LiveItem): Row };
  log?: PaneLog<Row>;
  /** Polled while the pane is visible, or always if its tab has an alarm. */
  poll?: Read<Row[]>;
  /** Shown beside the title, such as a count. */
  titleNote(state: UiState): string;
  columns(row: Row, state: UiState, width: number): Column[];
  gapText(row: Row, state: UiState, width: number): string;
  /** Shown while there are no rows: how to get some. */
  emptyText(state: UiState): string[];
  keys: readonly KeyBinding[];
  /** Explains the marks of its rows in the help. Default: none. */
  legend?(theme: Theme): string;
  /** A short text in the pane's tab, such as the number of failures. Default: none. */
  alarm?(state: UiState): string;
  /** Why a row failed, in one line; undefined if it did not. Default: no row fails. */
  failureOf?(row: Row): string | undefined;
  /** The detail of a row, to be shown as a preview. */
  detailOf(row: Row): ReturnType<typeof openDetail> | undefined;
  openRow(state: UiState, row: Row): StateUpdate;
  /** Fetches a row that the list does not have. Default: the list has all rows. */
  fetchRow?(id: string): Read<Row>;
  /** Opens the detail of a row by its id, above the open overlays. */
  openById(state: UiState, id: string): StateUpdate;
}

interface PaneLogPage<Found> {
  rows: Found[];
  hasMore: boolean;
}

/** The sandbox's log, for loading the rows that the stream left out. */
interface PaneLog<Found> {
  /** Reads the rows older than the row `before` that match the filter; "" means no filter. */
  page(query: { before: string | undefined; filter: string }): Read<PaneLogPage<Found>>;
  /** Whether `page` applies the filter. Default: true. */
  takesFilter?: boolean;
  /** The filter whose matches are loaded even while the pane is not visible. */
  needs?: string;
}

export interface Read<Result> {
  call: Call;
  read(reply: unknown): Result;
}

/** The type of the reply follows from the call. */
export const readAs = <Reply, Result>(call: Call<Reply>, read: (reply: Reply) => Result): Read<Result> => ({
  call,
  read: (reply) => read(reply as Reply),
});

type StreamKind<Value> = {
  [Kind in LiveItem["kind"]]: Extract<LiveItem, { kind: Kind }> extends Record<Kind, Value> ? Kind : never;
}[LiveItem["kind"]];

/** A pane of rows. Optional members have defaults. Rows come from either `stream` or `poll`. */
interface ListPaneDeclaration<Value>
  extends Pick<Pane, "name" | "title" | "isShown" | "emptyText" | "alarm" | "legend">,
    Partial<Pick<Pane, "titleNote" | "fold" | "counts" | "follows">> {
  rowId(value: Value): string;
  filterBy(value: Value): FilterFacts;
  /** The names that a filter may use. Default: the fields of the first row. */
  vocabulary?: FilterVocabulary;
  /** Each stream item of this kind adds a row. */
  stream?: StreamKind<Value>;
  /** Reads from the sandbox's log the rows that the stream left out, and tells the order of a row in that log. */
  log?: PaneLog<Value> & { order(value: Value): number };
  /**
   * A call that is repeated while the pane is visible, or always if it has an alarm. The items of `data` in its reply
   * are the rows.
   */
  poll?: Call<{ data: Value[] }>;
  /** The order of polled rows. Default: as in the reply. */
  compare?(one: Value, other: Value): number;
  columns(value: Value, state: UiState, width: number): Column[];
  detail(value: Value): Detail;
  /** Fetches a row that the list does not have. Default: its detail cannot be opened. */
  fetchRow?(id: string): Read<Value>;
  /** Why a row failed, in one line; undefined if it did not. Default: no row fails. */
  failureOf?(value: Value): string | undefined;
  /** Which rows `n` and `p` prefer in a detail. Default: all. */
  isRelated?(one: Value, other: Value): boolean;
  /** Default: none. */
  keys?: readonly RowKey<Value>[];
}

export function listPane<Value>(declared: ListPaneDeclaration<Value>): Pane {
  const {
    rowId,
    filterBy,
    vocabulary,
    stream,
    poll,
    log,
    compare,
    detail: _,
    fetchRow: __,
    isRelated: ___,
    failureOf,
    ...shared
  } = declared;
  const { name, keys = [] } = shared;
  const row = (value: Value): Row => ({
    id: rowId(value),
    value,
    filterBy: filterBy(value),
    ...(log && { order: log.order(value) }),
  });
  const sorted = (rows: Value[]) => (compare ? rows.toSorted(compare) : rows);
  return {
    ...shared,
    follows: shared.follows ?? stream !== undefined,
    vocabulary: (state) => vocabulary ?? vocabularyOf(listOf(state, name).rows[0]),
    ...(stream && {
      stream: { kind: stream, row: (item) => row((item as unknown as Record<string, Value>)[stream] as Value) },
    }),
    ...(log && { log: { ...log, page: (query) => withRows(log.page(query), row) } }),
    ...(poll && { poll: readAs(poll, ({ data }) => sorted(data).map(row)) }),
    titleNote: (state) =>
      joinNotes(
        shared.titleNote?.(state) ?? "",
        isCursorGone(listOf(state, name)) ? "selected row no longer listed" : "",
      ),
    ...(failureOf && { failureOf: ({ value, gap }) => (gap ? undefined : failureOf(value as Value)) }),
    columns: ({ value }, state, width) => declared.columns(value as Value, state, width),
    gapText: ({ id, gap }, state, width) =>
      gap ? gapText(state, gap, listOf(state, name).loading?.gap === id, width) : "",
    keys: keys.map((key) => boundTo(key, (state) => selectedRow(listOf(state, name))?.value as Value | undefined)),
    ...opening(declared, row),
  };
}

/**
 * How rows and their details are opened. `openRow` also selects the row. A detail that a link opened does not change
 * the selection, and neither do the details that `n` and `p` open from there.
 */
function opening<Value>(
  declared: ListPaneDeclaration<Value>,
  row: (value: Value) => Row,
): Pick<Pane, "detailOf" | "openRow" | "openById" | "fetchRow"> {
  const { name } = declared;
  const isRelated = (declared.isRelated ?? (() => true)) as RowRelation;
  const detailOf = (opened: Row, openNeighbour: Pane["openRow"]) => {
    const value = opened.value as Value;
    const detailKeys = [
      ...(declared.keys ?? []).map((key) => boundTo(key, () => value)),
      ...neighbourKeys(name, opened, isRelated, openNeighbour),
    ];
    return openDetail(declared.detail(value), { pane: name, id: refOf(opened), value }, detailKeys);
  };
  const open = (state: UiState, opened: Row, openNeighbour: Pane["openRow"]): StateUpdate => {
    const { overlay, effects } = detailOf(opened, openNeighbour);
    return update(openOverlay(state, overlay), ...effects);
  };
  const openRow = (state: UiState, selected: Row): StateUpdate => {
    const before = listOf(state, name);
    if (selected.unfolds !== undefined) return update(withList(state, name, withFilter(before, selected.unfolds)));
    // Closing the detail leaves the cursor on its row, unless the list followed.
    const list = select(before, selected, visibleRowCount(state, name));
    return open(withList(state, name, { ...list, followsLater: before.follows }), selected, openNeighbour);
  };
  const openNeighbour = (state: UiState, neighbour: Row): StateUpdate => {
    const opened = openRow(state, neighbour);
    return { ...opened, state: withList(opened.state, name, { ...listOf(opened.state, name), followsLater: false }) };
  };
  const openLinked = (state: UiState, linked: Row): StateUpdate => open(state, linked, openLinked);
  const { fetchRow: fetchValue } = declared;
  const fetchRow = (id: string): Read<Row> | undefined => {
    const fetch = fetchValue?.(id);
    return fetch && { ...fetch, read: (reply) => row(fetch.read(reply)) };
  };
  const openById = (state: UiState, id: string): StateUpdate => {
    const listed = listOf(state, name).rows.findLast((one) => one.id === id);
    if (listed) return openLinked(state, listed);
    const fetch = fetchRow(id);
    if (!fetch) return update(withNotice(state, `${id} is no longer listed`, "yellow"));
    return loadThen(state, id, fetch.call, (later, reply) =>
      isStillAt(state, later) ? openLinked({ ...later, notice: undefined }, fetch.read(reply)) : update(later),
    );
  };
  return {
    detailOf: (opened) => detailOf(opened, openLinked),
    openRow,
    openById,
    ...(fetchValue && { fetchRow: fetchRow as Pane["fetchRow"] }),
  };
}

const withRows = <Value>(
  { call, read }: Read<PaneLogPage<Value>>,
  row: (value: Value) => Row,
): Read<PaneLogPage<Row>> =>
  readAs(call, (reply) => {
    const { rows, hasMore } = read(reply);
    return { rows: rows.map(row), hasMore };
  });

/** `··· 362 not shown ···`, and why. */
function gapText({ theme }: UiState, { missing, isDropped, error }: Gap, isLoading: boolean, width: number): string {
  const failure = error === undefined ? "" : `: ${error}. Press Enter to try again`;
  const why = isDropped ? "no longer kept" : `not shown${isLoading ? ", loading" : failure}`;
  return styled(theme, fitTo(sanitize(`··· ${count(missing)} ${why} ···`), width), "dim");
}

const vocabularyOf = (row: Row | undefined): FilterVocabulary | undefined =>
  row && { fields: Object.keys(row.filterBy.fields), marks: [] };

type TextPaneDeclaration = Required<Pick<Pane, "name" | "title" | "isShown" | "titleNote" | "textLines" | "keys">> &
  Pick<Pane, "followsEnd">;

/** A pane of text: the movement keys scroll it. */
export const textPane = (declared: TextPaneDeclaration): Pane => ({
  ...declared,
  follows: false,
  vocabulary: () => undefined,
  columns: () => [],
  gapText: () => "",
  emptyText: () => [],
  detailOf: () => undefined,
  openRow: (state) => update(state),
  openById: (state) => update(state),
});

type RowRelation = (one: unknown, other: unknown) => boolean;

/** The keys that go from one detail to the next: to a related row if there is one, or else to the nearest row. */
function neighbourKeys(name: string, { id, value }: Row, isRelated: RowRelation, open: Pane["openRow"]): KeyBinding[] {
  const step = (state: UiState, direction: "next" | "previous"): StateUpdate => {
    const rows = filteredRows(listOf(state, name)).filter(({ gap, unfolds }) => !gap && unfolds === undefined);
    const index = rows.findLastIndex((row) => row.id === id);
    const others = direction === "next" ? rows.slice(index + 1) : rows.slice(0, Math.max(0, index)).reverse();
    const neighbour = others.find((row) => isRelated(value, row.value)) ?? others[0];
    if (!neighbour) return update(withNotice(state, `No ${direction} row`, "yellow"));
    const opened = open(closeTopOverlay(state), neighbour);
    if (isRelated(value, neighbour.value)) return opened;
    return {
      ...opened,
      state: withNotice(opened.state, `No ${direction} row of the same kind; showing the nearest row`, "yellow"),
    };
  };
  const others = {
    isEnabled: (state: UiState) => listOf(state, name).rows.length > 0,
    needs: () => "a list with other rows",
  };
  return [
    { keys: ["n"], label: "next", help: "next row of the same kind", ...others, run: (state) => step(state, "next") },
    {
      keys: ["p"],
      label: "previous",
      help: "previous row of the same kind",
      ...others,
      run: (state) => step(state, "previous"),
    },
  ];
}
