// The rules of the judge, in the order in which they are shown.

import { effectSingle, idempotencyBodyStable, idempotencyKeyReused, idempotencyPresent } from "./idempotency.ts";
import { retryBackoffGrows, retryBounded, retryHappened, retryOnlyRetryable } from "./retry.ts";
import { retryAfterHonoured, retryAfterUnit } from "./retry-after.ts";
import type { Rule } from "./rule.ts";
import {
  webhookAckFast,
  webhookDuplicateAcked,
  webhookForgeryRejected,
  webhookGenuineTaken,
  webhookSingleEffect,
} from "./webhook.ts";

export const rules: readonly Rule[] = [
  retryAfterHonoured,
  retryAfterUnit,
  retryHappened,
  retryBounded,
  retryBackoffGrows,
  retryOnlyRetryable,
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
