// The keys of a delivery: replay it, replay all failed ones, copy it as curl, copy a command that verifies its signature.

import { type AttemptDetail, controlCalls } from "../../src/client/control-call.ts";
import type { AttemptMessage } from "../../src/contracts/live-messages.ts";
import { attemptCall, isSameDelivery, verifyCommand } from "../details/delivery.ts";
import { confirm } from "../overlays/confirm.ts";
import type { Row } from "../state/list.ts";
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
      isEnabled: (state) => failedDeliveries(listOf(state, "deliveries").rows).length > 0,
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
      isEnabled,
      run: (state) => copyFromAttempt(state, selected(state), "the command, which reads WEBHOOK_SECRET,", verifyCommand),
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

/** Both results are cached by the array of rows, because every frame asks for them for every visible row. */
const failedByRows = new WeakMap<readonly Row[], readonly AttemptMessage[]>();
const lastByRows = new WeakMap<readonly Row[], ReadonlyMap<string, AttemptMessage>>();

/** The last attempt of each delivery that failed and will not be retried. */
export function failedDeliveries(rows: readonly Row[]): readonly AttemptMessage[] {
  const cached = failedByRows.get(rows);
  if (cached) return cached;
  const failed = [...lastAttempts(rows).values()].filter(({ status, nextAttemptAt }) => status !== "succeeded" && nextAttemptAt === null);
  failedByRows.set(rows, failed);
  return failed;
}

function lastAttempts(rows: readonly Row[]): ReadonlyMap<string, AttemptMessage> {
  const cached = lastByRows.get(rows);
  if (cached) return cached;
  const last = new Map(rows.map(({ value }) => [deliveryKey(value as AttemptMessage), value as AttemptMessage]));
  lastByRows.set(rows, last);
  return last;
}

const deliveryKey = ({ eventId, endpointId }: AttemptMessage) => `${eventId} ${endpointId}`;

/** Whether the list has no later attempt of the same delivery. */
export function isLastAttempt(rows: readonly Row[], attempt: AttemptMessage): boolean {
  const last = lastAttempts(rows).get(deliveryKey(attempt));
  return last === undefined || last.id === attempt.id || !isSameDelivery(last, attempt);
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
