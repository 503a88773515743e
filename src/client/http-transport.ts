// Calls the control API over HTTP, with the control token, and the service under /v1, with a merchant's key.

import { Agent, type IncomingMessage, request as overHttp, type RequestOptions } from "node:http";
import { API_PREFIX, CONTROL_PREFIX } from "../contracts/paths.ts";
import { tryParseJson } from "../kernel/attempt.ts";
import { type ErrorBody, type ErrorCode, SandboxError, usageError } from "../kernel/errors.ts";
import { once } from "../kernel/once.ts";
import { PROGRAM } from "../kernel/program-name.ts";
import { extentOf } from "../kernel/request-limits.ts";
import { type CallFor, type ControlCall, createControlClient } from "./control-call.ts";
import { type SandboxApi, withEffects } from "./effects.ts";

export interface HttpTarget {
  /** The address of the sandbox, such as http://127.0.0.1:4747, or http://127.0.0.1:3000/pay in an app. */
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

/**
 * The methods of a sandbox in another process, such as one started with `merchant-sandbox start`. `url` is its address:
 * `http://127.0.0.1:4747`, or with the path below which an app serves it, `http://127.0.0.1:3000/pay`.
 */
export function connect(url: string, { controlToken }: ConnectOptions = {}): SandboxApi {
  const target = { url: addressOf(url), token: controlToken };
  const transport = httpTransport(target, {
    refused: ({ path }, reply) => refusal(`${target.url}${CONTROL_PREFIX}${path}`, reply),
    unreachable: (error) =>
      new SandboxError(`No sandbox answers at ${url}: ${reasonOf(error)}. Start one with ${PROGRAM}.`),
  });
  return withEffects(createControlClient(transport));
}

/**
 * The address of a sandbox: its origin, and the path below which an app serves it. Leaves out the path of an API, so a
 * base URL that ends in /v1 is accepted too. Throws if the address is invalid.
 */
export function addressOf(url: string): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) {
    const { origin, pathname } = new URL(url);
    return origin + pathname.replace(/\/+$/, "").replace(API_PATH, "");
  }
  usageError(`The address of a sandbox looks like http://127.0.0.1:4747; received ${JSON.stringify(url)}.`);
}

const API_PATH = new RegExp(`${API_PREFIX}$|${CONTROL_PREFIX}(?:/.*)?$`);

function refusal(url: string, { status, body }: HttpReply): SandboxError {
  const { code, message = "", details = {} } = (body ?? {}) as Partial<ErrorBody>;
  if (code === undefined) return new SandboxError(`${url} responded with ${status}, but is not a merchant-sandbox.`);
  return new SandboxError(message, "usage", { code: code as ErrorCode, details });
}

export interface ServiceCall<Reply = unknown> extends CallFor<Reply> {
  readonly method: string;
  /** The path below the address of the sandbox, including /v1 and the query. */
  readonly path: string;
  /** An API key; null for a call without one. */
  readonly key: string | null;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: unknown;
}

/**
 * Calls the sandbox at an address, and resolves with the reply, even if it is an error. The path is sent as it is: a
 * URL without its dot segments could name another operation, even one of the control API.
 */
export const callService = async (url: string, { method, path, key, headers, body }: ServiceCall): Promise<HttpReply> =>
  exchange(url, {
    method,
    path: new URL(url).pathname.replace(/\/$/, "") + path.replace(/[^\x21-\xff]/gu, encodeURIComponent),
    headers: { ...bearer(key), ...headers },
    body,
  });

export interface HttpRequest {
  method: string;
  /** The request target, sent as it is (default: the path and query of the URL). */
  path?: string | undefined;
  headers: Readonly<Record<string, string>>;
  /** A string is sent unchanged, any other value as JSON. */
  body?: unknown;
}

export interface HttpReply<Body = unknown> {
  status: number;
  /** Parsed if it is JSON. */
  body: Body;
}

export interface HttpLimits {
  /** Milliseconds without a byte after which the request fails. */
  timeout?: number;
  /** Characters after which the rest of the reply is not read. */
  largest?: number;
  /** Ends the requests that wait for a reply. */
  signal?: AbortSignal | undefined;
}

/**
 * Reads share keep-alive connections. Writes open their own, because the server may have just closed a kept connection.
 */
const overPlain = { request: overHttp, agent: new Agent({ keepAlive: true }) };
/** Loaded at the first https address, because loading takes 5 ms, for which every start would wait. */
const overTls = once(() => {
  const { request, Agent } = process.getBuiltinModule("node:https");
  return { request, agent: new Agent({ keepAlive: true }) };
});

/** The most levels of nested JSON in a reply that is parsed. Records in reports have fewer. */
const MAX_LEVELS = 64;

/** Sends a request with node:http. The dashboard sends several per second, and fetch costs several times as much. */
export async function exchange(address: string, request: HttpRequest, limits: HttpLimits = {}): Promise<HttpReply> {
  const incoming = await send(
    new URL(address),
    request,
    limits,
    request.method === "GET" && limits.timeout === undefined,
  );
  const text = await textOf(incoming, limits);
  const isJson = incoming.headers["content-type"]?.startsWith("application/json") === true;
  // Printing a deeper value would overflow the stack.
  const body = isJson && extentOf(text).levels <= MAX_LEVELS ? tryParseJson(text) : undefined;
  return { status: incoming.statusCode ?? 0, body: body === undefined ? text : body };
}

function send(url: URL, request: HttpRequest, limits: HttpLimits, isKept: boolean): Promise<IncomingMessage> {
  const { method, path, headers, body } = request;
  const { timeout, signal } = limits;
  const protocol = url.protocol === "https:" ? overTls() : overPlain;
  const agent = isKept ? protocol.agent : false;
  const payload = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  const type = payload === undefined ? {} : { "Content-Type": "application/json" };
  const options: RequestOptions = {
    method,
    headers: { ...type, ...headers },
    agent,
    ...(path !== undefined && { path }),
    ...(timeout !== undefined && { timeout }),
    ...(signal !== undefined && { signal }),
  };
  return new Promise((resolve, reject) => {
    const outgoing = protocol.request(url, options, resolve);
    outgoing.once("timeout", () => outgoing.destroy(new Error(`no answer within ${timeout} ms`)));
    outgoing.once("error", (error: NodeJS.ErrnoException) => {
      // The server closed the kept connection while the request was in flight.
      if (outgoing.reusedSocket && error.code === "ECONNRESET") resolve(send(url, request, limits, false));
      else reject(error);
    });
    outgoing.end(payload);
  });
}

async function textOf(incoming: IncomingMessage, { largest = Number.POSITIVE_INFINITY }: HttpLimits): Promise<string> {
  incoming.setEncoding("utf8");
  let text = "";
  for await (const piece of incoming) {
    text += piece;
    if (text.length > largest) break;
  }
  return text;
}

/** The reason why a request got no reply, such as `connect ECONNREFUSED 127.0.0.1:4747`. */
export const reasonOf = (error: Error & { code?: string }): string => error.message || String(error.code);
