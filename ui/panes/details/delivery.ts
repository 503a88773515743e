// The detail of a delivery attempt: all attempts of the delivery, the request sent, its signature, the response and any
// fault.

import type { AttemptsGetReply, LoggedAttempt } from "../../../generated/control-api.ts";
import { controlCalls } from "../../../src/client/control-call.ts";
import { quoted } from "../../../src/client/curl.ts";
import type { AttemptFault } from "../../../src/contracts/fault.ts";
import type { AttemptMessage } from "../../../src/contracts/live-messages.ts";
import { SIGNATURE_HEADER, USUAL_SIGNATURE } from "../../../src/contracts/webhook.ts";
import { mask } from "../../../src/kernel/mask.ts";
import { byteLength } from "../../../src/kernel/text.ts";
import { type UiState, valuesOf } from "../../state/state.ts";
import { dateTime, dateTimeToSecond, duration, milliseconds } from "../../text/format.ts";
import { symbols, type Theme } from "../../text/style.ts";
import type { Detail } from "../overlays/detail.ts";
import { verdictSection } from "../verdicts.ts";
import {
  band,
  bodyLines,
  bodySection,
  type DetailLine,
  headerLines,
  labelled,
  linkTo,
  paragraph,
  section,
  wrapped,
} from "./detail-lines.ts";
import { attemptLines, laterAttempts, outcomeOf, requestText, resultOf, resultStyles, targetOf } from "./row-lines.ts";

export const attemptCall = (id: string) => controlCalls.attempts.get({ id });

/** Converts a logged attempt to the form of the stream, without its bodies, which would fill the memory. */
export const attemptRow = (attempt: LoggedAttempt): AttemptMessage => {
  const { requestHeaders: _, requestBody: __, responseBody: ___, merchantId, at, fault, ...rest } = attempt;
  const { effects = [] } = (fault ?? {}) as Partial<AttemptFault>;
  return { ...rest, merchant: merchantId, at: milliseconds(at), fault: effects.map(({ id }) => id).join(",") || null };
};

export const deliveryDetail = (row: AttemptMessage): Detail<{ delivery: AttemptsGetReply }> => ({
  title: `${row.eventType} to ${row.url}`,
  fetch: { delivery: attemptCall(row.id) },
  lines({ delivery }, state, width) {
    const { theme } = state;
    const isOfDelivery = (one: AttemptMessage) => targetOf(one) === targetOf(row);
    const verdicts = verdictSection(state, width, ({ attempts }) => attempts.includes(row.id));
    if (!delivery) return [...outcomeBand(state, row, width), ...summary(state, row, width), ...verdicts];
    const { attempt, attempts, request } = delivery;
    return [
      ...outcomeBand(state, row, width),
      ...summary(state, row, width),
      ...(request === null
        ? []
        : linkTo("requests", request, labelled(theme, width, "caused by", requestText(state, request)))),
      ...section(theme, "Attempts", attemptLines(state, attempts, isOfDelivery, width, row.id)),
      ...verdicts,
      ...(attempt.fault ? faultSections(theme, attempt, attempt.fault, width) : []),
      ...section(theme, "Response", responseLines(theme, attempt, width)),
      ...section(theme, "Request", requestLines(theme, attempt, width)),
      ...section(theme, "Signature", signatureLines(state, attempt, width)),
    ];
  },
});

/** The attempt as the list has it now, which knows whether it is retried. */
const newestOf = (state: UiState, opened: AttemptMessage) =>
  valuesOf<AttemptMessage>(state, "deliveries").findLast(({ id }) => id === opened.id) ?? opened;

/** `✗ 500 {"error":"database is down"}  attempt 6 of 6  ✗ failed 12:04`. */
function outcomeBand(state: UiState, opened: AttemptMessage, width: number): DetailLine[] {
  const row = newestOf(state, opened);
  const { good, bad } = symbols(state.theme);
  const [outcome] = outcomeOf(state, row, laterAttempts(valuesOf<AttemptMessage>(state, "deliveries"))(row));
  const isFailed = row.status !== "succeeded";
  const result = [isFailed ? bad : good, resultOf(row), row.summary].filter((part) => part !== null).join(" ");
  const text = `${result}  attempt ${row.attempt} of ${row.maxAttempts}  ${outcome}`;
  return band(state.theme, width, text, isFailed);
}

function summary(state: UiState, opened: AttemptMessage, width: number): DetailLine[] {
  const { theme } = state;
  const row = newestOf(state, opened);
  const { nextAttemptAt } = row;
  return [
    "",
    ...labelled(theme, width, "event", `${row.eventType}  ${row.eventId}`),
    ...labelled(theme, width, "endpoint", `${row.endpointId}  ${row.url}`),
    ...labelled(theme, width, "merchant", row.merchant),
    ...labelled(theme, width, "attempt", `${row.id}, ${dateTime(row.at)}`),
    ...(nextAttemptAt === null
      ? []
      : labelled(theme, width, "next attempt", `${dateTimeToSecond(nextAttemptAt * 1_000)} sandbox time`)),
  ];
}

const requestLines = (
  theme: Theme,
  { url, requestHeaders, requestBody }: LoggedAttempt,
  width: number,
): DetailLine[] => [
  ...wrapped(`POST ${mask(url)}`, width, "  "),
  ...headerLines(theme, width, requestHeaders),
  "",
  ...bodySection(theme, width, requestBody, byteLength(requestBody)),
];

/** The effects of fault rules, and how the request would have differed without them. */
function faultSections(
  theme: Theme,
  { requestHeaders, requestBody }: LoggedAttempt,
  fault: NonNullable<LoggedAttempt["fault"]>,
  width: number,
): DetailLine[] {
  const { effects, copy, wouldHaveSent } = fault;
  const rules = (effects as AttemptFault["effects"]).flatMap(({ id, action, effect }) => {
    const { kind: _, ...fields } = effect;
    return linkTo("faults", id, labelled(theme, width, action, `${id} ${JSON.stringify(fields)}`, "magenta"));
  });
  const duplicate = copy > 0 ? labelled(theme, width, "duplicate", `copy ${copy} of this delivery`) : [];
  const headers = Object.entries(wouldHaveSent.headers).filter(([name, value]) => requestHeaders[name] !== value);
  const { body } = wouldHaveSent;
  const bodyChange = body === requestBody ? [] : ["", ...bodyLines(theme, width, body, byteLength(body))];
  return [
    ...section(theme, "Fault", [...rules, ...duplicate]),
    ...section(theme, "Without the fault", [...headerLines(theme, width, Object.fromEntries(headers)), ...bodyChange]),
  ];
}

/** Whether `verifyCommand` can verify the signature: only in the documented form. */
export const isVerifiable = ({ sandbox }: UiState) => sandbox?.signature === USUAL_SIGNATURE;

/** A shell command that prints `valid` or `invalid`; it reads the endpoint's secret from MERCHANT_WEBHOOK_SECRET. */
export const verifyCommand = ({ requestHeaders, requestBody }: LoggedAttempt): string =>
  `test "$(printf %s ${quoted(requestBody)} | openssl dgst -sha256 -hmac "$MERCHANT_WEBHOOK_SECRET" -r | ` +
  `cut -d' ' -f1)" = ${quoted(requestHeaders[SIGNATURE_HEADER] ?? "")} && echo valid || echo invalid`;

function signatureLines(state: UiState, attempt: LoggedAttempt, width: number): string[] {
  const { theme, sandbox } = state;
  const sent = labelled(theme, width, "sent", attempt.requestHeaders[SIGNATURE_HEADER] ?? "none");
  if (!isVerifiable(state)) return [...sent, ...paragraph(theme, width, `A ${sandbox?.signature}.`)];
  return [
    ...sent,
    ...paragraph(
      theme,
      width,
      "The hex HMAC-SHA256 of the exact body bytes, keyed with the whole endpoint secret, whsec_ included.",
    ),
    ...paragraph(theme, width, "To verify it, set MERCHANT_WEBHOOK_SECRET and run this command (v copies it):"),
    ...wrapped(mask(verifyCommand(attempt)), width, "    "),
  ];
}

function responseLines(theme: Theme, attempt: LoggedAttempt, width: number): DetailLine[] {
  const { responseStatus, responseBody, responseTruncated, errorCode, errorMessage, durationMs } = attempt;
  return [
    ...(responseStatus === null
      ? []
      : labelled(theme, width, "status", String(responseStatus), ...resultStyles(attempt))),
    ...(errorCode === null
      ? []
      : labelled(theme, width, "error", `${errorCode}${errorMessage ? `: ${errorMessage}` : ""}`, "failure")),
    ...(durationMs === null ? [] : labelled(theme, width, "duration", duration(durationMs))),
    ...(responseBody === null
      ? []
      : bodySection(theme, width, responseBody, responseTruncated ? Infinity : byteLength(responseBody))),
  ];
}
