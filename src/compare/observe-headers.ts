// Observations from headers: rate limits, Retry-After, replays, and the name of the idempotency header.

import { isDeepStrictEqual } from "node:util";
import { isObject } from "../kernel/json-object.ts";
import { type CallContext, isReplayable, isStored, sameRequest, windowOf } from "./history.ts";
import type { ObservationLog } from "./observations.ts";
import { type RecordedCall, refused, succeeded } from "./recording.ts";
import { isMasked } from "./shown-texts.ts";
import { formOfValue } from "./value-formats.ts";

const WINDOW = ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"];
const RESET = "ratelimit-reset";

export function observeHeaders(call: RecordedCall, log: ObservationLog): void {
  const { status, responseHeaders } = call;
  // Exports may leave out all headers.
  if (Object.keys(responseHeaders).length === 0) return;
  const expected = [
    ...(succeeded(call) || status === 429 ? WINDOW : []),
    ...(status === 429 ? ["Retry-After", "Cache-Control"] : []),
    ...(status === 401 ? ["WWW-Authenticate"] : []),
  ];
  for (const name of expected) observeHeader(call, name, log);
}

function observeHeader({ entry, operation, responseHeaders }: RecordedCall, name: string, log: ObservationLog): void {
  const where = { entry, operation: operation.id };
  const value = responseHeaders[name.toLowerCase()];
  log.compare(`header.${name}`, value === undefined ? "absent" : "sent", where);
  if (value === undefined || isMasked(value)) return;
  const form = log.fact(`header.${name}.format`);
  if (form) log.compare(`header.${name}.format`, formOfValue(String(form.value), value), where);
  if (name === "RateLimit-Limit" && /^\d+$/.test(value)) log.compare("rate_limit.limit", Number(value), where);
}

/** Seconds allowed for the difference between the clocks of client and service, and for rounding in a recording. */
const SKEW = 5;

/**
 * Derives the window's length from the distances between the ends of windows. The longest time from a call to the end
 * of its window is a lower bound.
 */
export function observeWindow(calls: readonly RecordedCall[], log: ObservationLog): void {
  const shown = calls.filter(({ responseHeaders }) => /^\d{9,11}$/.test(responseHeaders[RESET] ?? ""));
  const ends = shown.map((call) => ({ call, end: Number(call.responseHeaders[RESET]) }));
  const last = ends.at(-1);
  const expected = log.fact("rate_limit.seconds")?.value;
  if (last === undefined || typeof expected !== "number") return;
  const distinct = [...new Set(ends.map(({ end }) => end))].toSorted((one, other) => one - other);
  const distance = Math.min(...distinct.slice(1).map((end, index) => end - (distinct[index] as number)));
  const ahead = ends.reduce(
    (most, { call, end }) => (Number.isNaN(call.at) ? most : Math.max(most, end - call.at / 1_000)),
    0,
  );
  const where = { entry: last.call.entry };
  if (ahead > expected + SKEW) {
    const seen = distance >= ahead && Number.isFinite(distance) ? distance : Math.ceil(ahead);
    log.record("rate_limit.seconds", seen, false, where);
  } else if (distance === expected) log.record("rate_limit.seconds", expected, true, where);
  // If the recording lacks some windows, the ends of the windows around them are several lengths apart.
  else if (Number.isFinite(distance) && distance % expected !== 0)
    log.record("rate_limit.seconds", distance, false, where);
}

/**
 * Compares Retry-After with the time until the window ends. If all values are equal although these times differ, the
 * value is a constant.
 */
export function observeRetryAfter(calls: readonly RecordedCall[], log: ObservationLog): void {
  const fact = log.fact("rate_limit.retry_after");
  let end = Number.NaN;
  const waits = calls.flatMap(({ status, entry, at, responseHeaders }) => {
    const [ends = "", wait = ""] = [responseHeaders[RESET], responseHeaders["retry-after"]];
    if (status !== 429 || Number.isNaN(at) || !/^\d{1,8}$/.test(wait)) return [];
    // Without RateLimit-Reset, the first refusal determines when its window ends.
    const now = at / 1_000;
    if (/^\d+$/.test(ends)) end = ends.length < 9 ? now + Number(ends) : Number(ends) / (ends.length < 12 ? 1 : 1_000);
    else if (!(now < end)) end = now + Number(wait);
    return [{ entry, seconds: Number(wait), isOther: Math.abs(end - now - Number(wait)) > SKEW }];
  });
  const isConstant = new Set(waits.map(({ seconds }) => seconds)).size === 1 && waits.some(({ isOther }) => isOther);
  for (const { entry, seconds, isOther } of waits)
    if (fact)
      log.compare(fact, isConstant || isOther || typeof fact.value === "number" ? seconds : fact.value, { entry });
}

export function observeKey(
  { call, key, first, running }: CallContext,
  header: string | undefined,
  log: ObservationLog,
): void {
  if (key === undefined || header === undefined) return;
  const where = { entry: call.entry, operation: call.operation.id };
  const expected = String(log.fact("idempotency.header")?.value);
  if (succeeded(call)) log.compare("idempotency.header", header === expected.toLowerCase() ? expected : header, where);
  const isAnswered =
    call.response !== undefined && (succeeded(call) || refused(call)) && call.status !== 429 && call.status !== 401;
  const isInUse = running !== undefined && refused(call);
  if (first !== undefined && isAnswered && !isInUse && sameRequest(first, call) === true)
    observeReplay(call, first, log);
}

/** Observes the second of two equal requests with the same key. */
function observeReplay(call: RecordedCall, first: RecordedCall, log: ObservationLog): void {
  const where = { entry: call.entry, operation: call.operation.id };
  const misleads = { ...where, lenient: "sandbox" as const };
  const isReplayed = call.status === first.status && isDeepStrictEqual(call.record, first.record);
  const age = Math.round((call.at - first.at) / 1_000);
  const seconds = windowOf(call) / 1_000;
  const replay = log.fact("idempotency.replay")?.value;
  if (!isReplayable(first, call)) {
    if (succeeded(call) && isObject(call.response))
      log.record(
        "idempotency.seconds",
        isReplayed ? age : seconds,
        !isReplayed,
        isReplayed ? { ...where, bound: "at_least" } : where,
      );
  } else if (isReplayed) {
    log.compare("idempotency.replay", "the first response", where);
    observeHeader(call, "Idempotent-Replayed", log);
    log.hints.push({ fact: "idempotency.seconds", bound: "at_least", value: age });
    if (age > seconds / 2) log.record("idempotency.seconds", seconds, true, where);
  } else if (succeeded(call)) {
    if (age > LONG && replay !== "a second effect")
      log.record("idempotency.seconds", age, false, { ...misleads, bound: "below" });
    else log.compare("idempotency.replay", "a second effect", misleads);
  } else {
    log.compare("idempotency.replay", `refused with ${call.status}`, misleads);
    log.hints.push({ fact: "idempotency.seconds", bound: "at_least", value: age });
  }
}

/**
 * After this many seconds, a second effect means that the key has expired. Before that, a second effect means that the
 * service does not replay responses.
 */
const LONG = 600;

/** Remembers the response that the service stores for each key. */
export function createKeyMemory() {
  const stored = new Map<string, RecordedCall>();
  const latest = new Map<string, RecordedCall>();
  return {
    /** The previous call with the same key, if it had no response yet. */
    running(call: RecordedCall, key: string | undefined): RecordedCall | undefined {
      if (key === undefined) return undefined;
      const before = latest.get(scoped(call, key));
      latest.set(scoped(call, key), call);
      return before && call.at < before.at + before.duration ? before : undefined;
    },
    /** The call whose response is stored for this call's key. */
    first(call: RecordedCall, key: string | undefined): RecordedCall | undefined {
      const first = key === undefined ? undefined : stored.get(scoped(call, key));
      return first && ownerOf(first) !== ownerOf(call) && ownerOf(first) !== undefined && ownerOf(call) !== undefined
        ? undefined
        : first;
    },
    store(call: RecordedCall, key: string | undefined, first: RecordedCall | undefined): void {
      const isExpired = first !== undefined && succeeded(call) && !isDeepStrictEqual(call.record, first.record);
      if (
        key !== undefined &&
        isStored(call) &&
        (first === undefined || (isExpired && sameRequest(first, call) === true))
      )
        stored.set(scoped(call, key), call);
    },
  };
}

/** The merchant in a response, which distinguishes callers whose API keys are masked. */
const ownerOf = ({ record }: RecordedCall) => (isObject(record) ? record.merchantId : undefined);

/** Scopes an idempotency key to its API key, if the recording shows API keys. */
const scoped = ({ headers }: RecordedCall, key: string) => `${headers.authorization ?? ""} ${key}`;
