// Keeps secrets out of whatever is kept or shown: passwords, account numbers, signing secrets, tokens, and every live key.

export const MASK = "…redacted…";

/** Names of fields whose values are never repeated, logged or stored in clear. */
export const isSecret = (name: string) => SECRET.test(name);

/** What such a name has in it. */
export const SECRET = /password|secret|account[_-]?number|iban|api[_-]?key|access[_-]?token|authorization/i;

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
export function containsLiveKey(text: string): boolean {
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
export const redactTarget = (text: string): string => redactText(text.includes("%") && containsLiveKey(text) ? decoded(text) : text);

/** JSON text, masked; text that is no JSON, or only the beginning of some, is masked as text. */
export function redactJson(text: string): string {
  if (!isSuspect(text)) return text;
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
  // This one is masked already, and most have it.
  return isSuspect(text.replace('"authorization"', "")) ? redactText(JSON.stringify(redact(JSON.parse(text)))) : text;
}

/** Whether a closer look is needed: most texts hold nothing that could be a secret, and are kept as they are. */
const isSuspect = (text: string): boolean =>
  TRACES.some((trace) => trace.test(text)) || (text.includes("\\u") && TRACES.some((trace) => trace.test(unescaped(text))));

/**
 * What `MASKED` and `SECRET` find, as V8 finds it soonest in a long text: both cases spelt out, and what begins with the same letter behind it.
 * The shortest word is looked for alone, because no step of a search is longer than that.
 */
const TRACES = [
  "s(?:k(?:_|%5f)(?:live|test_session)|ecret)|whsec_|password|a(?:ccount[_-]?number|pi[_-]?key|ccess[_-]?token|uthorization)",
  "iban",
].map((words) => new RegExp(words.replaceAll(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`)));

/** A test key by its last four characters: enough to tell two apart, not enough to use one. */
export const maskKey = (key: string) => `…${key.slice(-4)}`;
