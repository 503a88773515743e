// Secrets: which fields, headers and parameters have secret values, and where a text contains secrets.

import { type Budget, hasEscape, type Layer, layersOf, newBudget } from "./escape-layers.ts";
import { grouped } from "./grouped.ts";
import { IBAN_START_SOURCE, ibansIn } from "./iban.ts";

/**
 * Words that make a name secret, in any spelling: `api key` matches apikey, apiKey, API_KEY, x-api-key, xapikey and
 * card[api][key]. The word may have an `s` or digits after it, and ends at a separator, a capital letter or the end of
 * the name.
 */
export const SECRET_WORDS = [
  "authorization",
  "cookie",
  "pass word",
  "pass wd",
  "pwd",
  "pass code",
  "pass phrase",
  "secret",
  "credential",
  "token",
  "api key",
  "access key",
  "private key",
  "account number",
  "card number",
  "iban",
  "cvv",
  "cvc",
  "pin",
] as const;

/** Secret only as the last word of a parameter in a query or a form: a JSON field named `key` is rarely a secret. */
export const SECRET_PARAMETERS = ["key", "signature", "sig"] as const;

/**
 * Other words end with these, such as `spin` and `Caliban`, so they match only as whole words. The other secret words
 * also match the end of a longer word, such as `accesstoken` and `xapikey`.
 */
const ALONE = new Set<string>(["pin", "iban"]);

const wordPatterns = SECRET_WORDS.map((word) => (ALONE.has(word) ? "" : "[a-z0-9]*") + word.replace(" ", "_?"));
const SECRET_NAME = new RegExp(`(?:^|_)(?:${wordPatterns.join("|")})s?\\d*(?:_|$)`);
const SECRET_PARAMETER = new RegExp(`(?:^|_)(?:${SECRET_PARAMETERS.join("|")})\\d*_?$`);

/** Whether a name may be secret: a quick test before the exact one, because a body may have thousands of names. */
export const mayBeSecret = (name: string): boolean => LAST_WORD.test(name);
const LAST_WORD = new RegExp(SECRET_WORDS.map((word) => word.split(" ").at(-1)).join("|"), "i");

/** Whether values of a field, header or parameter with this name must be masked. */
export const isSecretName = (name: string): boolean =>
  mayBeSecret(name) && spellingsOf(name).some((words) => SECRET_NAME.test(words));

/** Whether values of a query or form parameter with this name must be masked. */
const isSecretParameter = (name: string): boolean =>
  spellingsOf(name).some((words) => SECRET_NAME.test(words) || SECRET_PARAMETER.test(words));

/**
 * Only this many characters at the start and at the end of a name are read, because a name may be as long as a body.
 */
const LONGEST_PART = 1_000;
/**
 * The name in lower case with `_` between its words, spelt twice: case is ignored, as in headers, or separates words,
 * as in camelCase.
 */
function spellingsOf(whole: string): string[] {
  const name =
    whole.length > 2 * LONGEST_PART ? `${whole.slice(0, LONGEST_PART)}-${whole.slice(-LONGEST_PART)}` : whole;
  const separated = name.replace(/[^a-zA-Z0-9]+/g, "_");
  const camelCase = separated.replace(/([a-z0-9])([A-Z])/g, "$1_$2").replace(/([A-Z])([A-Z][a-z])/g, "$1_$2");
  return [separated.toLowerCase(), camelCase.toLowerCase()];
}

/** The separator of two words of a name, such as `_` or `][`. */
const BETWEEN = "[^a-zA-Z0-9]{0,2}";

/**
 * The source of a regular expression that finds these words in any case, also inside other words. V8 searches a long
 * text fastest with both cases spelt out instead of the flag `i`, and with the words grouped by their first letter.
 */
function anyCaseSource(words: readonly string[]): string {
  const letters = (text: string) => text.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
  const rest = (word: string) => word.slice(1).split(" ").map(letters).join(BETWEEN);
  const groups = grouped(words, (word) => word.charAt(0));
  return [...groups].map(([first, all]) => `${letters(first)}(?:${all.map(rest).join("|")})`).join("|");
}

/**
 * The source of a regular expression that finds the words of both lists. The match of a parameter includes the `=`
 * after it.
 */
const SECRET_WORD_SOURCE = `${anyCaseSource(SECRET_WORDS)}|(?:${anyCaseSource(SECRET_PARAMETERS)})\\d*\\]?=`;

export const MASK = "…redacted…";

export interface Secret {
  /** Offsets in the original text. */
  start: number;
  end: number;
  replacement: string;
}

/**
 * The secrets in order, without overlap. Each layer of escapes is searched separately, with its own quotes and
 * separators. If a text uses up the budget, all of it counts as one secret.
 */
export function secretsIn(text: string, budget: Budget = newBudget()): Secret[] {
  if (!hasEscape(text) && !isSuspicious(text)) return [];
  if (budget.left < 0) return [wholeOf(text)];
  let secrets: Secret[] = [];
  for (const layer of layersOf(text, budget)) {
    if (!isSuspicious(layer.text)) continue;
    const offsetOf = (index: number) => (layer.offsets ? (layer.offsets[index] as number) : index);
    const found = [...namedValues(layer, budget), ...knownForms(layer, budget)].map(({ start, end, quote, isForm }) => {
      const spelt = quote === undefined ? "" : text.slice(offsetOf(quote), offsetOf(quote + 1));
      return { start: offsetOf(start), end: offsetOf(end), replacement: spelt + MASK + spelt, isForm };
    });
    secrets = merge(secrets, found);
  }
  return budget.left < 0 ? [wholeOf(text)] : secrets;
}

const wholeOf = (text: string): Secret => ({ start: 0, end: text.length, replacement: MASK });

interface Found {
  /** Offsets in the layer. */
  start: number;
  end: number;
  /** Offset of the name's quote, which is copied around the mask if a JSON value had no quotes. */
  quote?: number | undefined;
  /** Whether the secret was recognised by its own format, such as a key's, and not by the name before it. */
  isForm: boolean;
}

/**
 * A secret that begins inside a secret of an outer layer is a part of that secret, and the outer layer has found the
 * exact end. Only a secret recognised by its format may end later in the deeper layer, because its characters may be
 * escaped.
 */
function merge(outer: readonly Secret[], found: readonly (Secret & { isForm: boolean })[]): Secret[] {
  const all = [...outer, ...found];
  all.sort((one, other) => one.start - other.start);
  const merged: Secret[] = [];
  for (const next of all) {
    const last = merged.at(-1);
    if (last === undefined || next.start >= last.end)
      merged.push({ start: next.start, end: next.end, replacement: next.replacement });
    else if (!("isForm" in next) || next.isForm) last.end = Math.max(last.end, next.end);
  }
  return merged;
}

/**
 * A secret that is recognised by its own form. `start` matches where it starts, `hint` is a text in every such start,
 * and `secret` matches the secret after the start.
 */
interface Form {
  hint: string;
  start: RegExp;
  secret: RegExp;
}

/**
 * A prefix of keys in base64, at each of the three offsets in a group of bytes. Has only the characters that the prefix
 * alone determines.
 */
const inBase64 = (prefix: string) => [0, 1, 2].map((offset) => base64Of(prefix, offset));

function base64Of(text: string, offset: number): string {
  const whole = btoa("\0".repeat(offset) + text);
  return whole.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + text.length) * 8) / 6));
}

export const LIVE_KEY_STARTS_IN_BASE64 = inBase64("sk_live_");
const LIVE_KEY_IN_BASE64 = LIVE_KEY_STARTS_IN_BASE64.join("|");
const KEY_IN_BASE64 = `(?:${[LIVE_KEY_IN_BASE64, ...inBase64("sk_test_")].join("|")})`;

/** Whether a text without escapes contains a live key, also in base64. */
export const hasLiveKey = (text: string): boolean => LIVE_KEY.test(text);
const LIVE_KEY = new RegExp(`${anyCaseSource(["sk_live_"])}|${LIVE_KEY_IN_BASE64}`);

const FORMS: readonly Form[] = [
  // Prefixes of keys stay unmasked, to show the kind of the key.
  {
    hint: "_",
    start: new RegExp(`(?:${anyCaseSource(["sk_test_", "sk_live_"])})(?=[\\w~-])`, "g"),
    secret: /[\w~-]+(?:\.[\w~-]+)*/y,
  },
  // Keys in base64, as in the Basic credentials of `curl -u`. A user's name may come before the key.
  { hint: "", start: new RegExp(`(?=${KEY_IN_BASE64})`, "g"), secret: /[\w+/=-]+/y },
  // Includes base64, in which other services write signing secrets.
  { hint: "_", start: new RegExp(`${anyCaseSource(["whsec_"])}(?=[\\w+/=-])`, "g"), secret: /[\w+/=-]+/y },
  // A JWT: its header begins with {" in base64url. Two to five parts.
  { hint: "eyJ", start: /(?<![\w-])(?=eyJ[\w-]+\.)/g, secret: /eyJ[\w-]+(?:\.[\w-]*){1,4}/y },
  // User and password in a URL. The last @ before the path ends them.
  { hint: "://", start: /:\/\/(?=[^\s/?#"'`<>\\]*@)/g, secret: /[^\s/?#"'`<>\\]+(?=@)/y },
];

function* knownForms({ text }: Layer, budget: Budget): Generator<Found> {
  for (const iban of ibansIn(text, budget)) yield { ...iban, isForm: true };
  for (const { hint, start, secret } of FORMS) {
    start.lastIndex = 0;
    for (let found = text.includes(hint) && start.exec(text); found; found = start.exec(text)) {
      if (--budget.left < 0) return;
      secret.lastIndex = start.lastIndex;
      const { length = 0 } = secret.exec(text)?.[0] ?? "";
      if (length > 0) yield { start: start.lastIndex, end: start.lastIndex + length, isForm: true };
      start.lastIndex += Math.max(length, 1);
    }
  }
}

/**
 * V8 searches fastest if the words and prefixes are in one expression without assertions, and IBANs, JWTs and URLs in
 * their own.
 */
const WORD_OR_KEY = new RegExp(
  `${SECRET_WORD_SOURCE}|${anyCaseSource(["sk_live_", "sk_test_", "whsec_"])}|${KEY_IN_BASE64}`,
);
const IBAN_START = new RegExp(IBAN_START_SOURCE);

/** Whether a text without its escapes may contain a secret. */
export const isSuspicious = (text: string) =>
  WORD_OR_KEY.test(text) ||
  IBAN_START.test(text) ||
  OTHER_FORMS.some(({ hint, start }) => text.includes(hint) && text.search(start) >= 0);
/** The forms that WORD_OR_KEY does not match. */
const OTHER_FORMS = FORMS.slice(3);

/** Whether this character ends a name without quotes. */
const isNameEnd = (code: number) => NAME_ENDS[code] === 1;
const NAME_ENDS = new Uint8Array(0x10000);
for (const character of "\"'`<>{}?&;,#=:|()/ \t\n\r\u00a0") NAME_ENDS[character.charCodeAt(0)] = 1;

const WORD = new RegExp(SECRET_WORD_SOURCE, "g");
/** Matches the text between a name and its value. A quoted name may continue after its secret word. */
const SEPARATOR = /(?:[^"'=:&,{}[\]\n]{0,64}?(["']))?\s*(:|=>?)\s*/y;
/** An escaped quote. In a deeper layer it is a plain quote, and the exact value is found there. */
const ESCAPED_QUOTE = /\\+(?:["']|u002[27])|%(?:25)*2[27]/y;

/**
 * The values of secret names. The search continues after each name and value, so every character is read a bounded
 * number of times.
 */
function* namedValues(layer: Layer, budget: Budget): Generator<Found> {
  const { text } = layer;
  const isForm = /^[^\s"'<>{}:]*=/.test(text);
  let searched = 0;
  for (WORD.lastIndex = 0; ; WORD.lastIndex = searched) {
    const word = WORD.exec(text);
    if (!word || --budget.left < 0) return;
    const isParameter = word[0].endsWith("=");
    let start = word.index;
    while (start > searched && !isNameEnd(text.charCodeAt(start - 1))) start--;
    let end = word.index + word[0].length - (isParameter ? 1 : 0);
    while (end < text.length && !isNameEnd(text.charCodeAt(end))) end++;
    searched = Math.max(end, word.index + 1);
    SEPARATOR.lastIndex = end;
    const separator = SEPARATOR.exec(text);
    if (!separator || !isSecret(text.slice(start, end), isParameter || separator[2] !== ":")) continue;
    const value = valueAfter(layer, { start, end, separator, isForm });
    if (!value) continue;
    searched = Math.max(searched, value.end);
    if (!isPlaceholder(text.slice(value.start, value.end))) yield { ...value, isForm: false };
  }
}

const isSecret = (name: string, isParameter: boolean) => (isParameter ? isSecretParameter(name) : isSecretName(name));

/** Whether the sandbox wrote this value in place of a secret. */
const isPlaceholder = (value: string) => value === MASK || /^(?:Bearer )?(?:sk_test_)?…$/.test(value);

interface Name {
  start: number;
  end: number;
  /** The match of SEPARATOR: the quote after the name, and `:` or `=`. */
  separator: RegExpExecArray;
  /** Whether the whole text is a form or a query, in which only `&` ends the value of a pair. */
  isForm: boolean;
}

type Value = Omit<Found, "isForm">;

/** The value after a name; undefined if there is none, or if a deeper layer finds it exactly. */
function valueAfter(layer: Layer, { start, end, separator, isForm }: Name): Value | undefined {
  const { text } = layer;
  const from = end + separator[0].length;
  if (from >= text.length) return undefined;
  const quote = separator[1] === undefined ? undefined : text.indexOf(separator[1], end);
  const isPair = separator[2] !== ":";
  if (isPair && isForm) return nonEmpty(from, endAt(layer, FORM_STOP, from));
  const first = text.charAt(from);
  if (first === '"' || first === "'" || first === "`") return nonEmpty(from + 1, stringEnd(layer, from));
  ESCAPED_QUOTE.lastIndex = from;
  if (ESCAPED_QUOTE.test(text) || (quote !== undefined && isEscaped(layer, quote))) return undefined;
  if (isPair) return nonEmpty(from, pairEnd(layer, from));
  if (first === "{" || first === "[") return { start: from, end: bracketEnd(layer, from), quote };
  if (quote !== undefined) return literal(layer, from, quote);
  if (text.slice(end, from).includes("\n")) return undefined;
  const isLine = start === 0 || /[\n"'`]/.test(text.charAt(start - 1));
  return nonEmpty(from, endAt(layer, isLine ? LINE_STOP : BARE_STOP, from));
}

/** A number or a word after a quoted name. A boolean such as `"hasPassword": true` is not a secret. */
function literal(layer: Layer, from: number, quote: number): Value | undefined {
  const value = layer.text.slice(from, endAt(layer, BARE_STOP, from)).trimEnd();
  return /^(?:null|true|false)$/.test(value) ? undefined : nonEmpty(from, from + value.length, quote);
}

const FORM_STOP = /&/g;
/** The end of a header, or of a name with its value in a message. */
const LINE_STOP = /["`\n\r]/g;
const BARE_STOP = /[,}\]"`;<>&\n\r]/g;
/**
 * The end of a `name=value` pair in a message, a URL or a header. A quote ends it only if a separator or the end of the
 * text follows.
 */
const PAIR_STOP = /[\s&#<>`]|["'](?=[\s,;:)\]}\\]|$)/g;

const nonEmpty = (start: number, end: number, quote?: number): Value | undefined =>
  end > start ? { start, end, quote } : undefined;

const depthOf = ({ depths }: Layer, index: number) => depths?.[index] ?? 0;

/** The end of the value after a separator: the first stop that is not escaped more deeply than the separator. */
function endAt(layer: Layer, stop: RegExp, from: number): number {
  const depth = depthOf(layer, from - 1);
  stop.lastIndex = from;
  for (let found = stop.exec(layer.text); found; found = stop.exec(layer.text))
    if (depthOf(layer, found.index) <= depth) return found.index;
  return layer.text.length;
}

/** The end of a pair's value, without backslashes that escape the quote after it. */
function pairEnd(layer: Layer, from: number): number {
  let end = endAt(layer, PAIR_STOP, from);
  if (/["']/.test(layer.text.charAt(end))) while (end > from && layer.text.charAt(end - 1) === "\\") end--;
  return end;
}

/** Whether an odd number of backslashes precedes the character. Backslashes from deeper layers do not count. */
function isEscaped(layer: Layer, index: number): boolean {
  const depth = depthOf(layer, index);
  let first = index;
  while (first > 0 && layer.text.charAt(first - 1) === "\\" && depthOf(layer, first - 1) <= depth) first--;
  return (index - first) % 2 === 1;
}

/** The end of the string that the quote at `open` starts: the next unescaped quote, or the end of the text. */
function stringEnd(layer: Layer, open: number): number {
  const { text } = layer;
  const quote = text.charAt(open);
  for (let end = text.indexOf(quote, open + 1); end !== -1; end = text.indexOf(quote, end + 1))
    if (depthOf(layer, end) <= depthOf(layer, open) && !isEscaped(layer, end)) return end;
  return text.length;
}

/** The offset after the bracket that closes the one at `from`. Brackets in strings are skipped. */
function bracketEnd(layer: Layer, from: number): number {
  let depth = 0;
  for (let index = from; index < layer.text.length; index++) {
    const character = layer.text.charAt(index);
    if (character === '"') index = stringEnd(layer, index);
    else if (character === "{" || character === "[") depth++;
    else if ((character === "}" || character === "]") && --depth === 0) return index + 1;
  }
  return layer.text.length;
}
