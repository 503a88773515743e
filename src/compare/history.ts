// The calls of a recording in order: the calls before each, repeated actions, and repeated idempotency keys.

import { isDeepStrictEqual } from "node:util";
import type { FieldError } from "../kernel/errors.ts";
import type { Knowledge } from "./observations.ts";
import { type ComparedSandbox, isObject, type RecordedCall, succeeded } from "./recording.ts";
import { isMasked } from "./shown-texts.ts";

/** A call with the data that the rules on conditions use. */
export interface CallContext {
  call: RecordedCall;
  /** Looks up a query parameter by the sandbox's name. Returns the service's name and the value. */
  parameter(own: string): { name: string; value: string | null };
  history: ReturnType<typeof historyOf>;
  knowledge: Knowledge;
  key: string | undefined;
  /** The call whose response the service has stored for the same key. */
  first: RecordedCall | undefined;
  /** An earlier call with the same key that had no response yet when this one was sent. */
  running: RecordedCall | undefined;
  /** The schema errors in the body. */
  problems: readonly FieldError[];
  /** The sets of unique fields of the record that the operation creates. */
  unique: readonly (readonly string[])[];
}

export function historyOf(calls: readonly RecordedCall[]) {
  const order = new Map(calls.map((call, index) => [call, index]));
  const successful = new Set(calls.filter(succeeded).map(({ headers }) => headers.authorization));
  const actions = new Map<string, number>();
  for (const [index, call] of calls.entries()) {
    const name = `${call.operation.id} ${call.ids.join(" ")}`;
    if (succeeded(call) && !actions.has(name)) actions.set(name, index);
  }
  return {
    calls,
    before: (call: RecordedCall) => calls.slice(0, order.get(call)),
    /** Whether any call with this Authorization header succeeds. */
    hasSuccess: (authorization: string | undefined) => successful.has(authorization),
    /** Whether an earlier call of the same action succeeded. */
    isRepeatedAction: (call: RecordedCall) =>
      (actions.get(`${call.operation.id} ${call.ids.join(" ")}`) ?? Number.POSITIVE_INFINITY) < (order.get(call) ?? 0),
  };
}

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

/** Whether the export left out the body: its Content-Type remains. */
const lacksBody = ({ text, headers }: RecordedCall) => text === undefined && headers["content-type"] !== undefined;

/** Whether two calls are the same request; undefined if a masked or missing body hides it. */
export function sameRequest(one: RecordedCall, other: RecordedCall): boolean | undefined {
  if (one.method !== other.method || one.path !== other.path || one.url.search !== other.url.search) return false;
  if (lacksBody(one) || lacksBody(other)) return undefined;
  if (!isDeepStrictEqual(one.body, other.body)) return false;
  return isMasked(one.text) ? undefined : true;
}

/** Whether the sandbox would store the call's response for its key. */
export const isStored = (call: RecordedCall) => succeeded(call) || call.status === 404 || call.status === 409;

const nameOfKind = ({ operation }: RecordedCall): string => {
  const { object } = (operation.reply as { properties?: Record<string, { enum?: string[] }> }).properties ?? {};
  return object?.enum?.[0] ?? "";
};

export const uniqueOf = (call: RecordedCall, { unique }: ComparedSandbox) =>
  isObject(call.body) ? (unique.get(nameOfKind(call)) ?? []) : [];
