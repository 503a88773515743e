// The text and the fields by which rows of the live stream are filtered, in digests and in the dashboard.

import type { AttemptMessage, RequestMessage } from "./live-messages.ts";
import type { FilterFacts } from "./row-filter.ts";

export function requestFacts(request: RequestMessage): FilterFacts {
  const { id, method, path, query, status, durationMs, operation, merchant, idempotencyKey, fault } = request;
  const target = query === "" ? path : `${path}?${query}`;
  return {
    text: `${method} ${target} ${status} ${merchant ?? ""} ${id} ${operation ?? ""}`,
    fields: { id, method, path: target, status, ms: durationMs, operation, merchant, key: idempotencyKey, fault },
  };
}

export function attemptFacts(attempt: AttemptMessage): FilterFacts {
  const { id, eventId, eventType, url, status, responseStatus, durationMs, merchant, endpointId, errorCode, trigger } = attempt;
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
    },
  };
}
