// How a webhook endpoint fares, counted from the log of its attempts.

import type { Clock } from "../../kernel/clock.ts";
import type { Database } from "../sqlite/database.ts";
import { ENDPOINT_KIND } from "./deliveries.ts";

export interface EndpointHealth {
  state: "unknown" | "healthy" | "degraded" | "failing" | "disabled";
  consecutiveFailures: number;
  pendingDeliveries: number;
  succeeded24h: number;
  failed24h: number;
  /** These times are Unix seconds. */
  lastAttemptAt: number | null;
  lastSuccessAt: number | null;
  lastFailureAt: number | null;
  lastResponseStatus: number | null;
  lastError: string | null;
  disabledReason: string | null;
}

export type CheckEndpointHealth = (merchant: string, endpoint: string) => EndpointHealth;

interface Last {
  status: "succeeded" | "failed";
  ended: number;
  delivery: number;
  attempt: number;
  response_status: number | null;
  error_message: string | null;
}

const DAY = 86_400_000;
const OF = "merchant = ? and endpoint = ?";
const PLACE = "(ended, delivery, attempt)";

export function openEndpointHealth(database: Database, clock: Clock): CheckEndpointHealth {
  const { lastAnswered, lastSuccess, lastFailure, since, recent, pending, disabled } = prepare(database);
  return (merchant, endpoint) => {
    const disabledReason = disabled.get(merchant, endpoint) ?? null;
    const answered = lastAnswered.get(merchant, endpoint);
    const success = lastSuccess.get(merchant, endpoint);
    const failure = lastFailure.get(merchant, endpoint);
    const from = success ?? { ended: -1, delivery: 0, attempt: 0 };
    const failing = since.get(merchant, endpoint, from.ended, from.delivery, from.attempt);
    const counts = recent.get(merchant, endpoint, clock.now() - DAY);
    return {
      state: disabledReason === null ? stateOf(answered, failing?.exhausted ?? 0) : "disabled",
      consecutiveFailures: failing?.failures ?? 0,
      pendingDeliveries: pending.get(merchant, endpoint) ?? 0,
      succeeded24h: counts?.succeeded ?? 0,
      failed24h: counts?.failed ?? 0,
      lastAttemptAt: seconds(answered),
      lastSuccessAt: seconds(success),
      lastFailureAt: seconds(failure),
      lastResponseStatus: answered?.response_status ?? null,
      lastError: failure?.error_message ?? null,
      disabledReason,
    };
  };
}

function prepare({ sql }: Database) {
  const last = (which: string) =>
    sql.prepare<[string, string], Last>(
      `select status, ended, delivery, attempt, response_status, error_message from attempts
       where ${OF} and ${which} order by ended desc, delivery desc, attempt desc limit 1`,
    );
  return {
    lastAnswered: last("status <> 'aborted'"),
    lastSuccess: last("status = 'succeeded'"),
    lastFailure: last("status = 'failed'"),
    // A failed attempt that nothing follows is one that used up its delivery.
    since: sql.prepare<[string, string, number, number, number], { failures: number; exhausted: number }>(
      `select count(*) as failures, coalesce(sum(next_due is null), 0) as exhausted from attempts
       where ${OF} and status = 'failed' and ${PLACE} > (?, ?, ?)`,
    ),
    recent: sql.prepare<[string, string, number], { succeeded: number | null; failed: number | null }>(
      `select sum(status = 'succeeded') as succeeded, sum(status = 'failed') as failed from attempts
       where ${OF} and ended > ?`,
    ),
    pending: sql
      .prepare<[string, string], number>(`select count(*) from deliveries where ${OF} and (state = 'pending' or state = 'sending')`)
      .pluck(),
    disabled: sql
      .prepare<[string, string], string | null>(
        `select body ->> 'disabledReason' from documents where merchant = ? and kind = '${ENDPOINT_KIND}' and id = ?`,
      )
      .pluck(),
  };
}

function stateOf(last: Last | undefined, exhausted: number): EndpointHealth["state"] {
  if (!last) return "unknown";
  if (last.status === "succeeded") return "healthy";
  return exhausted > 0 ? "failing" : "degraded";
}

const seconds = (last: Last | undefined) => (last ? Math.floor(last.ended / 1000) : null);
