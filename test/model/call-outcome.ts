// One call as it goes its context: how far it has come, what it will be answered, and what faults do to it at each point.

import type { Request } from "./call.ts";
import { type CallAction, matchCallFault, span } from "./faults.ts";
import type { Operation } from "./operations.ts";
import { type IdempotencyReply, secondsOf, type Window, type World } from "./world.ts";

/** What the service must answer. */
export interface Expected {
  operation: string | undefined;
  /** None where a fault lets no answer come. */
  status: number | "none";
  /** Of an error. */
  code?: string | undefined;
  /** Of a success: all of it. */
  body?: unknown;
  /** The very bytes, where they were seen before. */
  text?: string | undefined;
  /** How a fault spoils the answer. */
  corruption?: "truncate" | "invalid_json" | "html" | undefined;
  /** The headers that the model has an opinion on; undefined where there must be none. */
  headers: Record<string, string | undefined>;
  /** What the service chose and may not. */
  violations: string[];
  /** Hears of the bytes of an answer that is idempotencyReplies. */
  idempotencyReply?: IdempotencyReply;
}

/** How far a call has come. */
export interface PipelineContext {
  world: World;
  request: Request;
  observed: unknown;
  path: string;
  search: URLSearchParams;
  token: string | undefined;
  /** Whose key it is, if it is anybody's. */
  merchantId: string | undefined;
  operation: Operation | undefined;
  params: Record<string, string>;
  window: Window;
  /** The rules that had a hand in it, in order. */
  faults: string[];
  headers: Record<string, string>;
  violations: string[];
  idempotencyReply: IdempotencyReply | undefined;
}

/** An answer before it is sent: the service's own, or a fault's. */
export type Result = Pick<Expected, "status" | "code" | "body" | "text"> & { isServed?: boolean };

export const INVALID_TOKEN = { "www-authenticate": 'Bearer error="invalid_token"' };

/**
 * What a fault does at one point of the context: an answer that is not the service's, or something the service then runs into;
 * `also` is what that is, where the point has something of its own.
 */
export function injectFault(context: PipelineContext, types: CallAction["type"][], also?: (by: number) => void): Result | undefined {
  const call = { operation: context.operation?.id, merchant: context.merchantId, faults: context.faults };
  const action = matchCallFault(context.world, types, call);
  switch (action?.type) {
    case "outage":
      return action.as === "reset" ? { status: "none" } : injected(context, "outage", 503, action.retryAfter ?? 5);
    case "auth":
      Object.assign(context.headers, INVALID_TOKEN);
      return injected(context, action.as === "revoked" ? "invalid_api_key" : "token_expired", 401);
    case "rate_limit":
      return action.exhaust ? exhaust(context, action.retryAfter) : injected(context, "injected_rate_limit", 429, action.retryAfter ?? 1);
    case "idempotency":
      if (action.as === "in_progress") return injected(context, "idempotency_key_in_use", 409);
      also?.(0);
      return undefined;
    case "clock_skew":
      also?.(span(action.by));
      return undefined;
    case "status":
      return injected(context, action.code ?? USUAL[action.status] ?? "injected_error", action.status, action.retryAfter);
    case "connection":
      return { status: "none" };
    case "lost_response":
      return action.as === "502" ? injected(context, "injected_error", 502) : { status: "none" };
    default:
      return undefined;
  }
}

const USUAL: Record<number, string> = { 429: "injected_rate_limit", 500: "injected_error", 503: "outage" };

function injected(context: PipelineContext, code: string, status: number, retryAfter?: number): Result {
  if (retryAfter !== undefined) context.headers["retry-after"] = String(retryAfter);
  if (status !== 429) return { status, code };
  context.headers["cache-control"] = "no-store";
  context.headers["ratelimit-remaining"] = "0";
  context.headers["ratelimit-reset"] = String(secondsOf(context.world.now) + (retryAfter ?? 1));
  return { status, code };
}

/** Spends the real window, which may end sooner or later than it would have. */
function exhaust({ world, window }: PipelineContext, resetIn: number | undefined): undefined {
  window.used = window.limit;
  if (resetIn !== undefined) window.end = world.now + resetIn * 1_000;
}
