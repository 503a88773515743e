// Rows of a dashboard list that tests filter by their kind.

import type { Row } from "../../ui/state/list.ts";

export const KINDS = ["red", "green", "blue"];

export const row = (number: number, kind = KINDS[number % KINDS.length] ?? ""): Row => ({
  id: `row_${number}`,
  value: number,
  filterBy: { text: `${kind} ${number}`, fields: { kind } },
});

export const rows = (from: number, count: number) => Array.from({ length: count }, (_, index) => row(from + index));

export const ids = (list: readonly Row[]) => list.map(({ id }) => id);
