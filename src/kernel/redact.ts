// Keeps secrets out of whatever is kept or shown: passwords, account numbers, signing secrets, tokens, and every live key.

import { isSecret } from "./check.ts";

export const MASK = "…redacted…";

/** A copy of headers or of a JSON value in which secrets are masked, at any depth. */
export function redact(value: unknown): unknown {
  if (typeof value === "string") return redactText(value);
  if (Array.isArray(value)) return value.map(redact);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, isSecret(name) && child !== null ? MASK : redact(child)]));
}

/** Text in which anything that looks like a live key, a session or a signing secret is masked. */
export function redactText(text: string): string {
  if (!MASKED.test(text)) return text;
  return text.replace(/sk(?:_|%5f)live(?:_|%5f)[\w%-]*/gi, `sk_live_${MASK}`).replace(/(sk_test_session_|whsec_)\w+/g, `$1${MASK}`);
}

const MASKED = /sk(?:_|%5f)(?:live|test_session)|whsec_/i;

/** Whether a live key is in a text, also where JSON escapes or a URL's percent signs hide it. */
export function holdsLiveKey(text: string): boolean {
  return (
    LIVE_KEY.test(text) || (text.includes("\\u") && LIVE_KEY.test(unescaped(text))) || (text.includes("%") && LIVE_KEY.test(decoded(text)))
  );
}

const LIVE_KEY = /sk_live_/i;

const unescaped = (text: string) =>
  text.replace(/\\u([0-9a-f]{4})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
const decoded = (text: string) =>
  text.replace(/%([0-7][0-9a-f])/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));

/** A path or a query, masked. One that hides a live key behind percent signs is shown decoded, so that all of the key is found. */
export const redactTarget = (text: string): string => redactText(text.includes("%") && holdsLiveKey(text) ? decoded(text) : text);

/** JSON text, masked; text that is no JSON, or only the beginning of some, is masked as text. */
export function redactJson(text: string): string {
  if (!isSuspect(text)) return text;
  try {
    return redactText(JSON.stringify(redact(JSON.parse(text))));
  } catch {
    return redactText(text).replace(
      /("\w*(?:password|secret|accountNumber|apiKey|accessToken|authorization)\w*"\s*:\s*")[^"]*/gi,
      `$1${MASK}`,
    );
  }
}

/** Headers as JSON. */
export function redactHeaders(headers: NodeJS.Dict<string | string[]>): string {
  const text = JSON.stringify(headers.authorization === undefined ? headers : { ...headers, authorization: MASK });
  return isSuspect(text) ? redactText(JSON.stringify(redact(JSON.parse(text)))) : text;
}

const TRACES = /sk_live_|sk%5flive|sk_test_session_|whsec_|password|secret|accountnumber|apikey|accesstoken/i;

/** Whether a closer look is needed: most bodies hold nothing that could be a secret, and are kept as they are. */
const isSuspect = (text: string) => TRACES.test(text);

/** A test key by its last four characters: enough to tell two apart, not enough to use one. */
export const keyHint = (key: string) => `…${key.slice(-4)}`;
