// Requests and delivery attempts in one line each, for lists in details.

import type { LoggedAttempt } from "../../../generated/control-api.ts";
import type { AttemptMessage, RequestMessage } from "../../../src/contracts/live-messages.ts";
import { sandboxNow, type UiState, valuesOf } from "../../state/state.ts";
import { fitTo, sanitize, widthOf } from "../../text/cells.ts";
import { count, countdown, duration, milliseconds, newestOf, statusStyles, timeOfDay } from "../../text/format.ts";
import { styled, symbols, type TextStyle } from "../../text/style.ts";
import { type DetailLine, type DetailWriter, linkTo } from "./detail-lines.ts";

export const requestsOf = (state: UiState, id: string): RequestMessage[] =>
  valuesOf<RequestMessage>(state, "requests").filter(({ merchant }) => merchant === id);

const MAX_LINKS = 10;

/** A section with the newest of these requests as links. `all` is how many there are in the log. */
export function requestLinks(
  { section, row }: DetailWriter,
  heading: string,
  requests: readonly RequestMessage[],
  all?: number,
): DetailLine[] {
  const shown = requests.slice(-MAX_LINKS);
  const part = all === undefined ? `newest ${count(shown.length)}` : newestOf(shown.length, all);
  const linked = shown.flatMap((request) => linkTo("requests", request.id, row(requestLine(request))));
  return section(`${heading}: ${part}, oldest first`, linked);
}

const requestLine = ({ id, at, method, path, status }: RequestMessage) =>
  `${id}  ${timeOfDay(at)}  ${method} ${path}  ${status || "no response"}`;

/** A request in one line; only its id once the list has dropped it. */
export function requestText(state: UiState, id: string): string {
  const found = valuesOf<RequestMessage>(state, "requests").findLast((request) => request.id === id);
  return found ? requestLine(found) : id;
}

/**
 * The fields that an attempt has both in the log and in the stream, and the state that the log had for its delivery.
 */
export type AttemptSummary = Omit<AttemptMessage, "at" | "merchant" | "fault"> &
  Partial<Pick<LoggedAttempt, "deliveryState">> & { at?: number | string };

/** Short forms of error codes that are longer than the eight cells of the column. */
const SHORT_CODES: ReadonlyMap<string | null, string> = new Map([
  ["connection_refused", "refused"],
  ["redirect_not_followed", "redirect"],
  ["target_not_allowed", "blocked"],
]);

export function resultOf({ responseStatus, errorCode }: Pick<AttemptSummary, "responseStatus" | "errorCode">): string {
  if (responseStatus !== null) return String(responseStatus);
  return SHORT_CODES.get(errorCode) ?? errorCode ?? "";
}

/** `500 database is down`: the result of an attempt, and the summary of its response. */
export const reasonOf = (attempt: AttemptSummary) => [resultOf(attempt), attempt.summary].filter(Boolean).join(" ");

/** The style of the endpoint's response, whether or not the delivery is retried. */
export const resultStyles = ({ responseStatus }: Pick<AttemptSummary, "responseStatus">): TextStyle[] =>
  statusStyles(responseStatus ?? 0);

/**
 * The successor of an attempt: another attempt of its delivery, or a replay, which is another delivery of the same
 * event to the same endpoint. If there are several replays, the newest one counts.
 */
type Later = "attempt" | "replay" | "failed replay" | undefined;

export function laterAttempts(attempts: readonly AttemptSummary[]): (attempt: AttemptSummary) => Later {
  const lastAttempt = new Map<number, number>();
  const newest = new Map<string, AttemptSummary>();
  const isNewer = (one: AttemptSummary, other: AttemptSummary) =>
    one.delivery > other.delivery || (one.delivery === other.delivery && one.attempt > other.attempt);
  for (const one of attempts) {
    lastAttempt.set(one.delivery, Math.max(one.attempt, lastAttempt.get(one.delivery) ?? 0));
    const known = newest.get(targetOf(one));
    if (!known || isNewer(one, known)) newest.set(targetOf(one), one);
  }
  return (one) => {
    if ((lastAttempt.get(one.delivery) ?? 0) > one.attempt) return "attempt";
    const last = newest.get(targetOf(one));
    if (!last || last.delivery <= one.delivery) return undefined;
    return hasFailed(last) ? "failed replay" : "replay";
  };
}

/** Whether the delivery failed for good. The attempt must be its last one. */
export const hasFailed = ({ status, nextAttemptAt, deliveryState }: AttemptSummary): boolean =>
  status !== "succeeded" && nextAttemptAt === null && deliveryState !== "cancelled";

/** A key that all deliveries of one event to one endpoint share. */
export const targetOf = ({ eventId, endpointId }: Pick<AttemptSummary, "eventId" | "endpointId">) =>
  `${eventId} ${endpointId}`;

export function outcomeOf(
  state: UiState,
  attempt: AttemptSummary,
  later: Later,
): [outcome: string, styles: TextStyle[]] {
  const { status, nextAttemptAt, deliveryState } = attempt;
  const { good, bad, unsure } = symbols(state.theme);
  if (status === "succeeded" && nextAttemptAt === null) return [`${good} delivered`, ["dim"]];
  if (later === "attempt") return [`${unsure} retried`, ["dim"]];
  if (deliveryState === "cancelled") return [`${bad} cancelled`, ["dim"]];
  if (nextAttemptAt === null && later === "replay") return [`${bad} replayed`, ["dim"]];
  if (nextAttemptAt === null)
    return [later === "failed replay" ? `${bad} replay failed` : failedAt(bad, attempt), ["failure"]];
  const wait = nextAttemptAt - sandboxNow(state) / 1_000;
  return [wait > 0 ? `${unsure} next in ${countdown(wait)}` : `${unsure} due now`, []];
}

/** `✗ failed 12:04`: the minute of the last attempt, as far as it is known. */
const failedAt = (bad: string, { at }: { at?: number | string }) =>
  `${bad} failed${at === undefined ? "" : ` ${timeOfDay(typeof at === "string" ? milliseconds(at) : at).slice(0, 5)}`}`;

/**
 * The fetched attempts of a delivery or an event, oldest first, then the attempts that the stream has added since. The
 * opened attempt is marked.
 */
export function attemptLines(
  state: UiState,
  fetched: readonly AttemptSummary[],
  isListed: (attempt: AttemptMessage) => boolean,
  width: number,
  opened?: string,
): DetailLine[] {
  const listed = new Map(
    valuesOf<AttemptMessage>(state, "deliveries").flatMap((one) => (isListed(one) ? [[one.id, one]] : [])),
  );
  // The list has newer versions of the attempts: since the fetch, a next attempt may have been cancelled.
  const known = fetched.toReversed().map((one) => listed.get(one.id) ?? one);
  const all = [...known, ...[...listed.values()].filter((one) => !fetched.some(({ id }) => id === one.id))];
  const later = laterAttempts(all);
  const { url } = all.find(({ id }) => id === opened) ?? {};
  return all.flatMap((attempt): DetailLine[] => {
    const note = attempt.url === url ? (attempt.summary ?? "") : attempt.url;
    const line = attemptLine(state, attempt, note, width, later(attempt));
    return attempt.id === opened
      ? [`  ${symbols(state.theme).cursor}${line.slice(3)}`]
      : linkTo("deliveries", attempt.id, [line]);
  });
}

/** `2/6`; a replay is a delivery of its own, with one attempt. */
export const tryOf = ({
  trigger,
  attempt,
  maxAttempts,
}: Pick<AttemptSummary, "trigger" | "attempt" | "maxAttempts">) =>
  trigger === "replay" ? trigger : `${attempt}/${maxAttempts}`;

function attemptLine(state: UiState, attempt: AttemptSummary, note: string, width: number, later: Later): string {
  const [outcome, styles] = outcomeOf(state, attempt, later);
  const took = attempt.durationMs === null ? "" : duration(attempt.durationMs);
  const number = `    ${tryOf(attempt).padEnd("replay".length)}  `;
  const result = fitTo(sanitize(resultOf(attempt)), 8);
  const time = `  ${took.padStart(9)}  `;
  const room = Math.max(0, width - widthOf(number + result + time) - 18);
  return (
    number +
    styled(state.theme, result, ...resultStyles(attempt)) +
    time +
    styled(state.theme, fitTo(outcome, 17), ...styles) +
    (room < 8 ? "" : ` ${fitTo(sanitize(note), room)}`)
  );
}
