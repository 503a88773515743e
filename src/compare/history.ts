// The calls of a recording in their order: what came before each, and the first call under its idempotency key.

import { isDeepStrictEqual } from "node:util";
import type { FieldError } from "../kernel/errors.ts";
import type { Knowledge } from "./observations.ts";
import { type ComparedSandbox, isObject, type RecordedCall, succeeded } from "./recording.ts";
import { isMasked } from "./shown-texts.ts";

export interface History {
  calls: readonly RecordedCall[];
  before(call: RecordedCall): readonly RecordedCall[];
  /** Whether any call with this Authorization header succeeds. */
  hasSuccess(authorization: string | undefined): boolean;
  /** Whether an earlier call of the same action succeeded. */
  isRepeatedAction(call: RecordedCall): boolean;
}

/** A call with everything by which its condition is recognised. */
export interface CallContext {
  call: RecordedCall;
  /** A parameter of the query by the sandbox's name: the service's name, and the value. */
  parameter(own: string): { name: string; value: string | null };
  history: History;
  knowledge: Knowledge;
  key: string | undefined;
  /** The call whose response the service has stored under the same key. */
  first: RecordedCall | undefined;
  /** An earlier call with the same key that had no response yet when this one was sent. */
  running: RecordedCall | undefined;
  /** The error in the body. */
  problems: readonly FieldError[];
  /** The sets of unique fields of the record that the operation creates. */
  unique: readonly (readonly string[])[];
}

export function historyOf(calls: readonly RecordedCall[]): History {
  const order = new Map(calls.map((call, index) => [call, index]));
  const successful = new Set(calls.filter(succeeded).map(({ headers }) => headers.authorization));
  const actions = new Map<string, number>();
  for (const [index, call] of calls.entries()) {
    const name = `${call.operation.id} ${call.ids.join(" ")}`;
    if (succeeded(call) && !actions.has(name)) actions.set(name, index);
  }
  return {
    calls,
    before: (call) => calls.slice(0, order.get(call)),
    hasSuccess: (authorization) => successful.has(authorization),
    isRepeatedAction: (call) =>
      (actions.get(`${call.operation.id} ${call.ids.join(" ")}`) ?? Number.POSITIVE_INFINITY) < (order.get(call) ?? 0),
  };
}

/** The name of the header with the idempotency key: the documented one, or the one that a recording uses in its place. */
export function keyHeaderOf(calls: readonly RecordedCall[], expected: string): string | undefined {
  const writes = calls.filter(({ operation }) => operation.idempotent);
  const names = new Set(writes.flatMap(({ headers }) => Object.keys(headers)));
  const candidates = [/^idempotency-key$/, /idempot/, /^(?!.*(api|websocket)).*key$/];
  if (names.has(expected)) return expected;
  return candidates.map((pattern) => [...names].find((name) => pattern.test(name))).find((name) => name !== undefined);
}

const DAY = 86_400_000;
export const windowOf = ({ operation }: RecordedCall) => operation.replayWindow ?? DAY;

/** Whether the later call comes within the window of the first one's key. */
export const isReplayable = (first: RecordedCall, call: RecordedCall) => !(call.at - first.at > windowOf(first));

/** An export may leave out the body of a request, whose Content-Type then remains. */
const lacksBody = ({ text, headers }: RecordedCall) => text === undefined && headers["content-type"] !== undefined;

/** Whether two calls are the same request; undefined if a masked or missing body hides it. */
export function sameRequest(one: RecordedCall, other: RecordedCall): boolean | undefined {
  if (one.method !== other.method || one.path !== other.path || one.url.search !== other.url.search) return false;
  if (lacksBody(one) || lacksBody(other)) return undefined;
  if (!isDeepStrictEqual(one.body, other.body)) return false;
  return isMasked(one.text) ? undefined : true;
}

/** Whether the sandbox stores the response of such a call for its key. */
export const isStored = (call: RecordedCall) => succeeded(call) || call.status === 404 || call.status === 409;

const nameOfKind = ({ operation }: RecordedCall): string => {
  const { object } = (operation.reply as { properties?: Record<string, { enum?: string[] }> }).properties ?? {};
  return object?.enum?.[0] ?? "";
};

export const uniqueOf = (call: RecordedCall, { unique }: ComparedSandbox) =>
  isObject(call.body) ? (unique.get(nameOfKind(call)) ?? []) : [];
