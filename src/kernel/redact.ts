// Keeps secrets out of whatever is kept or shown: passwords, account numbers, signing secrets, tokens, and every live key.

import { isSecret } from "./check.ts";

export const MASK = "…redacted…";

/** A copy of headers or of a JSON value in which secrets are masked, at any depth. */
export function redact(value: unknown): unknown {
  if (typeof value === "string") return redactText(value);
  if (Array.isArray(value)) return value.map(redact);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, child]) => [name, isSecret(name) && child !== null ? mask(child) : redact(child)]),
  );
}

/** Text in which anything that looks like a live key, a session or a signing secret is masked. */
export function redactText(text: string): string {
  return text.replace(/sk_live_[\w-]*/gi, `sk_live_${MASK}`).replace(/(sk_test_session_|whsec_)\w+/g, `$1${MASK}`);
}

/** JSON text, masked; text that is no JSON is masked as text. */
export function redactJson(text: string): string {
  if (text === "") return text;
  try {
    return JSON.stringify(redact(JSON.parse(text)));
  } catch {
    return redactText(text).replace(/("(?:\w*password|\w*secret|accountNumber|apiKey|accessToken)"\s*:\s*")[^"]*/gi, `$1${MASK}`);
  }
}

/** A test key by its last four characters: enough to tell two apart, not enough to use one. */
export const keyHint = (key: string) => `…${key.slice(-4)}`;

const mask = (value: unknown) => (typeof value === "string" && /^bearer /i.test(value) ? `Bearer ${MASK}` : MASK);
