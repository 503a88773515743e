// What a key does is one call: described here, made here, and shown as a line of curl.

import { exchange } from "./http-request.ts";

/** A call of the control plane, or of the service when it has a key. */
export interface Call {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below /_sandbox, or below the address itself where there is a key. */
  path: string;
  body?: unknown;
  /** A merchant's key, or null for none: then the service is called. */
  key?: string | null;
  headers?: Record<string, string>;
}

export interface Target {
  /** Such as http://127.0.0.1:4747. */
  url: string;
  /** What the control plane asks for, where it asks. */
  token: string | undefined;
}

const CONTROL = "/_sandbox";

/** A name as a part of a path or a query; half a character in it is nobody's. */
export const inPath = (name: string) => encodeURIComponent(name.toWellFormed());

export const addressOf = (target: Target, call: Call) => target.url + (call.key === undefined ? CONTROL : "") + call.path;

export interface Answer {
  status: number;
  body: unknown;
}

/** A field that is wrong, as the control plane says it. */
export interface FieldError {
  field: string;
  message: string;
}

/** Nothing was done. */
export class Refusal extends Error {
  readonly fields: readonly FieldError[];

  constructor(message: string, fields: readonly FieldError[]) {
    super(message);
    this.fields = fields;
  }
}

/** What an answer that refuses says; the same from the control plane and from the service. */
export function refusalOf(call: Call, { status, body }: Answer): Refusal {
  const { message, details } = (body ?? {}) as { message?: unknown; details?: { errors?: unknown } };
  const words = typeof message === "string" ? message : `${call.method} ${call.path} was answered ${status}`;
  return new Refusal(words, Array.isArray(details?.errors) ? (details.errors as FieldError[]) : []);
}

/** Makes a call; one that is refused is an error that says why. Of the service every answer is one. */
export async function perform(target: Target, call: Call): Promise<Answer> {
  const sent = { method: call.method, headers: headersOf(target, call), body: bodyOf(call) };
  const { status, text } = await exchange(addressOf(target, call), sent);
  const answer = { status, body: parse(text) };
  if (status >= 300 && call.key === undefined) throw refusalOf(call, answer);
  return answer;
}

function headersOf({ token }: Target, call: Call): Record<string, string> {
  const bearer = call.key === undefined ? token : call.key;
  return {
    ...(bearer == null ? {} : { Authorization: `Bearer ${bearer}` }),
    ...(call.body === undefined ? {} : { "Content-Type": "application/json" }),
    ...call.headers,
  };
}

/** A body that is text already was sent so by somebody, and is sent again byte for byte. */
const bodyOf = ({ body }: Call) => (body === undefined || typeof body === "string" ? body : JSON.stringify(body));

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The same call for a shell. */
export function curlOf(target: Target, call: Call): string {
  const headers = Object.entries(headersOf(target, call)).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`);
  const body = bodyOf(call);
  const method = call.method === "GET" ? [] : [`-X ${call.method}`];
  return ["curl -sS", ...method, quoted(addressOf(target, call)), ...headers, ...(body === undefined ? [] : [`-d ${quoted(body)}`])].join(
    " ",
  );
}

export const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
