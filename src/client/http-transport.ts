// Calls the control API over HTTP, with the control token, and the service under /v1, with a merchant's key.

import type { ControlApi } from "../../generated/control-api.ts";
import { CONTROL_PREFIX } from "../contracts/paths.ts";
import { type ErrorBody, type ErrorCode, SandboxError, usageError } from "../kernel/errors.ts";
import { type CallFor, type ControlCall, createControlClient } from "./control-call.ts";
import { exchange, type HttpLimits, type HttpReply, reasonOf } from "./http-exchange.ts";

export interface HttpTarget {
  /** The URL without a path, such as http://127.0.0.1:4747. */
  url: string;
  /** The control token, if the sandbox requires one. */
  token: string | undefined;
}

/** Creates the errors of failed calls, worded for the library or for the command line. */
export interface FailureWords {
  refused(call: ControlCall, reply: HttpReply): Error;
  unreachable(error: Error): Error;
}

/** The Authorization header for a control token or an API key; empty without one. */
export function bearer(token: string | null | undefined): Record<string, string> {
  if (token == null) return {};
  if (/^[\x21-\x7e]+$/.test(token)) return { Authorization: `Bearer ${token}` };
  usageError("The token holds spaces or characters that no header can carry; give the one that the sandbox printed.");
}

export function httpTransport(
  { url, token }: HttpTarget,
  words: FailureWords,
  limits?: HttpLimits,
): (call: ControlCall) => Promise<unknown> {
  return async (call) => {
    const request = { method: call.method, headers: bearer(token), body: call.body };
    const reply = await exchange(url + CONTROL_PREFIX + call.path, request, limits).catch((error: Error) => {
      throw words.unreachable(error);
    });
    if (reply.status >= 200 && reply.status < 300) return reply.body;
    throw words.refused(call, reply);
  };
}

export interface ConnectOptions {
  /** The sandbox's `controlToken`, which it also prints at startup. */
  controlToken?: string | undefined;
}

/** The methods of a sandbox in another process, such as one started with `merchant-sandbox start`. `url` is its address without a path. */
export function connect(url: string, { controlToken }: ConnectOptions = {}): ControlApi {
  const target = { url: originOf(url), token: controlToken };
  return createControlClient(
    httpTransport(target, {
      refused: ({ path }, reply) => refusal(`${target.url}${CONTROL_PREFIX}${path}`, reply),
      unreachable: (error) => new SandboxError(`No sandbox answers at ${url}: ${reasonOf(error)}. Start one with npx merchant-sandbox.`),
    }),
  );
}

/** Removes the path from a sandbox's address. Throws if the address is invalid. */
export function originOf(url: string): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return new URL(url).origin;
  usageError(`The address of a sandbox looks like http://127.0.0.1:4747; received ${JSON.stringify(url)}.`);
}

function refusal(url: string, { status, body }: HttpReply): SandboxError {
  const { code, message = "", details = {} } = (body ?? {}) as Partial<ErrorBody>;
  if (code === undefined) return new SandboxError(`${url} responded with ${status}, but is not a merchant-sandbox.`);
  return new SandboxError(message, "usage", { code: code as ErrorCode, details });
}

export interface ServiceCall<Reply = unknown> extends CallFor<Reply> {
  readonly method: string;
  /** The path, including /v1 and the query. */
  readonly path: string;
  /** An API key; null for a call without one. */
  readonly key: string | null;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: unknown;
}

/** Resolves with the reply, even if it is an error. */
export const callService = async (url: string, { method, path, key, headers, body }: ServiceCall): Promise<HttpReply> =>
  exchange(url + path, { method, headers: { ...bearer(key), ...headers }, body });
