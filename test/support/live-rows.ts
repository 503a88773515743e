// Items of the live stream and replies to polls, for tests without a sandbox.

import type { RateWindow, SandboxOverviewReply } from "../../generated/control-api.ts";
import type { RuleState } from "../../src/contracts/fault.ts";
import {
  type AttemptMessage,
  type LiveEvent,
  type LiveItem,
  NO_COUNTS,
  type RequestMessage,
} from "../../src/contracts/live-messages.ts";
import type { VerdictMessage } from "../../src/contracts/verdict.ts";
import { USUAL_SIGNATURE } from "../../src/contracts/webhook.ts";
import { applyMessage, applyPolledRows, applySandboxIndex } from "../../ui/panes/apply-message.ts";
import { panes } from "../../ui/panes/index.ts";
import { initialState, listOf, type UiState } from "../../ui/state/state.ts";
import type { Theme } from "../../ui/text/style.ts";
import { attemptMessage } from "./judge-inputs.ts";
import { NOON, NOON_SECONDS } from "./sandbox.ts";

const NOON_MILLISECONDS = NOON_SECONDS * 1_000;

export const request = (number: number, changes: Partial<RequestMessage> = {}): RequestMessage => ({
  id: `req_${number}`,
  sequence: number,
  at: NOON_MILLISECONDS + number,
  method: "GET",
  path: "/v1/payments",
  query: "",
  operation: "payments.list",
  merchant: "mer_lodge",
  status: 200,
  durationMs: 1.25,
  idempotencyKey: null,
  replayOf: null,
  ignored: null,
  summary: null,
  fault: null,
  ...changes,
});

export const attempt = (number: number, changes: Partial<AttemptMessage> = {}): AttemptMessage =>
  attemptMessage({
    ...{ id: `whd_${number}`, sequence: number, delivery: number, eventId: `evt_${number}` },
    ...{ at: NOON_MILLISECONDS + number, url: "http://localhost:3000/hooks", durationMs: 3 },
    ...changes,
  });

export const verdict = (number: number, changes: Partial<VerdictMessage> = {}): VerdictMessage => ({
  id: `vrd_${number}`,
  rule: "retry_after.honoured",
  severity: "error",
  verdict: "fail",
  at: NOON_MILLISECONDS + number,
  merchant: "mer_lodge",
  operation: "payments.list",
  message: "The call came again after 41 ms; Retry-After said 2 s.",
  hint: "Wait for as many seconds as Retry-After says.",
  requests: ["req_1", "req_2"],
  attempts: [],
  calls: [
    { request: "req_1", connection: 1, milliseconds: 0 },
    { request: "req_2", connection: 2, milliseconds: 41 },
  ],
  confirmedBy: "connections",
  milliseconds: { waited: 41, asked: 2_000 },
  fault: null,
  ...changes,
});

/** Stream events that add a request, an attempt or a verdict. */
export const requested = (...of: Parameters<typeof request>): LiveEvent => ({
  kind: "request",
  request: request(...of),
});
export const attempted = (...of: Parameters<typeof attempt>): LiveEvent => ({
  kind: "attempt",
  attempt: attempt(...of),
});
export const judged = (...of: Parameters<typeof verdict>): LiveEvent => ({ kind: "verdict", verdict: verdict(...of) });

export const rule = (number: number, changes: Partial<RuleState> = {}): RuleState => ({
  id: `flt_${number}`,
  name: null,
  warnings: [],
  target: "api",
  match: { operation: "payments.list" },
  trigger: { times: 3 },
  action: { type: "rate_limit", retryAfter: 2 },
  expect: [],
  ttl: null,
  priority: 0,
  label: true,
  enabled: true,
  status: "armed",
  matched: 1,
  fired: 1,
  remaining: 2,
  lastFiredAt: null,
  endsAt: null,
  ...changes,
});

export const rateWindow = (changes: Partial<RateWindow> = {}): RateWindow => ({
  merchant: "mer_lodge",
  operation: null,
  limit: 6_000,
  remaining: 4_812,
  window: 60_000,
  reset: "2026-01-05T12:00:16.000Z",
  resetIn: 16_000,
  ...changes,
});

export const THEME: Theme = { colours: true, unicode: true };

export const INDEX: SandboxOverviewReply = {
  name: "merchant-sandbox",
  version: "1.2.3",
  pid: 1,
  baseUrl: "http://127.0.0.1:4747/v1",
  clock: { mode: "frozen", now: NOON, unix: NOON_SECONDS },
  life: "on",
  database: null,
  signature: USUAL_SIGNATURE,
  assumptions: {},
  heldDeliveries: 0,
  merchantCount: 4,
  heldEndpoints: [],
  heldFaults: [],
  pendingDeliveries: 0,
  scenarios: [],
  made: NO_COUNTS,
  kept: { requests: 0, attempts: 0, verdicts: 0 },
  failedDeliveries: 0,
  merchants: [
    { id: "mer_lodge", name: "The Lodge", email: null, apiKeys: ["sk_test_lodge"] },
    { id: "mer_market", name: null, email: null, apiKeys: ["sk_test_market"] },
  ],
  links: {},
};

/** The state of a dashboard connected to an empty sandbox whose clock is frozen at noon. */
export function emptyDashboard(columns = 120, rows = 36, theme = THEME): UiState {
  const target = { url: "http://127.0.0.1:4747", token: undefined };
  const first = initialState(panes, { target, theme, size: { columns, rows }, now: 0 });
  return applySandboxIndex({ ...first, connection: { phase: "live" } }, INDEX);
}

/** Applies one digest with these events. The digest also counts `unsent` earlier requests that it leaves out. */
export function withLiveEvents(state: UiState, events: readonly LiveEvent[], unsent = 0): UiState {
  const counts = { request: state.made.requests + unsent, attempt: state.made.attempts };
  const verdicts = { ...state.made.verdicts, failures: { ...state.made.verdicts.failures } };
  const items = events.map((event, index) => {
    if (event.kind === "reset" && event.merchant === null) {
      Object.assign(counts, { request: 0, attempt: 0 });
      Object.assign(verdicts, NO_COUNTS.verdicts, { failures: {} });
    }
    if (event.kind === "request" || event.kind === "attempt") counts[event.kind]++;
    else if (event.kind === "verdict") countVerdict(verdicts, event.verdict);
    return { seq: state.lastSeq + 1 + index, nth: nthOf(state, events, index), ...event } as LiveItem;
  });
  const made = { requests: counts.request, attempts: counts.attempt, verdicts };
  return applyMessage(state, {
    type: "digest",
    seq: state.lastSeq + items.length + unsent,
    made,
    completeFor: {},
    items,
  });
}

/** The number of an item among all items of its kind. Assumes that the stream has left out no item. */
function nthOf(state: UiState, events: readonly LiveEvent[], index: number): number {
  const kind = events[index]?.kind;
  const pane = panes.find(({ stream }) => stream?.kind === kind);
  const before = events.slice(0, index).filter((event) => event.kind === kind).length;
  return (pane ? (listOf(state, pane.name).newest ?? 0) : 0) + before + 1;
}

function countVerdict(
  counts: { pass: number; fail: number; inconclusive: number; failures: Record<string, number> },
  { verdict: found, rule: id }: VerdictMessage,
) {
  counts[found]++;
  if (found === "fail") counts.failures[id] = (counts.failures[id] ?? 0) + 1;
}

/** Applies the replies to the polls for fault rules and rate limits. */
export function withRulesAndWindows(
  state: UiState,
  rules: readonly RuleState[],
  windows: readonly RateWindow[] = [],
): UiState {
  const rowsOf = (name: string, data: readonly unknown[]) =>
    panes.find((pane) => pane.name === name)?.poll?.read({ data }) ?? [];
  return applyPolledRows(
    applyPolledRows(state, "faults", rowsOf("faults", rules)),
    "limits",
    rowsOf("limits", windows),
  );
}
