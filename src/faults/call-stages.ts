// Applies faults to API calls: the pipeline stages that evaluate the rules of each phase and apply their effects.

import type { ApiEffect, ApiPhase, CallSubject, RetryAfter } from "../contracts/fault.ts";
import { type CallFaults, contextOf, passOn, type Reply, type RequestContext, type Stage } from "../http/context.ts";
import type { FaultStages } from "../http/pipeline.ts";
import { moveClock, rateLimitHeaders, secondsUntil } from "../http/rate-limit.ts";
import { send } from "../http/reply.ts";
import type { Effect } from "../http/transact.ts";
import { type Clock, httpDate } from "../kernel/clock.ts";
import { type ErrorBody, type ErrorCode, errors } from "../kernel/errors.ts";
import { shownError } from "../store/assumptions.ts";
import type { Stores } from "../store/stores.ts";
import type { ApiFaults } from "./index.ts";
import { type Apply, type Decide, type HeldResponses, sendWithFaults } from "./send-with-faults.ts";

type InjectedResponse = Extract<ApiEffect, { kind: "respond" }>;

/** The default error codes of statuses for which the default is not the first code in the table of errors. */
const DEFAULT_CODES: Readonly<Record<number, ErrorCode>> = {
  400: "validation_failed",
  401: "invalid_api_key",
  403: "merchant_suspended",
  404: "resource_not_found",
  409: "invalid_state",
  429: "injected_rate_limit",
  500: "injected_error",
  503: "outage",
};

const codeOf = (status: number): ErrorCode =>
  DEFAULT_CODES[status] ??
  (Object.keys(errors) as ErrorCode[]).find((code) => errors[code].status === status) ??
  "injected_error";

function categoryOf(code: string, status: number): string {
  if (Object.hasOwn(errors, code) && errors[code as ErrorCode].status === status)
    return errors[code as ErrorCode].error;
  const fallback = errors[codeOf(status)];
  if (fallback.status === status) return fallback.error;
  return status < 500 ? "invalid_request" : "api_error";
}

/**
 * Returns a reply with the body that the service itself would send with the status, and sets the service's headers on
 * the context.
 */
function injectedResponse(
  context: RequestContext,
  {
    status: given,
    code = codeOf(given),
    asService,
    message = "A fault rule sent this response.",
    retryAfter,
    headers,
    endsAt = Infinity,
  }: InjectedResponse,
  { mode }: Pick<Clock, "mode">,
): Reply {
  const own = Object.hasOwn(errors, code) ? shownError(context.assumed, code as ErrorCode) : undefined;
  const status = asService && own ? own.status : given;
  const isStuck = endsAt < Infinity && mode === "frozen";
  const seconds = secondsOf(retryAfter);
  context.errorCode = code;
  Object.assign(context.headers, statusHeaders(status), headers, retryHeaders(retryAfter, context.at));
  if (status === 429) Object.assign(context.headers, windowHeaders(seconds ?? 1, context.at));
  const body: ErrorBody = {
    error: own?.status === status ? own.error : categoryOf(code, status),
    message: isStuck ? `${message} ${moveClock("it", secondsUntil(endsAt, context.at))}` : message,
    code: own?.code ?? code,
    details: {
      ...(status === 429 && context.bucket ? { limit: context.bucket.limit } : {}),
      ...(seconds === undefined ? {} : { retryAfter: seconds }),
      ...(isStuck ? { clock: mode } : {}),
      requestId: context.id,
    },
  };
  return { status, body: JSON.stringify(body) };
}

/** The headers that every response with this status has. */
function statusHeaders(status: number): Record<string, string> {
  if (status === 401) return { "WWW-Authenticate": "Bearer" };
  return status === 429 ? { "Cache-Control": "no-store" } : {};
}

/** The rate-limit headers of an injected 429: nothing remains, and the window ends when Retry-After does. */
const windowHeaders = (seconds: number, at: number) => ({
  "RateLimit-Remaining": "0",
  "RateLimit-Reset": String(Math.floor(at / 1_000) + seconds),
});

/** Retry-After in seconds; undefined if the response does not state it. */
function secondsOf(retryAfter: RetryAfter | undefined): number | undefined {
  if (typeof retryAfter === "number") return retryAfter;
  if (typeof retryAfter === "object") return retryAfter.seconds;
  return retryAfter === "zero" || retryAfter === "past" ? 0 : undefined;
}

const AN_HOUR = 3_600_000;

function retryHeaders(retryAfter: RetryAfter | undefined, at: number): Record<string, string> {
  if (retryAfter === undefined || retryAfter === "absent") return {};
  if (retryAfter === "invalid") return { "Retry-After": "soon" };
  if (retryAfter === "past") return { "Retry-After": httpDate(at - AN_HOUR) };
  if (typeof retryAfter === "object") return { "Retry-After": httpDate(at + retryAfter.seconds * 1_000) };
  return { "Retry-After": String(retryAfter === "zero" ? 0 : retryAfter) };
}

interface FaultStageOptions extends Pick<Stores, "idempotencyReplies" | "recordHistory"> {
  clock: Pick<Clock, "mode">;
  faults: ApiFaults;
  held: HeldResponses;
}

export function faultStages({
  clock,
  faults,
  idempotencyReplies,
  recordHistory,
  held,
}: FaultStageOptions): FaultStages {
  const decide: Decide = (context, state, phase) => {
    if (state.inline.length === 0 && !faults.mayFire(phase)) return undefined;
    const injection = faults.decide(phase, subjectOf(context, state), state.inline);
    if (!injection) return undefined;
    state.fired.push(injection.firing.ruleId);
    if (injection.label) state.labels.push(injection.firing.ruleId);
    return injection.effect;
  };
  const apply: Apply = (context, state, effect) => applyEffect(context, state, effect, { clock, idempotencyReplies });
  const stage =
    (phase: ApiPhase): Stage =>
    (request, _response, next) => {
      const context = contextOf(request);
      const effect = context.faults && decide(context, context.faults, phase);
      if (context.faults && effect) apply(context, context.faults, effect);
      passOn(context, next);
    };
  const [outage, auth, recall, before] = [stage("outage"), stage("auth"), stage("recall"), stage("before")] as const;
  return {
    outage: ((request, response, next) => {
      const text = request.headers["x-sandbox-inject"];
      if (!faults.armed && text === undefined) return next();
      const context = contextOf(request);
      const inline = text === undefined ? [] : faults.parseInline([text].flat().join(","));
      context.faults = { inline, fired: [], labels: [], body: undefined, served: false, disconnect: undefined };
      return outage(request, response, next);
    }) as Stage,
    // Only a valid key can be rejected as revoked or expired.
    auth: onlyIf(({ identity }) => identity !== undefined, auth),
    limit: stage("limit"),
    recall: onlyIf(({ idempotencyKey }) => idempotencyKey !== undefined, recall),
    before: ((request, response, next) => {
      const { faults: state, body } = contextOf(request);
      if (state) state.body = body;
      return before(request, response, next);
    }) as Stage,
    around:
      (effect: Effect): Effect =>
      (context) =>
        context.faults ? runOnHistory(context, context.faults, effect, decide, recordHistory) : effect(context),
    send: (context: RequestContext, reply: Reply): void | Promise<void> =>
      context.faults
        ? sendWithFaults(context, context.faults, reply, { decide, apply, held })
        : send(context, reply, rateLimitHeaders(context)),
  };
}

const onlyIf =
  (applies: (context: RequestContext) => boolean, stage: Stage): Stage =>
  (request, response, next) =>
    applies(contextOf(request)) ? stage(request, response, next) : next();

/** Runs the operation. A read that the fault stale_read affects gets old data. */
async function runOnHistory(
  context: RequestContext,
  state: CallFaults,
  effect: Effect,
  decide: Decide,
  recordHistory: Stores["recordHistory"],
): Promise<void> {
  const lag = context.operation?.method === "GET" ? decide(context, state, "read") : undefined;
  // A read is synchronous, so no other request sees the old data.
  if (lag?.kind === "lag") recordHistory.asOf(context.at - lag.milliseconds, () => void effect(context));
  else await effect(context);
  state.served = true;
}

function applyEffect(
  context: RequestContext,
  state: CallFaults,
  effect: ApiEffect,
  { clock, idempotencyReplies }: Pick<FaultStageOptions, "clock" | "idempotencyReplies">,
): void {
  if (effect.kind === "respond") context.reply = { ...context.reply, ...injectedResponse(context, effect, clock) };
  if (effect.kind === "exhaust") context.bucket?.set({ remaining: 0, resetIn: effect.resetIn }, context.at);
  if (effect.kind === "forget")
    idempotencyReplies.forget(context.identity?.merchant ?? "", context.idempotencyKey ?? "");
  if (effect.kind !== "disconnect") return;
  state.disconnect = effect.as;
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
      const { headers } = incoming;
      const sent = name.toLowerCase();
      const value = Object.hasOwn(headers, sent) ? headers[sent] : undefined;
      return Array.isArray(value) ? value.join(", ") : value;
    },
    body: state.body ?? context.body,
  };
}
