// The calls of a recording in order: what happened before each, repeated actions, and repeated idempotency keys.

import { isDeepStrictEqual } from "node:util";
import type { FieldError } from "../kernel/errors.ts";
import { isObject } from "../kernel/json-object.ts";
import type { Knowledge } from "./observations.ts";
import {
  type ComparedOperation,
  type ComparedSandbox,
  pageIn,
  type RecordedCall,
  refused,
  succeeded,
} from "./recording.ts";
import { isMasked } from "./shown-texts.ts";

/** A call with the data that the rules on conditions use. */
export interface CallContext {
  call: RecordedCall;
  history: ReturnType<typeof historyOf>;
  knowledge: Knowledge;
  key: string | undefined;
  /** The call whose response the service has stored for the same key. */
  first: RecordedCall | undefined;
  /** An earlier call with the same key that had no response yet when this call was sent. */
  running: RecordedCall | undefined;
  /** The schema errors in the body. */
  problems: readonly FieldError[];
}

/** Indexes of the calls, so that the time for each call does not grow with the number of calls before it. */
export function historyOf(calls: readonly RecordedCall[], sandbox: ComparedSandbox, { ids }: Knowledge) {
  const order = new Map(calls.map((call, index) => [call, index]));
  const successful = calls.filter(succeeded);
  const keys = new Set(successful.map(({ headers }) => headers.authorization));
  const operations = new Set(successful.map(({ operation }) => operation));
  const first = new Map<string, RecordedCall>();
  const note = (event: string, call: RecordedCall) => first.has(event) || first.set(event, call);
  for (const call of successful) {
    note(actionOf(call), call);
    for (const event of creationsOf(call, sandbox)) note(event, call);
    const items = pageIn(call.response)?.items ?? [];
    note(pageOf(call, "first", idOf(items[0])), call);
    note(pageOf(call, "last", idOf(items.at(-1))), call);
  }
  const isEarlier = (event: string, call: RecordedCall) => {
    const found = first.get(event);
    return found !== undefined && (order.get(found) as number) < (order.get(call) as number);
  };
  const isRepeatedAction = (call: RecordedCall) => isEarlier(actionOf(call), call);
  const refusedRepeats = new Map(
    calls
      .filter((call) => refused(call) && isAction(call) && isRepeatedAction(call))
      .toReversed()
      .map((call) => [call.operation, call]),
  );
  const isPlain = ({ errors }: ComparedOperation) =>
    !errors.includes("invalid_state") && !errors.includes("already_exists");
  const isUnknown = (call: RecordedCall) =>
    refused(call) && isPlain(call.operation) && call.ids.some((id) => !ids.has(id));
  const ofUnknownIds = new Set(calls.filter(isUnknown).map(answerOf));
  return {
    /** Whether the call got the status and code of a call that can only have failed because its id is unknown. */
    isOfUnknownId: (call: RecordedCall) => ofUnknownIds.has(answerOf(call)),
    hasSuccess: (authorization: string | undefined) => keys.has(authorization),
    /** Whether any call of the operation succeeds. */
    isUsed: (operation: ComparedOperation) => operations.has(operation),
    /** Whether an earlier call of the same action succeeded. */
    isRepeatedAction,
    /** The first refusal of an action that had succeeded before. */
    refusedRepeat: (operation: ComparedOperation) => refusedRepeats.get(operation),
    /** Whether an earlier call created a record with the same unique values. */
    isCreatedBefore: (call: RecordedCall) => creationsOf(call, sandbox).some((event) => isEarlier(event, call)),
    /** Whether an earlier page of the same list begins or ends with the record. */
    hasPage: (call: RecordedCall, end: "first" | "last", id: string) => isEarlier(pageOf(call, end, id), call),
  };
}

/** The status and the code of a response, which distinguish one refusal from another. */
export const answerOf = ({ status, response }: RecordedCall) => `${status} ${isObject(response) ? response.code : ""}`;

const actionOf = ({ operation, ids }: RecordedCall) => `${operation.id} ${ids.join(" ")}`;

const pageOf = ({ operation }: RecordedCall, end: string, id: unknown) => `${operation.id} ${end} ${id}`;

const idOf = (item: unknown) => (isObject(item) ? item.id : undefined);

export const isAction = ({ operation, ids }: RecordedCall) =>
  operation.method === "POST" && ids.length > 0 && operation.errors.includes("invalid_state");

/** The sets of unique values that a call gives to a record. */
const creationsOf = ({ operation, ids, body }: RecordedCall, { unique }: ComparedSandbox): string[] =>
  isObject(body)
    ? (unique.get(nameOfKind(operation)) ?? [])
        .map((fields) => fields.map((field) => body[field]))
        .filter((values) => values.every((value) => value !== undefined && !isMasked(value)))
        .map((values) => `${operation.id} ${ids.join(" ")} ${JSON.stringify(values)}`)
    : [];

/** The name of the header with the idempotency key: the expected one, or a similar header in the recording. */
export function keyHeaderOf(calls: readonly RecordedCall[], expected: string): string | undefined {
  const writes = calls.filter(({ operation }) => operation.idempotent);
  const names = new Set(writes.flatMap(({ headers }) => Object.keys(headers)));
  const candidates = [/^idempotency-key$/, /idempot/, /^(?!.*(api|websocket)).*key$/];
  if (names.has(expected)) return expected;
  return candidates.map((pattern) => [...names].find((name) => pattern.test(name))).find((name) => name !== undefined);
}

const DAY = 86_400_000;
export const windowOf = ({ operation }: RecordedCall) => operation.replayWindow ?? DAY;

/** Whether the call falls into the replay window of the first call's key. */
export const isReplayable = (first: RecordedCall, call: RecordedCall) => !(call.at - first.at > windowOf(first));

/** Whether the export left out the body. The Content-Type then remains. */
const lacksBody = ({ text, headers }: RecordedCall) => text === undefined && headers["content-type"] !== undefined;

/** Whether two calls are the same request; undefined if a masked or missing body makes this unknown. */
export function sameRequest(one: RecordedCall, other: RecordedCall): boolean | undefined {
  if (one.method !== other.method || one.path !== other.path || one.url.search !== other.url.search) return false;
  if (lacksBody(one) || lacksBody(other)) return undefined;
  if (!isDeepStrictEqual(one.body, other.body)) return false;
  return isMasked(one.text) ? undefined : true;
}

/** Whether the sandbox would store the call's response for its key. */
export const isStored = (call: RecordedCall) => succeeded(call) || call.status === 404 || call.status === 409;

const nameOfKind = ({ reply }: ComparedOperation): string => {
  const { object } = (reply as { properties?: Record<string, { enum?: string[] }> }).properties ?? {};
  return object?.enum?.[0] ?? "";
};
