// One delivery attempt and every other of the same event: what was sent, how its signature is checked, what came back, what comes next.

import type { AttemptMessage } from "../../src/contracts/live-messages.ts";
import { duration } from "../format-numbers.ts";
import type { Detail } from "../overlays/detail.ts";
import { listOf, type State } from "../state/state.ts";
import { type Look, signs } from "../terminal/style.ts";
import { wholeTime } from "../time.ts";
import { type Call, inPath, quoted } from "../wire/control-calls.ts";
import { attemptLine, endingOf, resultOf, type Told } from "./attempt-line.ts";
import { bodyLines, fact, headerLines, part, plain, sentences } from "./detail-lines.ts";
import { verdictLines } from "./verdict-line.ts";

/** An attempt as the log has it. */
export interface WholeAttempt extends Told {
  id: string;
  trigger: string;
  requestHeaders: Record<string, string>;
  requestBody: string;
  responseBody: string | null;
  responseTruncated: boolean;
  errorMessage: string | null;
  fault: AttemptFault | null;
}

interface AttemptFault {
  name: string | null;
  effects: { id: string; action: string; effect: Record<string, unknown> }[];
  copy: number;
  wouldHaveSent: { headers: Record<string, string>; body: string };
}

interface Whole {
  attempt: WholeAttempt;
  attempts: WholeAttempt[];
}

export const wholeAttempt = (id: string): Call => ({ method: "GET", path: `/deliveries/${inPath(id)}` });

export const deliveryDetail = (_: State, attempt: AttemptMessage): Detail => ({
  title: `${attempt.eventType} to ${attempt.url}`,
  asks: { whole: wholeAttempt(attempt.id) },
  lines(known, state, width) {
    const { look } = state;
    const whole = known.whole as Whole | undefined;
    const judged = verdictLines(state, ({ attempts }) => attempts.includes(attempt.id), width);
    return [
      ...summary(state, attempt, width),
      ...part(look, "Attempts", whole ? attemptLines(state, attempt, whole, width) : []),
      ...part(look, "Judged", judged),
      ...(whole ? sent(look, whole.attempt, width) : []),
      ...(whole?.attempt.fault ? disturbed(look, whole.attempt, whole.attempt.fault, width) : []),
      ...(whole ? part(look, "Signature", signature(look, whole.attempt, width)) : []),
      ...part(look, "Answer", whole ? answer(look, whole.attempt, width) : []),
    ];
  },
});

function summary(state: State, attempt: AttemptMessage, width: number): string[] {
  const { look } = state;
  const newer = listOf(state, "deliveries").rows.findLast(({ value }) => isSame(value as AttemptMessage, attempt))?.value as
    | Told
    | undefined;
  const [words, tones] = endingOf(state, attempt, newer === undefined || (newer as AttemptMessage).id === attempt.id);
  const { nextAttemptAt: next } = attempt;
  return [
    ...fact(look, width, "event", `${attempt.eventType}  ${attempt.eventId}`),
    ...fact(look, width, "endpoint", `${attempt.endpointId}  ${attempt.url}`),
    ...fact(look, width, "merchant", attempt.merchant),
    ...fact(look, width, "attempt", `${attempt.attempt} of ${attempt.maxAttempts}, ${wholeTime(attempt.at)}, ${attempt.id}`),
    ...fact(look, width, "came to", `${words} ${resultOf(attempt)}`, ...tones),
    ...(next === null ? [] : fact(look, width, "next try", `${wholeTime(next * 1_000).slice(0, 19)} sandbox time`)),
  ];
}

/** Whether two attempts are of one event to one endpoint. */
export const isSame = (one: AttemptMessage, other: AttemptMessage) => one.eventId === other.eventId && one.endpointId === other.endpointId;

/** All that were fetched, and those that came in since; this one is marked. */
function attemptLines(state: State, about: AttemptMessage, { attempts }: Whole, width: number): string[] {
  const fetched: (Told & { id: string })[] = attempts.toReversed();
  const heard = listOf(state, "deliveries")
    .rows.map(({ value }) => value as AttemptMessage)
    .filter((attempt) => isSame(attempt, about) && !fetched.some(({ id }) => id === attempt.id));
  const all = [...fetched, ...heard];
  return all.map((attempt, index) => {
    const line = attemptLine(state, attempt, width, index === all.length - 1);
    return attempt.id === about.id ? `  ${signs(state.look).cursor}${line.slice(3)}` : line;
  });
}

const sent = (look: Look, { url, requestHeaders, requestBody }: WholeAttempt, width: number): string[] =>
  part(look, "Sent", [
    ...plain(`POST ${url}`, width, "  "),
    ...headerLines(look, width, requestHeaders),
    "",
    ...bodyLines(look, width, requestBody, Buffer.byteLength(requestBody)),
  ]);

/** What rules made of it, and what would have been sent without them: only where that differs. */
function disturbed(look: Look, { requestHeaders, requestBody }: WholeAttempt, fault: AttemptFault, width: number): string[] {
  const { effects, copy, wouldHaveSent } = fault;
  const rules = effects.flatMap(({ id, action, effect }) => {
    const { kind: _, ...fields } = effect;
    return fact(look, width, action, `${id} ${JSON.stringify(fields)}`, "magenta");
  });
  const headers = Object.entries(wouldHaveSent.headers).filter(([name, value]) => requestHeaders[name] !== value);
  const body =
    wouldHaveSent.body === requestBody ? [] : ["", ...bodyLines(look, width, wouldHaveSent.body, Buffer.byteLength(wouldHaveSent.body))];
  return [
    ...part(look, "Fault", [...rules, ...(copy > 0 ? fact(look, width, "copy", `number ${copy} that a rule made of this delivery`) : [])]),
    ...part(look, "Without the fault", [...headerLines(look, width, Object.fromEntries(headers)), ...body]),
  ];
}

const SIGNATURE = "X-Webhook-Signature";

/** A line for a shell that knows the endpoint's secret: it says whether the signature is the body's own. */
export const checkOf = ({ requestHeaders, requestBody }: Pick<WholeAttempt, "requestHeaders" | "requestBody">): string =>
  `test "$(printf %s ${quoted(requestBody)} | openssl dgst -sha256 -hmac "$WEBHOOK_SECRET" -r | cut -d' ' -f1)" = ` +
  `${quoted(requestHeaders[SIGNATURE] ?? "")} && echo genuine || echo forged`;

const signature = (look: Look, attempt: WholeAttempt, width: number): string[] => [
  ...fact(look, width, "sent", attempt.requestHeaders[SIGNATURE] ?? "none"),
  ...sentences(look, width, "The hex HMAC-SHA256 of the body's exact bytes under the endpoint's whole secret, whsec_ included."),
  ...sentences(look, width, "This line checks it; v copies it:"),
  ...plain(checkOf(attempt), width, "    "),
];

function answer(
  look: Look,
  { responseStatus, responseBody, responseTruncated, errorCode, errorMessage, durationMs }: WholeAttempt,
  width: number,
) {
  const cut = responseTruncated ? sentences(look, width, "The log keeps only the beginning of this body.", "yellow") : [];
  return [
    ...(responseStatus === null ? [] : fact(look, width, "status", String(responseStatus))),
    ...(errorCode === null ? [] : fact(look, width, "failed", `${errorCode}${errorMessage ? `: ${errorMessage}` : ""}`, "red")),
    ...(durationMs === null ? [] : fact(look, width, "took", duration(durationMs))),
    ...(responseBody === null ? [] : bodyLines(look, width, responseBody, Buffer.byteLength(responseBody))),
    ...cut,
  ];
}
