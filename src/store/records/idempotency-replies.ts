// The replies stored for an Idempotency-Key, and their expiry.

import { createBoundedCache } from "../../kernel/bounded-cache.ts";
import { type Clock, realNow } from "../../kernel/clock.ts";
import { SandboxError } from "../../kernel/errors.ts";
import type { Database } from "../sqlite/database.ts";

export interface StoredReply {
  fingerprint: string;
  /** The id of the first request with this key. */
  request: string;
  status: number;
  body: string;
}

export type IdempotencyReplies = ReturnType<typeof openIdempotencyReplies>;

/** 24 hours from the first reply, as in most services. */
export const REPLAY_WINDOW = 24 * 3_600_000;
/**
 * Trick: replies that were just replayed are cached unless they are long. Reason: clients retry a call soon, and often
 * more than once. Figure: without the cache, a replay costs 1.2 to 1.3 times the CPU time.
 */
const MOST_CACHED = 500;
const LONGEST_CACHED = 4_096;
/** Real milliseconds. */
const TRY_AGAIN_AFTER = 2_000;

interface ReplyKey {
  merchant: string;
  key: string;
}

interface CachedReply extends StoredReply {
  expires: number;
}

/** Unique, because neither part contains a space. */
const nameOf = (merchant: string, key: string) => `${merchant} ${key}`;

export function openIdempotencyReplies(database: Database, clock: Clock) {
  const { sql } = database;
  const find = sql.prepare<[ReplyKey], CachedReply>(
    "select fingerprint, request, status, body, expires from replies where merchant = @merchant and key = @key",
  );
  const remember = sql.insert(
    "insert or replace into replies",
    "merchant, key, fingerprint, request, status, body, expires",
  );
  const soonest = sql.prepare<[], number | null>("select min(expires) from replies").pluck();
  const forget = sql.prepare<[ReplyKey]>("delete from replies where merchant = @merchant and key = @key");
  const deleteExpired = sql.prepare("delete from replies where expires <= ?");
  let expired = 0;
  let retryAfter = 0;
  const cache = createBoundedCache<CachedReply>(MOST_CACHED);
  return {
    find(merchant: string, key: string): StoredReply | undefined {
      const name = nameOf(merchant, key);
      const cached = cache.get(name);
      const reply = cached ?? find.get({ merchant, key });
      if (!reply || reply.expires <= clock.now()) return undefined;
      // A reply of the open transaction may still be rolled back.
      if (!cached && !sql.inTransaction && reply.body.length <= LONGEST_CACHED) cache.set(name, reply);
      return reply;
    },
    remember(merchant: string, key: string, reply: StoredReply, window = REPLAY_WINDOW) {
      cache.delete(nameOf(merchant, key));
      remember({ merchant, key, ...reply, expires: clock.now() + window });
    },
    /** How many replies have expired since the start. */
    expired: () => expired,
    /** Expires a key now. */
    forget(merchant: string, key: string) {
      cache.delete(nameOf(merchant, key));
      forget.run({ merchant, key });
    },
    /** Call after rows were replaced, as by a reset. */
    clearCache: cache.clear,
    nextDue: () => (realNow() < retryAfter ? null : (soonest.get() ?? null)),
    run(now: number) {
      try {
        expired += database.transaction(() => deleteExpired.run(now)).changes;
        // The clock may be set back, but an expired reply stays expired.
        cache.clear();
      } catch (error) {
        if (!(error instanceof SandboxError)) throw error;
        // The file cannot be written now. `find` ignores expired replies, so deleting them can wait.
        retryAfter = realNow() + TRY_AGAIN_AFTER;
      }
    },
  };
}
