// Carries out on a call what a fault rule decided: where it steps in, and what then becomes of the answer.

import type { ApiEffect, ApiFaults, ApiPhase, CallSubject } from "../../contracts/fault.ts";
import type { IdempotencyReplies } from "../../store/records/idempotency-replies.ts";
import type { RecordHistory } from "../../store/records/record-history.ts";
import type { CallFaults, Reply, RequestContext, Stage } from "../context.ts";
import { rateLimitHeaders } from "../rate-limit.ts";
import { send } from "../reply.ts";
import type { HeldResponses } from "./held-responses.ts";
import { refusal, skewHeaders } from "./injected-response.ts";
import { type Ending, sendFaulty } from "./send-with-fault.ts";

interface Needs {
  faults: ApiFaults;
  idempotencyReplies: IdempotencyReplies;
  recordHistory: RecordHistory;
  held: HeldResponses;
}

export interface FaultStages {
  outage: Stage;
  auth: Stage;
  limit: Stage;
  recall: Stage;
  before: Stage;
  /** Runs the stage that makes the effect, in another time if a rule says so. */
  around(effect: Stage): Stage;
  /** Sends the answer, or loses, delays or spoils it. */
  send(context: RequestContext, reply: Reply): void | Promise<void>;
}

export function faultStages(needs: Needs): FaultStages {
  const { faults, held } = needs;
  const decide = (context: RequestContext, state: CallFaults, phase: ApiPhase): ApiEffect | undefined => {
    if (state.brought.length === 0 && !faults.concerns(phase, context.operation?.id)) return undefined;
    const made = faults.decide(phase, subjectOf(context, state), state.brought);
    if (!made) return undefined;
    state.fired.push(made.firing.ruleId);
    if (made.label) state.labels.push(made.firing.ruleId);
    return made.effect;
  };
  const step =
    (phase: ApiPhase): Stage =>
    (context) => {
      const effect = context.faults && decide(context, context.faults, phase);
      if (context.faults && effect) stepIn(context, context.faults, effect, needs);
    };
  const [outage, auth, recall, before] = [step("outage"), step("auth"), step("recall"), step("before")] as const;
  const ending: Ending = { decide, lose: (context, state, effect) => stepIn(context, state, effect, needs), held };
  return {
    outage(context) {
      const text = context.incoming.headers["x-sandbox-inject"];
      if (!faults.armed && text === undefined) return;
      const brought = text === undefined ? [] : faults.read([text].flat().join(","));
      context.faults = { brought, fired: [], labels: [], body: undefined, served: false, cut: undefined };
      return outage(context);
    },
    // Only a key that is good can be refused as one that no longer is.
    auth: (context) => (context.identity ? auth(context) : undefined),
    limit: step("limit"),
    recall: (context) => (context.idempotencyKey === undefined ? undefined : recall(context)),
    before(context) {
      if (context.faults) context.faults.body = context.body;
      return before(context);
    },
    around: (effect) => (context) =>
      context.faults ? inAnotherTime(context, context.faults, effect, decide, needs.recordHistory) : effect(context),
    send: (context, reply) =>
      context.faults ? sendFaulty(context, context.faults, reply, ending) : send(context, reply, rateLimitHeaders(context)),
  };
}

/** Only reads can lag behind; whatever is done can be done by a wrong clock. */
async function inAnotherTime(
  context: RequestContext,
  state: CallFaults,
  effect: Stage,
  decide: Ending["decide"],
  past: RecordHistory,
): Promise<void> {
  const lag = context.operation?.method === "GET" ? decide(context, state, "read") : undefined;
  const skew = decide(context, state, "effect");
  const { at } = context;
  if (skew?.kind === "skew") context.at = skewHeaders(context, skew.milliseconds);
  try {
    // A read answers at once, so that nobody else ever sees the past.
    if (lag?.kind === "lag") past.asOf(at - lag.milliseconds, () => void effect(context));
    else await effect(context);
    state.served = true;
  } finally {
    context.at = at;
  }
}

/** What a fault does before the service has answered, or to the answer it gave. */
function stepIn(context: RequestContext, state: CallFaults, effect: ApiEffect, { idempotencyReplies }: Needs): void {
  if (effect.kind === "refuse") context.reply = refusal(context, effect);
  if (effect.kind === "exhaust") context.bucket?.set({ remaining: 0, resetIn: effect.resetIn }, context.at);
  if (effect.kind === "forget") idempotencyReplies.forget(context.identity?.merchant ?? "", context.idempotencyKey ?? "");
  if (effect.kind !== "cut") return;
  state.cut = effect.as;
  context.reply = { status: 0, body: "" };
}

function subjectOf(context: RequestContext, state: CallFaults): CallSubject {
  const { id, identity, operation, incoming } = context;
  return {
    requestId: id,
    merchant: identity?.merchant,
    key: identity?.key,
    operation: operation?.id,
    address: `${incoming.method} ${incoming.url}`,
    header(name) {
      const value = incoming.headers[name.toLowerCase()];
      return Array.isArray(value) ? value.join(", ") : value;
    },
    body: state.body ?? context.body,
  };
}
