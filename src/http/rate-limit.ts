// Rate limits: fixed windows aligned to the epoch. Each merchant has one, and another for each operation with its own
// limit. Each client address without a valid key has one.

import type { MeasuredBehaviour } from "../contracts/fact.ts";
import { setBounded } from "../kernel/bounded-cache.ts";
import type { Clock } from "../kernel/clock.ts";
import { fail } from "../kernel/errors.ts";
import { PROGRAM } from "../kernel/program-name.ts";
import { Type } from "../schema/shapes.ts";
import { type Assumptions, assumedValue, settableFact } from "../store/assumptions.ts";
import { contextOf, type RequestContext, type Stage } from "./context.ts";
import { openBucket, type RateLimit, type RateLimitWindow } from "./rate-limit-window.ts";

/** The limits of operations with a limit of their own, by operation id. */
export type RateLimits = Readonly<Record<string, RateLimit>>;

const UNTIL_THE_END = "seconds until the window ends";

export const rateLimitFacts = {
  limit: settableFact<number>(
    "rate_limit.limit",
    "rate_limit",
    6_000,
    Type.Integer({ minimum: 1, maximum: 1_000_000_000 }),
  ),
  seconds: settableFact<number>(
    "rate_limit.seconds",
    "rate_limit",
    60,
    Type.Number({ minimum: 0.001, maximum: 2_592_000 }),
  ),
  retryAfter: settableFact<string | number>(
    "rate_limit.retry_after",
    "retry_after",
    UNTIL_THE_END,
    Type.Union([Type.String({ const: UNTIL_THE_END }), Type.Integer({ minimum: 1, maximum: 86_400 })]),
  ),
};

export type RateLimiter = ReturnType<typeof createRateLimiter>;

/** Maximum merchants with windows, and maximum windows of addresses. */
const MAX_BUCKETS = 10_000;

export function createRateLimiter(own: RateLimits, assumed: Assumptions) {
  const all = {
    limit: assumedValue(assumed, rateLimitFacts.limit),
    window: Math.round(assumedValue(assumed, rateLimitFacts.seconds) * 1_000),
  };
  // Stored separately, so that addresses without a valid key cannot evict a merchant's window.
  const merchants = createBuckets();
  const addresses = createBuckets();
  /** The windows of operations with their own limit, by merchant and operation. */
  const operations = new Map<string, Map<string, RateLimitWindow>>();
  const anonymous = ({ incoming }: RequestContext) => addresses.open(incoming.socket.remoteAddress ?? "", all);
  const ofOperation = (merchant: string, operation: string, rule: RateLimit) => {
    const windows = operations.get(merchant) ?? new Map<string, RateLimitWindow>();
    if (windows.size === 0) setBounded(operations, merchant, windows, MAX_BUCKETS);
    const window = windows.get(operation) ?? openBucket(rule);
    windows.set(operation, window);
    return window;
  };
  return {
    anonymous,
    /** The window that a merchant's operations share. */
    of: (merchant: string) => merchants.open(merchant, all),
    /**
     * A merchant's windows: the shared window, even if it is not open, and the open windows of operations with their
     * own limit. Reading opens no window, because opening a window may close another merchant's.
     */
    windowsOf: (merchant: string): [operation: string | null, bucket: RateLimitWindow][] => [
      [null, merchants.all.get(merchant) ?? openBucket(all)],
      ...(operations.get(merchant) ?? []),
    ],
    bucket(context: RequestContext) {
      const merchant = context.identity?.merchant;
      if (merchant === undefined) return anonymous(context);
      const { operation } = context;
      const rule = operation && own[operation.id];
      return rule ? ofOperation(merchant, operation.id, rule) : merchants.open(merchant, all);
    },
    /** Drops one merchant's windows (default: all windows). */
    clear(merchant?: string) {
      if (merchant === undefined) for (const windows of [addresses.all, merchants.all, operations]) windows.clear();
      else for (const windows of [merchants.all, operations]) windows.delete(merchant);
    },
  };
}

/** A bounded map of windows. At the limit, a new window evicts the oldest. */
function createBuckets() {
  const all = new Map<string, RateLimitWindow>();
  return {
    all,
    open(name: string, rule: RateLimit): RateLimitWindow {
      const known = all.get(name);
      if (known) return known;
      const made = openBucket(rule);
      setBounded(all, name, made, MAX_BUCKETS);
      return made;
    },
  };
}

/** Counts the request in the window of its operation or its merchant, or responds with 429. */
export const limit =
  (limiter: RateLimiter, clock: Pick<Clock, "mode">): Stage =>
  (request, _response, next) => {
    const context = contextOf(request);
    take(context, limiter.bucket(context), clock);
    next();
  };

/**
 * A failed authentication counts against the client's address, never against a merchant. Otherwise, the remaining quota
 * would reveal which merchants exist.
 */
export const chargeAddress = (limiter: RateLimiter, clock: Pick<Clock, "mode">) => (context: RequestContext) =>
  take(context, limiter.anonymous(context), clock);

function take(context: RequestContext, bucket: RateLimitWindow, { mode }: Pick<Clock, "mode">): void {
  context.bucket = bucket;
  if (bucket.take(context.at)) return;
  const constant = assumedValue(context.assumed, rateLimitFacts.retryAfter);
  const seconds = typeof constant === "number" ? constant : secondsUntil(bucket.reset(context.at), context.at);
  fail(
    "rate_limit_exceeded",
    `All ${bucket.limit} requests of this window are used up. ` +
      `${mode === "frozen" ? moveClock("the window", seconds) : wait(seconds)}`,
    { limit: bucket.limit, retryAfter: seconds, ...(mode === "frozen" ? { clock: mode } : {}) },
    { "Retry-After": String(seconds), "Cache-Control": "no-store" },
  );
}

const wait = (seconds: number) => `Wait ${seconds} s, as Retry-After says, then try again.`;

/** Message for a wait that cannot end because the sandbox clock is frozen. */
export const moveClock = (what: string, seconds: number) =>
  `The sandbox clock is frozen, so waiting does not end ${what}: ` +
  `move the clock with \`${PROGRAM} clock advance ${seconds}s\` or POST /_sandbox/clock/advance, ` +
  "then try again.";

export const secondsUntil = (time: number, now: number) => Math.max(1, Math.ceil(time / 1000) - Math.floor(now / 1000));

/** The three rate limit headers; empty if the request was rejected before its window was known. */
export function rateLimitHeaders({ bucket, at }: RequestContext): Record<string, string> {
  if (!bucket) return {};
  return {
    "RateLimit-Limit": String(bucket.limit),
    "RateLimit-Remaining": String(bucket.remaining(at)),
    "RateLimit-Reset": String(Math.ceil(bucket.reset(at) / 1000)),
  };
}

export const behaviours: MeasuredBehaviour[] = [
  {
    id: "rate_limit.window",
    fact: "Requests are counted in fixed windows aligned to the epoch (default: 6,000 requests per 60 seconds).",
    why: "Fixed windows match the three documented headers, and local test suites should not be throttled by default.",
    setting: "--rate-limit",
    facts: [rateLimitFacts.limit, rateLimitFacts.seconds, rateLimitFacts.retryAfter],
  },
  {
    id: "rate_limit.scope",
    fact:
      "Each merchant has one window, shared by all of its keys, sessions and operations. " +
      "Failed authentication counts against the client's address.",
    why: "The service's documentation says `every endpoint` but names no scope; comparable services limit per account.",
    setting: "--rate-limit OPERATION=10/10s",
  },
  {
    id: "rate_limit.headers",
    fact:
      "The three headers are on every response under `/v1`, " +
      "unless a foreign host or origin, an overlong or a malformed request is rejected. " +
      "After a failed authentication they show the window of the client's address.",
    why: "The service's documentation describes them with 429 and says that the rate limit applies to every endpoint.",
  },
  {
    id: "rate_limit.counted",
    fact:
      "Every request that reaches the limiter counts, whatever its response. " +
      "Requests rejected by the limiter do not count.",
    why: "The service's documentation does not say; a client that complies with this rule works with laxer ones too.",
  },
];
