// Masks the secrets in headers, and in Idempotency-Keys. Separate from mask.ts, which also runs in browsers: this file
// needs node:crypto.

import { createHash } from "node:crypto";
import { memoize } from "./bounded-cache.ts";
import { MASK, mask, maskValue, mayHoldSecret } from "./mask.ts";
import { isSecretName } from "./secrets.ts";

/** The headers as JSON, with their secrets masked. */
export function maskHeaders(headers: NodeJS.Dict<string | string[]>): string {
  const text = JSON.stringify(headers.authorization === undefined ? headers : { ...headers, authorization: MASK });
  return text.length > LONGEST_CACHED ? maskText(text) : cachedMask(text);
}

/** Masks the secrets of headers whose Authorization is masked already. */
function maskText(text: string): string {
  // Ignores the Authorization header, which most requests have and which is masked already.
  if (!mayHoldSecret(text.replace(MASKED_AUTHORIZATION, ""))) return text;
  const { "idempotency-key": key, ...others } = JSON.parse(text);
  return JSON.stringify({
    ...(maskValue(others) as object),
    ...(typeof key === "string" ? { "idempotency-key": maskIdempotencyKey(key) } : {}),
  });
}

/** A client repeats its headers, so the cache avoids searching them for secrets with every request. */
const cachedMask = memoize(100, maskText);
const LONGEST_CACHED = 2_048;

const MASKED_AUTHORIZATION = `"authorization":"${MASK}"`;

/**
 * An Idempotency-Key is shown unchanged, because people compare keys. A key that contains a secret, or the name of one,
 * is shown as its first characters and a hash, so equal keys still look equal.
 */
export function maskIdempotencyKey(key: string): string {
  if (!mayHoldSecret(key) || (mask(key) === key && !isSecretName(key))) return key;
  const start = key.length >= 4 * SHOWN_OF_KEY ? key.slice(0, SHOWN_OF_KEY) : "";
  return `${start}${MASK}${createHash("sha256").update(key).digest("hex").slice(0, 16)}`;
}

const SHOWN_OF_KEY = 4;
