// The detail of a request: both messages, idempotency, rate limit, faults, verdicts, and the events it emitted with their deliveries.

import { type AttemptDetail, controlCalls } from "../../src/client/control-call.ts";
import type { RequestDetail } from "../../src/client/control-plane.generated.ts";
import type { AttemptMessage, RequestMessage } from "../../src/contracts/live-messages.ts";
import type { Detail } from "../overlays/detail.ts";
import { secondsUntil, type UiState, valuesOf } from "../state/state.ts";
import type { Theme } from "../terminal/style.ts";
import { count, dateTime, dateTimeToSecond, duration } from "../view/format.ts";
import { statusStyles } from "../view/status-colours.ts";
import { eventAttemptsCall } from "./delivery.ts";
import { bodyLines, headerLines, labelled, paragraph, section } from "./detail-lines.ts";
import { type AttemptSummary, attemptLine } from "./row-lines.ts";
import { verdictLines } from "./verdict-lines.ts";

type EventAttempt = AttemptSummary & Pick<AttemptMessage, "id" | "endpointId">;

/** The journal's request, and the attempts of each event, under the name from `deliveriesOf`. */
type RequestData = { request: RequestDetail } & Record<`deliveries of ${string}`, { data: AttemptDetail[] }>;

/** Deliveries are fetched for the first events of a request only. */
const MAX_EVENTS = 8;

const deliveriesOf = (eventId: string) => `deliveries of ${eventId}` as const;

export const requestCall = (id: string) => controlCalls.requests.get({ id });

export const requestDetail = (_: UiState, row: RequestMessage): Detail<RequestData> => ({
  title: `${row.method} ${row.path}`,
  fetch: { request: requestCall(row.id) },
  fetchMore: ({ request }) =>
    Object.fromEntries((request?.events ?? []).slice(0, MAX_EVENTS).map(({ id }) => [deliveriesOf(id), eventAttemptsCall(id)])),
  lines(data, state, width) {
    const { theme } = state;
    const { request } = data;
    const headers = new Map(Object.entries(request?.response.headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)]));
    const events = (request?.events ?? []).flatMap((event) => eventLines(state, event, data[deliveriesOf(event.id)]?.data, width));
    return [
      ...summary(state, row, request, width),
      ...section(theme, "Idempotency", request ? idempotencyLines(theme, row, width) : []),
      ...section(theme, "Rate limit", rateLimitLines(state, headers, width)),
      ...section(theme, "Fault", faultLines(theme, row, width)),
      ...section(
        theme,
        "Verdicts",
        verdictLines(state, ({ requests }) => requests.includes(row.id), width),
      ),
      ...section(theme, "Warnings", warningLines(theme, headers, width)),
      ...section(theme, "Events", events),
      ...(request ? messageLines(theme, request, width) : []),
    ];
  },
});

function summary({ theme }: UiState, row: RequestMessage, request: RequestDetail | undefined, width: number): string[] {
  const { id, at, method, path, query, operation, merchant, status, durationMs } = row;
  const apiKey = request?.key ? `, API key ${request.key}` : "";
  return [
    ...labelled(theme, width, "id", id),
    ...labelled(theme, width, "time", dateTime(at)),
    ...labelled(theme, width, "request", `${method} ${path}${query === "" ? "" : `?${query}`}`),
    ...labelled(theme, width, "operation", operation ?? missingOperation(row)),
    ...labelled(theme, width, "merchant", merchant === null ? "none: no API key, or an unknown one" : merchant + apiKey),
    ...labelled(theme, width, "response", status === 0 ? "none" : String(status), ...statusStyles(status)),
    ...labelled(theme, width, "duration", duration(durationMs)),
  ];
}

const missingOperation = ({ status, fault }: RequestMessage) =>
  fault === null && (status === 404 || status === 405) ? "none: no such route" : "none: the response was sent before routing";

function idempotencyLines(theme: Theme, { idempotencyKey, replayOf, status, method, fault }: RequestMessage, width: number): string[] {
  if (idempotencyKey === null) {
    const risk = "No Idempotency-Key: sending this request again executes it again.";
    return method === "GET" || method === "HEAD" || method === "DELETE" ? [] : paragraph(theme, width, risk, "dim");
  }
  const explain = (text: string) => [...labelled(theme, width, "key", idempotencyKey), ...paragraph(theme, width, text)];
  if (replayOf !== null) return explain(`Replayed: the stored response of ${replayOf}. The operation did not run again.`);
  if (status < 300 && status >= 200)
    return explain("Stored: a retry with this key gets this response, and the operation does not run again.");
  if (fault !== null) return explain("A fault changed this response. If the operation ran, its own response is stored.");
  if (status === 404 || status === 409)
    return explain("Stored if the operation itself returned this error: a retry with this key then gets the same response.");
  return explain("Not stored: the operation did not run, and the key can be used again.");
}

function rateLimitLines(state: UiState, headers: Map<string, string>, width: number): string[] {
  const [limit, remaining, reset, retryAfter] = ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset", "retry-after"].map((name) =>
    headers.get(name),
  );
  const { theme } = state;
  const wait = retryAfter !== undefined && /^\d+$/.test(retryAfter) ? `${groupDigits(retryAfter)} s` : retryAfter;
  return [
    ...(limit === undefined ? [] : labelled(theme, width, "remaining", `${groupDigits(remaining)} of ${groupDigits(limit)}`)),
    ...(reset === undefined ? [] : labelled(theme, width, "resets", resetText(state, reset))),
    ...(wait === undefined ? [] : labelled(theme, width, "Retry-After", wait, "yellow")),
  ];
}

/** A header's number with its thousands grouped; anything else unchanged. */
const groupDigits = (value = "?") => (/^\d{1,15}$/.test(value) ? count(Number(value)) : value);

/** `reset` is in Unix seconds. */
function resetText(state: UiState, reset: string): string {
  if (!/^\d{1,11}$/.test(reset)) return reset;
  const time = Number(reset) * 1_000;
  const left = secondsUntil(state, time);
  return `${dateTimeToSecond(time)}, ${left > 0 ? `in ${count(left)} s` : "now past"}`;
}

function faultLines(theme: Theme, { fault, status }: RequestMessage, width: number): string[] {
  if (fault === null) return [];
  const effect = status === 0 ? "The client received no response." : "The response was affected by this rule.";
  return [...labelled(theme, width, "rule", fault.replaceAll(",", ", "), "magenta"), ...paragraph(theme, width, effect)];
}

const WARNING_HEADERS = {
  "unknown fields": "x-sandbox-unknown-fields",
  "unknown params": "x-sandbox-unknown-params",
  warning: "x-sandbox-warning",
};

const warningLines = (theme: Theme, headers: Map<string, string>, width: number): string[] =>
  Object.entries(WARNING_HEADERS).flatMap(([label, header]) => {
    const value = headers.get(header);
    return value === undefined ? [] : labelled(theme, width, label, value, "yellow");
  });

const messageLines = (theme: Theme, { request, response }: RequestDetail, width: number): string[] =>
  Object.entries({ Request: request, Response: response }).flatMap(([heading, { headers, body, bytes }]) =>
    section(theme, heading, [...headerLines(theme, width, headers), "", ...bodyLines(theme, width, body, bytes)]),
  );

/** An event with its delivery attempts: those fetched, and those the stream has added since. */
function eventLines(
  state: UiState,
  { id, type }: { id: string; type: string },
  fetched: readonly EventAttempt[] | undefined,
  width: number,
): string[] {
  const older = (fetched ?? []).toReversed();
  const newer = valuesOf<AttemptMessage>(state, "deliveries").filter(
    (attempt) => attempt.eventId === id && !older.some((one) => one.id === attempt.id),
  );
  const attempts = [...older, ...newer];
  const isLast = (index: number) => !attempts.slice(index + 1).some(({ endpointId }) => endpointId === attempts[index]?.endpointId);
  const lines = attempts.map((attempt, index) => attemptLine(state, attempt, width, isLast(index)));
  const none = "No delivery attempt yet: no endpoint is subscribed to this type, or the attempt is not due.";
  const isEmpty = lines.length === 0 && fetched !== undefined;
  return [...labelled(state.theme, width, "event", `${type}  ${id}`), ...(isEmpty ? paragraph(state.theme, width, none, "dim") : lines)];
}
