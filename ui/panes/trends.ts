// The pane of trends: the rate, the errors and the 95th percentile of the last minutes, and the totals of each
// operation, the slowest first.

import type { SandboxTrendsReply } from "../../generated/control-api.ts";
import { controlCalls } from "../../src/client/control-call.ts";
import { TRENDS_PANE } from "../state/layout.ts";
import type { Effect, UiState } from "../state/state.ts";
import { pollEffect, update } from "../state/updates.ts";
import { count, duration } from "../text/format.ts";
import { styled, symbols, type TextStyle, type Theme } from "../text/style.ts";
import { type Column, formatTable } from "./columns.ts";
import { textPane } from "./pane.ts";

const LABEL_WIDTH = 8;
const VALUE_WIDTH = 10;
/** The width of the highest value, which is shown beside a chart if there is room for all spans too. */
const HIGHEST_WIDTH = 12;

export const trends = textPane({
  name: TRENDS_PANE,
  title: "Trends",
  isShown: () => true,
  titleNote: ({ trends: all }) => (all ? `last ${minutesOf(all)} min` : ""),
  textLines: trendLines,
  keys: [],
});

export const pollTrends = (): Effect[] => [
  pollEffect(controlCalls.trends(), (state, { body }) => update({ ...state, trends: body })),
];

export const minutesOf = ({ seconds, spans }: SandboxTrendsReply) => (seconds * spans.length) / 60;

function trendLines({ trends: all, theme }: UiState, width: number): string[] {
  if (!all) return ["Loading trends …"];
  const rows = slowestFirst(all).map(operationColumns);
  const table = rows.length === 0 ? [] : ["", ...formatTable(rows, width, theme)];
  return [...chartLines(theme, all, width), ...table];
}

export const slowestFirst = ({ operations }: SandboxTrendsReply) =>
  operations.toSorted(
    (one, other) => (other.p95 ?? 0) - (one.p95 ?? 0) || one.operation.localeCompare(other.operation),
  );

export function operationColumns(row: SandboxTrendsReply["operations"][number]): Column[] {
  const { operation, requests, clientErrors, serverErrors, p95 } = row;
  const number = { width: 9, align: "right" } as const;
  const errors = { ...number, rank: 1 };
  return [
    { heading: "operation", text: operation, grows: true },
    { heading: "requests", text: count(requests), ...number },
    { heading: "4xx", text: count(clientErrors), ...errors, styles: clientErrors > 0 ? ["yellow"] : ["dim"] },
    { heading: "5xx", text: count(serverErrors), ...errors, styles: serverErrors > 0 ? ["failure"] : ["dim"] },
    { heading: "p95", text: p95Text(p95), ...number },
  ];
}

export const p95Text = (p95: number | null) => (p95 === null ? "-" : duration(p95));

/**
 * One line each for the rate, the errors and the percentile: the value, and its chart over all spans. The last line is
 * their axis.
 */
function chartLines(theme: Theme, all: SandboxTrendsReply, width: number): string[] {
  const { spans, seconds, elapsed, total } = all;
  const room = Math.max(1, width - LABEL_WIDTH - VALUE_WIDTH - 2);
  const perCell = Math.ceil(spans.length / room);
  const cells = Array.from({ length: Math.floor(spans.length / perCell) }, (_, index) =>
    cellOf(spans, index, perCell),
  ).reverse();
  // The last span is not over, so its counts cover a shorter time.
  const lasted = (cell: number) =>
    perCell * seconds - (cell === cells.length - 1 ? seconds - Math.max(1, elapsed / 1_000) : 0);
  const chart = (
    label: string,
    value: string,
    values: readonly number[],
    textOf: (value: number) => string,
    styleOf?: (cell: number) => TextStyle,
  ) => {
    const highest = room < spans.length + HIGHEST_WIDTH ? 0 : Math.max(...values);
    const peak = highest > 0 ? styled(theme, `  max ${textOf(highest)}`, "dim") : "";
    const line = sparkline(theme, values);
    const bars = styleOf ? [...line].map((bar, cell) => styled(theme, bar, styleOf(cell))).join("") : line;
    return `${styled(theme, label.padEnd(LABEL_WIDTH), "dim")} ${value.padStart(VALUE_WIDTH)} ${bars}${peak}`;
  };
  const perSecond = (counts: readonly number[]) => counts.map((times, index) => times / lasted(index));
  const { clientErrors, serverErrors, p95 } = total;
  const newest = spans.slice(-2).reduce((sum, { requests }) => sum + requests, 0);
  const [rates, errors] = [
    perSecond(cells.map(({ requests }) => requests)),
    perSecond(cells.map((cell) => cell.errors)),
  ];
  const slowest = cells.map((cell) => cell.p95);
  const since = `-${minutesOf(all)} min`.padEnd(cells.length - 3);
  return [
    chart("rate", rateText(newest / (seconds + elapsed / 1_000)), rates, rateText),
    chart("4xx 5xx", `${count(clientErrors)} ${count(serverErrors)}`, errors, rateText, (cell) =>
      cells[cell]?.hasServerErrors ? "red" : "yellow",
    ),
    chart("p95", p95Text(p95), slowest, duration),
    styled(theme, `${" ".repeat(LABEL_WIDTH + VALUE_WIDTH + 2)}${since}now`, "dim"),
  ];
}

/** The spans that share a cell, counted from the newest: their sums, and the highest percentile. */
function cellOf(spans: SandboxTrendsReply["spans"], index: number, perCell: number) {
  const end = spans.length - index * perCell;
  const together = spans.slice(end - perCell, end);
  return {
    requests: together.reduce((sum, { requests }) => sum + requests, 0),
    errors: together.reduce((sum, { clientErrors, serverErrors }) => sum + clientErrors + serverErrors, 0),
    hasServerErrors: together.some(({ serverErrors }) => serverErrors > 0),
    p95: Math.max(...together.map(({ p95 }) => p95 ?? 0)),
  };
}

export const rateText = (rate: number) => `${rate < 10 && rate > 0 ? rate.toFixed(1) : count(Math.round(rate))}/s`;

/** Draws a value of 0 as a blank, and any other value visibly. */
export function sparkline(theme: Theme, values: readonly number[]): string {
  const { levels } = symbols(theme);
  const highest = Math.max(...values, 0);
  return values
    .map((value) => (value > 0 ? levels[Math.max(0, Math.ceil((value / highest) * levels.length) - 1)] : " "))
    .join("");
}
