// The ways in which an answer goes wrong on the wire: none at all, half of one, a slow one, or one that is no HTTP.

import type { ServerResponse } from "node:http";
import type { ApiEffect, CutForm } from "../../contracts/fault.ts";
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

/** Ends the connection without an answer, or keeps it open without one. */
export function cut({ outgoing }: RequestContext, as: CutForm, held: HeldResponses): void {
  const { socket } = outgoing;
  if (!socket || outgoing.destroyed) return;
  if (as === "reset") socket.resetAndDestroy();
  else if (as === "hang") held.hold(outgoing, () => socket.destroy());
  else {
    if (as !== "empty") socket.write(as === "garbage" ? GARBAGE : MALFORMED_CHUNK);
    socket.destroySoon();
  }
}

/** Resolves after real time, or earlier when nobody waits for the answer any more. */
export function pause(outgoing: ServerResponse, milliseconds: number, held: HeldResponses): Promise<void> {
  if (milliseconds <= 0 || outgoing.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const letGo = held.hold(outgoing, () => {
      cancel();
      resolve();
    });
    const cancel = afterRealTime(milliseconds, letGo);
  });
}

type Mangle = Extract<ApiEffect, { kind: "mangle" }>;

const PAGE = "<!DOCTYPE html><html><head><title>Welcome</title></head><body><h1>It works!</h1></body></html>";

/** Sends an answer whose body is not what its headers, or its maker, promised. */
export async function spoil(
  context: RequestContext,
  reply: Reply,
  { as, bytesPerSecond }: Mangle,
  wait: number,
  held: HeldResponses,
): Promise<void> {
  const { outgoing } = context;
  if (as === "html" || as === "wrong_content_type")
    context.headers["Content-Type"] = as === "html" ? "text/html; charset=utf-8" : "text/plain; charset=utf-8";
  const sent = as === "html" ? { ...reply, body: PAGE } : as === "invalid_json" ? { ...reply, body: half(reply.body) } : reply;
  context.reply = sent;
  const limits = rateLimitHeaders(context);
  if (wait === 0 && as !== "truncate" && as !== "drip") return send(context, sent, limits);
  if (!writeHead(context, sent, limits)) return;
  outgoing.flushHeaders();
  await pause(outgoing, wait, held);
  if (as === "truncate") outgoing.write(half(sent.body), () => outgoing.socket?.destroySoon());
  else if (as === "drip") void drip(outgoing, Buffer.from(sent.body), bytesPerSecond, held);
  else outgoing.end(sent.body);
}

/** The beginning of JSON text, which is no JSON itself. */
const half = (text: string) => text.slice(0, Math.ceil(text.length / 2));

const SMALLEST_STEP = 50;

async function drip(outgoing: ServerResponse, body: Buffer, bytesPerSecond: number, held: HeldResponses): Promise<void> {
  const step = Math.max(SMALLEST_STEP, 1_000 / bytesPerSecond);
  const bytes = Math.max(1, Math.round((bytesPerSecond * step) / 1_000));
  for (let from = 0; from < body.length && !outgoing.destroyed; from += bytes) {
    outgoing.write(body.subarray(from, from + bytes));
    await pause(outgoing, step, held);
  }
  outgoing.end();
}
