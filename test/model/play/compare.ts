// Holds an answer of the service against what the model says, and names what differs.

import { ANYTHING, SOME_TEXT } from "../call.ts";
import type { Expected } from "../way.ts";

/** What came over the wire; undefined stands for a connection that broke. */
export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  body: unknown;
}

/** Where two values differ; empty when the actual one is as it must be. */
export function unlike(expected: unknown, actual: unknown, where = ""): string[] {
  if (expected === ANYTHING) return [];
  if (expected === SOME_TEXT) return typeof actual === "string" && actual !== "" ? [] : [differs(where, "some text", actual)];
  if (isObject(expected) && isObject(actual) && Array.isArray(expected) === Array.isArray(actual)) {
    const names = new Set([...Object.keys(expected), ...Object.keys(actual)]);
    return [...names].flatMap((name) => unlike(expected[name], actual[name], `${where}/${name}`));
  }
  return Object.is(expected, actual) ? [] : [differs(where, expected, actual)];
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

const differs = (where: string, expected: unknown, actual: unknown) => `${where || "it"}: must be ${shown(expected)}, is ${shown(actual)}`;

export function shown(value: unknown): string {
  const text = JSON.stringify(value, (_, child) => (typeof child === "symbol" ? `(${child.description})` : child));
  return text === undefined ? "absent" : text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

export function differences(expected: Expected, answer: Answer | undefined): string[] {
  if (expected.status === "none" || expected.spoilt === "truncate")
    return answer === undefined ? [] : [`the connection must break, and ${answer.status} was answered`];
  if (answer === undefined) return [`${expected.status} must be answered, and the connection broke`];
  if (answer.status !== expected.status) return [differs("status", wordsOf(expected), `${answer.status} ${codeOf(answer)}`)];
  const headers = Object.entries(expected.headers).flatMap(([name, value]) => unlikeHeader(name, value, answer.headers[name]));
  const spoilt = expected.spoilt !== undefined;
  return [...headers, ...(spoilt ? unlikeSpoilt(expected, answer) : unlikeBody(expected, answer)), ...expected.surprises];
}

const wordsOf = ({ status, code = "" }: Expected) => `${status} ${code}`;
const codeOf = ({ body }: Answer) => String((body as { code?: unknown } | undefined)?.code ?? "");

function unlikeHeader(name: string, expected: string | undefined, actual: unknown): string[] {
  // Of a warning, it is known only whether there is one.
  if (name === "x-sandbox-warning" && expected !== undefined) return actual === undefined ? [`header ${name} must be there`] : [];
  return unlike(expected, actual, `header ${name}`);
}

function unlikeBody({ code, body, text, operation }: Expected, answer: Answer): string[] {
  if (text !== undefined) return text === answer.text ? [] : [differs("the answer, to the byte,", text, answer.text)];
  if (code === undefined) return unlike(body, answer.body);
  const error = answer.body as { error?: unknown; message?: unknown; code?: unknown; details?: { requestId?: unknown } } | undefined;
  return [
    ...unlike(code, error?.code, "code"),
    ...unlike(["code", "details", "error", "message"], Object.keys(error ?? {}).sort(), `the fields of the error (${operation})`),
    ...unlike(SOME_TEXT, error?.error, "error"),
    ...unlike(SOME_TEXT, error?.message, "message"),
  ];
}

function unlikeSpoilt({ spoilt }: Expected, { text, body, headers }: Answer): string[] {
  if (spoilt === "html") return /^<!DOCTYPE html>/.test(text) && /html/.test(String(headers["content-type"])) ? [] : ["it must be a page"];
  return body === undefined ? [] : ["it must be no JSON"];
}
