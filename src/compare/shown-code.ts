// Recorded texts as the result shows them: codes and names as they are, anything that could be secret or personal as its shape.

import { mask } from "../kernel/mask.ts";

/** The texts that exports and logs put in the place of a value. */
const PLACEHOLDER = /redact|\*{3}|<hidden>|\[(?:filtered|masked|removed|secret|hidden)\]|…/i;

/** A value that says nothing. */
export const MASKED = "…";

/** Whether a recording has replaced the value, so that it shows nothing. */
export const isMasked = (value: unknown): boolean => typeof value === "string" && PLACEHOLDER.test(value);

const CODE = /^[A-Za-z][A-Za-z0-9_.-]{0,39}$/;
const MOST_DIGITS = 4;

/** Codes are made of words, tokens of single letters and digits between one another. */
const WORD = /[A-Z]{2,}(?![a-z])|[A-Z]?[a-z]+|[A-Z]|\d+/g;

function looksLikeCode(text: string): boolean {
  const words = text.match(WORD) ?? [];
  const digits = text.match(/\d/g) ?? [];
  return CODE.test(text) && digits.length <= MOST_DIGITS && (words.length <= 3 || text.length >= words.length * 3);
}

export interface ShownTexts {
  /** A code or a name as it is; anything that could be a secret or personal data as its shape. */
  code(value: unknown): string;
  /** The prefix of an id, such as `pay_`; `no prefix` for any other text. */
  prefix(id: string): string;
  /** Whether the recording shows the text, or a word of it, as a value that is secret or about a person. */
  isPersonal(text: string): boolean;
}

/** Short, in lower case, and before something that people do not write: digits, or one long word. */
const PREFIXED = /^([a-z]{1,12}[_-])(?:.*\d|[^_-]{10,}$)/;

/** A text, and its words as codes and names of fields join them, in lower case. */
export const partsOf = (text: string): string[] =>
  [text, ...text.split(/[^\p{L}\p{N}]+|(?<=\p{Ll})(?=\p{Lu})/u)].map((part) => part.toLowerCase());

/** `personal` has the texts that are secret or about a person, in lower case. */
export function createShownTexts(personal: ReadonlySet<string>): ShownTexts {
  const isPersonal = (text: string) => partsOf(text).some((part) => personal.has(part));
  return {
    isPersonal,
    code(value) {
      if (typeof value === "boolean" || value === null) return String(value);
      if (typeof value !== "string") return typeof value;
      const isPlain = looksLikeCode(value) && !isPersonal(value) && mask(value) === value;
      return isPlain ? value : `a text of ${value.length} characters`;
    },
    prefix(id) {
      const prefix = PREFIXED.exec(id)?.[1];
      return prefix === undefined || isPersonal(prefix.slice(0, -1)) ? "no prefix" : prefix;
    },
  };
}
