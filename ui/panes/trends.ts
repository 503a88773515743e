// The pane of trends: the rate, the errors and the 95th percentile of the last minutes, of all requests and of the selected request's operation.

import type { SandboxTrendReply } from "../../src/client/control-plane.generated.ts";
import type { UiState } from "../state/state.ts";
import { selectedOperation, TRENDS_PANE } from "../state/trends.ts";
import { cut, sanitize } from "../terminal/cells.ts";
import { styled, type TextStyle, type Theme } from "../terminal/style.ts";
import { count, duration } from "../view/format.ts";
import { sparkline } from "../view/sparkline.ts";
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

/** One line each for the rate, the errors and the percentile. */
function chartLines(theme: Theme, { spans, seconds, elapsed, total }: SandboxTrendReply, width: number): string[] {
  const shown = spans.slice(-Math.max(1, width - LABEL_WIDTH - VALUE_WIDTH - 2));
  // The last span is not over: its counts are those of a shorter time.
  const share = Math.max(1_000, elapsed) / (seconds * 1_000);
  const whole = (value: number, index: number) => (index === shown.length - 1 ? value / share : value);
  const chart = (label: string, values: readonly number[], value: string, ...styles: TextStyle[]) =>
    `${styled(theme, label.padEnd(LABEL_WIDTH), "dim")} ${styled(theme, sparkline(theme, values), ...styles)} ${value.padStart(VALUE_WIDTH)}`;
  const { clientErrors, serverErrors, p95 } = total;
  const errors = shown.map((span) => span.clientErrors + span.serverErrors);
  const rate = (shown.at(-2)?.requests ?? 0) / seconds;
  return [
    chart(
      "rate",
      shown.map(({ requests }, index) => whole(requests, index)),
      `${rateText(rate)}/s`,
      "green",
    ),
    chart("4xx 5xx", errors.map(whole), `${count(clientErrors)} ${count(serverErrors)}`, serverErrors > 0 ? "red" : "yellow"),
    chart(
      "p95",
      shown.map((span) => span.p95 ?? 0),
      p95 === null ? "-" : duration(p95),
      "cyan",
    ),
  ];
}

const rateText = (rate: number) => (rate < 10 && rate > 0 ? rate.toFixed(1) : count(Math.round(rate)));
