// The pane of webhook deliveries, one row per attempt, and the keys that replay, copy and verify them.

import type { LoggedAttempt } from "../../generated/control-api.ts";
import { controlCalls } from "../../src/client/control-call.ts";
import { curlOf } from "../../src/client/curl.ts";
import { attemptFacts, attemptVocabulary } from "../../src/client/row-filter.ts";
import type { AttemptMessage } from "../../src/contracts/live-messages.ts";
import { oncePerKey } from "../../src/kernel/once.ts";
import type { Row } from "../state/list.ts";
import { type Effect, listOf, type StateUpdate, type UiState } from "../state/state.ts";
import { copyText, loadThen, makeCall, openOverlay, pollEffect, update, withNotice } from "../state/updates.ts";
import { countNote, duration, failureMark, plural } from "../text/format.ts";
import { IDS_FROM } from "./columns.ts";
import { copyApiKey } from "./controls/sandbox-forms.ts";
import { attemptCall, attemptRow, deliveryDetail, isVerifiable, verifyCommand } from "./details/delivery.ts";
import {
  type AttemptSummary,
  laterAttempts,
  outcomeOf,
  resultOf,
  resultStyles,
  targetOf,
} from "./details/row-lines.ts";
import { confirm } from "./overlays/text-view.ts";
import { listPane, programCommand, readAs } from "./pane.ts";

/** A list of at least this width shows whole URLs. */
const WHOLE_URL_FROM = 100;
/** A narrower list has no room for one. */
const URLS_FROM = 54;

/** Shortens a URL: `:3000/hooks` for `http://localhost:3000/hooks`. */
const shortUrl = (url: string) => url.replace(/^http:\/\/(?:(?:localhost|127\.0\.0\.1)(?=:))?/, "");

export const deliveries = listPane<AttemptMessage>({
  name: "deliveries",
  title: "Deliveries",
  rowId: ({ id }) => id,
  filterBy: attemptFacts,
  vocabulary: attemptVocabulary,
  stream: "attempt",
  log: {
    page: ({ before, filter }) =>
      readAs(
        controlCalls.attempts.list({ limit: 100, starting_after: before, filter: filter || undefined }),
        ({ data, has_more }) => ({
          rows: data.map(attemptRow),
          hasMore: has_more,
        }),
      ),
    order: ({ sequence }) => sequence,
  },
  titleNote: ({ sandbox }) => countNote(sandbox?.failedDeliveries ?? 0, "failed"),
  alarm: (state) => failureMark(state.theme, state.sandbox?.failedDeliveries ?? 0),
  columns(attempt, state, width) {
    const { eventType, eventId, url, durationMs } = attempt;
    const [outcome, styles] = outcomeOf(state, attempt, laterIn(listOf(state, "deliveries").rows)(attempt));
    return [
      {
        heading: "event",
        text: eventType,
        ...(width >= URLS_FROM && { width: width < WHOLE_URL_FROM ? 17 : 24 }),
        truncate: "middle",
      },
      {
        heading: "event id",
        text: eventId,
        width: width < IDS_FROM ? 9 : 14,
        truncate: "middle",
        styles: ["dim"],
        hideBelow: 64,
      },
      {
        heading: "endpoint",
        text: width < WHOLE_URL_FROM ? shortUrl(url) : url,
        truncate: "middle",
        hideBelow: URLS_FROM,
      },
      { heading: "try", text: `${attempt.attempt}/${attempt.maxAttempts}`, width: 5, align: "right" },
      { heading: "result", text: resultOf(attempt), width: 8, align: "right", styles: resultStyles(attempt) },
      { text: attempt.fault === null ? "" : "*", width: 1, styles: ["magenta"], hideBelow: 74 },
      {
        heading: "took",
        text: durationMs === null ? "" : duration(durationMs),
        width: 9,
        align: "right",
        styles: ["dim"],
        hideBelow: 100,
      },
      { heading: "outcome", text: outcome, width: 15, styles },
    ];
  },
  emptyText: (state) => [
    "No deliveries yet. Run this, then press t to trigger an event:",
    "",
    programCommand(state, "listen --forward-to localhost:3000/hooks"),
  ],
  detail: deliveryDetail,
  fetchRow: (id) => readAs(attemptCall(id), ({ attempt }) => attemptRow(attempt)),
  isRelated: (one, other) => targetOf(one) === targetOf(other),
  keys: [
    {
      keys: ["r"],
      label: "replay",
      help: "replay the delivery: same event and body, to the same endpoint",
      isEnabled: (state, attempt) => isReplayable(state, attempt),
      run: (state, attempt) =>
        makeCall(state, replayCall(attempt), () => ({ message: `Replayed ${attempt.eventType} to ${attempt.url}` })),
    },
    {
      keys: ["R"],
      label: "replay failed",
      help: "replay every failed delivery in the list",
      isEnabled: (state) => replayable(state).length > 0,
      run: replayFailed,
    },
    {
      keys: ["y"],
      label: "copy curl",
      help: "copy the delivery as curl, exactly as it was sent",
      run: (state, { id }) =>
        loadThen(state, id, attemptCall(id), (later, { attempt }) =>
          copyText(later, curlOfAttempt(attempt), "the delivery as curl"),
        ),
    },
    {
      keys: ["v"],
      label: "verify",
      help: "copy an openssl command that verifies the signature",
      isEnabled: isVerifiable,
      run: (state, { id }) =>
        loadThen(state, id, attemptCall(id), (later, { attempt }) =>
          copyText(later, verifyCommand(attempt), "the command that reads MERCHANT_WEBHOOK_SECRET"),
        ),
    },
    copyApiKey(({ merchant }) => merchant),
  ],
});

const replayCall = ({ id }: AttemptMessage) => controlCalls.attempts.replay({ id });

function replayFailed(state: UiState): StateUpdate {
  const failed = replayable(state);
  const [first] = failed;
  if (!first) return update(state);
  const what = plural(failed.length, "failed delivery");
  const replayAll = (later: UiState): StateUpdate => {
    const updates = failed.map((attempt) =>
      makeCall(later, replayCall(attempt), () => ({ message: `Replayed ${what}` })),
    );
    const replaying = withNotice(updates.at(-1)?.state ?? later, `Replaying ${what} …`, "dim");
    return update(replaying, ...updates.flatMap(({ effects }) => effects));
  };
  return update(
    openOverlay(state, confirm(`Replay ${what}? Each one is a call like this:`, replayCall(first), replayAll)),
  );
}

/** Endpoints that are not listed, although an attempt was made to them, were deleted. */
export const pollEndpoints = (): Effect[] => [
  pollEffect(controlCalls.endpoints.list(), (state, { body }) => {
    const open = new Set(body.data.flatMap(({ id, status }) => (status === "enabled" ? [id] : [])));
    const used = attemptsIn(listOf(state, "deliveries").rows).map(({ endpointId }) => endpointId);
    return update({ ...state, closedEndpoints: new Set(used.filter((id) => !open.has(id))) });
  }),
];

const isReplayable = ({ closedEndpoints }: UiState, { endpointId }: AttemptMessage) =>
  closedEndpoints?.has(endpointId) !== true;

const replayable = (state: UiState) =>
  failedDeliveries(listOf(state, "deliveries").rows).filter((attempt) => isReplayable(state, attempt));

const attemptsIn = (rows: readonly Row[]) => rows.flatMap(({ value, gap }) => (gap ? [] : [value as AttemptMessage]));

/** The successor of each attempt among these rows. Cached, because every frame needs it for every visible row. */
const laterIn = oncePerKey((rows: readonly Row[]) => laterAttempts(attemptsIn(rows)));

/**
 * The last attempt of each delivery that failed for good, unless it was replayed or another delivery to the same
 * endpoint is pending.
 */
export const failedDeliveries = oncePerKey((rows: readonly Row[]): readonly AttemptMessage[] => {
  const later = laterIn(rows);
  const last = attemptsIn(rows).filter((attempt) => later(attempt) !== "attempt");
  const pending = new Set(last.filter(({ nextAttemptAt }) => nextAttemptAt !== null).map(targetOf));
  return last.filter(
    (attempt) => hasFailed(attempt) && later(attempt) === undefined && !pending.has(targetOf(attempt)),
  );
});

const hasFailed = ({ status, nextAttemptAt, deliveryState }: AttemptSummary) =>
  status !== "succeeded" && nextAttemptAt === null && deliveryState !== "cancelled";

/** Headers that curl sets itself. */
const CURL_HEADERS = new Set(["content-length", "accept-encoding", "user-agent"]);

function curlOfAttempt({ url, requestHeaders, requestBody }: LoggedAttempt): string {
  const headers = Object.fromEntries(
    Object.entries(requestHeaders).filter(([name]) => !CURL_HEADERS.has(name.toLowerCase())),
  );
  return curlOf({ url, token: undefined }, { method: "POST", path: "", key: null, headers, body: requestBody });
}
