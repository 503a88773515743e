// Applies faults to API calls: pipeline stages that evaluate the rules of each phase and apply their effects.

import type { ApiEffect, ApiPhase, CallSubject } from "../../contracts/fault.ts";
import type { ServiceValues } from "../../contracts/service-values.ts";
import type { ApiFaults } from "../../faults/index.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Stores } from "../../store/stores.ts";
import type { CallFaults, Reply, RequestContext, Stage } from "../context.ts";
import { rateLimitHeaders } from "../rate-limit.ts";
import { send } from "../reply.ts";
import { injectedResponse, skewHeaders } from "./injected-response.ts";
import { type Apply, type Decide, type HeldResponses, sendWithFaults } from "./send-with-faults.ts";

interface FaultStageOptions extends Pick<Stores, "idempotencyReplies" | "recordHistory"> {
  clock: Pick<Clock, "mode">;
  values: Pick<ServiceValues, "idempotencyHeader">;
  faults: ApiFaults;
  held: HeldResponses;
}

export type FaultStages = ReturnType<typeof faultStages>;

export function faultStages({ clock, values, faults, idempotencyReplies, recordHistory, held }: FaultStageOptions) {
  const decide: Decide = (context, state, phase) => {
    if (state.inline.length === 0 && !faults.mayFire(phase)) return undefined;
    const injection = faults.decide(phase, subjectOf(context, state, values), state.inline);
    if (!injection) return undefined;
    state.fired.push(injection.firing.ruleId);
    if (injection.label) state.labels.push(injection.firing.ruleId);
    return injection.effect;
  };
  const apply: Apply = (context, state, effect) => applyEffect(context, state, effect, { clock, idempotencyReplies });
  const stage =
    (phase: ApiPhase): Stage =>
    (context) => {
      const effect = context.faults && decide(context, context.faults, phase);
      if (context.faults && effect) apply(context, context.faults, effect);
    };
  const [outage, auth, recall, before] = [stage("outage"), stage("auth"), stage("recall"), stage("before")] as const;
  return {
    outage(context: RequestContext) {
      const text = context.incoming.headers["x-sandbox-inject"];
      if (!faults.armed && text === undefined) return;
      const inline = text === undefined ? [] : faults.parseInline([text].flat().join(","));
      context.faults = { inline, fired: [], labels: [], body: undefined, served: false, disconnect: undefined };
      return outage(context);
    },
    // Only a valid key can be rejected as revoked or expired.
    auth: (context: RequestContext) => (context.identity ? auth(context) : undefined),
    limit: stage("limit"),
    recall: (context: RequestContext) => (context.idempotencyKey === undefined ? undefined : recall(context)),
    before(context: RequestContext) {
      if (context.faults) context.faults.body = context.body;
      return before(context);
    },
    /** Wraps the stage that runs the operation, so that a rule can make it read old data or use a skewed clock. */
    around:
      (effect: Stage): Stage =>
      (context) =>
        context.faults ? runShifted(context, context.faults, effect, decide, recordHistory) : effect(context),
    /** Sends the reply, or loses, delays or corrupts it. */
    send: (context: RequestContext, reply: Reply): void | Promise<void> =>
      context.faults
        ? sendWithFaults(context, context.faults, reply, { decide, apply, held })
        : send(context, reply, rateLimitHeaders(context)),
  };
}

/** Runs the operation with the faults clock_skew and, for reads, stale_read. */
async function runShifted(
  context: RequestContext,
  state: CallFaults,
  effect: Stage,
  decide: Decide,
  recordHistory: Stores["recordHistory"],
): Promise<void> {
  const lag = context.operation?.method === "GET" ? decide(context, state, "read") : undefined;
  const skew = decide(context, state, "effect");
  const { at } = context;
  if (skew?.kind === "skew") context.at = skewHeaders(context, skew.milliseconds);
  try {
    // A read is synchronous, so no other request sees the old data.
    if (lag?.kind === "lag") recordHistory.asOf(at - lag.milliseconds, () => void effect(context));
    else await effect(context);
    state.served = true;
  } finally {
    context.at = at;
  }
}

function applyEffect(
  context: RequestContext,
  state: CallFaults,
  effect: ApiEffect,
  { clock, idempotencyReplies }: Pick<FaultStageOptions, "clock" | "idempotencyReplies">,
): void {
  if (effect.kind === "respond") context.reply = { ...context.reply, ...injectedResponse(context, effect, clock) };
  if (effect.kind === "exhaust") context.bucket?.set({ remaining: 0, resetIn: effect.resetIn }, context.at);
  if (effect.kind === "forget") idempotencyReplies.forget(context.identity?.merchant ?? "", context.idempotencyKey ?? "");
  if (effect.kind !== "disconnect") return;
  state.disconnect = effect.as;
  context.reply = { status: 0, body: "" };
}

function subjectOf(context: RequestContext, state: CallFaults, { idempotencyHeader }: FaultStageOptions["values"]): CallSubject {
  const { id, identity, operation, incoming } = context;
  return {
    requestId: id,
    merchant: identity?.merchant,
    key: identity?.key,
    operation: operation?.id,
    address: `${incoming.method} ${incoming.url}`,
    header(name) {
      const { headers } = incoming;
      const own = name.toLowerCase();
      const sent = own === "idempotency-key" ? idempotencyHeader.toLowerCase() : own;
      const value = Object.hasOwn(headers, sent) ? headers[sent] : undefined;
      return Array.isArray(value) ? value.join(", ") : value;
    },
    body: state.body ?? context.body,
  };
}
