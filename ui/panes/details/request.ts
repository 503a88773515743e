// The detail of a request: both messages, idempotency, rate limit, faults, verdicts, and the events it emitted with
// their deliveries.

import type {
  DeliveriesListReply,
  LoggedRequest,
  RequestDetail,
  SandboxAssumptionsReply,
  Trace,
} from "../../../generated/control-api.ts";
import { controlCalls } from "../../../src/client/control-call.ts";
import type { RequestMessage } from "../../../src/contracts/live-messages.ts";
import { tryParseJson } from "../../../src/kernel/attempt.ts";
import { mask } from "../../../src/kernel/mask.ts";
import { listOf, secondsUntil, type UiState } from "../../state/state.ts";
import { count, dateTime, dateTimeToSecond, duration, limitText, milliseconds } from "../../text/format.ts";
import { styled, symbols, type Theme } from "../../text/style.ts";
import type { Detail } from "../overlays/detail.ts";
import { rateWindowId } from "../rate-limits.ts";
import { verdictSection } from "../verdicts.ts";
import { assumptionSection, assumptionsCall } from "./assumptions.ts";
import { type DetailLine, type DetailWriter, linkTo } from "./detail-lines.ts";
import { titleOfId } from "./fault.ts";
import { recordLinks } from "./record-links.ts";
import { type AttemptSummary, attemptLines } from "./row-lines.ts";
import { outdatedTrace, traceCall, traceSection } from "./trace.ts";

export const requestCall = (id: string) => controlCalls.requests.get({ id });

/** The delivery attempts of the events that a request caused, newest first. */
export const causedAttemptsCall = (requestId: string, limit = 100) =>
  controlCalls.deliveries.list({ requestId, limit });

export const requestRow = ({ at, ...request }: LoggedRequest): RequestMessage => ({ ...request, at: milliseconds(at) });

export const requestDetail = (
  row: RequestMessage,
): Detail<{
  request: RequestDetail;
  deliveries: DeliveriesListReply;
  trace: Trace;
  assumptions: SandboxAssumptionsReply;
}> => ({
  title: `${row.method} ${row.path}`,
  fetch: {
    request: requestCall(row.id),
    deliveries: causedAttemptsCall(row.id),
    trace: traceCall(row.id),
    ...(row.operation !== null && { assumptions: assumptionsCall(row.operation) }),
  },
  outdated: (data, state) => outdatedTrace(row.id, data, state),
  lines({ request, deliveries, trace, assumptions }, write, state, isPreview) {
    const { section } = write;
    const headers = new Map(
      Object.entries(request?.response.headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)]),
    );
    const events = section("Events", request ? causedLines(write, state, request, deliveries?.data) : []);
    const steps = traceSection(write, trace, row.id);
    const handling = [
      ...section("Idempotency", request ? idempotencyLines(write, row, headers) : []),
      ...section("Rate limit", rateLimitLines(write, state, row, headers)),
    ];
    const findings = [
      ...section("Fault", faultLines(write, state, row)),
      ...verdictSection(write, state, ({ requests }) => requests.includes(row.id)),
      ...section("Warnings", warningLines(write, headers)),
    ];
    const timing = section("Timing", timingLines(write.theme, request?.stages ?? [], write.width));
    const messages = request ? messageLines(write, request, !isPreview) : [];
    const top = [...outcomeBand(write, row), ...(request ? errorLines(write, request) : [])];
    return [
      ...top,
      ...summary(write, row, request),
      ...events,
      ...steps,
      ...section(
        "Records",
        row.merchant === null ? [] : recordLinks(write, "record", recordIds(row, request), row.merchant),
      ),
      ...findings,
      ...messages,
      ...handling,
      ...assumptionSection(write, row.operation, assumptions),
      ...timing,
    ];
  },
});

/** `✗ 409 invalid_state: …`, or `✓ 200 pay_1 refunded`. */
function outcomeBand(
  { theme, band }: DetailWriter,
  { status, summary: said, durationMs }: RequestMessage,
): DetailLine[] {
  const { good, bad } = symbols(theme);
  const isFailed = status === 0 || status >= 400;
  const text = [isFailed ? bad : good, status === 0 ? "no response" : status, said].filter((part) => part !== null);
  return band(`${text.join(" ")}  ${duration(durationMs)}`, isFailed);
}

/** The details of the error below its message: what is allowed, and which fields are wrong. */
function errorLines({ field }: DetailWriter, { status, response }: RequestDetail): DetailLine[] {
  if (status < 400) return [];
  const { details } = (tryParseJson(response.body) ?? {}) as { details?: Readonly<Record<string, unknown>> };
  const { requestId: _, errors, ...others } = details ?? {};
  const fields = (Array.isArray(errors) ? errors : []) as { field?: string; message?: string }[];
  return [
    ...fields.flatMap(({ field: name = "", message = "" }) => field(name, mask(message), "yellow")),
    ...Object.entries(others).flatMap(([name, value]) => field(name, mask(shownValue(value)))),
  ];
}

/** The ids of records in the path of a request, and the id of the record in the response to a write. */
function recordIds({ method, path }: RequestMessage, request: RequestDetail | undefined): unknown[] {
  const reply = method === "GET" ? undefined : (tryParseJson(request?.response.body ?? "") as { id?: unknown } | null);
  return [...path.split("/"), reply?.id];
}

function summary({ field }: DetailWriter, row: RequestMessage, request: RequestDetail | undefined): DetailLine[] {
  const { id, at, method, path, query, operation, merchant, replayOf } = row;
  const apiKey = request?.key ? `, API key ${request.key}` : "";
  return [
    "",
    ...field("id", id),
    ...field("time", dateTime(at)),
    ...field("request", `${method} ${path}${query === "" ? "" : `?${query}`}`),
    ...field("operation", operation ?? missingOperation(row)),
    ...field("merchant", merchant === null ? "none: no API key, or an unknown one" : merchant + apiKey),
    ...linkTo("requests", replayOf ?? "", field("replay of", replayOf)),
  ];
}

const shownValue = (value: unknown): string => {
  if (Array.isArray(value)) return value.map(shownValue).join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
};

const missingOperation = ({ status, fault }: RequestMessage) =>
  fault === null && (status === 404 || status === 405)
    ? "none: no such route"
    : "none: the response was sent before routing";

function idempotencyLines(
  { field, text }: DetailWriter,
  { idempotencyKey, replayOf, status, method, fault }: RequestMessage,
  headers: Map<string, string>,
): DetailLine[] {
  if (idempotencyKey === null) {
    const ignored = headers.get(IGNORED_HEADERS);
    const reason = ignored === undefined ? "No Idempotency-Key" : `This operation takes no ${ignored}`;
    const risk = `${reason}: sending this request again executes it again.`;
    return method === "GET" || method === "HEAD" || method === "DELETE" ? [] : text(risk, "dim");
  }
  const explain = (explanation: string) => [...field("key", idempotencyKey), ...text(explanation)];
  if (replayOf !== null)
    return explain(`Replayed: the stored response of ${replayOf}. The operation did not run again.`);
  if (status < 300 && status >= 200)
    return explain("Stored: a retry with this key gets this response, and the operation does not run again.");
  if (fault !== null)
    return explain("A fault changed this response. If the operation ran, its own response is stored.");
  if (status === 404 || status === 409)
    return explain(
      "Stored if the operation itself returned this error: a retry with this key then gets the same response.",
    );
  return explain("Not stored: the operation did not run, and the key can be used again.");
}

function rateLimitLines(
  { field }: DetailWriter,
  state: UiState,
  { merchant, operation }: RequestMessage,
  headers: Map<string, string>,
): DetailLine[] {
  const [limit, remaining, reset, retryAfter] = [
    "ratelimit-limit",
    "ratelimit-remaining",
    "ratelimit-reset",
    "retry-after",
  ].map((name) => headers.get(name));
  const isUnlimited = limitText(Number(limit)) === "none" && remaining !== "0";
  const left = isUnlimited ? "no limit" : `${groupDigits(remaining)} of ${groupDigits(limit)}`;
  const wait = retryAfter !== undefined && /^\d+$/.test(retryAfter) ? `${groupDigits(retryAfter)} s` : retryAfter;
  return [
    ...(limit === undefined ? [] : linkTo("limits", windowOf(state, merchant, operation), field("remaining", left))),
    ...field("resets", reset && resetText(state, reset)),
    ...field("Retry-After", wait, "yellow"),
  ];
}

/**
 * The rate limit row that counted a request: its operation's own row, or else the row that its merchant's other
 * operations share.
 */
function windowOf(state: UiState, merchant: string | null, operation: string | null): string {
  const own = rateWindowId({ merchant: merchant ?? "", operation });
  return listOf(state, "limits").rows.some(({ id }) => id === own)
    ? own
    : rateWindowId({ merchant: merchant ?? "", operation: null });
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

function faultLines({ field, text }: DetailWriter, state: UiState, { fault, status }: RequestMessage): DetailLine[] {
  if (fault === null) return [];
  const effect = status === 0 ? "The client received no response." : "The response was affected by this rule.";
  const rules = fault.split(",").flatMap((id) => linkTo("faults", id, field("rule", titleOfId(state, id), "magenta")));
  return [...rules, ...text(effect)];
}

const IGNORED_HEADERS = "x-sandbox-ignored-headers";

const WARNING_HEADERS = {
  "unknown fields": "x-sandbox-unknown-fields",
  "unknown params": "x-sandbox-unknown-params",
  "ignored headers": IGNORED_HEADERS,
  warning: "x-sandbox-warning",
};

const warningLines = ({ field }: DetailWriter, headers: Map<string, string>): string[] =>
  Object.entries(WARNING_HEADERS).flatMap(([label, header]) => field(label, headers.get(header), "yellow"));

/** Shows the response first, because most readers look for it. */
const messageLines = (write: DetailWriter, { request, response }: RequestDetail, hasHeaders: boolean): DetailLine[] =>
  Object.entries({ Response: response, Request: request }).flatMap(([heading, { headers, body, bytes }]) =>
    write.section(heading, [...(hasHeaders ? [...write.headers(headers), ""] : []), ...write.body(body, bytes)]),
  );

const causedLines = (
  { width, field, text }: DetailWriter,
  state: UiState,
  { events }: Pick<RequestDetail, "events">,
  fetched: readonly AttemptSummary[] | undefined,
): DetailLine[] =>
  events.flatMap(({ id, type }) => {
    const isOfEvent = ({ eventId }: AttemptSummary) => eventId === id;
    const lines = attemptLines(state, (fetched ?? []).filter(isOfEvent), isOfEvent, width);
    const none = "No delivery attempt yet: no endpoint is subscribed to this type, or the attempt is not due.";
    const isEmpty = lines.length === 0 && fetched !== undefined;
    return [...field("event", `${type}  ${id}`), ...(isEmpty ? text(none, "dim") : lines)];
  });

const INDENT = "  ";
const NAME_WIDTH = 14;
const TIME_WIDTH = 10;
/** A bar of this width fits into the detail of the page, beside the list and on a phone. */
const MAX_BAR = 20;

export function timingLines(theme: Theme, stages: RequestDetail["stages"], width: number): string[] {
  const total = stages.reduce((sum, { ms }) => sum + ms, 0);
  const room = Math.max(10, Math.min(MAX_BAR, width - INDENT.length - NAME_WIDTH - TIME_WIDTH - 3));
  if (total === 0) return [];
  let before = 0;
  return stages.map(({ name, ms }) => {
    const from = Math.min(room - 1, Math.floor((before / total) * room));
    before += ms;
    const to = Math.max(from + 1, Math.round((before / total) * room));
    const bar = " ".repeat(from) + symbols(theme).full.repeat(to - from);
    const label = styled(theme, INDENT + name.padEnd(NAME_WIDTH), "dim");
    return (
      `${label} ${(ms < 1 ? `${ms.toFixed(2)} ms` : duration(ms)).padStart(TIME_WIDTH)}  ` +
      `${styled(theme, bar, "dim")}`
    );
  });
}
