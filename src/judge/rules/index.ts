// The rules of the judge, in the order in which they are shown.

import { effectSingle } from "./effect-single.ts";
import { idempotencyBodyStable } from "./idempotency-body-stable.ts";
import { idempotencyKeyReused } from "./idempotency-key-reused.ts";
import { idempotencyPresent } from "./idempotency-present.ts";
import { outageBackedOff } from "./outage-backed-off.ts";
import { rateLimitRespected } from "./rate-limit-respected.ts";
import { retryAfterHonoured } from "./retry-after-honoured.ts";
import { retryAfterJittered } from "./retry-after-jittered.ts";
import { retryAfterUnit } from "./retry-after-unit.ts";
import { retryBackoffGrows } from "./retry-backoff-grows.ts";
import { retryBounded } from "./retry-bounded.ts";
import { retryHappened } from "./retry-happened.ts";
import { retryJittered } from "./retry-jittered.ts";
import { retryOnlyRetryable } from "./retry-only-retryable.ts";
import type { Rule } from "./rule.ts";
import { webhookAckFast } from "./webhook-ack-fast.ts";
import { webhookDuplicateAcked } from "./webhook-duplicate-acked.ts";
import { webhookForgeryRejected } from "./webhook-forgery-rejected.ts";
import { webhookGenuineTaken } from "./webhook-genuine-taken.ts";
import { webhookSingleEffect } from "./webhook-single-effect.ts";

export const rules: readonly Rule[] = [
  retryAfterHonoured,
  retryAfterUnit,
  retryAfterJittered,
  rateLimitRespected,
  retryHappened,
  retryBounded,
  retryBackoffGrows,
  retryJittered,
  retryOnlyRetryable,
  outageBackedOff,
  idempotencyPresent,
  idempotencyKeyReused,
  idempotencyBodyStable,
  effectSingle,
  webhookGenuineTaken,
  webhookForgeryRejected,
  webhookDuplicateAcked,
  webhookAckFast,
  webhookSingleEffect,
];
