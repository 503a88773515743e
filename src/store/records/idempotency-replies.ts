// The answers remembered for an Idempotency-Key, and when they are forgotten.

import { createBoundedCache } from "../../kernel/bounded-cache.ts";
import { type Clock, type DueWork, realNow } from "../../kernel/clock.ts";
import { SandboxError } from "../../kernel/errors.ts";
import type { Database } from "../sqlite/database.ts";

export interface StoredReply {
  fingerprint: string;
  /** The id of the request that was answered first. */
  request: string;
  status: number;
  body: string;
}

export interface IdempotencyReplies extends DueWork {
  find(merchant: string, key: string): StoredReply | undefined;
  remember(merchant: string, key: string, reply: StoredReply): void;
  /** As if the key's time were over already. */
  forget(merchant: string, key: string): void;
  /** Drops what memory holds: to be called when rows were replaced. */
  clearCache(): void;
  /** How many were forgotten since the start. */
  forgotten(): number;
}

/** As long as most services remember: a day from the first answer. */
export const REPLAY_WINDOW = 24 * 3_600_000;
/** Memory holds so many of those that were asked for last, if they are no longer than most: who repeats a call does so soon, and again. */
const MOST_KNOWN = 500;
const LONGEST_KNOWN = 4_096;
/** Real milliseconds. */
const TRY_AGAIN_AFTER = 2_000;

interface Kept extends StoredReply {
  expires: number;
}

/** Neither has a space in it. */
const nameOf = (merchant: string, key: string) => `${merchant} ${key}`;

export function openIdempotencyReplies(database: Database, clock: Clock): IdempotencyReplies {
  const { sql } = database;
  const find = sql.prepare<[string, string], Kept>(
    "select fingerprint, request, status, body, expires from replies where merchant = ? and key = ?",
  );
  const remember = sql.prepare(
    "insert or replace into replies (merchant, key, fingerprint, request, status, body, expires) values (?, ?, ?, ?, ?, ?, ?)",
  );
  const soonest = sql.prepare<[], number | null>("select min(expires) from replies").pluck();
  const forget = sql.prepare("delete from replies where merchant = ? and key = ?");
  const forgetExpired = sql.prepare("delete from replies where expires <= ?");
  let forgotten = 0;
  let quietUntil = 0;
  const known = createBoundedCache<Kept>(MOST_KNOWN);
  return {
    find(merchant, key) {
      const name = nameOf(merchant, key);
      const held = known.get(name);
      const reply = held ?? find.get(merchant, key);
      if (!reply || reply.expires <= clock.now()) return undefined;
      // What is not committed yet may be undone.
      if (!held && !sql.inTransaction && reply.body.length <= LONGEST_KNOWN) known.set(name, reply);
      return reply;
    },
    remember(merchant, key, reply) {
      known.delete(nameOf(merchant, key));
      remember.run(merchant, key, reply.fingerprint, reply.request, reply.status, reply.body, clock.now() + REPLAY_WINDOW);
    },
    forgotten: () => forgotten,
    forget(merchant, key) {
      known.delete(nameOf(merchant, key));
      forget.run(merchant, key);
    },
    clearCache: known.clear,
    nextDue: () => (realNow() < quietUntil ? null : (soonest.get() ?? null)),
    run(now) {
      try {
        forgotten += database.transaction(() => forgetExpired.run(now)).changes;
        // The clock may be put back, which brings none of them back.
        known.clear();
      } catch (error) {
        if (!(error instanceof SandboxError)) throw error;
        // The file cannot be written. What is over is found by nobody, so it may stay for a while.
        quietUntil = realNow() + TRY_AGAIN_AFTER;
      }
    },
  };
}
