// Masks secrets in every stored or shown text of a call: values of fields, headers and parameters with a secret name, API keys, signing
// secrets and IBANs. Reads JSON, queries, forms, headers and messages, also when they are malformed or truncated.

import { layersOf } from "./escape-layers.ts";
import { IBAN_START_SOURCE } from "./iban.ts";
import { anyCaseSource, isSecretName, MASK, SECRET_WORD_SOURCE, type Secret, secretsIn } from "./secrets.ts";

export { MASK };

/** Characters read beyond the limit, to recognise a secret that the limit would cut: the longest spelling of an IBAN. */
const LOOKAHEAD = 4_096;

/** Masks the secrets, then cuts the text to the limit. In the opposite order, a secret cut in half would not be recognised. */
export function mask(text: string, limit = text.length): string {
  const read = text.length > limit + LOOKAHEAD ? text.slice(0, limit + LOOKAHEAD) : text;
  if (!mayHoldSecret(read)) return text.length > limit ? text.slice(0, limit) : text;
  const masked = replaceSecrets(read, secretsIn(read), limit);
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

/** A copy of a JSON value with its secrets masked, at any depth. */
export function maskValue(value: unknown): unknown {
  if (typeof value === "string") return mask(value);
  if (Array.isArray(value)) return value.map(maskValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, child]) => [mask(name), isMasked(name, child) ? MASK : maskValue(child)]));
}

/** A value as JSON with its secrets masked. Masking the JSON text could break its quotes, if a message looks like a field with a secret name. */
export function maskedJson(value: unknown): string {
  const text = JSON.stringify(value);
  return mayHoldSecret(text) ? JSON.stringify(maskValue(value)) : text;
}

/** A boolean such as `hasPassword: true` is not a secret. */
const isMasked = (name: string, value: unknown) => value !== null && typeof value !== "boolean" && isSecretName(name);

/** Whether a text may contain a secret, in any layer of escapes. Most texts do not, so they skip the masking. */
export const mayHoldSecret = (text: string): boolean => hasMatch(text, isSuspicious);

function hasMatch(text: string, matches: (text: string) => boolean): boolean {
  for (const layer of layersOf(text)) if (matches(layer.text)) return true;
  return false;
}

const isSuspicious = (text: string) => WORD_OR_KEY.test(text) || IBAN_START.test(text);
const WORD_OR_KEY = new RegExp(`${SECRET_WORD_SOURCE}|${anyCaseSource(["sk_live_", "sk_test_", "whsec_"])}`);
const IBAN_START = new RegExp(IBAN_START_SOURCE);

/** Whether a text contains a live key, plain or written with JSON escapes or percent-encoding. */
export const containsLiveKey = (text: string): boolean => hasMatch(text, (layer) => /sk_live_/i.test(layer));

/** The last four characters of a test key: enough to distinguish keys, too few to use one. */
export const maskKey = (key: string) => `…${key.slice(-4)}`;
