// One request, whole: both messages, what was done with it and why, what it made happen, and what the judge says of it.

import type { AttemptMessage, RequestMessage } from "../../src/contracts/live-messages.ts";
import { count, duration } from "../format-numbers.ts";
import type { Detail } from "../overlays/detail.ts";
import { listOf, type State } from "../state/state.ts";
import { statusTones } from "../status-colours.ts";
import type { Look } from "../terminal/style.ts";
import { remainingOf, wholeTime } from "../time.ts";
import { type Call, inPath } from "../wire/control-calls.ts";
import { attemptLine } from "./attempt-line.ts";
import { bodyLines, fact, headerLines, part, sentences } from "./detail-lines.ts";
import { verdictLines } from "./verdict-line.ts";

/** A request as the journal has it. */
export interface WholeRequest {
  id: string;
  key: string | null;
  request: Message;
  response: Message;
  events: { id: string; type: string }[];
}

interface Message {
  headers: Record<string, unknown>;
  body: string;
  bytes: number;
}

type Attempts = { data: (Omit<AttemptMessage, "at" | "merchant"> & { created: number })[] };

/** Of a request that made more, the first tell enough. */
const MOST_EVENTS = 8;

const deliveriesOf = (event: string) => `deliveries of ${event}`;

export const wholeRequest = (id: string): Call => ({ method: "GET", path: `/requests/${inPath(id)}` });

export const requestDetail = (_: State, request: RequestMessage): Detail => ({
  title: `${request.method} ${request.path}`,
  asks: { whole: wholeRequest(request.id) },
  more: ({ whole }) =>
    Object.fromEntries(
      ((whole as WholeRequest | undefined)?.events ?? [])
        .slice(0, MOST_EVENTS)
        .map(({ id }) => [deliveriesOf(id), { method: "GET", path: `/deliveries?eventId=${inPath(id)}&limit=100` }]),
    ),
  lines(known, state, width) {
    const { look } = state;
    const whole = known.whole as WholeRequest | undefined;
    const answered = new Map(Object.entries(whole?.response.headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)]));
    return [
      ...summary(state, request, whole, width),
      ...part(look, "Idempotency", whole ? idempotency(look, request, width) : []),
      ...part(look, "Rate limit", window(state, answered, width)),
      ...part(look, "Fault", fault(look, request, width)),
      ...part(
        look,
        "Judged",
        verdictLines(state, ({ requests }) => requests.includes(request.id), width),
      ),
      ...part(look, "Unknown to the sandbox", strange(look, answered, width)),
      ...part(
        look,
        "Events it made",
        (whole?.events ?? []).flatMap((event) => eventLines(state, event, known, width)),
      ),
      ...(whole ? messages(look, whole, width) : []),
    ];
  },
});

function summary({ look }: State, request: RequestMessage, whole: WholeRequest | undefined, width: number): string[] {
  const { id, at, method, path, query, operation, merchant, status, durationMs } = request;
  const key = whole?.key ? `, key ${whole.key}` : "";
  return [
    ...fact(look, width, "request", `${id}, ${wholeTime(at)}`),
    ...fact(look, width, "asked", `${method} ${path}${query === "" ? "" : `?${query}`}`),
    ...fact(look, width, "operation", operation ?? withoutOperation(request)),
    ...fact(look, width, "merchant", merchant === null ? "none: no key, or none that is known" : merchant + key),
    ...fact(look, width, "answered", status === 0 ? "not at all" : String(status), ...statusTones(status)),
    ...fact(look, width, "took", `${duration(durationMs)} from its arrival to the answer`),
  ];
}

const withoutOperation = ({ status, fault: touched }: RequestMessage) =>
  touched === null && (status === 404 || status === 405)
    ? "none: the service has nothing there"
    : "none: it was answered before anybody looked which";

function idempotency(look: Look, { idempotencyKey, replayOf, status, method, fault: touched }: RequestMessage, width: number): string[] {
  if (idempotencyKey === null) {
    const risk = "It has no Idempotency-Key: sent twice, it takes effect twice.";
    return method === "GET" || method === "HEAD" || method === "DELETE" ? [] : sentences(look, width, risk, "dim");
  }
  const says = (text: string) => [...fact(look, width, "key", idempotencyKey), ...sentences(look, width, text)];
  if (replayOf !== null) return says(`Replayed: this is the answer of ${replayOf} once more, and nothing happened a second time.`);
  if (status < 300 && status >= 200)
    return says("Stored: whoever sends it again with this key gets this answer, and it has no second effect.");
  if (touched !== null)
    return says("A fault had a hand in the answer; the answer of the service itself, where there was one, is what is stored.");
  if (status === 404 || status === 409) return says("Stored where the operation itself found it out: the same key gets the same answer.");
  return says("Not stored: it had no effect, so the key is still free.");
}

function window(state: State, answered: Map<string, string>, width: number): string[] {
  const [limit, remaining, reset, retry] = ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset", "retry-after"].map((name) =>
    answered.get(name),
  );
  const { look } = state;
  return [
    ...(limit === undefined ? [] : fact(look, width, "left", `${figure(remaining)} of ${figure(limit)}`)),
    ...(reset === undefined ? [] : fact(look, width, "ends", endOf(state, reset))),
    ...(retry === undefined ? [] : fact(look, width, "Retry-After", /^\d+$/.test(retry) ? `${figure(retry)} s` : retry, "yellow")),
  ];
}

const figure = (written = "?") => (/^\d{1,15}$/.test(written) ? count(Number(written)) : written);

/** When a window ends, in Unix seconds as the answer said it. */
function endOf(state: State, written: string): string {
  if (!/^\d{1,11}$/.test(written)) return written;
  const moment = Number(written) * 1_000;
  const left = remainingOf(state, moment);
  return `${wholeTime(moment).slice(0, 19)}, ${left > 0 ? `in ${count(left)} s` : "which is over"}`;
}

function fault(look: Look, { fault: rules, status }: RequestMessage, width: number): string[] {
  if (rules === null) return [];
  const lost = status === 0 ? " The client got no answer." : "";
  return [
    ...fact(look, width, "rule", rules.replaceAll(",", ", "), "magenta"),
    ...sentences(look, width, `It touched this answer.${lost}`),
  ];
}

/** What the answer's own headers remark upon. */
const REMARKS = { fields: "x-sandbox-unknown-fields", parameters: "x-sandbox-unknown-params", warning: "x-sandbox-warning" };

const strange = (look: Look, answered: Map<string, string>, width: number): string[] =>
  Object.entries(REMARKS).flatMap(([name, header]) => {
    const value = answered.get(header);
    return value === undefined ? [] : fact(look, width, name, value, "yellow");
  });

const messages = (look: Look, { request, response }: WholeRequest, width: number): string[] => [
  ...part(look, "Request", [...headerLines(look, width, request.headers), "", ...bodyLines(look, width, request.body, request.bytes)]),
  ...part(look, "Answer", [...headerLines(look, width, response.headers), "", ...bodyLines(look, width, response.body, response.bytes)]),
];

/** An event, and how far it got: what was fetched, and what came in since. */
function eventLines(state: State, { id, type }: { id: string; type: string }, known: Record<string, unknown>, width: number): string[] {
  const fetched = ((known[deliveriesOf(id)] as Attempts | undefined)?.data ?? []).toReversed();
  const heard = listOf(state, "deliveries")
    .rows.map(({ value }) => value as AttemptMessage)
    .filter((attempt) => attempt.eventId === id && !fetched.some((one) => one.id === attempt.id));
  const attempts = [...fetched, ...heard];
  const isLast = (index: number) => !attempts.slice(index + 1).some(({ endpointId }) => endpointId === attempts[index]?.endpointId);
  const lines = attempts.map((attempt, index) => attemptLine(state, attempt, width, isLast(index)));
  const none = sentences(state.look, width, "No attempt to deliver it yet: no endpoint wants it, or its time has not come.", "dim");
  return [...fact(state.look, width, "event", `${type}  ${id}`), ...(lines.length === 0 && known[deliveriesOf(id)] ? none : lines)];
}
