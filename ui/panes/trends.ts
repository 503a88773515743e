// The pane of trends: the rate, the errors and the 95th percentile of the last minutes, and the totals of each operation, the slowest first.

import type { SandboxTrendReply } from "../../generated/control-api.ts";
import { controlCalls } from "../../src/client/control-call.ts";
import type { Effect, UiState } from "../state/state.ts";
import { pollEffect, update } from "../state/updates.ts";
import { sanitize } from "../view/cells.ts";
import { count, duration } from "../view/format.ts";
import { TRENDS_PANE } from "../view/layout.ts";
import { styled, symbols, type TextStyle, type Theme } from "../view/style.ts";
import { type Column, formatRow, headingOf } from "./columns.ts";
import { textPane } from "./pane.ts";

const LABEL_WIDTH = 8;
const VALUE_WIDTH = 10;
/** From this width on, the highest value of a chart stands beside it. */
const HIGHEST_FROM = 70;
const HIGHEST_WIDTH = 15;

export const trends = textPane({
  name: TRENDS_PANE,
  title: "Trends",
  isShown: () => true,
  titleNote: ({ trends: all }) => (all ? `last ${minutesOf(all)} min` : ""),
  textLines: trendLines,
  keys: [],
});

export const pollTrends = (): Effect[] => [pollEffect(controlCalls.trend({}), (state, { body }) => update({ ...state, trends: body }))];

export const minutesOf = ({ seconds, spans }: SandboxTrendReply) => (seconds * spans.length) / 60;

function trendLines({ trends: all, theme }: UiState, width: number): string[] {
  if (!all) return ["Loading trends …"];
  const right = width < HIGHEST_FROM ? 0 : HIGHEST_WIDTH;
  const charts = chartsOf(all, Math.max(1, width - LABEL_WIDTH - VALUE_WIDTH - 2 - right));
  const drawn = charts.map(({ label, value, values, highest, style }) => {
    const chart = styled(theme, sparkline(theme, values), ...(style ? [style] : []));
    const peak = right > 0 && highest !== "" ? styled(theme, `  max ${highest}`, "dim") : "";
    return `${styled(theme, label.padEnd(LABEL_WIDTH), "dim")} ${value.padStart(VALUE_WIDTH)} ${chart}${peak}`;
  });
  const since = `-${minutesOf(all)} min`;
  const length = charts[0]?.values.length ?? 0;
  const axis = `${" ".repeat(LABEL_WIDTH + VALUE_WIDTH + 2)}${since}${"now".padStart(length - since.length)}`;
  const rows = slowestFirst(all).map(operationColumns);
  const [first] = rows;
  const table = first ? ["", formatRow(first.map(headingOf), width, theme), ...rows.map((row) => formatRow(row, width, theme))] : [];
  return [...drawn, styled(theme, axis, "dim"), ...table];
}

export const slowestFirst = ({ operations }: SandboxTrendReply) =>
  operations.toSorted((one, other) => (other.p95 ?? 0) - (one.p95 ?? 0) || one.operation.localeCompare(other.operation));

export function operationColumns({
  operation,
  requests,
  clientErrors,
  serverErrors,
  p95,
}: SandboxTrendReply["operations"][number]): Column[] {
  const number = (heading: string, value: number, ...styles: TextStyle[]): Column => ({
    ...{ heading, text: count(value), width: Math.max(5, heading.length), align: "right" },
    styles: value > 0 ? styles : ["dim"],
  });
  return [
    { heading: "operation", text: sanitize(operation), truncate: "middle" },
    number("requests", requests),
    number("4xx", clientErrors, "yellow"),
    number("5xx", serverErrors, "failure"),
    { heading: "p95", text: p95Text(p95), width: 9, align: "right" },
  ];
}

const p95Text = (p95: number | null) => (p95 === null ? "-" : duration(p95));

interface Chart {
  label: string;
  value: string;
  /** The highest value, as text; empty without a value. */
  highest: string;
  /** Oldest first. */
  values: readonly number[];
  style?: TextStyle;
}

/** The rate, the errors and the percentile: their values, and their course in at most this many cells. */
export function chartsOf({ spans, seconds, elapsed, total }: SandboxTrendReply, most: number): Chart[] {
  const perCell = Math.ceil(spans.length / most);
  const cells = Array.from({ length: Math.floor(spans.length / perCell) }, (_, index) => cellOf(spans, index, perCell)).reverse();
  // The last span is not over, so its counts cover a shorter time.
  const lasted = (cell: number) => perCell * seconds - (cell === cells.length - 1 ? seconds - Math.max(1, elapsed / 1_000) : 0);
  const perSecond = (counts: readonly number[]) => counts.map((times, index) => times / lasted(index));
  const chart = (
    label: string,
    value: string,
    values: readonly number[],
    textOf: (highest: number) => string,
    style?: TextStyle,
  ): Chart => {
    const highest = Math.max(...values, 0);
    return { label, value, values, highest: highest > 0 ? textOf(highest) : "", ...(style && { style }) };
  };
  const newest = spans.slice(-2).reduce((sum, { requests }) => sum + requests, 0);
  const { clientErrors, serverErrors, p95 } = total;
  const [requests, errors] = [perSecond(cells.map((cell) => cell.requests)), perSecond(cells.map((cell) => cell.errors))];
  return [
    chart("rate", rateText(newest / (seconds + elapsed / 1_000)), requests, rateText),
    chart("4xx 5xx", `${count(clientErrors)} ${count(serverErrors)}`, errors, rateText, serverErrors > 0 ? "red" : "yellow"),
    chart(
      "p95",
      p95Text(p95),
      cells.map((cell) => cell.p95),
      duration,
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

const rateText = (rate: number) => `${rate < 10 && rate > 0 ? rate.toFixed(1) : count(Math.round(rate))}/s`;

/** Draws a value of 0 as a blank, and any other value visibly. */
export function sparkline(theme: Theme, values: readonly number[]): string {
  const { levels } = symbols(theme);
  const highest = Math.max(...values, 0);
  return values.map((value) => (value > 0 ? levels[Math.max(0, Math.ceil((value / highest) * levels.length) - 1)] : " ")).join("");
}
