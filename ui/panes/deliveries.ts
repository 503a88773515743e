// The pane of webhook deliveries, one row for each, and the keys that replay, copy and verify them.

import type { LoggedAttempt } from "../../generated/control-api.ts";
import { controlCalls } from "../../src/client/control-call.ts";
import { curlOf } from "../../src/client/curl.ts";
import { attemptFacts, attemptVocabulary } from "../../src/client/row-filter.ts";
import type { AttemptMessage } from "../../src/contracts/live-messages.ts";
import { oncePerKey } from "../../src/kernel/once.ts";
import type { Fold } from "../state/list.ts";
import type { Row } from "../state/rows.ts";
import { type Effect, listOf, type StateUpdate, type UiState } from "../state/state.ts";
import { copyText, loadThen, makeCall, openOverlay, pollEffect, update, withNotice } from "../state/updates.ts";
import { countNote, duration, failureMark, plural } from "../text/format.ts";
import { symbols, type Theme } from "../text/style.ts";
import { copyApiKey } from "./controls/sandbox-forms.ts";
import { comparedAttempt, comparison } from "./details/compare.ts";
import { attemptCall, attemptRow, deliveryDetail, isVerifiable, verifyCommand } from "./details/delivery.ts";
import {
  type AttemptSummary,
  hasFailed,
  laterAttempts,
  outcomeOf,
  reasonOf,
  resultOf,
  resultStyles,
  targetOf,
  tryOf,
} from "./details/row-lines.ts";
import { openDetail, selectedReference } from "./overlays/detail.ts";
import { confirm } from "./overlays/text-view.ts";
import { listPane, programCommand, readAs } from "./pane.ts";

/** A list of at least this width shows whole URLs. */
const WHOLE_URL_FROM = 140;

const ENDPOINT_CLAIM = 14;

/** Shortens a URL: `:3000/hooks` for `http://localhost:3000/hooks`. */
const shortUrl = (url: string) => url.replace(/^http:\/\/(?:(?:localhost|127\.0\.0\.1)(?=:))?/, "");

const MOST_MARKS = 8;

/**
 * A mark for each attempt, such as `✗✗✓`; with more than eight attempts, a count, such as `✗×11✓`. Every attempt before
 * the newest one failed.
 */
function triesOf(theme: Theme, { attempt, status }: AttemptSummary): string {
  const { good, bad } = symbols(theme);
  const last = status === "succeeded" ? good : bad;
  return attempt > MOST_MARKS ? `${bad}×${attempt - 1}${last}` : bad.repeat(attempt - 1) + last;
}

/** A delivery as a row: its newest attempt. The row is cached for each attempt, so that a filter tests it only once. */
const deliveryRow = oncePerKey(
  (row: Row): Row => ({ ...row, id: `delivery ${(row.value as AttemptMessage).delivery}`, ref: row.id }),
);

/** One row for each delivery, at the position of its newest attempt. */
const foldAttempts: Fold = (rows) => {
  const seen = new Set<number>();
  const newest = rows.toReversed().flatMap((row): Row[] => {
    if (row.gap) return [row];
    const { delivery } = row.value as AttemptMessage;
    if (seen.has(delivery)) return [];
    seen.add(delivery);
    return [deliveryRow(row)];
  });
  return newest.reverse();
};

export const deliveries = listPane<AttemptMessage>({
  name: "deliveries",
  title: "Deliveries",
  rowId: ({ id }) => id,
  filterBy: attemptFacts,
  vocabulary: attemptVocabulary,
  stream: "attempt",
  fold: foldAttempts,
  counts: "attempt",
  log: {
    page: ({ before, filter }) =>
      readAs(
        controlCalls.deliveries.list({ limit: 100, starting_after: before, filter: filter || undefined }),
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
    const { eventType, eventId, url, durationMs, fault, summary } = attempt;
    const { rows } = listOf(state, "deliveries");
    const [outcome, styles] = outcomeOf(state, attempt, laterIn(rows)(attempt));
    const target = width < WHOLE_URL_FROM ? shortUrl(url) : url;
    // With several endpoints, each row must name its endpoint. With a single endpoint, a long URL is left out before
    // the reasons are.
    const isNeeded = endpointsIn(rows).areSeveral || target.length <= ENDPOINT_CLAIM;
    return [
      { heading: "event", text: eventType, claim: 30, rank: 1 },
      { heading: "endpoint", text: target, claim: ENDPOINT_CLAIM, rank: isNeeded ? 2 : 4, truncate: "middle" },
      { heading: "tries", text: triesOf(state.theme, attempt), rank: 5, styles: resultStyles(attempt) },
      { heading: "try", text: tryOf(attempt), rank: 1, align: "right" },
      { heading: "code", text: resultOf(attempt), styles: resultStyles(attempt) },
      { text: fault === null ? "" : "*", styles: ["magenta"] },
      {
        heading: "reason",
        text: summary ?? "",
        width: 16,
        claim: 30,
        rank: 3,
        grows: true,
        styles: resultStyles(attempt),
      },
      { heading: "outcome", text: outcome, width: 14, styles },
      {
        heading: "took",
        text: durationMs === null ? "" : duration(durationMs),
        width: 8,
        rank: 6,
        align: "right",
        styles: ["dim"],
      },
      { heading: "event id", text: eventId, claim: 14, rank: 7, truncate: "middle", styles: ["dim"] },
    ];
  },
  emptyText: (state) => [
    "No deliveries yet. Run this, then press t to trigger an event:",
    "",
    programCommand(state, "listen --forward-to localhost:3000/hooks"),
  ],
  failureOf: (attempt) => (attempt.status === "succeeded" ? undefined : reasonOf(attempt)),
  detail: deliveryDetail,
  fetchRow: (id) => readAs(attemptCall(id), ({ attempt }) => attemptRow(attempt)),
  isRelated: (one, other) => one.eventType === other.eventType && one.endpointId === other.endpointId,
  keys: [
    {
      keys: ["r"],
      label: "replay",
      help: "replay the delivery: same event and body, to the same endpoint",
      isEnabled: (state, attempt) => isReplayable(state, attempt),
      needs: "an endpoint that is enabled",
      run: (state, attempt) =>
        makeCall(state, replayCall(attempt), () => ({ message: `Replayed ${attempt.eventType} to ${attempt.url}` })),
    },
    {
      keys: ["R"],
      label: "replay failed",
      help: "replay every failed delivery in the list",
      isEnabled: (state) => replayable(state).length > 0,
      needs: "a delivery that failed for good",
      run: replayFailed,
    },
    {
      keys: ["y"],
      label: "copy curl",
      help: "copy the delivery as curl, exactly as it was sent",
      run: copyOf(curlOfAttempt, "the delivery as curl"),
    },
    {
      keys: ["Y"],
      label: "copy body",
      help: "copy the body that was sent",
      run: copyOf(({ requestBody }) => requestBody, "the body that was sent"),
    },
    {
      keys: ["v"],
      label: "verify",
      help: "copy an openssl command that verifies the signature",
      isEnabled: isVerifiable,
      run: copyOf(verifyCommand, "the command that reads MERCHANT_WEBHOOK_SECRET"),
    },
    {
      keys: ["="],
      label: "compare",
      help: "compare the attempt with the selected one or, from the list, with the first one",
      isEnabled: (state, { id, attempt }) => attempt > 1 || otherSelected(state, id) !== undefined,
      needs: "a delivery with two attempts",
      run: compare,
    },
    copyApiKey(({ merchant }) => merchant),
  ],
});

/** Copies a text about the attempt as the log has it. */
function copyOf(textOf: (attempt: LoggedAttempt) => string, what: string) {
  return (state: UiState, { id }: AttemptMessage) =>
    loadThen(state, id, attemptCall(id), (later, { attempt }) => copyText(later, textOf(attempt), what));
}

/** The attempt that the selected link of a detail refers to, unless it is the one with this id. */
function otherSelected(state: UiState, id: string): string | undefined {
  const selected = selectedReference(state);
  return selected?.pane === "deliveries" && selected.id !== id ? selected.id : undefined;
}

/**
 * Compares the attempt with the one that the selected link of its detail refers to, or else with the first attempt of
 * the delivery.
 */
function compare(state: UiState, attempt: AttemptMessage): StateUpdate {
  const { id, delivery } = attempt;
  const open = (later: UiState, other: string): StateUpdate => {
    const detail = comparison([other, id], attemptCall, comparedAttempt);
    const { overlay, effects } = openDetail(detail, { pane: "deliveries", id, value: attempt }, []);
    return update(openOverlay({ ...later, notice: undefined }, overlay), ...effects);
  };
  const selected = otherSelected(state, id);
  if (selected !== undefined) return open(state, selected);
  return loadThen(state, id, attemptCall(id), (later, { attempts }) => {
    const first = attempts.findLast((one) => one.delivery === delivery && one.id !== id);
    return first
      ? open(later, first.id)
      : update(withNotice(later, `${id} is the only attempt of its delivery`, "yellow"));
  });
}

const replayCall = ({ id }: AttemptMessage) => controlCalls.deliveries.replay({ id });

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
  const confirmation = {
    question: `Replay ${what}?`,
    ...(failed.length > 1 && { callCaption: "Each one is a call like this:" }),
    action: failed.length === 1 ? "Replay it" : "Replay them",
    refusal: "Not now",
  };
  return update(openOverlay(state, confirm(confirmation, replayCall(first), replayAll)));
}

/** An endpoint that has attempts but is not listed as enabled was deleted or disabled. */
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

const endpointsIn = oncePerKey((rows: readonly Row[]) => {
  const first = rows.find(({ gap }) => !gap)?.value as AttemptMessage | undefined;
  const isOther = ({ value, gap }: Row) => !gap && (value as AttemptMessage).endpointId !== first?.endpointId;
  return { areSeveral: rows.some(isOther) };
});

/**
 * The last attempt of each delivery that failed for good. Leaves out a delivery if it was replayed, or if another
 * delivery of its event to its endpoint is pending.
 */
export const failedDeliveries = oncePerKey((rows: readonly Row[]): readonly AttemptMessage[] => {
  const later = laterIn(rows);
  const last = attemptsIn(rows).filter((attempt) => later(attempt) !== "attempt");
  const pending = new Set(last.filter(({ nextAttemptAt }) => nextAttemptAt !== null).map(targetOf));
  return last.filter(
    (attempt) => hasFailed(attempt) && later(attempt) === undefined && !pending.has(targetOf(attempt)),
  );
});

/** Headers that curl sets itself. */
const CURL_HEADERS = new Set(["content-length", "accept-encoding", "user-agent"]);

function curlOfAttempt({ url, requestHeaders, requestBody }: LoggedAttempt): string {
  const headers = Object.fromEntries(
    Object.entries(requestHeaders).filter(([name]) => !CURL_HEADERS.has(name.toLowerCase())),
  );
  return curlOf({ url, token: undefined }, { method: "POST", path: "", key: null, headers, body: requestBody });
}
