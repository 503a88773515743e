// Row filters of the live stream, the request log and the dashboard: words in the text of a row, conditions on its
// fields and marks, and `!` for negation. Also gives the text and the fields of requests and attempts.

import type { AttemptMessage, RequestMessage } from "../contracts/live-messages.ts";
import { isoTime } from "../kernel/clock.ts";

/**
 * The facts about a row that a filter matches: its text as shown, and its fields by name. A list is a set of marks, as
 * in `is:fault`. A field with the value `*` matches everything, such as the merchant of a fault rule for all merchants.
 */
export interface FilterFacts {
  text: string;
  fields: Readonly<Record<string, string | number | null | readonly string[]>>;
}

/** The names that a filter may use for one kind of row. */
export interface FilterVocabulary {
  fields: readonly string[];
  /** The values of `is:`. */
  marks: readonly string[];
  /** The fields whose values are numbers. Default: none. */
  numbers?: readonly string[];
  /** The fields whose values are times. Default: none. */
  times?: readonly string[];
}

export type RowFilter = (facts: FilterFacts) => boolean;

/**
 * `status:4xx path:/v1/payments ms>100 time>12:04 is:fault !lodge "two words"`; every term must match. An empty filter
 * matches everything.
 */
export function readRowFilter(text: string): RowFilter {
  const terms = termsOf(text).map(readTerm);
  return (facts) => terms.every((matches) => matches(facts));
}

/** The error message for the first term with an unknown field or mark; undefined if all are known. */
export function filterProblem(
  text: string,
  { fields, marks, numbers = [], times = [] }: FilterVocabulary,
): string | undefined {
  for (const { name, value } of termsOf(text).flatMap((term) => fieldOf(term.replace(/^!(?=.)/, "")) ?? [])) {
    const list = (names: readonly string[], as: (name: string) => string) => names.map(as).join(", ");
    const isMark = name === "is" && marks.length > 0;
    if (!isMark && !fields.includes(name))
      return (
        `There is no field ${name}:. The fields are ` +
        `${list(fields, (one) => `${one}:`)}${marks.length > 0 ? ", and is: for marks" : ""}`
      );
    if (isMark && !marks.some((mark) => mark.startsWith(value.toLowerCase())))
      return `There is no mark is:${value}. The marks are ${list(marks, (mark) => `is:${mark}`)}`;
    if (numbers.includes(name) && !NUMBER.test(value))
      return `${name}: takes a number, or a class such as 4xx, not ${value}`;
    if (times.includes(name) && !TIME.test(value))
      return `${name}: takes a time such as 12:04, 12:04:30 or 2026-01-05T12:04, not ${value}`;
  }
  return undefined;
}

const NUMBER = /^(?:\d*\.?\d*|[1-5]xx)$/i;
/** The beginning of a time of day, or of a date and a time. */
const TIME = /^(?:\d{4}-\d{0,2}(?:-\d{0,2})?(?:T[\d:.]*Z?)?|[\d:.]*)$/i;
const TERM = /!?(?:"[^"]*"?|[^\s"]+)+/g;

const termsOf = (text: string): string[] => text.match(TERM) ?? [];

function readTerm(text: string): RowFilter {
  const inverted = text.startsWith("!") && text.length > 1;
  const term = text.slice(inverted ? 1 : 0);
  const matches = fieldTerm(term) ?? ((facts) => contains(facts.text, withoutQuotes(term)));
  return inverted ? (facts) => !matches(facts) : matches;
}

const withoutQuotes = (term: string) => term.replaceAll('"', "");

/** The parts of a term such as `ms>100`. A term that starts with a quote is text, and so is a URL. */
function fieldOf(term: string): { name: string; sign: string; value: string } | undefined {
  const [, name, sign = "", value = ""] = /^([a-z]+)([:<>])(?!\/\/)(.*)$/i.exec(term) ?? [];
  return name === undefined ? undefined : { name: name.toLowerCase(), sign, value: withoutQuotes(value) };
}

/** Matches a field. If the row has no field with that name, matches the whole term as plain text. */
function fieldTerm(term: string): RowFilter | undefined {
  const field = fieldOf(term);
  if (!field) return undefined;
  const { name, sign, value } = field;
  return ({ text, fields }) =>
    Object.hasOwn(fields, name) ? matchesField(fields[name] ?? "", sign, value) : contains(text, withoutQuotes(term));
}

function matchesField(field: string | number | readonly string[], sign: string, value: string): boolean {
  if (field === "*") return true;
  if (typeof field === "string" && ISO_TIME.test(field)) return matchesTime(field, sign, value.toUpperCase());
  // A missing value matches neither < nor >.
  if (sign !== ":")
    return (
      value !== "" && field !== "" && (sign === ">" ? Number(field) > Number(value) : Number(field) < Number(value))
    );
  if (typeof field === "number") return matchesNumber(field, value);
  return typeof field === "string" ? contains(field, value) : value === "" || field.includes(value.toLowerCase());
}

const ISO_TIME = /^\d{4}-\d\d-\d\dT/;

/**
 * Matches the beginning of a time, or compares it as a text: `time>12:04` starts at 12:04:00.000, and `time<12:05` ends
 * before 12:05. A time without a date matches on any day.
 */
function matchesTime(field: string, sign: string, value: string): boolean {
  const time = value.includes("-") ? field : field.slice("2026-01-05T".length);
  if (sign === ":") return time.startsWith(value);
  return value !== "" && (sign === ">" ? time > value : time < value);
}

/** Matches the whole number, so `status:4` does not match 404; `4xx` is a class. */
function matchesNumber(field: number, value: string): boolean {
  if (/^[1-5]xx$/i.test(value)) return Math.floor(field / 100) === Number(value[0]);
  return value === "" || field === Number(value);
}

const contains = (text: string, part: string) => text.toLowerCase().includes(part.toLowerCase());

const REQUEST_FIELDS = [
  "id",
  "method",
  "path",
  "status",
  "ms",
  "time",
  "operation",
  "merchant",
  "key",
  "fault",
  "sequence",
] as const;
const ATTEMPT_FIELDS = [
  "id",
  "event",
  "path",
  "status",
  "result",
  "ms",
  "time",
  "merchant",
  "endpoint",
  "error",
  "trigger",
  "fault",
] as const;

/** Facts with exactly the fields of a vocabulary. */
type FactsWith<Field extends string> = FilterFacts & { fields: Record<Field | "is", FilterFacts["fields"][string]> };

const MARKS = ["cut", "fault", "replay", "failed"] as const;

export const requestVocabulary: FilterVocabulary = {
  fields: REQUEST_FIELDS,
  marks: [...MARKS, "ignored"],
  numbers: ["status", "ms", "sequence"],
  times: ["time"],
};
export const attemptVocabulary: FilterVocabulary = {
  fields: ATTEMPT_FIELDS,
  marks: MARKS,
  numbers: ["ms"],
  times: ["time"],
};

export function requestFacts(request: RequestMessage): FactsWith<(typeof REQUEST_FIELDS)[number]> {
  const { id, method, path, query, status, durationMs, operation, merchant, idempotencyKey, replayOf, fault, ignored } =
    request;
  const { at, sequence, summary } = request;
  const target = query === "" ? path : `${path}?${query}`;
  const isCut = status === 0;
  const marks = {
    cut: isCut,
    fault: fault !== null,
    replay: replayOf !== null,
    failed: isCut || status >= 400,
    ignored: ignored !== null,
  };
  return {
    text:
      `${method} ${target} ${status === 0 ? "cut" : status} ${merchant ?? ""} ${id} ` +
      `${operation ?? ""} ${summary ?? ""}`,
    fields: {
      id,
      method,
      path: target,
      status,
      ms: durationMs,
      time: isoTime(at),
      operation,
      merchant,
      key: idempotencyKey,
      fault,
      sequence,
      is: marksOf(marks),
    },
  };
}

export function attemptFacts(attempt: AttemptMessage): FactsWith<(typeof ATTEMPT_FIELDS)[number]> {
  const { id, at, eventId, eventType, url, status, responseStatus, durationMs } = attempt;
  const { merchant, endpointId, errorCode, trigger, fault, summary } = attempt;
  const is = marksOf({
    cut: responseStatus === null,
    fault: fault !== null,
    replay: trigger === "replay",
    failed: status !== "succeeded",
  });
  return {
    text: [eventType, eventId, url, status, responseStatus ?? errorCode ?? "", merchant, id, summary ?? ""].join(" "),
    fields: {
      id,
      event: `${eventType} ${eventId}`,
      path: url,
      status: responseStatus ?? status,
      result: status,
      ms: durationMs,
      time: isoTime(at),
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
