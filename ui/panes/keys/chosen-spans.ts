// The time spans that a user selects in the trend charts: what happened in them, and the filter of their requests.

import type { SandboxTrendsReply } from "../../../generated/control-api.ts";
import { readRowFilter } from "../../../src/client/row-filter.ts";
import { isoTime } from "../../../src/kernel/clock.ts";
import { withFilter } from "../../state/list.ts";
import { listOf, type StateUpdate, type UiState } from "../../state/state.ts";
import { update, withList, withNotice } from "../../state/updates.ts";
import { count, milliseconds, plural } from "../../text/format.ts";
import { p95Text } from "../trends.ts";
import { followedMerchant } from "./follow-merchant.ts";

/** The spans from one index to another, both included. */
export interface SpanRange {
  from: number;
  to: number;
}

type Span = SandboxTrendsReply["spans"][number];

const isCalled = (span: Span): span is Span & Required<Pick<Span, "first" | "last">> => span.first !== undefined;

/**
 * The terms of a filter that matches only the requests of these spans; undefined without requests. The terms are times.
 * If spans have the same times, because the sandbox clock is frozen, for example, the terms are sequences.
 */
function termsOf({ spans }: SandboxTrendsReply, { from, to }: SpanRange): string | undefined {
  const chosen = spans.slice(from, to + 1).filter(isCalled);
  const [start, end] = [chosen[0]?.first.at, chosen.at(-1)?.last.at];
  if (start === undefined || end === undefined) return undefined;
  const after = start.slice(0, WHOLE_SECOND);
  const before = isoTime(milliseconds(end) + 1_000).slice(0, WHOLE_SECOND);
  const isAlone =
    spans.slice(0, from).every(({ last }) => last === undefined || last.at < after) &&
    spans.slice(to + 1).every(({ first }) => first === undefined || first.at >= before);
  if (isAlone) return `time>${after} time<${before}`;
  const lowest = Math.min(...chosen.map(({ first }) => first.sequence));
  const highest = Math.max(...chosen.map(({ last }) => last.sequence));
  return `sequence>${lowest - 1} sequence<${highest + 1}`;
}

const WHOLE_SECOND = "2026-01-05T12:04:30".length;

/** The spans that the filter of the requests selects; undefined if it has terms other than times or sequences. */
export function filteredSpans(state: UiState, { spans }: SandboxTrendsReply): SpanRange | undefined {
  const filter = listOf(state, "requests")
    .filter.replace(/(?:^| )merchant:\S+/, "")
    .trim();
  if (!/^(?:(?:time|sequence)[<>]\S+ ?)+$/.test(filter)) return undefined;
  const matches = readRowFilter(filter);
  const isShown = (end: Span["first"]) =>
    end !== undefined && matches({ text: "", fields: { time: end.at, sequence: end.sequence } });
  const from = spans.findIndex(({ first, last }) => isShown(first) || isShown(last));
  return from === -1
    ? undefined
    : { from, to: spans.findLastIndex(({ first, last }) => isShown(first) || isShown(last)) };
}

/** Filters the requests, and keeps the merchant that every pane follows. */
export function filterRequests(state: UiState, terms: string): StateUpdate {
  const merchant = followedMerchant(state);
  const filter = [...(terms === "" ? [] : [terms]), ...(merchant === undefined ? [] : [`merchant:${merchant}`])].join(
    " ",
  );
  return update(withList(state, "requests", withFilter(listOf(state, "requests"), filter)), { kind: "subscribe" });
}

/** Goes to the requests of these spans. */
export function chosenRequests(state: UiState, all: SandboxTrendsReply, range: SpanRange): StateUpdate {
  const terms = termsOf(all, range);
  if (terms === undefined) return update(withNotice(state, spanText(all, range), "yellow"));
  const { state: filtered, effects } = filterRequests(state, terms);
  return update(
    withNotice({ ...filtered, pane: "requests" }, `${spanText(all, range)}. Press Esc to show all requests`),
    ...effects,
  );
}

/** A sentence on the requests and faults of these spans. */
export function spanText(all: SandboxTrendsReply, range: SpanRange): string {
  const spans = all.spans.slice(range.from, range.to + 1);
  const sum = (of: (span: Span) => number) => spans.reduce((total, span) => total + of(span), 0);
  const [first] = spans.filter(isCalled);
  const last = spans.findLast(isCalled);
  const secondsAgo = (index: number) => `${count((all.spans.length - index) * all.seconds)} s`;
  if (!first || !last) return `${secondsAgo(range.from)} to ${secondsAgo(range.to + 1)} ago: no requests`;
  const faults = sum((span) => span.faults);
  return [
    `${timeIn(first.first.at)} to ${timeIn(last.last.at)}: ${plural(
      sum((span) => span.requests),
      "request",
    )}`,
    `${count(sum((span) => span.clientErrors))} 4xx`,
    `${count(sum((span) => span.serverErrors))} 5xx`,
    `p95 ${spans.length > 1 ? "at most " : ""}${p95Text(Math.max(...spans.map(({ p95 }) => p95 ?? 0)))}`,
    ...(faults === 0 ? [] : [`${count(faults)} by faults`]),
  ].join(", ");
}

const timeIn = (iso: string) => iso.slice("2026-01-05T".length, WHOLE_SECOND);
