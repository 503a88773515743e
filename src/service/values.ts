// The values that the sandbox takes from a service file: headers, statuses, the rate limit, the schedule of retries,
// the signature.

import { ownValues, type ServiceValues } from "../contracts/service-values.ts";
import { type ErrorCode, errors } from "../kernel/errors.ts";
import type { AdoptedFacts } from "./service-file.ts";

/** `ownGaps` is the schedule that the file changes: milliseconds before each attempt. */
export function valuesUnder(facts: AdoptedFacts, ownGaps: readonly number[]): ServiceValues {
  const seconds = facts.number("rate_limit.seconds");
  return {
    idempotencyHeader: facts.text("idempotency.header") ?? ownValues.idempotencyHeader,
    headerName: (header, operation) => headerName(facts, `header.${header}`, header, operation),
    errorStatus: (code, operation) => adoptedError(facts, code, operation).status,
    rateLimit: {
      limit: facts.number("rate_limit.limit") ?? ownValues.rateLimit.limit,
      window: seconds === undefined ? ownValues.rateLimit.window : seconds * 1_000,
    },
    retryAfter: facts.number("rate_limit.retry_after"),
    retrySchedule: scheduleUnder(facts, ownGaps) ?? ownValues.retrySchedule,
    signature: facts.text("webhook.signature.key") ?? ownValues.signature,
    deliveryHeaders: {
      signature: deliveryHeader(facts, "X-Webhook-Signature"),
      id: deliveryHeader(facts, "X-Webhook-Id"),
      event: deliveryHeader(facts, "X-Webhook-Event"),
    },
  };
}

/** Undefined if the service does not send the header. */
export const headerName = (facts: AdoptedFacts, id: string, own: string, operation?: string): string | undefined =>
  facts.value(id, operation) === "absent" ? undefined : (facts.text(`${id}.name`, operation) ?? own);

const deliveryHeader = (facts: AdoptedFacts, own: string) => headerName(facts, `webhook.header.${own}`, own);

/** The status, category and code of a condition, for one operation. */
export function adoptedError(facts: AdoptedFacts, code: ErrorCode, operation?: string) {
  const { status, error } = errors[code];
  const adopted = facts.number(`error.${code}.status`, operation) ?? status;
  return {
    // 200 means that the service moves a limit into the bounds. A limit that is not a number is still rejected.
    status: adopted < 400 ? status : adopted,
    error: facts.text(`error.${code}.category`, operation) ?? error,
    code: facts.text(`error.${code}.code`, operation) ?? code,
  };
}

const MOST_RETRIES = 100;

/**
 * The default schedule with the file's gaps, up to the last retry of the service; undefined if the file changes none.
 */
function scheduleUnder(facts: AdoptedFacts, ownGaps: readonly number[]): number[] | undefined {
  const adopted = [...ownGaps];
  for (let retry = 1; retry <= MOST_RETRIES; retry++) {
    const seconds = facts.value(`webhook.schedule.${retry}`);
    if (seconds === "no attempt") return adopted.slice(0, retry);
    if (typeof seconds === "number") adopted[retry] = seconds * 1_000;
    else if (retry >= ownGaps.length) break;
  }
  return adopted.every((gap, index) => gap === ownGaps[index]) ? undefined : adopted;
}
