// The end of a call that faults have to do with: its answer is sent, or lost, delayed or spoilt.

import type { ApiEffect, ApiPhase } from "../../contracts/fault.ts";
import type { CallFaults, Reply, RequestContext } from "../context.ts";
import { rateLimitHeaders } from "../rate-limit.ts";
import { send, writeHead } from "../reply.ts";
import type { HeldResponses } from "./held-responses.ts";
import { cut, pause, spoil } from "./wire-faults.ts";

export interface Ending {
  decide(context: RequestContext, state: CallFaults, phase: ApiPhase): ApiEffect | undefined;
  /** Takes the answer away that the service gave. */
  lose(context: RequestContext, state: CallFaults, effect: ApiEffect): void;
  held: HeldResponses;
}

export async function sendFaulty(context: RequestContext, state: CallFaults, reply: Reply, { decide, lose, held }: Ending): Promise<void> {
  const isGood = (state.served || context.replayOf !== undefined) && reply.status > 0 && reply.status < 400;
  const lost = isGood ? decide(context, state, "after") : undefined;
  if (lost) lose(context, state, lost);
  const late = decide(context, state, "latency");
  const spoilt = isGood && !lost && context.incoming.method !== "HEAD" ? decide(context, state, "body") : undefined;
  if (state.labels.length > 0) context.headers["X-Sandbox-Fault"] = state.labels.join(", ");
  const wait = late?.kind === "delay" ? late : { milliseconds: 0, before: "headers" };
  if (wait.before === "headers") await pause(context.outgoing, wait.milliseconds, held);
  if (state.cut) return cut(context, state.cut, held);
  const between = wait.before === "body" ? wait.milliseconds : 0;
  const last = context.reply ?? reply;
  if (spoilt?.kind === "mangle") return spoil(context, last, spoilt, between, held);
  if (between === 0) return send(context, last, rateLimitHeaders(context));
  return sendInTwo(context, last, between, held);
}

async function sendInTwo(context: RequestContext, reply: Reply, between: number, held: HeldResponses): Promise<void> {
  const { outgoing, incoming } = context;
  if (!writeHead(context, reply, rateLimitHeaders(context))) return;
  outgoing.flushHeaders();
  await pause(outgoing, between, held);
  outgoing.end(incoming.method === "HEAD" ? undefined : reply.body);
}
