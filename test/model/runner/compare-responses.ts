// Compares a response with the expected response, and lists the differences.

import { ANYTHING, SOME_NUMBER, SOME_TEXT } from "../call.ts";
import type { Expected } from "../call-outcome.ts";

/** A received response. Functions use undefined in its place if the connection broke. */
export interface HttpResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  body: unknown;
}

/** Lists the paths at which two values differ. The list is empty if the values match. */
export function diff(expected: unknown, actual: unknown, where = ""): string[] {
  if (expected === ANYTHING) return [];
  if (expected === SOME_TEXT)
    return typeof actual === "string" && actual !== "" ? [] : [differs(where, "some text", actual)];
  if (expected === SOME_NUMBER)
    return typeof actual === "number" && actual >= 0 ? [] : [differs(where, "some number", actual)];
  if (isObject(expected) && isObject(actual) && Array.isArray(expected) === Array.isArray(actual)) {
    const names = new Set([...Object.keys(expected), ...Object.keys(actual)]);
    return [...names].flatMap((name) => diff(expected[name], actual[name], `${where}/${name}`));
  }
  return Object.is(expected, actual) ? [] : [differs(where, expected, actual)];
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

const differs = (where: string, expected: unknown, actual: unknown) =>
  `${where || "it"}: must be ${format(expected)}, is ${format(actual)}`;

export function format(value: unknown): string {
  const text = JSON.stringify(value, (_, child) => (typeof child === "symbol" ? `(${child.description})` : child));
  if (text === undefined) return "absent";
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

export function diffResponse(expected: Expected, response: HttpResponse | undefined): string[] {
  if (expected.status === "none" || expected.corruption === "truncate")
    return response === undefined ? [] : [`expected a broken connection, received ${response.status}`];
  if (response === undefined) return [`expected ${expected.status}, but the connection broke`];
  if (response.status !== expected.status)
    return [differs("status", wordsOf(expected), `${response.status} ${codeOf(response)}`)];
  const headers = Object.entries(expected.headers).flatMap(([name, value]) =>
    diffHeader(name, value, response.headers[name]),
  );
  const corruption = expected.corruption !== undefined;
  return [
    ...headers,
    ...(corruption ? diffCorruption(expected, response) : diffBody(expected, response)),
    ...expected.violations,
  ];
}

const wordsOf = ({ status, code = "" }: Expected) => `${status} ${code}`;
const codeOf = ({ body }: HttpResponse) => String((body as { code?: unknown } | undefined)?.code ?? "");

function diffHeader(name: string, expected: string | undefined, actual: unknown): string[] {
  // The model predicts only whether there is a warning, but not the text.
  if (name === "x-sandbox-warning" && expected !== undefined)
    return actual === undefined ? [`header ${name} must be there`] : [];
  return diff(expected, actual, `header ${name}`);
}

function diffBody({ code, body, text, operation }: Expected, response: HttpResponse): string[] {
  if (text !== undefined)
    return text === response.text ? [] : [differs("the bytes of the response", text, response.text)];
  if (code === undefined) return diff(body, response.body);
  const error = response.body as
    | { error?: unknown; message?: unknown; code?: unknown; details?: { requestId?: unknown } }
    | undefined;
  return [
    ...diff(code, error?.code, "code"),
    ...diff(
      ["code", "details", "error", "message"],
      Object.keys(error ?? {}).sort(),
      `the fields of the error (${operation})`,
    ),
    ...diff(SOME_TEXT, error?.error, "error"),
    ...diff(SOME_TEXT, error?.message, "message"),
  ];
}

function diffCorruption({ corruption }: Expected, { text, body, headers }: HttpResponse): string[] {
  if (corruption === "html")
    return /^<!DOCTYPE html>/.test(text) && /html/.test(String(headers["content-type"]))
      ? []
      : ["the body must be an HTML page"];
  return body === undefined ? [] : ["the body must not be JSON"];
}
