// The text and fields of rows that row filters match, in digests, the request log and the dashboard.

import type { AttemptMessage, RequestMessage } from "./live-messages.ts";
import type { FilterFacts, FilterVocabulary } from "./row-filter.ts";

const REQUEST_FIELDS = ["id", "method", "path", "status", "ms", "operation", "merchant", "key", "fault"] as const;
const ATTEMPT_FIELDS = ["id", "event", "path", "status", "result", "ms", "merchant", "endpoint", "error", "trigger", "fault"] as const;

/** Facts with exactly the fields of a vocabulary. */
type FactsWith<Field extends string> = FilterFacts & { fields: Record<Field | "is", FilterFacts["fields"][string]> };

const MARKS = ["cut", "fault", "replay", "failed"] as const;

export const requestVocabulary: FilterVocabulary = { fields: REQUEST_FIELDS, marks: [...MARKS, "ignored"], numbers: ["status", "ms"] };
export const attemptVocabulary: FilterVocabulary = { fields: ATTEMPT_FIELDS, marks: MARKS, numbers: ["ms"] };

export function requestFacts(request: RequestMessage): FactsWith<(typeof REQUEST_FIELDS)[number]> {
  const { id, method, path, query, status, durationMs, operation, merchant, idempotencyKey, replayOf, fault, ignored } = request;
  const target = query === "" ? path : `${path}?${query}`;
  const isCut = status === 0;
  const marks = { cut: isCut, fault: fault !== null, replay: replayOf !== null, failed: isCut || status >= 400, ignored: ignored !== null };
  return {
    text: `${method} ${target} ${status === 0 ? "cut" : status} ${merchant ?? ""} ${id} ${operation ?? ""}`,
    fields: { id, method, path: target, status, ms: durationMs, operation, merchant, key: idempotencyKey, fault, is: marksOf(marks) },
  };
}

export function attemptFacts(attempt: AttemptMessage): FactsWith<(typeof ATTEMPT_FIELDS)[number]> {
  const { id, eventId, eventType, url, status, responseStatus, durationMs, merchant, endpointId, errorCode, trigger, fault } = attempt;
  const is = marksOf({ cut: responseStatus === null, fault: fault !== null, replay: trigger === "replay", failed: status !== "succeeded" });
  return {
    text: `${eventType} ${eventId} ${url} ${status} ${responseStatus ?? errorCode ?? ""} ${merchant} ${id}`,
    fields: {
      id,
      event: `${eventType} ${eventId}`,
      path: url,
      status: responseStatus ?? status,
      result: status,
      ms: durationMs,
      merchant,
      endpoint: endpointId,
      error: errorCode,
      trigger,
      fault,
      is,
    },
  };
}

const marksOf = (has: Record<string, boolean>): readonly string[] => Object.keys(has).filter((mark) => has[mark]);
