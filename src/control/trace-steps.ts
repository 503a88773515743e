// Reads the steps of a trace from the logs: requests, the events that requests caused, the deliveries of these events,
// and the calls that receivers made back.

import type { TraceStep } from "../contracts/trace.ts";
import type { Judge } from "../judge/judge.ts";
import { memoize } from "../kernel/bounded-cache.ts";
import { isoTime } from "../kernel/clock.ts";
import { grouped } from "../kernel/grouped.ts";
import { mask } from "../kernel/mask.ts";
import { parseTraceparent, traceIdOf } from "../kernel/trace-context.ts";
import type { RequestRow } from "../store/request-log/read-requests.ts";
import type { Stores } from "../store/stores.ts";
import type { StoredAttempt } from "../store/webhooks/attempts.ts";
import type { LoggedEvent } from "../store/webhooks/event-log.ts";

export interface TraceSources extends Pick<Stores, "requestLog" | "eventLog" | "attempts"> {
  judge: Pick<Judge, "callBacks">;
}

/** Reading this many takes some 30 ms. */
const MOST_STEPS = 200;

/** A request, or an event that no request caused. */
type Found = { request: RequestRow; event?: never } | { event: LoggedEvent; request?: never };

/** The action of the step with this id; undefined if no such step is logged. */
export function readAction(sources: TraceSources, id: string) {
  const first = firstOf(sources, id);
  if (first === undefined) return undefined;
  const trace = first.request ? first.request.trace : traceIdOf(first.event.trace);
  if (trace !== null) return readTrace(sources, trace);
  const writer = createStepWriter(sources);
  if (first.request) writer.addRequest(first.request);
  else writer.addEvent(first.event);
  return shown(null, writer.steps);
}

/** The action with this trace id, without steps if the logs have none. */
export function readTrace(sources: TraceSources, trace: string) {
  const { requestLog, eventLog } = sources;
  const requests = requestLog.ofTrace(trace, MOST_STEPS + 1);
  const writer = createStepWriter(sources, requests);
  for (const request of requests) if (!writer.isCallBack(request)) writer.addRequest(request);
  // The request log may have dropped the request of an event that is still logged.
  for (const event of eventLog.ofTrace(trace, MOST_STEPS + 1)) writer.addEvent(event);
  return shown(trace, writer.steps);
}

const shown = (trace: string | null, steps: readonly TraceStep[]) => ({
  trace,
  steps: steps.slice(0, MOST_STEPS),
  has_more: steps.length > MOST_STEPS,
});

/**
 * Goes from a step to its cause, to the cause of the cause, and so on. Follows at most one call back that is recognised
 * by time only: otherwise a client that writes all the time would join everything into one action.
 */
function firstOf(sources: TraceSources, id: string): Found | undefined {
  const { requestLog, eventLog, attempts } = sources;
  const followsByTime = timeRule(sources);
  let isGuessed = false;
  const eventOf = (attempt: string) => eventLog.find(attempts.find(undefined, attempt)?.eventId ?? "");
  const causeOf = ({ request, event }: Found): Found | undefined => {
    if (event) return event.request === null ? undefined : foundRequest(requestLog.get(event.request));
    const attempt = isGuessed ? undefined : sources.judge.callBacks().get(request.id)?.attempt;
    const cause = attempt === undefined ? undefined : eventOf(attempt);
    isGuessed = true;
    return cause && followsByTime(request, traceIdOf(cause.trace)) ? { event: cause } : undefined;
  };
  const event = eventLog.find(id) ?? eventOf(id);
  let first = foundRequest(requestLog.get(id)) ?? (event && { event });
  for (let steps = 0; first && steps < MOST_STEPS; steps++) {
    const cause = causeOf(first);
    if (!cause) break;
    first = cause;
  }
  return first;
}

const foundRequest = (request: RequestRow | undefined): Found | undefined => request && { request };

/**
 * Returns a function that decides whether a write that the judge attributes to a delivery was made by the receiver, as
 * a call back. A call with the delivery's own trace was not: the delivery carried no `traceparent`, so only the app
 * that started the trace knows it. A call with another trace counts only if it arrived during the delivery; a later one
 * may be the app's next action. A retry counts only if the call that it repeats is a call back.
 */
function timeRule({ judge }: TraceSources) {
  const callBacks = judge.callBacks();
  return ({ id, trace, replayOf }: RequestRow, traceOfDelivery: string | null): boolean => {
    if (replayOf !== null && !callBacks.has(replayOf)) return false;
    return trace === null || (trace !== traceOfDelivery && callBacks.get(id)?.wasInFlight === true);
  };
}

/** Collects steps, each followed by the steps that it caused. `requests` has the trace's requests, oldest first. */
function createStepWriter(sources: TraceSources, requests: readonly RequestRow[] = []) {
  const { requestLog, eventLog, attempts, judge } = sources;
  const eventsOf = memoize(MOST_STEPS, eventLog.causedBy);
  const attemptsOf = memoize(MOST_STEPS, (eventId: string) =>
    attempts.log(undefined, { eventId, limit: 100 }).data.reverse(),
  );
  const tracedCauses = findTracedCauses(requests, (id) => eventsOf(id).flatMap((event) => attemptsOf(event.id)));
  const followsByTime = timeRule(sources);
  const timedCauses = grouped(judge.callBacks(), ([, { attempt }]) => attempt);
  const steps: TraceStep[] = [];
  const seen = new Set<string>();
  const add = (step: Omit<TraceStep, "cause" | "depth">, cause: TraceStep | undefined): TraceStep | undefined => {
    if (seen.has(step.id) || steps.length > MOST_STEPS) return undefined;
    seen.add(step.id);
    const added = { ...step, cause: cause?.id ?? null, depth: cause === undefined ? 0 : cause.depth + 1 };
    steps.push(added);
    return added;
  };
  const addRequest = (request: RequestRow, cause?: TraceStep, isGuessed = false) => {
    const isTraced = tracedCauses.has(request.id);
    const step = add(requestStep(request, cause && (isTraced ? "trace" : "time")), cause);
    const isBelowGuess = isGuessed || (cause !== undefined && !isTraced);
    if (step) for (const event of eventsOf(request.id)) addEvent(event, step, isBelowGuess);
  };
  const addEvent = (event: LoggedEvent, cause?: TraceStep, isGuessed = false) => {
    const step = add(eventStep(event), cause);
    if (step) for (const attempt of attemptsOf(event.id)) addAttempt(attempt, step, isGuessed);
  };
  const addAttempt = (attempt: StoredAttempt, cause: TraceStep, isGuessed: boolean) => {
    const step = add(attemptStep(attempt), cause);
    if (!step) return;
    const traced = requests.filter(({ id }) => tracedCauses.get(id) === attempt.id);
    const timed = (isGuessed ? [] : (timedCauses.get(attempt.id) ?? [])).flatMap(([id]) => {
      const request = requestLog.get(id);
      return request && followsByTime(request, attempt.trace) ? [request] : [];
    });
    const inOrder = [...traced, ...timed].toSorted((one, other) => one.sequence - other.sequence);
    for (const request of inOrder) addRequest(request, step, isGuessed);
  };
  return { steps, addRequest, addEvent, isCallBack: ({ id }: RequestRow) => tracedCauses.has(id) };
}

/**
 * Finds the delivery attempt that caused each call of a trace. If the call names the span of an attempt, that attempt
 * is its cause. A receiver's own tracer adds spans in between, so for a call in another span the cause is the attempt
 * that was open when the call arrived, or else the latest attempt. A call in the span of an earlier call without a
 * cause has no cause either. Only attempts that carried the trace count. `attemptsOf` returns the attempts that a
 * request caused.
 */
function findTracedCauses(
  requests: readonly RequestRow[],
  attemptsOf: (request: string) => StoredAttempt[],
): Map<string, string> {
  const causes = new Map<string, string>();
  const sent: { span: string; attempt: StoredAttempt }[] = [];
  const callers = new Set<string | undefined>();
  for (const request of requests) {
    const caller = callerOf(request);
    const cause =
      sent.find(({ span }) => span === caller) ??
      (callers.has(caller) ? undefined : (sent.find(({ attempt }) => attempt.at >= request.at) ?? sent.at(-1)));
    if (cause) causes.set(request.id, cause.attempt.id);
    else callers.add(caller);
    for (const attempt of attemptsOf(request.id)) {
      const span = parseTraceparent(attempt.requestHeaders.traceparent)?.spanId;
      if (span !== undefined) sent.push({ span, attempt });
    }
  }
  return causes;
}

/** The span in which a call was made. */
const callerOf = ({ requestHeaders }: RequestRow): string | undefined =>
  parseTraceparent((JSON.parse(requestHeaders) as { traceparent?: string }).traceparent)?.spanId;

export const requestStep = (
  { id, at, merchant, method, path, query, status, summary }: RequestRow,
  attributedBy: TraceStep["attributedBy"] = null,
) => ({
  kind: "request" as const,
  id,
  at: isoTime(at),
  merchant,
  text: `${method} ${path}${query === "" ? "" : `?${query}`}`,
  result: [status || "no response", summary].filter((part) => part !== null).join(" "),
  attributedBy,
});

export function eventStep({ id, created, merchant, type, pending, succeeded, failed, cancelled }: LoggedEvent) {
  const states = Object.entries({ succeeded, failed, cancelled, pending });
  const counts = states.flatMap(([state, count]) => (count > 0 ? [`${count} ${state}`] : []));
  const result = counts.length === 0 ? "no endpoint" : counts.join(", ");
  return { kind: "event" as const, id, at: isoTime(created), merchant, text: type, result, attributedBy: null };
}

export const attemptStep = ({ id, at, merchantId, trigger, attempt, maxAttempts, url, ...outcome }: StoredAttempt) => ({
  kind: "delivery" as const,
  id,
  at: isoTime(at),
  merchant: merchantId,
  text: `${trigger === "replay" ? "replay" : `attempt ${attempt} of ${maxAttempts}`} to ${mask(url)}`,
  result: [outcome.responseStatus ?? outcome.errorCode ?? outcome.status, outcome.summary]
    .filter((part) => part !== null)
    .join(" "),
  attributedBy: null,
});
