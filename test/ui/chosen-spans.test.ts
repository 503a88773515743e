// The time spans that a user selects in the trend charts: the sentence about them, and the filter for their requests.

import { describe, expect, test } from "vitest";
import type { SandboxTrendsReply } from "../../generated/control-api.ts";
import { chosenRequests, filteredSpans, filterRequests, spanText } from "../../ui/panes/keys/chosen-spans.ts";
import { listOf } from "../../ui/state/state.ts";
import { emptyDashboard } from "../support/live-rows.ts";

type Span = SandboxTrendsReply["spans"][number];

/** A span with two requests, at `second` and four seconds later, or none. The seconds are the sequence numbers. */
const span = (second: number | undefined, at = (of: number) => `12:00:${String(of).padStart(2, "0")}.500`): Span => ({
  requests: second === undefined ? 0 : 2,
  clientErrors: 0,
  serverErrors: second === undefined ? 0 : 1,
  faults: second === 10 ? 1 : 0,
  p95: second === undefined ? null : 1 + second,
  ...(second !== undefined && {
    first: { sequence: second, at: `2026-01-05T${at(second)}Z` },
    last: { sequence: second + 4, at: `2026-01-05T${at(second + 4)}Z` },
  }),
});
const trend = (spans: Span[]): SandboxTrendsReply => ({
  seconds: 5,
  elapsed: 1_000,
  total: { requests: 6, clientErrors: 0, serverErrors: 3, faults: 1, p95: 1 },
  spans,
  operations: [],
});
const moving = trend([span(undefined), span(0), span(5), span(10)]);
const frozen = trend([undefined, 0, 5, 10].map((second) => span(second, () => "12:00:00.000")));
const start = { ...emptyDashboard(100, 24), pane: "trends", isPage: true };
const filterOf = (...given: Parameters<typeof chosenRequests>) => {
  const { state, effects } = chosenRequests(...given);
  expect(effects).toEqual([{ kind: "subscribe" }]);
  expect(state.pane).toBe("requests");
  return listOf(state, "requests").filter;
};

describe("time spans selected in the trend charts", () => {
  test("filter the requests by time, or by sequence number if the clock did not move", () => {
    expect(filterOf(start, moving, { from: 2, to: 2 })).toBe("time>2026-01-05T12:00:05 time<2026-01-05T12:00:10");
    expect(filterOf(start, moving, { from: 0, to: 2 })).toBe("time>2026-01-05T12:00:00 time<2026-01-05T12:00:10");
    expect(filterOf(start, frozen, { from: 2, to: 3 })).toBe("sequence>4 sequence<15");
  });

  test("keep the followed merchant in the filter of requests, and replace the rest of the filter", () => {
    const followed = filterRequests(start, "status:500 merchant:mer_lodge").state;
    expect(filterOf(followed, frozen, { from: 3, to: 3 })).toBe("sequence>9 sequence<15 merchant:mer_lodge");
    expect(listOf(filterRequests(followed, "").state, "requests").filter).toBe("merchant:mer_lodge");
  });

  test("without requests set no filter, and say that there are no requests", () => {
    const { state } = chosenRequests(start, moving, { from: 0, to: 0 });
    expect([state.pane, listOf(state, "requests").filter]).toEqual(["trends", ""]);
    expect(state.notice?.text).toBe("20 s to 15 s ago: no requests");
  });

  test("are read from a filter of times or sequence numbers, but not from other filters", () => {
    const spansOf = (filter: string, all = moving) => filteredSpans(filterRequests(start, filter).state, all);
    expect(spansOf("time>2026-01-05T12:00:05 time<2026-01-05T12:00:10")).toEqual({ from: 2, to: 2 });
    expect(spansOf("time>12:00:05")).toEqual({ from: 2, to: 3 });
    expect(spansOf("sequence>4 sequence<15 merchant:mer_lodge", frozen)).toEqual({ from: 2, to: 3 });
    expect(["", "status:500", "time>12:00 status:500", "time>13:00"].map((filter) => spansOf(filter))).toEqual(
      Array(4).fill(undefined),
    );
  });

  test("are described in a sentence", () => {
    expect(spanText(moving, { from: 1, to: 1 })).toBe("12:00:00 to 12:00:04: 2 requests, 0 4xx, 1 5xx, p95 1.0 ms");
    expect(spanText(moving, { from: 0, to: 3 })).toBe(
      "12:00:00 to 12:00:14: 6 requests, 0 4xx, 3 5xx, p95 at most 11.0 ms, 1 by faults",
    );
  });
});
