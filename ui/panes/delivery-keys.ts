// The keys of a delivery: replay it, replay all failed ones, copy it as curl, copy a command that verifies its signature.

import { type AttemptDetail, controlCalls } from "../../src/client/control-call.ts";
import type { AttemptMessage } from "../../src/contracts/live-messages.ts";
import { attemptCall, verifiableHeader, verifyCommand } from "../details/delivery.ts";
import { laterAttempts, targetOf } from "../details/row-lines.ts";
import { confirm } from "../overlays/confirm.ts";
import type { Row } from "../state/rows.ts";
import {
  callEffect,
  copyText,
  type KeyBinding,
  listOf,
  makeCall,
  openOverlay,
  type StateUpdate,
  type UiState,
  update,
  withNotice,
} from "../state/state.ts";
import { count } from "../view/format.ts";
import { curlOf } from "../wire/control-calls.ts";
import { copyApiKey } from "./copy-api-key.ts";
import type { Selected } from "./pane.ts";

export const deliveryKeys = (selected: Selected<AttemptMessage>): readonly KeyBinding[] => {
  const isEnabled = (state: UiState) => selected(state) !== undefined;
  return [
    {
      keys: ["r"],
      label: "replay",
      help: "replay the delivery: same event and body, to the same endpoint",
      isForHost: true,
      isEnabled,
      run(state) {
        const attempt = selected(state);
        if (!attempt) return update(state);
        return makeCall(state, replayCall(attempt), () => `Replayed ${attempt.eventType} to ${attempt.url}`);
      },
    },
    {
      keys: ["R"],
      label: "replay failed",
      help: "replay every failed delivery in the list",
      isForHost: true,
      isEnabled: (state) => hasFailed(listOf(state, "deliveries").rows),
      run: replayFailed,
    },
    {
      keys: ["y"],
      label: "copy curl",
      help: "copy the delivery as curl, exactly as it was sent",
      isEnabled,
      run: (state) => copyFromAttempt(state, selected(state), "the delivery as curl", curlOfAttempt),
    },
    {
      keys: ["v"],
      label: "verify",
      help: "copy an openssl command that verifies the signature",
      isEnabled: (state) => isEnabled(state) && verifiableHeader(state) !== undefined,
      run: (state) =>
        copyFromAttempt(state, selected(state), "the command, which reads WEBHOOK_SECRET,", (attempt) =>
          verifyCommand(attempt, verifiableHeader(state) ?? ""),
        ),
    },
    copyApiKey((state) => selected(state)?.merchant),
  ];
};

const replayCall = ({ id }: AttemptMessage) => controlCalls.attempts.replay({ id });

function replayFailed(state: UiState): StateUpdate {
  const failed = failedDeliveries(listOf(state, "deliveries").rows);
  const [first] = failed;
  if (!first) return update(state);
  const what = `${count(failed.length)} failed ${failed.length === 1 ? "delivery" : "deliveries"}`;
  const replayAll = (later: UiState): StateUpdate => {
    const updates = failed.map((attempt) => makeCall(later, replayCall(attempt), () => `Replayed ${what}`));
    const replaying = withNotice(updates.at(-1)?.state ?? later, `Replaying ${what} …`, "dim");
    return update(replaying, ...updates.flatMap(({ effects }) => effects));
  };
  return update(openOverlay(state, confirm(`Replay ${what}? Each one is a call like this:`, replayCall(first), replayAll)));
}

/** Cached by the array of rows, because every frame asks for every visible row. */
const laterByRows = new WeakMap<readonly Row[], ReturnType<typeof laterAttempts>>();

/** The successor of an attempt among these rows. */
export function laterThan(rows: readonly Row[], attempt: AttemptMessage) {
  const later = laterByRows.get(rows) ?? laterAttempts(attemptsIn(rows));
  laterByRows.set(rows, later);
  return later(attempt);
}

const attemptsIn = (rows: readonly Row[]) => rows.flatMap(({ value, gap }) => (gap ? [] : [value as AttemptMessage]));

const failedByRows = new WeakMap<readonly Row[], boolean>();

/** Cached, because the key bar asks in every frame. */
function hasFailed(rows: readonly Row[]): boolean {
  const known = failedByRows.get(rows) ?? failedDeliveries(rows).length > 0;
  failedByRows.set(rows, known);
  return known;
}

/** The last attempt of each delivery that failed for good, unless it was replayed or another delivery to the same endpoint is pending. */
export function failedDeliveries(rows: readonly Row[]): readonly AttemptMessage[] {
  const last = attemptsIn(rows).filter((attempt) => laterThan(rows, attempt) !== "attempt");
  const pending = new Set(last.filter(({ nextAttemptAt }) => nextAttemptAt !== null).map(targetOf));
  return last.filter(
    (attempt) =>
      attempt.status !== "succeeded" &&
      attempt.nextAttemptAt === null &&
      laterThan(rows, attempt) === undefined &&
      !pending.has(targetOf(attempt)),
  );
}

/** Fetches the logged attempt, and copies the text made from it. */
function copyFromAttempt(
  state: UiState,
  attempt: AttemptMessage | undefined,
  what: string,
  textOf: (attempt: AttemptDetail) => string,
): StateUpdate {
  if (!attempt) return update(state);
  const effect = callEffect(attemptCall(attempt.id), (later, { body }) => copyText(later, textOf(body.attempt), what));
  return update(withNotice(state, `Loading ${attempt.id} …`, "dim"), effect);
}

/** Headers that curl sets itself. */
const CURL_HEADERS = new Set(["content-length", "accept-encoding", "user-agent"]);

function curlOfAttempt({ url, requestHeaders, requestBody }: AttemptDetail): string {
  const headers = Object.fromEntries(Object.entries(requestHeaders).filter(([name]) => !CURL_HEADERS.has(name.toLowerCase())));
  return curlOf({ url, token: undefined }, { method: "POST", path: "", key: null, headers, body: requestBody });
}
