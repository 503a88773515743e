// Names of fields, headers and parameters whose values are secret: the list, and how a name is compared with it.

/**
 * Matched as whole words of a name, in any spelling: `access token` is a part of accessToken, ACCESS_TOKEN, x-access-token and
 * card[access][token]. Words may have an `s` or digits at their end.
 */
export const SECRET_WORDS = [
  "authorization",
  "cookie",
  "password",
  "passwd",
  "pwd",
  "passcode",
  "passphrase",
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

/** These are secret as the last word of a parameter in a query or a form only: a JSON field named `key` is mostly no secret. */
export const SECRET_PARAMETERS = ["key", "signature", "sig"] as const;

/** Programs write these also after another word without a separator: `userpassword`, `xapikey`. */
const GLUED = new Set<string>(["password", "api key"]);

const wordPatterns = SECRET_WORDS.map((word) => (GLUED.has(word) ? "[a-z0-9]*" : "") + word.replace(" ", "_?"));
const SECRET_NAME = new RegExp(`(?:^|_)(?:${wordPatterns.join("|")})s?\\d*(?:_|$)`);
const SECRET_PARAMETER = new RegExp(`(?:^|_)(?:${SECRET_PARAMETERS.join("|")})\\d*_?$`);

/** Whether the value of a field, header or parameter with this name is never logged, shown or returned in clear. */
export const isSecretName = (name: string): boolean => spellingsOf(name).some((words) => SECRET_NAME.test(words));

/** The same for the name of a parameter in a query or a form. */
export const isSecretParameter = (name: string): boolean =>
  spellingsOf(name).some((words) => SECRET_NAME.test(words) || SECRET_PARAMETER.test(words));

/** The name in lower case with `_` between its words; a change of case separates words, or has no meaning, as in headers. */
function spellingsOf(name: string): string[] {
  const separated = name.replace(/[^a-zA-Z0-9]+/g, "_");
  const camelCase = separated.replace(/([a-z0-9])([A-Z])/g, "$1_$2").replace(/([A-Z])([A-Z][a-z])/g, "$1_$2");
  return [separated.toLowerCase(), camelCase.toLowerCase()];
}

/** The separator of two words of a name, such as `_` or `][`. */
const BETWEEN = "[^a-zA-Z0-9]{0,2}";

/**
 * The source of an expression that finds every secret word of a text, among others that are parts of innocent names. V8 searches a long
 * text fastest with both cases spelt out instead of the flag `i`, and with words of the same first letter in one group.
 */
export function anyCaseSource(words: readonly string[]): string {
  const groups = new Map<string, string[]>();
  for (const word of words) groups.set(word.charAt(0), [...(groups.get(word.charAt(0)) ?? []), word.slice(1)]);
  const letters = (text: string) => text.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
  const rest = (text: string) => text.split(" ").map(letters).join(BETWEEN);
  return [...groups].map(([first, rests]) => `${letters(first)}(?:${rests.map(rest).join("|")})`).join("|");
}

/** The source of an expression that finds each word of both lists; a parameter with the `=` that follows it. */
export const SECRET_WORD_SOURCE = `${anyCaseSource(SECRET_WORDS)}|(?:${anyCaseSource(SECRET_PARAMETERS)})\\d*\\]?=`;
