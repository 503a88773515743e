// Makes the calls of the dashboard and of the explorer with fetch.

import { CONTROL_PREFIX } from "../../src/contracts/paths.ts";
import { stopwatch } from "../../src/kernel/clock.ts";
import { isControl, type Perform, refusalOf } from "../connection/calls.ts";
import type { PlainCall } from "../explorer/call-snippets.ts";

export const perform: Perform = async ({ url, token }, call) => {
  const { method, path, body, headers } = call;
  const credential = isControl(call) ? token : call.key;
  const response = await fetch(url + (isControl(call) ? CONTROL_PREFIX : "") + path, {
    method,
    headers: {
      ...(credential == null ? {} : { Authorization: `Bearer ${credential}` }),
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    cache: "no-store",
  }).catch((error: Error) => {
    throw new Error(`No sandbox answers at ${url}`, { cause: error });
  });
  const reply = { status: response.status, body: parsed(await response.text()) };
  if (isControl(call) && !response.ok) throw refusalOf(call, reply);
  return reply as never;
};

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export interface Answer {
  status: number;
  /** Until the whole response was received. */
  ms: number;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** The id of the request in the request log; calls of the control API have none. */
  request: string | undefined;
}

/** Sends a call of the explorer, and reads its response whatever the status. Rejects with an error that says why the call was not sent or got no response. */
export async function sendCall({ method, url, headers, body }: PlainCall): Promise<Answer> {
  const request = requestOf(url, { method, headers, cache: "no-store", ...(body !== undefined && { body }) });
  const elapsed = stopwatch();
  const response = await fetch(request).catch((error: Error) => {
    throw new Error(`No sandbox answers at ${new URL(url).origin}`, { cause: error });
  });
  const text = await response.text();
  return {
    status: response.status,
    ms: elapsed(),
    headers: Object.fromEntries(response.headers),
    body: text,
    request: response.headers.get("x-sandbox-request-id") ?? undefined,
  };
}

/** The request; a header with a character that HTTP does not allow is refused here, before anything is sent. */
function requestOf(url: string, options: RequestInit): Request {
  try {
    return new Request(url, options);
  } catch (error) {
    throw new Error(`The call cannot be sent: ${(error as Error).message}`, { cause: error });
  }
}
