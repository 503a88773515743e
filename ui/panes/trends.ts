// The pane of trends: the rate, the errors and the 95th percentile of the last minutes, for all requests and for the selected request's operation.

import type { SandboxTrendReply } from "../../generated/control-api.ts";
import type { UiState } from "../state/state.ts";
import { selectedOperation, TRENDS_PANE } from "../state/trends.ts";
import { cut, sanitize } from "../view/cells.ts";
import { count, duration } from "../view/format.ts";
import { styled, symbols, type TextStyle, type Theme } from "../view/style.ts";
import { textPane } from "./pane.ts";

const LABEL_WIDTH = 8;
const VALUE_WIDTH = 10;

export const trends = textPane({
  name: TRENDS_PANE,
  title: "Trends",
  isShown: () => true,
  titleNote: ({ trends: { all } }) => (all ? `last ${(all.seconds * all.spans.length) / 60} min` : ""),
  textLines: trendLines,
  keys: [],
});

function trendLines(state: UiState, width: number): string[] {
  const { all, selected } = state.trends;
  const operation = selectedOperation(state);
  if (!all) return ["Loading trends …"];
  return [
    ...chartLines(state.theme, all, width),
    ...(operation !== undefined && selected?.operation === operation
      ? [styled(state.theme, cut(sanitize(operation), width), "bold"), ...chartLines(state.theme, selected, width)]
      : []),
  ];
}

/** One line each for the rate, the errors and the percentile: the value, and its chart over all spans. */
function chartLines(theme: Theme, { spans, seconds, elapsed, total }: SandboxTrendReply, width: number): string[] {
  const perCell = Math.ceil(spans.length / Math.max(1, width - LABEL_WIDTH - VALUE_WIDTH - 2));
  const cells = Array.from({ length: Math.floor(spans.length / perCell) }, (_, index) => cellOf(spans, index, perCell)).reverse();
  // The last span is not over, so its counts cover a shorter time.
  const lasted = (cell: number) => perCell * seconds - (cell === cells.length - 1 ? seconds - Math.max(1, elapsed / 1_000) : 0);
  const chart = (label: string, value: string, values: readonly number[], ...styles: TextStyle[]) =>
    `${styled(theme, label.padEnd(LABEL_WIDTH), "dim")} ${value.padStart(VALUE_WIDTH)} ${styled(theme, sparkline(theme, values), ...styles)}`;
  const perSecond = (counts: readonly number[]) => counts.map((times, index) => times / lasted(index));
  const { clientErrors, serverErrors, p95 } = total;
  const newest = spans.slice(-2).reduce((sum, { requests }) => sum + requests, 0);
  const rate = newest / (seconds + elapsed / 1_000);
  return [
    chart("rate", `${rateText(rate)}/s`, perSecond(cells.map(({ requests }) => requests))),
    chart(
      "4xx 5xx",
      `${count(clientErrors)} ${count(serverErrors)}`,
      perSecond(cells.map(({ errors }) => errors)),
      serverErrors > 0 ? "red" : "yellow",
    ),
    chart(
      "p95",
      p95 === null ? "-" : duration(p95),
      cells.map((cell) => cell.p95),
    ),
  ];
}

/** The spans that share a cell, counted from the newest: their sums, and the highest percentile. */
function cellOf(spans: SandboxTrendReply["spans"], index: number, perCell: number) {
  const end = spans.length - index * perCell;
  const together = spans.slice(end - perCell, end);
  return {
    requests: together.reduce((sum, { requests }) => sum + requests, 0),
    errors: together.reduce((sum, { clientErrors, serverErrors }) => sum + clientErrors + serverErrors, 0),
    p95: Math.max(...together.map(({ p95 }) => p95 ?? 0)),
  };
}

const rateText = (rate: number) => (rate < 10 && rate > 0 ? rate.toFixed(1) : count(Math.round(rate)));

/** Draws a value of 0 as a blank, and any other value visibly. */
export function sparkline(theme: Theme, values: readonly number[]): string {
  const { levels } = symbols(theme);
  const highest = Math.max(...values, 0);
  return values.map((value) => (value > 0 ? levels[Math.max(0, Math.ceil((value / highest) * levels.length) - 1)] : " ")).join("");
}
