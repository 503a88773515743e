// Faults on the wire: a broken connection, a response that is not HTTP, and a body that is late, slow, cut off or malformed.

import type { ServerResponse } from "node:http";
import type { ApiEffect, DisconnectForm } from "../../contracts/fault.ts";
import { afterRealTime } from "../../kernel/clock.ts";
import type { Reply, RequestContext } from "../context.ts";
import { rateLimitHeaders } from "../rate-limit.ts";
import { send, writeHead } from "../reply.ts";
import type { HeldResponses } from "./held-responses.ts";

const GARBAGE = "\u0000\u0001\u0002 this is no HTTP \u0003\r\n\r\n";
const MALFORMED_CHUNK = [
  "HTTP/1.1 200 OK",
  "Content-Type: application/json",
  "Transfer-Encoding: chunked",
  "",
  "5",
  '{"obj',
  "what follows is no length",
  "",
].join("\r\n");

/** Breaks the connection, or keeps it open without a response. */
export function disconnect(context: RequestContext, as: DisconnectForm, held: HeldResponses): void {
  const { outgoing } = context;
  const { socket } = outgoing;
  if (!socket || outgoing.destroyed) return;
  context.answeredAfter = context.elapsed();
  if (as === "reset") socket.resetAndDestroy();
  else if (as === "hang") held.hold(outgoing, () => socket.destroy());
  else {
    if (as !== "empty") socket.write(as === "garbage" ? GARBAGE : MALFORMED_CHUNK);
    socket.destroySoon();
  }
}

/** Resolves after real time, or as soon as the client disconnects. */
export function pause(outgoing: ServerResponse, milliseconds: number, held: HeldResponses): Promise<void> {
  if (milliseconds <= 0 || outgoing.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const release = held.hold(outgoing, () => {
      cancel();
      resolve();
    });
    const cancel = afterRealTime(milliseconds, release);
  });
}

type Corruption = Extract<ApiEffect, { kind: "corrupt" }>;

const HTML_PAGE = "<!DOCTYPE html><html><head><title>Welcome</title></head><body><h1>It works!</h1></body></html>";

/** Sends a response with a corrupted body, `delay` real milliseconds after its headers. */
export async function sendCorrupted(
  context: RequestContext,
  reply: Reply,
  { as, bytesPerSecond }: Corruption,
  delay: number,
  held: HeldResponses,
): Promise<void> {
  const { outgoing } = context;
  if (as === "html" || as === "wrong_content_type")
    context.headers["Content-Type"] = as === "html" ? "text/html; charset=utf-8" : "text/plain; charset=utf-8";
  const sent = as === "html" ? { ...reply, body: HTML_PAGE } : as === "invalid_json" ? { ...reply, body: half(reply.body) } : reply;
  context.reply = sent;
  const limits = rateLimitHeaders(context);
  if (delay === 0 && as !== "truncate" && as !== "drip") return send(context, sent, limits);
  if (!writeHead(context, sent, limits)) return;
  outgoing.flushHeaders();
  await pause(outgoing, delay, held);
  if (as === "truncate") outgoing.write(half(sent.body), () => outgoing.socket?.destroySoon());
  else if (as === "drip") void drip(outgoing, Buffer.from(sent.body), bytesPerSecond, held);
  else outgoing.end(sent.body);
}

/** The first half of a JSON text, which is not valid JSON. */
const half = (text: string) => text.slice(0, Math.ceil(text.length / 2));

/** Milliseconds between two writes, at least. */
const MIN_STEP = 50;

async function drip(outgoing: ServerResponse, body: Buffer, bytesPerSecond: number, held: HeldResponses): Promise<void> {
  const step = Math.max(MIN_STEP, 1_000 / bytesPerSecond);
  const bytes = Math.max(1, Math.round((bytesPerSecond * step) / 1_000));
  for (let from = 0; from < body.length && !outgoing.destroyed; from += bytes) {
    outgoing.write(body.subarray(from, from + bytes));
    await pause(outgoing, step, held);
  }
  outgoing.end();
}
