// The health of a webhook endpoint, counted from the log of its attempts.

import type { WebhookHealth } from "../../contracts/webhook.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Database } from "../sqlite/database.ts";
import { ENDPOINT_KIND } from "./deliveries.ts";
import type { EndpointKey } from "./outbox.ts";

export type CheckEndpointHealth = (merchant: string, endpoint: string) => WebhookHealth;

interface LastAttempt {
  status: "succeeded" | "failed";
  ended: number;
  delivery: number;
  attempt: number;
  responseStatus: number | null;
  errorMessage: string | null;
}

const DAY = 86_400_000;
const OF_ENDPOINT = "merchant = @merchant and endpoint = @endpoint";

export function openEndpointHealth(database: Database, clock: Clock): CheckEndpointHealth {
  const { lastAnswered, lastSuccess, lastFailure, failuresSince, recent, pending, disabled } = prepare(database);
  return (merchant, endpoint) => {
    const key = { merchant, endpoint };
    const disabledReason = disabled.get(key) ?? null;
    const answered = lastAnswered.get(key);
    const success = lastSuccess.get(key);
    const failure = lastFailure.get(key);
    const { ended, delivery, attempt } = success ?? { ended: -1, delivery: 0, attempt: 0 };
    const failing = failuresSince.get({ ...key, ended, delivery, attempt });
    const counts = recent.get({ ...key, since: clock.now() - DAY });
    return {
      state: disabledReason === null ? stateOf(answered, failing?.exhausted ?? 0) : "disabled",
      consecutiveFailures: failing?.failures ?? 0,
      pendingDeliveries: pending.get(key) ?? 0,
      succeeded24h: counts?.succeeded ?? 0,
      failed24h: counts?.failed ?? 0,
      lastAttemptAt: seconds(answered),
      lastSuccessAt: seconds(success),
      lastFailureAt: seconds(failure),
      lastResponseStatus: answered?.responseStatus ?? null,
      lastError: failure?.errorMessage ?? null,
      disabledReason,
    };
  };
}

function prepare({ sql }: Database) {
  const last = (which: string) =>
    sql.prepare<[EndpointKey], LastAttempt>(
      `select status, ended, delivery, attempt, responseStatus, errorMessage from attempts
       where ${OF_ENDPOINT} and ${which} order by ended desc, delivery desc, attempt desc limit 1`,
    );
  return {
    lastAnswered: last("status <> 'aborted'"),
    lastSuccess: last("status = 'succeeded'"),
    lastFailure: last("status = 'failed'"),
    // A failed attempt without a next one exhausted its delivery.
    failuresSince: sql.prepare<
      [EndpointKey & Pick<LastAttempt, "ended" | "delivery" | "attempt">],
      { failures: number; exhausted: number }
    >(
      `select count(*) as failures, coalesce(sum(nextDue is null), 0) as exhausted from attempts
       where ${OF_ENDPOINT} and status = 'failed' and (ended, delivery, attempt) > (@ended, @delivery, @attempt)`,
    ),
    recent: sql.prepare<[EndpointKey & { since: number }], { succeeded: number | null; failed: number | null }>(
      `select sum(status = 'succeeded') as succeeded, sum(status = 'failed') as failed from attempts
       where ${OF_ENDPOINT} and ended > @since`,
    ),
    pending: sql
      .prepare<[EndpointKey], number>(
        `select count(*) from deliveries where ${OF_ENDPOINT} and (state = 'pending' or state = 'sending')`,
      )
      .pluck(),
    disabled: sql
      .prepare<[EndpointKey], string | null>(
        `select body ->> 'disabledReason' from documents
         where merchant = @merchant and kind = '${ENDPOINT_KIND}' and id = @endpoint`,
      )
      .pluck(),
  };
}

function stateOf(last: LastAttempt | undefined, exhausted: number): WebhookHealth["state"] {
  if (!last) return "unknown";
  if (last.status === "succeeded") return "healthy";
  return exhausted > 0 ? "failing" : "degraded";
}

const seconds = (last: LastAttempt | undefined) => (last ? Math.floor(last.ended / 1000) : null);
