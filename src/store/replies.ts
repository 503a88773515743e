// The answers remembered for an Idempotency-Key, and when they are forgotten.

import { type Clock, type DueWork, realNow } from "../kernel/clock.ts";
import { SandboxError } from "../kernel/errors.ts";
import type { Database } from "./database.ts";

export interface RememberedReply {
  fingerprint: string;
  /** The id of the request that was answered first. */
  request: string;
  status: number;
  body: string;
}

export interface Replies extends DueWork {
  find(merchant: string, key: string): RememberedReply | undefined;
  remember(merchant: string, key: string, reply: RememberedReply): void;
  /** As if the key's time were over already. */
  forget(merchant: string, key: string): void;
  /** How many were forgotten since the start. */
  forgotten(): number;
}

/** As long as most services remember: a day from the first answer. */
export const REPLAY_WINDOW = 24 * 3_600_000;
/** Real milliseconds. */
const TRY_AGAIN_AFTER = 2_000;

export function openReplies(database: Database, clock: Clock): Replies {
  const { sql } = database;
  const find = sql.prepare<[string, string, number], RememberedReply>(
    "select fingerprint, request, status, body from replies where merchant = ? and key = ? and expires > ?",
  );
  const remember = sql.prepare(
    "insert or replace into replies (merchant, key, fingerprint, request, status, body, expires) values (?, ?, ?, ?, ?, ?, ?)",
  );
  const soonest = sql.prepare<[], number | null>("select min(expires) from replies").pluck();
  const forget = sql.prepare("delete from replies where merchant = ? and key = ?");
  const forgetExpired = sql.prepare("delete from replies where expires <= ?");
  let forgotten = 0;
  let quietUntil = 0;
  return {
    find: (merchant, key) => find.get(merchant, key, clock.now()),
    remember(merchant, key, reply) {
      remember.run(merchant, key, reply.fingerprint, reply.request, reply.status, reply.body, clock.now() + REPLAY_WINDOW);
    },
    forgotten: () => forgotten,
    forget: (merchant, key) => void forget.run(merchant, key),
    nextDue: () => (realNow() < quietUntil ? null : (soonest.get() ?? null)),
    run(now) {
      try {
        forgotten += database.commitNow(() => forgetExpired.run(now)).changes;
      } catch (error) {
        if (!(error instanceof SandboxError)) throw error;
        // The file cannot be written. What is over is found by nobody, so it may stay for a while.
        quietUntil = realNow() + TRY_AGAIN_AFTER;
      }
    },
  };
}
