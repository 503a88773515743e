// Masks secrets in everything that is stored or shown: passwords, account numbers, signing secrets, tokens and live keys.

export const MASK = "…redacted…";

/** Whether the value of a field with this name is never returned, logged or stored in clear. */
export const isSecret = (name: string) => SECRET.test(name);

/** What the name of a secret field contains. */
export const SECRET = /password|secret|account[_-]?number|iban|api[_-]?key|access[_-]?token|authorization/i;

/** A copy of headers or of a JSON value with its secrets masked, at any depth. */
export function redact(value: unknown): unknown {
  if (typeof value === "string") return redactText(value);
  if (Array.isArray(value)) return value.map(redact);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, isSecret(name) && child !== null ? MASK : redact(child)]));
}

/** Masks everything in a text that looks like a live key, a session token or a signing secret. */
export function redactText(text: string): string {
  if (!MASKED.test(text)) return text;
  return text.replace(/sk(?:_|%5f)live(?:_|%5f)[\w%-]*/gi, `sk_live_${MASK}`).replace(/(sk_test_session_|whsec_)\w+/g, `$1${MASK}`);
}

const MASKED = /sk(?:_|%5f)(?:live|test_session)|whsec_/i;

/** Whether a text contains a live key, also one written with JSON escapes or percent-encoding. */
export function containsLiveKey(text: string): boolean {
  return (
    LIVE_KEY.test(text) ||
    (text.includes("\\u") && LIVE_KEY.test(jsonUnescaped(text))) ||
    (text.includes("%") && LIVE_KEY.test(percentDecoded(text)))
  );
}

const LIVE_KEY = /sk_live_/i;

const jsonUnescaped = (text: string) =>
  text.replace(/\\u([0-9a-f]{4})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
const percentDecoded = (text: string) =>
  text.replace(/%([0-7][0-9a-f])/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));

/** Masks a path or a query. One with a percent-encoded live key is decoded first, so that the whole key is masked. */
export const redactTarget = (text: string): string => redactText(text.includes("%") && containsLiveKey(text) ? percentDecoded(text) : text);

/** Masks JSON text. Text that does not parse, such as truncated JSON, is masked by pattern. */
export function redactJson(text: string): string {
  if (!mayContainSecret(text)) return text;
  try {
    return redactText(JSON.stringify(redact(JSON.parse(text))));
  } catch {
    return redactText(text).replace(SECRET_FIELD, `$1${MASK}`);
  }
}

const SECRET_FIELD = new RegExp(`("[^"]*(?:${SECRET.source})[^"]*"\\s*:\\s*")(?:[^"\\\\]|\\\\.)*`, "gi");

/** Headers as JSON. */
export function redactHeaders(headers: NodeJS.Dict<string | string[]>): string {
  const text = JSON.stringify(headers.authorization === undefined ? headers : { ...headers, authorization: MASK });
  // Most requests have this header, and it is masked already.
  return mayContainSecret(text.replace('"authorization"', "")) ? redactText(JSON.stringify(redact(JSON.parse(text)))) : text;
}

/** Whether a text may contain a secret. Most texts do not, and skip the masking. */
const mayContainSecret = (text: string): boolean =>
  SUSPICIOUS.some((pattern) => pattern.test(text)) ||
  (text.includes("\\u") && SUSPICIOUS.some((pattern) => pattern.test(jsonUnescaped(text))));

/**
 * The words of `MASKED` and `SECRET`, written so that V8 searches a long text fastest: both cases spelt out instead of the flag `i`, and
 * words with the same first letter in one group. V8 skips ahead by the length of the shortest alternative, so `iban` has its own expression.
 */
const SUSPICIOUS = [
  "s(?:k(?:_|%5f)(?:live|test_session)|ecret)|whsec_|password|a(?:ccount[_-]?number|pi[_-]?key|ccess[_-]?token|uthorization)",
  "iban",
].map((words) => new RegExp(words.replaceAll(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`)));

/** The last four characters of a test key: enough to tell two keys apart, too few to use one. */
export const maskKey = (key: string) => `…${key.slice(-4)}`;
