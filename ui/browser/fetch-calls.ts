// Makes the calls of the dashboard and of the explorer with fetch.

import { type Call, hasDotSegment, headersOf, isControl } from "../../src/client/curl.ts";
import type { HttpTarget } from "../../src/client/http-transport.ts";
import { CONTROL_PREFIX } from "../../src/contracts/paths.ts";
import { stopwatch } from "../../src/kernel/clock.ts";
import { type Perform, refusalOf } from "../connection/calls.ts";
import { valueOfJson } from "../connection/json-schema.ts";

/** Sends nothing and rejects if a header has a character that HTTP does not allow, or if a browser changes the path. */
async function send({ url, token }: HttpTarget, call: Call): Promise<Response> {
  const { method, path, body } = call;
  if (hasDotSegment(path))
    throw new Error(`A browser changes ${path} to ${new URL(url + path).pathname}: send it with the curl command`);
  const request = new Request(url + (isControl(call) ? CONTROL_PREFIX : "") + path, {
    method,
    headers: headersOf(call, isControl(call) ? token : call.key),
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    cache: "no-store",
  });
  return fetch(request).catch((error: Error) => {
    throw new Error(`No sandbox answers at ${url}`, { cause: error });
  });
}

export const perform: Perform = async (target, call) => {
  const response = await send(target, call);
  const reply = { status: response.status, body: valueOfJson(await response.text()) };
  if (isControl(call) && !response.ok) throw refusalOf(call, reply);
  return reply as never;
};

export type Answer = Awaited<ReturnType<typeof sendCall>>;

/** Sends a call of the explorer, and resolves with its response whatever the status. */
export async function sendCall(target: HttpTarget, call: Call) {
  const elapsed = stopwatch();
  const response = await send(target, call);
  const { status } = response;
  const headers = Object.fromEntries(response.headers);
  const body = await response.text();
  // Calls of the control API have no id in the request log.
  const requestId: string | undefined = headers["x-sandbox-request-id"];
  return { status, body, ms: elapsed(), headers, requestId };
}
