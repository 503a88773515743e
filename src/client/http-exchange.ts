// Sends HTTP requests with node:http. The dashboard sends several per second, and fetch costs several times as much.

import { Agent, type IncomingMessage, request as overHttp, type RequestOptions } from "node:http";
import { tryParseJson } from "../kernel/attempt.ts";
import { once } from "../kernel/once.ts";
import { extentOf } from "../kernel/request-limits.ts";

export interface HttpRequest {
  method: string;
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
}

/** Reads share keep-alive connections. Writes open their own, because the server may have just closed a kept connection. */
const overPlain = { request: overHttp, agent: new Agent({ keepAlive: true }) };
/** Loaded at the first https address, because loading takes 5 ms, for which every start would wait. */
const overTls = once(() => {
  const { request, Agent } = process.getBuiltinModule("node:https");
  return { request, agent: new Agent({ keepAlive: true }) };
});

/** Levels of nested JSON: of a record in a report, and some more. */
const MAX_LEVELS = 64;

export async function exchange(address: string, request: HttpRequest, limits: HttpLimits = {}): Promise<HttpReply> {
  const incoming = await send(new URL(address), request, limits, request.method === "GET" && limits.timeout === undefined);
  const text = await textOf(incoming, limits);
  const isJson = incoming.headers["content-type"]?.startsWith("application/json") === true;
  // Printing a deeper value would overflow the stack.
  const body = isJson && extentOf(text).levels <= MAX_LEVELS ? tryParseJson(text) : undefined;
  return { status: incoming.statusCode ?? 0, body: body === undefined ? text : body };
}

function send(url: URL, request: HttpRequest, limits: HttpLimits, isKept: boolean): Promise<IncomingMessage> {
  const { method, headers, body } = request;
  const { timeout } = limits;
  const protocol = url.protocol === "https:" ? overTls() : overPlain;
  const agent = isKept ? protocol.agent : false;
  const payload = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  const type = payload === undefined ? {} : { "Content-Type": "application/json" };
  const options: RequestOptions = { method, headers: { ...type, ...headers }, agent, ...(timeout !== undefined && { timeout }) };
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
