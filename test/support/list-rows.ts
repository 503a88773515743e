// Rows of a dashboard list that tests filter by their kind.

import { append, type List } from "../../ui/state/list.ts";
import type { Row } from "../../ui/state/rows.ts";

export const KINDS = ["red", "green", "blue"];

export const row = (number: number, kind = KINDS[number % KINDS.length] ?? ""): Row => ({
  id: `row_${number}`,
  value: number,
  filterBy: { text: `${kind} ${number}`, fields: { kind } },
  order: number,
});

export const rows = (from: number, count: number) => Array.from({ length: count }, (_, index) => row(from + index));

/** The list after the stream has sent these rows and left out `unsent` other rows. */
export const withRows = (list: List, added: readonly Row[], unsent = 0): List =>
  append(
    list,
    added.map((one, index) => ({ row: one, nth: (list.newest ?? 0) + 1 + index })),
    list.total + added.length + unsent,
  );

export const ids = (list: readonly Row[]) => list.map(({ id }) => id);
