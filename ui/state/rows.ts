// The rows of a list, the gaps between them, and the state of the list itself.

import type { FilterFacts } from "../../src/contracts/row-filter.ts";

export interface Row {
  readonly id: string;
  readonly value: unknown;
  /** The text and fields that a filter looks at. */
  readonly filterBy: FilterFacts;
  /** Its place in the log; rows of a polled list have none. */
  readonly order?: number;
  /** The row stands for rows that are not in the list. */
  readonly gap?: Gap;
}

/** Rows that are missing in a list. */
export interface Gap {
  readonly missing: number;
  /** The filter that none of them matches. */
  readonly clean?: string | undefined;
  /** The log no longer has them. */
  readonly isDropped?: boolean;
  /** Why they could not be loaded. */
  readonly error?: string;
}

/** A row of the stream, and its number among all items of its kind. */
export interface NumberedRow {
  readonly row: Row;
  readonly nth: number;
}

export interface List {
  readonly rows: readonly Row[];
  /** The rows and the total at the moment the display was frozen. */
  readonly frozen: { readonly rows: readonly Row[]; readonly total: number } | undefined;
  /** All rows since the last reset, whether they are in the list or not. */
  readonly total: number;
  /** The number of the newest row of the stream among all items of its kind; undefined before the first. */
  readonly newest: number | undefined;
  /** The gap that is being loaded, by the id of its row; each load has an object of its own. */
  readonly loading: { readonly gap: string } | undefined;
  /** The selected row, kept even when it has left `rows`. Undefined while the list follows. */
  readonly cursor: Row | undefined;
  /** The row that the user selected; the cursor returns to it when a filter that hides it is cleared. */
  readonly chosen: Row | undefined;
  /** The id of the first visible row. */
  readonly top: string | undefined;
  readonly follows: boolean;
  /** The list follows again when the detail of its row is closed. */
  readonly followsLater: boolean;
  /** The total when the list stopped following. */
  readonly pausedAt: number;
  readonly filter: string;
}
