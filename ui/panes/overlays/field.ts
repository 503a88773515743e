// A form field: its options, and how keys edit its value.

import type { TextEdit } from "../../state/state.ts";
import { sanitize, widthOf } from "../../text/cells.ts";

export interface FieldOption {
  value: string;
  /** Default: the value. */
  label?: string;
  help?: string;
}

export interface FormField {
  name: string;
  /** Default: the name. */
  label?: string;
  /** One line, shown above the fields while this one has the focus. */
  help: string;
  /** The values to choose from; a field without options is a text input. */
  options?: readonly FieldOption[];
  /** Text that matches no option is accepted too. */
  allowOther?: boolean;
  initial?: string;
  /** The meaning of an empty field, in words. */
  fallback?: string | undefined;
  /** Folded away until the user asks for more fields, unless it has a value. */
  isRare?: boolean;
}

/** The value of the focused field and the state of its input. */
export interface FieldEdit extends TextEdit {
  /** The letters typed to find an option. */
  search: string;
}

export type FormValues = Readonly<Record<string, string>>;

export const labelOf = ({ label, value }: FieldOption) => label ?? value;

/** The help of an optional field, with its default. */
export const optionalHelp = (help: string, fallback: string) => ({ help: `${help} (default: ${fallback})`, fallback });

export const fieldValue = (field: FormField, values: FormValues): string =>
  values[field.name] ?? field.initial ?? field.options?.[0]?.value ?? "";

/** The options that match the search, best match first. */
export function matchingOptions(
  { options = [], allowOther = false }: FormField,
  search: string,
): readonly FieldOption[] {
  if (search === "") return options;
  const ranked = options.map((option) => ({ option, rank: rankOf(option, search.toLowerCase()) }));
  const worst = allowOther ? 1 : 3;
  return ranked
    .filter(({ rank }) => rank <= worst)
    .sort((one, other) => one.rank - other.rank)
    .map(({ option }) => option);
}

/** The field that holds the value at a path such as `match.header.X`. */
export const fieldAt = (fields: readonly FormField[], path: string): FormField | undefined =>
  fields
    .filter(({ name }) => path === name || path.startsWith(`${name}.`))
    .sort((one, other) => other.name.length - one.name.length)[0];

/** Shorter searches look at labels only: one letter occurs in every help text. */
const MIN_HELP_SEARCH = 3;

/**
 * The rank of an option, best first. 0: the label starts with the search. 1: a word of the label does. 2: the label
 * contains the search. 3: the help contains the search. 4: no match.
 */
function rankOf(option: FieldOption, search: string): number {
  const label = labelOf(option).toLowerCase();
  if (label.startsWith(search)) return 0;
  if ([...label].some((_, index) => " ._-(".includes(label[index - 1] ?? "x") && label.startsWith(search, index)))
    return 1;
  if (label.includes(search)) return 2;
  return search.length >= MIN_HELP_SEARCH && option.help?.toLowerCase().includes(search) ? 3 : 4;
}

/** Applies a key to a field. Undefined if the key does not edit fields; `refused` if no option matches the text. */
export function editField(field: FormField, edit: FieldEdit, key: string): FieldEdit | "refused" | undefined {
  if (field.options) return editChoice(field, edit, key);
  const edited = editText(edit, key);
  return edited && { ...edit, ...edited };
}

function editChoice(field: FormField, edit: FieldEdit, key: string): FieldEdit | "refused" | undefined {
  const first = field.options?.[0]?.value ?? "";
  if (key === "home" || key === "end")
    return { ...edit, value: field.options?.at(key === "home" ? 0 : -1)?.value ?? first };
  if (key === "delete" || key === "ctrl-u") return { ...edit, value: first, search: "" };
  if (key === "backspace") {
    const search = [...edit.search].slice(0, -1).join("");
    return { ...edit, value: search === "" ? first : (matchingOptions(field, search)[0]?.value ?? search), search };
  }
  const text = textOf(key);
  if (text === undefined) return undefined;
  const search = edit.search + text;
  const [found] = matchingOptions(field, search);
  if (found) return { ...edit, value: found.value, search };
  return field.allowOther ? { ...edit, value: search, search } : "refused";
}

/**
 * The value of the option that comes `by` options after the selected one. At the ends, the choice stops or wraps
 * around. Undefined if the choice does not change.
 */
export function stepOption(
  field: FormField,
  { value, search }: Pick<FieldEdit, "value" | "search">,
  by: number,
  atEnd: "wrap" | "stop",
): string | undefined {
  const options = matchingOptions(field, search);
  const { length } = options;
  const index = options.findIndex((option) => option.value === value);
  const from = index === -1 && by < 0 ? length : index;
  const to =
    atEnd === "wrap" ? (from + by + length) % Math.max(1, length) : Math.max(0, Math.min(length - 1, from + by));
  return to === index ? undefined : options[to]?.value;
}

export function editText({ value, caretFromEnd, isSelected }: TextEdit, key: string): TextEdit | undefined {
  const text = textOf(key);
  if (isSelected && (text !== undefined || key === "backspace" || key === "delete"))
    return { value: text ?? "", caretFromEnd: 0, isSelected: false };
  const letters = [...value];
  const caret = Math.max(0, letters.length - caretFromEnd);
  const before = letters.slice(0, caret);
  const after = letters.slice(caret);
  const edited = (left: readonly string[], right: readonly string[]) => ({
    value: [...left, ...right].join(""),
    caretFromEnd: right.length,
    isSelected: false,
  });
  if (key === "left") return edited(before.slice(0, -1), [...before.slice(-1), ...after]);
  if (key === "right") return edited([...before, ...after.slice(0, 1)], after.slice(1));
  if (key === "home" || key === "ctrl-a") return edited([], letters);
  if (key === "end" || key === "ctrl-e") return edited(letters, []);
  if (key === "backspace") return edited(before.slice(0, -1), after);
  if (key === "delete") return edited(before, after.slice(1));
  if (key === "ctrl-u") return edited([], after);
  return text === undefined ? undefined : edited([...before, text], after);
}

/** A text with a caret. Cuts the start of the text if it does not fit before the caret. */
export function withCaret(
  { value, caretFromEnd }: Pick<TextEdit, "value" | "caretFromEnd">,
  caret: string,
  room: number,
): string {
  const letters = [...value];
  const end = Math.max(0, letters.length - caretFromEnd);
  const before = sanitize(letters.slice(0, end).join(""));
  const hidden = Math.max(0, widthOf(before) - room);
  return [...before].slice(hidden).join("") + caret + sanitize(letters.slice(end).join(""));
}

const PASTE_KEY = "paste ";
/** Longer than any text that an input needs; the rest is dropped. */
export const MAX_PASTE = 10_000;

/** The key for pasted text: line breaks and tabs become spaces, other controls are dropped. */
export const pasteKey = (text: string) =>
  PASTE_KEY +
  text
    .slice(0, MAX_PASTE)
    .replace(/\s+/g, " ")
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern finds control characters.
    .replace(/[\x00-\x1f\x7f-\x9f]/g, "")
    .trim();

export const isPaste = (key: string) => key.startsWith(PASTE_KEY);

/** The text that a key types; undefined for a key such as `up`. */
export function textOf(key: string): string | undefined {
  if (key === "space") return " ";
  if (isPaste(key)) return key.slice(PASTE_KEY.length);
  return [...key].length === 1 ? key : undefined;
}
