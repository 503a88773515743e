// A sparkline: one cell for each value, as high as its share of the highest one.

import { symbols, type Theme } from "../terminal/style.ts";

/** A value of 0 is blank; any other is visible. */
export function sparkline(theme: Theme, values: readonly number[]): string {
  const { levels } = symbols(theme);
  const highest = Math.max(...values, 0);
  return values.map((value) => (value > 0 ? levels[Math.max(0, Math.ceil((value / highest) * levels.length) - 1)] : " ")).join("");
}
