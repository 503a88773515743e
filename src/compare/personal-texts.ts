// Finds the texts of a recording that are secret or about a person, so that the result does not show them where a code is expected.

import type { ServiceFact } from "../contracts/fact.ts";
import { memoize } from "../kernel/bounded-cache.ts";
import { isSecretName } from "../kernel/secret-names.ts";
import { jsonIn } from "./read-har.ts";
import { isObject, type RecordedExchange, type Recording, refused } from "./recording.ts";
import { partsOf } from "./shown-code.ts";

/** Fields whose texts are about a person. */
const PERSONAL = /name|mail|phone|mobile|address|street|city|town|birth|holder|guest|contact|person|note|comment|descri/i;

/** Errors name fields and parameters in fields of these names. */
const NAMES_A_FIELD = /^(name|fieldname|paramname|parametername)$/i;

const MOST_DEPTH = 40;
const LEAST_PART = 3;
/** Shorter parts of a header are words such as `Path`. */
const LEAST_SECRET = 8;

/** Free text, such as a description: it holds words of every kind, so only the whole text is personal. */
const SENTENCE = /note|comment|descri/i;

type AddText = (text: string, name: string) => void;

/** The texts in lower case: names, addresses and secrets also word by word. The words of the facts themselves are none. */
export function personalTexts({ exchanges, deliveries }: Recording, facts: readonly ServiceFact[]): ReadonlySet<string> {
  const found = new Set<string>();
  const add: AddText = (text, name) => {
    const parts = SENTENCE.test(name) ? [text.trim().toLowerCase()] : partsOf(text.trim());
    for (const part of parts) if (part.length >= LEAST_PART) found.add(part);
  };
  for (const exchange of exchanges) addExchange(exchange, add);
  for (const { text } of deliveries) addValue("", jsonIn(text), add);
  for (const word of wordsOf(facts)) found.delete(word);
  return found;
}

function addExchange(exchange: RecordedExchange, add: AddText): void {
  for (const [name, value] of [...Object.entries(exchange.headers), ...Object.entries(exchange.responseHeaders)])
    if (isSecretName(name)) for (const part of value.split(/[\s;,=]+/)) if (part.length >= LEAST_SECRET) add(part, name);
  for (const [name, value] of exchange.url.searchParams) if (isSecret(name)) add(value, name);
  addValue("", exchange.body, add);
  if (isObject(exchange.response)) addValue("", exchange.response, add, refused(exchange) ? NAMES_A_FIELD : undefined);
}

/** Every value of a recording is looked up by the name of its field, and the names are few. */
const isSecret = memoize(10_000, (name) => PERSONAL.test(name) || isSecretName(name));

/** Everything inside an address or a list of guests is personal, too. */
function addValue(name: string, value: unknown, add: AddText, except?: RegExp, isInside = false, depth = 0): void {
  if (depth > MOST_DEPTH) return;
  const isPersonal = isInside || (isSecret(name) && !except?.test(name));
  if (typeof value === "string" && isPersonal) add(value, name);
  else if (Array.isArray(value)) for (const item of value) addValue(name, item, add, except, isPersonal, depth + 1);
  else if (isObject(value)) for (const [inner, one] of Object.entries(value)) addValue(inner, one, add, except, isPersonal, depth + 1);
}

/** The codes, enum values and names of fields that the sandbox has itself. */
const wordsOf = (facts: readonly ServiceFact[]): string[] =>
  facts.flatMap(({ id, value }) => [id, ...(typeof value === "object" ? value : [String(value)])].flatMap(partsOf));
