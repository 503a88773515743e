// One call as it goes its way: how far it has come, what it will be answered, and what faults do to it at each point.

import type { Request } from "./call.ts";
import { type CallAction, ofCall, span } from "./faults.ts";
import type { Operation } from "./operations.ts";
import { type Remembered, secondsOf, type Window, type World } from "./world.ts";

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
  spoilt?: "truncate" | "invalid_json" | "html" | undefined;
  /** The headers that the model has an opinion on; undefined where there must be none. */
  headers: Record<string, string | undefined>;
  /** What the service chose and may not. */
  surprises: string[];
  /** Hears of the bytes of an answer that is remembered. */
  remember?: Remembered;
}

/** How far a call has come. */
export interface Way {
  world: World;
  request: Request;
  told: unknown;
  path: string;
  search: URLSearchParams;
  token: string | undefined;
  /** Whose key it is, if it is anybody's. */
  whose: string | undefined;
  operation: Operation | undefined;
  params: Record<string, string>;
  window: Window;
  /** The rules that had a hand in it, in order. */
  faults: string[];
  headers: Record<string, string>;
  surprises: string[];
  remember: Remembered | undefined;
}

/** An answer before it is sent: the service's own, or a fault's. */
export type Result = Pick<Expected, "status" | "code" | "body" | "text"> & { isServed?: boolean };

export const INVALID_TOKEN = { "www-authenticate": 'Bearer error="invalid_token"' };

/**
 * What a fault does at one point of the way: an answer that is not the service's, or something the service then runs into;
 * `also` is what that is, where the point has something of its own.
 */
export function strike(way: Way, types: CallAction["type"][], also?: (by: number) => void): Result | undefined {
  const call = { operation: way.operation?.id, merchant: way.whose, faults: way.faults };
  const action = ofCall(way.world, types, call);
  switch (action?.type) {
    case "outage":
      return action.as === "reset" ? { status: "none" } : injected(way, "outage", 503, action.retryAfter ?? 5);
    case "auth":
      Object.assign(way.headers, INVALID_TOKEN);
      return injected(way, action.as === "revoked" ? "invalid_api_key" : "token_expired", 401);
    case "rate_limit":
      return action.exhaust ? exhaust(way, action.retryAfter) : injected(way, "injected_rate_limit", 429, action.retryAfter ?? 1);
    case "idempotency":
      if (action.as === "in_progress") return injected(way, "idempotency_key_in_use", 409);
      also?.(0);
      return undefined;
    case "clock_skew":
      also?.(span(action.by));
      return undefined;
    case "status":
      return injected(way, action.code ?? USUAL[action.status] ?? "injected_error", action.status, action.retryAfter);
    case "connection":
      return { status: "none" };
    case "lost_response":
      return action.as === "502" ? injected(way, "injected_error", 502) : { status: "none" };
    default:
      return undefined;
  }
}

const USUAL: Record<number, string> = { 429: "injected_rate_limit", 500: "injected_error", 503: "outage" };

function injected(way: Way, code: string, status: number, retryAfter?: number): Result {
  if (retryAfter !== undefined) way.headers["retry-after"] = String(retryAfter);
  if (status !== 429) return { status, code };
  way.headers["cache-control"] = "no-store";
  way.headers["ratelimit-remaining"] = "0";
  way.headers["ratelimit-reset"] = String(secondsOf(way.world.now) + (retryAfter ?? 1));
  return { status, code };
}

/** Spends the real window, which may end sooner or later than it would have. */
function exhaust({ world, window }: Way, resetIn: number | undefined): undefined {
  window.used = window.limit;
  if (resetIn !== undefined) window.end = world.now + resetIn * 1_000;
}
