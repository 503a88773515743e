// When a failed delivery is retried: the gaps between attempts, their jitter, and Retry-After.

import type { MeasuredBehaviour } from "../contracts/fact.ts";
import { readRetryAfter } from "../kernel/duration.ts";
import type { Random } from "../kernel/random.ts";
import { Type } from "../schema/shapes.ts";
import { settableFact } from "../store/assumptions.ts";
import type { Delivery } from "../store/webhooks/deliveries.ts";

export interface RetrySchedule {
  /**
   * Milliseconds before each attempt, counted from the end of the previous attempt, or for the first attempt from the
   * event.
   */
  readonly gaps: readonly number[];
  /** The fraction by which a gap may be shorter or longer: 0.1 means by 10 %. */
  readonly jitter: number;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const SCHEDULES = {
  fast: { gaps: [0, SECOND, 5 * SECOND, 15 * SECOND, 30 * SECOND, 60 * SECOND], jitter: 0 },
  realistic: { gaps: [0, 5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR], jitter: 0.1 },
} satisfies Record<string, RetrySchedule>;

/** Seconds before each retry. */
export const retryScheduleFact = settableFact<readonly number[]>(
  "retry.schedule",
  "schedule",
  SCHEDULES.fast.gaps.slice(1).map((gap) => gap / SECOND),
  Type.Array(Type.Number({ minimum: 0, maximum: 2_592_000 }), { maxItems: 100 }),
);

/** The schedule with these seconds before the retries; the first attempt is immediate. */
export const scheduleInSeconds = (seconds: readonly number[]): RetrySchedule => ({
  gaps: [0, ...seconds.map((gap) => gap * SECOND)],
  jitter: 0,
});

/** The longest delay that Retry-After can cause. */
const MAX_RETRY_AFTER = HOUR;

/** A schedule by name, or from custom gaps. */
export const scheduleOf = (choice: keyof typeof SCHEDULES | readonly number[]): RetrySchedule =>
  typeof choice === "string" ? SCHEDULES[choice] : { gaps: choice, jitter: 0 };

/** When the attempt after a failed one is due; null when no attempts are left. */
export function nextAttempt(
  schedule: RetrySchedule,
  random: Random,
  delivery: Delivery,
  now: number,
  minimumWait: number,
): number | null {
  const counted = delivery.attempts - delivery.aborted;
  if (counted >= delivery.allowed) return null;
  const gap = schedule.gaps[Math.min(counted, schedule.gaps.length - 1)] ?? 0;
  const swing =
    schedule.jitter *
    (2 * random.fraction("jitter", delivery.merchant, delivery.eventId, delivery.endpoint, counted) - 1);
  return now + Math.max(Math.round(gap * (1 + swing)), minimumWait);
}

/** The milliseconds that a `Retry-After` delays an attempt: at most an hour; 0 if it is missing or invalid. */
export const waitFor = (header: string | undefined, now: number): number =>
  Math.min(readRetryAfter(header ?? "", now)?.milliseconds ?? 0, MAX_RETRY_AFTER);

export const behaviours: MeasuredBehaviour[] = [
  {
    id: "webhooks.schedule",
    fact:
      "A delivery is attempted immediately and retried 1, 5, 15, 30 and 60 seconds after each failed attempt. " +
      "Then it fails permanently.",
    why:
      "The service's documentation mentions retries but no schedule. The default is short for local development; " +
      "`realistic` spreads retries over a day, with jitter.",
    setting: "--retry-schedule",
    facts: [retryScheduleFact],
  },
  {
    id: "webhooks.retry_after",
    fact:
      "`Retry-After` on a 429 or 503, in seconds or as a date, delays the next attempt by at most an hour. " +
      "It never makes it earlier.",
    why: "The service's documentation does not say; well-behaved senders honour the header.",
  },
];
