// Requests per window: windows aligned to the epoch, one bucket for each merchant, one for each address that has no key.

import { fail } from "../kernel/errors.ts";
import type { Behaviour } from "../schema/assumed.ts";
import type { RateLimitWindow, RequestContext, Stage } from "./context.ts";

export interface RateLimit {
  limit: number;
  /** Milliseconds. */
  window: number;
}

/** `all` holds for the operations that have no window of their own, by id. */
export type RateLimits = { readonly all: RateLimit } & Readonly<Record<string, RateLimit>>;

export interface RateLimiter {
  bucket(context: RequestContext): RateLimitWindow;
  anonymous(context: RequestContext): RateLimitWindow;
  /** The window that a merchant's operations share. */
  of(merchant: string): RateLimitWindow;
  /** The windows of a merchant's operations that have one of their own, as far as they were called. */
  ownOf(merchant: string): [operation: string, bucket: RateLimitWindow][];
  /** Forgets every window, or those of one merchant. */
  clear(merchant?: string): void;
}

/** A bucket for each merchant and address; beyond this many, the one that was opened first makes room for a new one. */
const MAX_BUCKETS = 10_000;

export function createRateLimiter(rules: RateLimits): RateLimiter {
  const buckets = new Map<string, RateLimitWindow>();
  const bucketOf = (name: string, rule: RateLimit) => {
    const known = buckets.get(name);
    if (known) return known;
    if (buckets.size >= MAX_BUCKETS) buckets.delete(buckets.keys().next().value as string);
    const made = openBucket(rule);
    buckets.set(name, made);
    return made;
  };
  const anonymous = (context: RequestContext) => bucketOf(`address ${context.incoming.socket.remoteAddress ?? ""}`, rules.all);
  return {
    anonymous,
    of: (merchant) => bucketOf(merchant, rules.all),
    ownOf: (merchant) =>
      [...buckets].flatMap(([name, bucket]) => (name.startsWith(`${merchant} `) ? [[name.slice(merchant.length + 1), bucket]] : [])),
    bucket(context) {
      const merchant = context.identity?.merchant;
      if (merchant === undefined) return anonymous(context);
      const operation = context.operation?.id ?? "all";
      const own = rules[operation];
      return own && operation !== "all" ? bucketOf(`${merchant} ${operation}`, own) : bucketOf(merchant, rules.all);
    },
    clear(merchant) {
      for (const name of buckets.keys())
        if (merchant === undefined || name === merchant || name.startsWith(`${merchant} `)) buckets.delete(name);
    },
  };
}

function openBucket(rule: RateLimit): RateLimitWindow {
  let { limit, window } = rule;
  let start = 0;
  let end = 0;
  let used = 0;
  const align = (now: number) => {
    start = Math.floor(now / window) * window;
    end = start + window;
  };
  const turn = (now: number) => {
    if (now >= start && now < end) return;
    align(now);
    used = 0;
  };
  return {
    get limit() {
      return limit;
    },
    get window() {
      return window;
    },
    remaining(now) {
      turn(now);
      return Math.max(0, limit - used);
    },
    reset(now) {
      turn(now);
      return end;
    },
    take(now) {
      turn(now);
      if (used >= limit) return false;
      used++;
      return true;
    },
    set(change, now) {
      turn(now);
      limit = change.limit ?? limit;
      window = change.window ?? window;
      if (change.window !== undefined) align(now);
      if (change.remaining !== undefined) used = limit - change.remaining;
      if (change.resetIn !== undefined) end = now + change.resetIn;
    },
  };
}

/** Takes one request from the caller's window, or answers 429. The operation may have a window of its own. */
export const limit =
  (limiter: RateLimiter): Stage =>
  (context) =>
    take(context, limiter.bucket(context));

/** A failed authentication costs the address, never a merchant: a quota must tell strangers nothing. */
export const chargeAddress = (limiter: RateLimiter) => (context: RequestContext) => take(context, limiter.anonymous(context));

function take(context: RequestContext, bucket: RateLimitWindow): void {
  context.bucket = bucket;
  if (bucket.take(context.at)) return;
  const seconds = secondsUntil(bucket.reset(context.at), context.at);
  fail(
    "rate_limit_exceeded",
    `All ${bucket.limit} requests of this window are used up. Wait ${seconds} s, as Retry-After says, then try again.`,
    { limit: bucket.limit, retryAfter: seconds },
    { "Retry-After": String(seconds), "Cache-Control": "no-store" },
  );
}

const secondsUntil = (time: number, now: number) => Math.max(1, Math.ceil(time / 1000) - Math.floor(now / 1000));

/** The three headers of the window, on every reply that got as far as having one. */
export function rateLimitHeaders({ bucket, at }: RequestContext): Record<string, string> {
  if (!bucket) return {};
  return {
    "RateLimit-Limit": String(bucket.limit),
    "RateLimit-Remaining": String(bucket.remaining(at)),
    "RateLimit-Reset": String(Math.ceil(bucket.reset(at) / 1000)),
  };
}

export const behaviours: Behaviour[] = [
  {
    id: "rate_limit.window",
    fact: "Requests are counted in fixed windows aligned to the epoch (default: 6,000 requests per 60 seconds).",
    why: "Fixed windows match the three documented headers, and local test suites should not be throttled by default.",
    setting: "--rate-limit",
  },
  {
    id: "rate_limit.scope",
    fact: "Each merchant has one window, shared by all of its keys, sessions and operations. Failed authentication counts against the client's address.",
    why: "The service's documentation says `every endpoint` but names no scope; comparable services limit per account.",
    setting: "--rate-limit OPERATION=10/10s",
  },
  {
    id: "rate_limit.counted",
    fact: "Every request that reaches the limiter counts, whatever its response. Requests rejected by the limiter do not count.",
    why: "The service's documentation does not say; a client that complies with this rule works with laxer ones too.",
  },
];
