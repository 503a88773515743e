// Sends the response of a call with faults: lost, late, slow, cut off or malformed.

import type { ServerResponse } from "node:http";
import type { ApiEffect, ApiPhase, CorruptionForm, DisconnectForm } from "../contracts/fault.ts";
import type { CallFaults, Reply, RequestContext } from "../http/context.ts";
import { rateLimitHeaders } from "../http/rate-limit.ts";
import { send, writeHead } from "../http/reply.ts";
import { endResponse } from "../http/unread-body.ts";
import { afterRealTime } from "../kernel/clock.ts";
import { evolved, mergePatch } from "./changed-json.ts";

export type HeldResponses = ReturnType<typeof createHeldResponses>;

/** Responses that a fault delays. They are released when their connection closes, on reset, and on shutdown. */
export function createHeldResponses() {
  const waiting = new Set<() => void>();
  return {
    /**
     * Calls `release` when the connection closes or all responses are released. The returned function releases the
     * response earlier.
     */
    hold(outgoing: ServerResponse, release: () => void) {
      const end = () => {
        waiting.delete(end);
        outgoing.off("close", end);
        release();
      };
      waiting.add(end);
      outgoing.once("close", end);
      return end;
    },
    releaseAll() {
      for (const end of waiting) end();
    },
  };
}

/** Evaluates the rules of a phase. Records the rule that fires and returns its effect. */
export type Decide = (context: RequestContext, state: CallFaults, phase: ApiPhase) => ApiEffect | undefined;

/** Applies an effect, which may replace the reply. */
export type Apply = (context: RequestContext, state: CallFaults, effect: ApiEffect) => void;

export async function sendWithFaults(
  context: RequestContext,
  state: CallFaults,
  reply: Reply,
  { decide, apply, held }: { decide: Decide; apply: Apply; held: HeldResponses },
): Promise<void> {
  const isGood = (state.served || context.replayOf !== undefined) && reply.status > 0 && reply.status < 400;
  const loss = isGood ? decide(context, state, "after") : undefined;
  if (loss) apply(context, state, loss);
  const latency = decide(context, state, "latency");
  const corruption = isGood && !loss && context.incoming.method !== "HEAD" ? decide(context, state, "body") : undefined;
  if (state.labels.length > 0) context.headers["X-Sandbox-Fault"] = state.labels.join(", ");
  const delay = latency?.kind === "delay" ? latency : { milliseconds: 0, before: "headers" };
  if (delay.before === "headers") await pause(context.outgoing, delay.milliseconds, held);
  if (state.disconnect) return disconnect(context, state.disconnect, held);
  const bodyDelay = delay.before === "body" ? delay.milliseconds : 0;
  const last = changedReply(context, context.reply ?? reply, corruption);
  if (corruption?.kind === "corrupt") return sendCorrupted(context, last, corruption, bodyDelay, held);
  if (bodyDelay === 0) return send(context, last, rateLimitHeaders(context));
  return sendBodyLate(context, last, bodyDelay, held);
}

/** Applies an effect that changes the JSON of the reply. Other effects leave it as it is. */
function changedReply(context: RequestContext, reply: Reply, effect: ApiEffect | undefined): Reply {
  if (effect?.kind !== "patch" && effect?.kind !== "evolve") return reply;
  const value: unknown = JSON.parse(reply.body);
  const changed =
    effect.kind === "patch" ? mergePatch(value, effect.patch) : evolved(value, context.operation?.reply, effect.as);
  context.reply = { ...reply, body: JSON.stringify(changed) };
  return context.reply;
}

async function sendBodyLate(context: RequestContext, reply: Reply, delay: number, held: HeldResponses): Promise<void> {
  const { outgoing, incoming } = context;
  keepUntransformed(context);
  if (!writeHead(context, reply, rateLimitHeaders(context))) return;
  outgoing.flushHeaders();
  await pause(outgoing, delay, held);
  endResponse(context, incoming.method === "HEAD" ? undefined : reply.body);
}

/**
 * Keeps middleware of an app, such as compression, from holding back or changing a body that is sent in parts.
 * Middleware that changes bodies replaces the response's own `write`.
 */
function keepUntransformed({ outgoing, headers }: RequestContext): void {
  if (Object.hasOwn(outgoing, "write")) headers["Cache-Control"] = "no-transform";
}

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
function disconnect(context: RequestContext, as: DisconnectForm, held: HeldResponses): void {
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
function pause(outgoing: ServerResponse, milliseconds: number, held: HeldResponses): Promise<void> {
  if (milliseconds <= 0 || outgoing.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const release = held.hold(outgoing, () => {
      cancel();
      resolve();
    });
    const cancel = afterRealTime(milliseconds, release);
  });
}

const HTML_PAGE = "<!DOCTYPE html><html><head><title>Welcome</title></head><body><h1>It works!</h1></body></html>";

/** Sends a response with a corrupted body, `delay` real milliseconds after its headers. */
async function sendCorrupted(
  context: RequestContext,
  reply: Reply,
  { as, bytesPerSecond }: Extract<ApiEffect, { kind: "corrupt" }>,
  delay: number,
  held: HeldResponses,
): Promise<void> {
  const { outgoing } = context;
  if (as === "html" || as === "wrong_content_type")
    context.headers["Content-Type"] = as === "html" ? "text/html; charset=utf-8" : "text/plain; charset=utf-8";
  const sent = withCorruptBody(reply, as);
  context.reply = sent;
  const limits = rateLimitHeaders(context);
  if (delay === 0 && as !== "truncate" && as !== "drip") return send(context, sent, limits);
  keepUntransformed(context);
  if (!writeHead(context, sent, limits)) return;
  outgoing.flushHeaders();
  await pause(outgoing, delay, held);
  if (as === "truncate") outgoing.write(half(sent.body), () => outgoing.socket?.destroySoon());
  else if (as === "drip") void drip(outgoing, Buffer.from(sent.body), bytesPerSecond, held);
  else outgoing.end(sent.body);
}

function withCorruptBody(reply: Reply, as: CorruptionForm): Reply {
  if (as === "html") return { ...reply, body: HTML_PAGE };
  return as === "invalid_json" ? { ...reply, body: half(reply.body) } : reply;
}

/** The first half of a JSON text, which is not valid JSON. */
const half = (text: string) => text.slice(0, Math.ceil(text.length / 2));

/** Minimum milliseconds between two writes. */
const MIN_STEP = 50;

async function drip(
  outgoing: ServerResponse,
  body: Buffer,
  bytesPerSecond: number,
  held: HeldResponses,
): Promise<void> {
  const step = Math.max(MIN_STEP, 1_000 / bytesPerSecond);
  const bytes = Math.max(1, Math.round((bytesPerSecond * step) / 1_000));
  for (let from = 0; from < body.length && !outgoing.destroyed; from += bytes) {
    outgoing.write(body.subarray(from, from + bytes));
    await pause(outgoing, step, held);
  }
  outgoing.end();
}
