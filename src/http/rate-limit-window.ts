// One rate limit window: a fixed span, aligned to the epoch, with a limit of requests.

export interface RateLimit {
  limit: number;
  /** Milliseconds. */
  window: number;
}

export type RateLimitWindow = ReturnType<typeof openBucket>;

/**
 * `limit` and `window` (the length) apply from now on; `remaining` and `resetIn` change only the current window. Times
 * are milliseconds.
 */
type RateLimitChange = { [Name in "limit" | "window" | "remaining" | "resetIn"]?: number | undefined };

export function openBucket(rule: RateLimit) {
  let { limit, window } = rule;
  let start = 0;
  let end = 0;
  let used = 0;
  const align = (now: number) => {
    start = Math.floor(now / window) * window;
    end = start + window;
  };
  const startNextIfOver = (now: number) => {
    if (now >= start && now < end) return;
    align(now);
    used = 0;
  };
  return {
    get limit() {
      return limit;
    },
    /** Milliseconds. */
    get window() {
      return window;
    },
    remaining(now: number) {
      startNextIfOver(now);
      return Math.max(0, limit - used);
    },
    /** Sandbox milliseconds at which the window ends. */
    reset(now: number) {
      startNextIfOver(now);
      return end;
    },
    /** Counts one request; false when the window is used up. A rejected request is not counted. */
    take(now: number) {
      startNextIfOver(now);
      if (used >= limit) return false;
      used++;
      return true;
    },
    set(change: RateLimitChange, now: number) {
      startNextIfOver(now);
      limit = change.limit ?? limit;
      window = change.window ?? window;
      if (change.window !== undefined) align(now);
      if (change.remaining !== undefined) used = limit - change.remaining;
      if (change.resetIn !== undefined) end = now + change.resetIn;
    },
  };
}
