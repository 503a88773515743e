// One HTTP exchange, at a price that can be paid every second: fetch costs several times as much, and loads a client of its own.

import { Agent, type IncomingMessage, request as overHttp, type RequestOptions } from "node:http";
import { request as overTls, Agent as TlsAgent } from "node:https";

interface Asked {
  method: string;
  headers: Record<string, string>;
  body: string | undefined;
}

/** One connection for all that is asked every second; whatever does something has its own, which no other side can have given up. */
const agents = { "http:": new Agent({ keepAlive: true }), "https:": new TlsAgent({ keepAlive: true }) };

export async function exchange(address: string, { method, headers, body }: Asked): Promise<{ status: number; text: string }> {
  const url = new URL(address);
  const isTls = url.protocol === "https:";
  const agent = method === "GET" ? agents[isTls ? "https:" : "http:"] : false;
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const options: RequestOptions = { method, headers, agent };
    const sent = isTls ? overTls(url, options, resolve) : overHttp(url, options, resolve);
    sent.once("error", (error: NodeJS.ErrnoException) => reject(named(error, url)));
    sent.end(body);
  });
  answer.setEncoding("utf8");
  let text = "";
  for await (const piece of answer) text += piece;
  return { status: answer.statusCode ?? 0, text };
}

const named = (error: NodeJS.ErrnoException, { origin }: URL) =>
  error.code === "ECONNREFUSED" || error.code === "ECONNRESET" ? new Error(`Nobody answers at ${origin}`, { cause: error }) : error;
