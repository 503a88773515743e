// The state of a call in the pipeline, its expected response, and the faults injected at each stage.

import type { Request } from "./call.ts";
import { type CallAction, matchCallFault } from "./faults.ts";
import type { Operation } from "./operations.ts";
import { type IdempotencyReply, secondsOf, type Window, type World } from "./world.ts";

/** The expected response. */
export interface Expected {
  operation: string | undefined;
  /** "none" if a fault breaks the connection. */
  status: number | "none";
  /** Error code. */
  code?: string | undefined;
  /** The complete body of a successful response. */
  body?: unknown;
  /** Exact bytes of a replayed response. */
  text?: string | undefined;
  /** How a fault corrupts the body. */
  corruption?: "truncate" | "invalid_json" | "html" | undefined;
  /** The headers that the model predicts. undefined means that the header must be absent. */
  headers: Record<string, string | undefined>;
  /** Generated values that break the rules. */
  violations: string[];
  /** The stored reply, to which the bytes of the response are added. */
  idempotencyReply?: IdempotencyReply;
}

/** State of a call in the pipeline. */
export interface PipelineContext {
  world: World;
  request: Request;
  observed: unknown;
  path: string;
  search: URLSearchParams;
  token: string | undefined;
  /** The merchant of the key, if the key is known. */
  merchantId: string | undefined;
  operation: Operation | undefined;
  params: Record<string, string>;
  window: Window;
  /** Ids of the rules that fired, in order. */
  faults: string[];
  headers: Record<string, string>;
  violations: string[];
  idempotencyReply: IdempotencyReply | undefined;
}

/** A response before response faults are applied: from the operation, or injected at an earlier stage. */
export type Result = Pick<Expected, "status" | "code" | "body" | "text"> & { isServed?: boolean };

export const INVALID_TOKEN = { "www-authenticate": 'Bearer error="invalid_token"' };

/**
 * Injects a fault at one stage. The fault returns a response, or only changes the state of the call. `forgetKey`
 * deletes the stored reply of the Idempotency-Key.
 */
export function injectFault(
  context: PipelineContext,
  types: CallAction["type"][],
  forgetKey?: () => void,
): Result | undefined {
  const call = { operation: context.operation?.id, merchant: context.merchantId, faults: context.faults };
  const action = matchCallFault(context.world, types, call);
  switch (action?.type) {
    case "outage":
      return action.as === "reset" ? { status: "none" } : injected(context, "outage", 503, action.retryAfter ?? 5);
    case "auth":
      Object.assign(context.headers, INVALID_TOKEN);
      return injected(context, action.as === "revoked" ? "invalid_api_key" : "token_expired", 401);
    case "rate_limit":
      return action.exhaust
        ? exhaust(context, action.retryAfter)
        : injected(context, "injected_rate_limit", 429, action.retryAfter ?? 1);
    case "idempotency":
      if (action.as === "in_progress") return injected(context, "idempotency_key_in_use", 409);
      forgetKey?.();
      return undefined;
    case "status":
      return injected(
        context,
        action.code ?? USUAL[action.status] ?? "injected_error",
        action.status,
        action.retryAfter,
      );
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

/** Exhausts the rate-limit window. `resetIn` sets the seconds until the window ends. */
function exhaust({ world, window }: PipelineContext, resetIn: number | undefined): undefined {
  window.used = window.limit;
  if (resetIn !== undefined) window.end = world.now + resetIn * 1_000;
}
