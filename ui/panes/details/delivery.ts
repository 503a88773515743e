// The detail of a delivery attempt: all attempts of the delivery, the request sent, its signature, the response and any
// fault.

import type { DeliveriesGetReply, LoggedAttempt, Trace } from "../../../generated/control-api.ts";
import { controlCalls } from "../../../src/client/control-call.ts";
import { quoted } from "../../../src/client/curl.ts";
import type { AttemptFault } from "../../../src/contracts/fault.ts";
import type { AttemptMessage } from "../../../src/contracts/live-messages.ts";
import { SIGNATURE_HEADER, USUAL_SIGNATURE } from "../../../src/contracts/webhook.ts";
import { mask } from "../../../src/kernel/mask.ts";
import { byteLength } from "../../../src/kernel/text.ts";
import { listed, type UiState, valuesOf } from "../../state/state.ts";
import { dateTime, dateTimeToSecond, duration, milliseconds } from "../../text/format.ts";
import { symbols } from "../../text/style.ts";
import type { Detail } from "../overlays/detail.ts";
import { verdictSection } from "../verdicts.ts";
import { bodyLines, type DetailLine, type DetailWriter, linkTo } from "./detail-lines.ts";
import { attemptLines, laterAttempts, outcomeOf, requestText, resultOf, resultStyles, targetOf } from "./row-lines.ts";
import { outdatedTrace, traceCall, traceSection } from "./trace.ts";

export const attemptCall = (id: string) => controlCalls.deliveries.get({ id });

/** Converts a logged attempt to the form of the stream, without its bodies, which would fill the memory. */
export const attemptRow = (attempt: LoggedAttempt): AttemptMessage => {
  const { requestHeaders: _, requestBody: __, responseBody: ___, merchantId, at, fault, ...rest } = attempt;
  const { effects = [] } = (fault ?? {}) as Partial<AttemptFault>;
  return { ...rest, merchant: merchantId, at: milliseconds(at), fault: effects.map(({ id }) => id).join(",") || null };
};

export const deliveryDetail = (row: AttemptMessage): Detail<{ delivery: DeliveriesGetReply; trace: Trace }> => ({
  title: `${row.eventType} to ${row.url}`,
  fetch: { delivery: attemptCall(row.id), trace: traceCall(row.id) },
  outdated: (data, state) => outdatedTrace(row.id, data, state),
  lines({ delivery, trace }, write, state) {
    const { field, section } = write;
    const isOfDelivery = (one: AttemptMessage) => targetOf(one) === targetOf(row);
    const verdicts = verdictSection(write, state, ({ attempts }) => attempts.includes(row.id));
    // The list knows whether the attempt is retried.
    const newest = listed(state, "deliveries", row) ?? row;
    const top = [...outcomeBand(write, state, newest), ...summary(write, newest)];
    if (!delivery) return [...top, ...verdicts];
    const { attempt, attempts, request } = delivery;
    return [
      ...top,
      ...(request === null ? [] : linkTo("requests", request, field("caused by", requestText(state, request)))),
      ...section("Attempts", attemptLines(state, attempts, isOfDelivery, write.width, row.id)),
      ...traceSection(write, trace, row.id),
      ...verdicts,
      ...(attempt.fault ? faultSections(write, attempt, attempt.fault) : []),
      ...section("Response", responseLines(write, attempt)),
      ...section("Request", requestLines(write, attempt)),
      ...section("Signature", signatureLines(write, state, attempt)),
    ];
  },
});

/** `✗ 500 database is down  attempt 6 of 6  ✗ failed 12:04`. */
function outcomeBand({ band }: DetailWriter, state: UiState, row: AttemptMessage): DetailLine[] {
  const { good, bad } = symbols(state.theme);
  const [outcome] = outcomeOf(state, row, laterAttempts(valuesOf<AttemptMessage>(state, "deliveries"))(row));
  const isFailed = row.status !== "succeeded";
  const result = [isFailed ? bad : good, resultOf(row), row.summary].filter((part) => part !== null).join(" ");
  const nth = row.trigger === "replay" ? "replay" : `attempt ${row.attempt} of ${row.maxAttempts}`;
  return band(`${result}  ${nth}  ${outcome}`, isFailed);
}

function summary({ field }: DetailWriter, row: AttemptMessage): DetailLine[] {
  const { nextAttemptAt } = row;
  const next = nextAttemptAt === null ? null : `${dateTimeToSecond(nextAttemptAt * 1_000)} sandbox time`;
  return [
    "",
    ...field("event", `${row.eventType}  ${row.eventId}`),
    ...field("endpoint", `${row.endpointId}  ${row.url}`),
    ...field("merchant", row.merchant),
    ...field("attempt", `${row.id}, ${dateTime(row.at)}`),
    ...field("next attempt", next),
  ];
}

const requestLines = (
  { wrapped, headers, body }: DetailWriter,
  { url, requestHeaders, requestBody }: LoggedAttempt,
): DetailLine[] => [
  ...wrapped(`POST ${mask(url)}`),
  ...headers(requestHeaders),
  "",
  ...body(requestBody, byteLength(requestBody)),
];

/** The effects of fault rules, and how the request would have differed without them. */
function faultSections(
  { theme, width, field, section, headers }: DetailWriter,
  { requestHeaders, requestBody }: LoggedAttempt,
  { effects, copy, wouldHaveSent }: NonNullable<LoggedAttempt["fault"]>,
): DetailLine[] {
  const rules = (effects as AttemptFault["effects"]).flatMap(({ id, action, effect }) => {
    const { kind: _, ...fields } = effect;
    return linkTo("faults", id, field(action, `${id} ${JSON.stringify(fields)}`, "magenta"));
  });
  const duplicate = field("duplicate", copy > 0 ? `copy ${copy} of this delivery` : null);
  const changed = Object.entries(wouldHaveSent.headers).filter(([name, value]) => requestHeaders[name] !== value);
  const { body } = wouldHaveSent;
  const bodyChange = body === requestBody ? [] : ["", ...bodyLines(theme, width, body, byteLength(body))];
  return [
    ...section("Fault", [...rules, ...duplicate]),
    ...section("Without the fault", [...headers(Object.fromEntries(changed)), ...bodyChange]),
  ];
}

/** Whether `verifyCommand` can verify the signature. It can verify only signatures in the documented form. */
export const isVerifiable = ({ sandbox }: UiState) => sandbox?.signature === USUAL_SIGNATURE;

/** A shell command that prints `valid` or `invalid`; it reads the endpoint's secret from MERCHANT_WEBHOOK_SECRET. */
export const verifyCommand = ({ requestHeaders, requestBody }: LoggedAttempt): string =>
  `test "$(printf %s ${quoted(requestBody)} | openssl dgst -sha256 -hmac "$MERCHANT_WEBHOOK_SECRET" -r | ` +
  `cut -d' ' -f1)" = ${quoted(requestHeaders[SIGNATURE_HEADER] ?? "")} && echo valid || echo invalid`;

function signatureLines({ field, text, wrapped }: DetailWriter, state: UiState, attempt: LoggedAttempt): string[] {
  const sent = field("sent", attempt.requestHeaders[SIGNATURE_HEADER] ?? "none");
  if (!isVerifiable(state)) return [...sent, ...text(`A ${state.sandbox?.signature}.`)];
  return [
    ...sent,
    ...text("The hex HMAC-SHA256 of the exact body bytes, keyed with the whole endpoint secret, whsec_ included."),
    ...text("To verify it, set MERCHANT_WEBHOOK_SECRET and run this command (v copies it):"),
    ...wrapped(mask(verifyCommand(attempt)), "    "),
  ];
}

function responseLines({ field, body }: DetailWriter, attempt: LoggedAttempt): DetailLine[] {
  const { responseStatus, responseBody, responseTruncated, errorCode, errorMessage, durationMs } = attempt;
  return [
    ...field("status", responseStatus === null ? null : String(responseStatus), ...resultStyles(attempt)),
    ...field("error", errorCode && `${errorCode}${errorMessage ? `: ${errorMessage}` : ""}`, "failure"),
    ...field("duration", durationMs === null ? null : duration(durationMs)),
    ...(responseBody === null ? [] : body(responseBody, responseTruncated ? Infinity : byteLength(responseBody))),
  ];
}
