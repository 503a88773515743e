// Sends the response of a call under faults: loses, delays or corrupts it.

import type { ApiEffect, ApiPhase } from "../../contracts/fault.ts";
import type { CallFaults, Reply, RequestContext } from "../context.ts";
import { rateLimitHeaders } from "../rate-limit.ts";
import { send, writeHead } from "../reply.ts";
import { endResponse } from "../unread-body.ts";
import type { HeldResponses } from "./held-responses.ts";
import { disconnect, pause, sendCorrupted } from "./wire-faults.ts";

/** Evaluates the rules of a phase, and notes the rule that fires. */
export type Decide = (context: RequestContext, state: CallFaults, phase: ApiPhase) => ApiEffect | undefined;

/** Carries out an effect that decides or replaces the reply. */
export type Apply = (context: RequestContext, state: CallFaults, effect: ApiEffect) => void;

interface SendOptions {
  decide: Decide;
  apply: Apply;
  held: HeldResponses;
}

export async function sendWithFaults(
  context: RequestContext,
  state: CallFaults,
  reply: Reply,
  { decide, apply, held }: SendOptions,
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
  const last = context.reply ?? reply;
  if (corruption?.kind === "corrupt") return sendCorrupted(context, last, corruption, bodyDelay, held);
  if (bodyDelay === 0) return send(context, last, rateLimitHeaders(context));
  return sendBodyLate(context, last, bodyDelay, held);
}

async function sendBodyLate(context: RequestContext, reply: Reply, delay: number, held: HeldResponses): Promise<void> {
  const { outgoing, incoming } = context;
  if (!writeHead(context, reply, rateLimitHeaders(context))) return;
  outgoing.flushHeaders();
  await pause(outgoing, delay, held);
  endResponse(context, incoming.method === "HEAD" ? undefined : reply.body);
}
