// Masks secrets in every stored or shown text of a call: values of fields, headers and parameters with a secret name,
// API keys, signing secrets and IBANs. Reads JSON, queries, forms, headers and messages, also when they are malformed
// or truncated.

import { type Budget, hasEscape, layersOf, newBudget, withoutEscapes } from "./escape-layers.ts";
import { hasLiveKey, isSecretName, isSuspicious, MASK, mayBeSecret, type Secret, secretsIn } from "./secrets.ts";

export { MASK };

/**
 * Characters read beyond the limit, so that a secret that the limit would cut is recognised. No spelling of an IBAN is
 * longer.
 */
const LOOKAHEAD = 4_096;

/**
 * Masks the secrets, then cuts the text to the limit. In the opposite order, a secret cut in half would not be
 * recognised.
 */
export function mask(text: string, limit = text.length, budget = newBudget()): string {
  const read = text.length > limit + LOOKAHEAD ? text.slice(0, limit + LOOKAHEAD) : text;
  const secrets = secretsIn(read, budget);
  if (secrets.length === 0) return text.length > limit ? text.slice(0, limit) : text;
  const masked = replaceSecrets(read, secrets, limit);
  return masked.length > limit && text.length > limit ? masked.slice(0, limit) : masked;
}

function replaceSecrets(text: string, secrets: readonly Secret[], limit: number): string {
  let masked = "";
  let kept = 0;
  for (const { start, end, replacement } of secrets) {
    if (start >= limit) break;
    masked += text.slice(kept, start) + replacement;
    kept = end;
  }
  return masked + text.slice(kept, Math.max(kept, limit));
}

/**
 * A JSON value with its secrets masked, at any depth. Without escapes, one search of the whole text is enough for most
 * values.
 */
export function maskValue(value: unknown): unknown {
  const text = JSON.stringify(value) ?? "";
  return hasEscape(text) || isSuspicious(text) ? maskParts(value, newBudget()) : value;
}

function maskParts(value: unknown, budget: Budget): unknown {
  if (typeof value === "string") return mask(value, value.length, budget);
  if (Array.isArray(value)) return value.map((element) => maskParts(element, budget));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, child]) => [
    mask(name, name.length, budget),
    isMasked(name, child, budget) ? MASK : maskParts(child, budget),
  ]);
  return Object.fromEntries(entries);
}

/**
 * A value as JSON with its secrets masked. Masking the JSON text could break its quotes, if a message looks like a
 * field with a secret name.
 */
export const maskedJson = (value: unknown): string => JSON.stringify(maskValue(value));

/**
 * A boolean such as `hasPassword: true` is not a secret. Once the budget is used up, every name that may be secret
 * counts as one.
 */
function isMasked(name: string, value: unknown, budget: Budget): boolean {
  if (value === null || typeof value === "boolean" || !mayBeSecret(name)) return false;
  budget.left -= 2;
  return budget.left < 0 || isSecretName(name);
}

/** Whether a text may contain a secret, in any layer of escapes. Most texts do not, so they skip the masking. */
export function mayHoldSecret(text: string): boolean {
  if (!hasEscape(text)) return isSuspicious(text);
  const budget: Budget = newBudget();
  for (const layer of layersOf(text, budget)) if (isSuspicious(layer.text)) return true;
  return budget.left < 0;
}

/** Whether a text contains a live key, plain or in base64, JSON escapes or percent-encoding. */
export const containsLiveKey = (text: string): boolean => hasLiveKey(withoutEscapes(text));

/** The last four characters of a test key: enough to distinguish keys, too few to use one. */
export const maskKey = (key: string) => `…${key.slice(-4)}`;
