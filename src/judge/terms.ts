// The names of headers and the status under which the rules speak of a service: the sandbox's own, or those of the service file.

export interface ServiceTerms {
  /** The header of the idempotency key. */
  readonly idempotencyKey: string;
  /** The header that asks for a wait. */
  readonly retryAfter: string;
  /** The status of a rate limit. */
  readonly rateLimit: number;
}

export const OWN_TERMS: ServiceTerms = { idempotencyKey: "Idempotency-Key", retryAfter: "Retry-After", rateLimit: 429 };

const UNAVAILABLE = 503;

/** A demand or a hint of a rule, which is written in the sandbox's own terms, in those of the service. */
export function inTerms({ idempotencyKey, retryAfter, rateLimit }: ServiceTerms, text: string): string {
  // A service may refuse both with 503: "a 429 or a 503" is then "a 503".
  const status = (_: string, second = "") => (rateLimit === UNAVAILABLE ? String(rateLimit) : `${rateLimit}${second}`);
  return text
    .replaceAll(OWN_TERMS.idempotencyKey, idempotencyKey)
    .replaceAll(OWN_TERMS.retryAfter, retryAfter)
    .replaceAll(/\b429((?: and| or a) 503)?\b/g, status);
}
