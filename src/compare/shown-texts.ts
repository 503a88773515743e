// How results show recorded texts: codes and names unchanged, but possible secrets and personal data only by their
// length.

import type { ServiceFact } from "../contracts/fact.ts";
import { memoize } from "../kernel/bounded-cache.ts";
import { isObject } from "../kernel/json-object.ts";
import { mask } from "../kernel/mask.ts";
import { oncePerKey } from "../kernel/once.ts";
import { isSecretName } from "../kernel/secrets.ts";
import { type RecordedExchange, type Recording, refused } from "./recording.ts";

/** Placeholders that exports and logs write instead of a value. */
const PLACEHOLDER = /redact|\*{3}|<hidden>|\[(?:filtered|masked|removed|secret|hidden)\]|…/i;

/** Stands for a value that is not compared. */
export const MASKED = "…";

/** Whether the recording contains a placeholder instead of the value. */
export const isMasked = (value: unknown): boolean => typeof value === "string" && PLACEHOLDER.test(value);

const CODE = /^[A-Za-z][A-Za-z0-9_.-]{0,39}$/;
const MOST_DIGITS = 4;

/** Splits a text into words. Codes have few, long words; tokens mix single letters and digits. */
const WORD = /[A-Z]{2,}(?![a-z])|[A-Z]?[a-z]+|[A-Z]|\d+/g;

function looksLikeCode(text: string): boolean {
  const words = text.match(WORD) ?? [];
  const digits = text.match(/\d/g) ?? [];
  return CODE.test(text) && digits.length <= MOST_DIGITS && (words.length <= 3 || text.length >= words.length * 3);
}

export type ShownTexts = ReturnType<typeof createShownTexts>;

/** A short prefix in lower case before digits or one long word, which is typical of ids. */
const PREFIXED = /^([a-z]{1,12}[_-])(?:.*\d|[^_-]{10,}$)/;

/** A text and its words in lower case, split as in codes and field names. */
const partsOf = (text: string): string[] =>
  [text, ...text.split(/[^\p{L}\p{N}]+|(?<=\p{Ll})(?=\p{Lu})/u)].map((part) => part.toLowerCase());

/** `personal` contains the secret and personal texts in lower case. */
export function createShownTexts(personal: ReadonlySet<string>) {
  const isPersonal = (text: string) => partsOf(text).some((part) => personal.has(part));
  const isPlain = memoize(10_000, (text) => looksLikeCode(text) && !isPersonal(text) && mask(text) === text);
  return {
    /** Whether the text, or a word in it, is a secret or personal value in the recording. */
    isPersonal,
    /** Returns a code or a name unchanged. Of a possible secret or personal data, it returns only the length. */
    code(value: unknown): string {
      if (typeof value === "boolean" || value === null) return String(value);
      if (typeof value !== "string") return typeof value;
      return isPlain(value) ? value : `a text of ${value.length} characters`;
    },
    /** The prefix of an id, such as `pay_`; `no prefix` for any other text. */
    prefix(id: string): string {
      const prefix = PREFIXED.exec(id)?.[1];
      return prefix === undefined || isPersonal(prefix.slice(0, -1)) ? "no prefix" : prefix;
    },
  };
}

/** Names of fields with personal texts. */
const PERSONAL =
  /name|mail|phone|mobile|address|street|city|town|birth|holder|guest|contact|person|note|comment|descri/i;

/** In an error, fields with these names contain the name of a field or parameter. */
const NAMES_A_FIELD = /^(name|fieldname|paramname|parametername)$/i;

const MOST_DEPTH = 40;
const LEAST_PART = 3;
/** Characters. Shorter parts of a header are words such as `Path`. */
const LEAST_SECRET = 8;

/** Fields with free text. It contains common words, so only the whole text counts as personal. */
const SENTENCE = /note|comment|descri/i;

type AddText = (text: string, name: string) => void;

/**
 * The personal and secret texts of a recording in lower case, whole and word by word. Words of the facts are excluded.
 */
export function personalTexts(
  { exchanges, deliveries }: Recording,
  facts: readonly ServiceFact[],
): ReadonlySet<string> {
  const found = new Set<string>();
  const add: AddText = (text, name) => {
    const parts = SENTENCE.test(name) ? [text.trim().toLowerCase()] : partsOf(text.trim());
    for (const part of parts) if (part.length >= LEAST_PART) found.add(part);
  };
  for (const exchange of exchanges) addExchange(exchange, add);
  for (const { event } of deliveries) addValue("", event, add);
  for (const word of facts.flatMap(wordsOf)) found.delete(word);
  return found;
}

function addExchange(exchange: RecordedExchange, add: AddText): void {
  for (const [name, value] of [...Object.entries(exchange.headers), ...Object.entries(exchange.responseHeaders)])
    if (isSecretName(name))
      for (const part of value.split(/[\s;,=]+/)) if (part.length >= LEAST_SECRET) add(part, name);
  for (const [name, value] of exchange.url.searchParams) if (isSecret(name)) add(value, name);
  addValue("", exchange.body, add);
  if (isObject(exchange.response)) addValue("", exchange.response, add, refused(exchange) ? NAMES_A_FIELD : undefined);
}

/** Cached, because a recording has many values but few names. */
const isSecret = memoize(10_000, (name) => PERSONAL.test(name) || isSecretName(name));

/** Adds the personal texts in a value. All values inside a personal field, such as an address, are personal. */
function addValue(name: string, value: unknown, add: AddText, except?: RegExp, isInside = false, depth = 0): void {
  if (depth > MOST_DEPTH || (typeof value !== "string" && typeof value !== "object")) return;
  const isPersonal = isInside || (isSecret(name) && !except?.test(name));
  if (typeof value === "string" && isPersonal) add(value, name);
  else if (Array.isArray(value)) for (const item of value) addValue(name, item, add, except, isPersonal, depth + 1);
  else if (isObject(value))
    for (const inner of Object.keys(value)) addValue(inner, value[inner], add, except, isPersonal, depth + 1);
}

/** The codes, enum values and names of fields that the sandbox has itself. */
const wordsOf = oncePerKey(({ id, value }: ServiceFact) =>
  [id, ...(typeof value === "object" ? value.map(String) : [String(value)])].flatMap(partsOf),
);
