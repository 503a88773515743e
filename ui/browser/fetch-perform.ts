// Makes the calls of the dashboard with fetch.

import { CONTROL_PREFIX } from "../../src/contracts/paths.ts";
import { isControl, type Perform, refusalOf } from "../connection/calls.ts";

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
