// A form field: its options, its validation, and how keys edit its value.

import { textOf } from "../terminal/read-keys.ts";

export interface FieldOption {
  value: string;
  /** Default: the value. */
  label?: string;
  help?: string;
}

export interface FormField {
  name: string;
  label: string;
  /** One line, shown above the fields while this one has the focus. */
  help: string;
  /** The values to choose from; a field without options is a text input. */
  options?: readonly FieldOption[];
  /** Text that matches no option is accepted too. */
  allowOther?: boolean;
  initial?: string;
  /** Returns what is wrong with a value, as in "must be at least 1". An empty value is valid unless this says otherwise. */
  validate?(text: string): string | undefined;
}

/** The value of the focused field and the state of its input. */
export interface FieldEdit {
  value: string;
  /** The letters typed to find an option. */
  search: string;
  /** How many characters follow the caret. */
  caretFromEnd: number;
}

export type FormValues = Readonly<Record<string, string>>;

export const labelOf = ({ label, value }: FieldOption) => label ?? value;

export const fieldValue = (field: FormField, values: FormValues): string =>
  values[field.name] ?? field.initial ?? field.options?.[0]?.value ?? "";

export const problemOf = (field: FormField, values: FormValues): string | undefined => field.validate?.(fieldValue(field, values));

/** The options that match the search, best match first. */
export function matchingOptions({ options = [], allowOther = false }: FormField, search: string): readonly FieldOption[] {
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
  fields.filter(({ name }) => path === name || path.startsWith(`${name}.`)).sort((one, other) => other.name.length - one.name.length)[0];

/** Shorter searches look at labels only: one letter occurs in every help text. */
const MIN_HELP_SEARCH = 3;

/** 0: the label starts with the search. 1: a word of it does. 2: the label contains it. 3: the help contains it. 4: no match. */
function rankOf(option: FieldOption, search: string): number {
  const label = labelOf(option).toLowerCase();
  if (label.startsWith(search)) return 0;
  if ([...label].some((_, index) => " ._-(".includes(label[index - 1] ?? "x") && label.startsWith(search, index))) return 1;
  if (label.includes(search)) return 2;
  return search.length >= MIN_HELP_SEARCH && option.help?.toLowerCase().includes(search) ? 3 : 4;
}

/** The field after a key; undefined when the key does not edit it. */
export const editField = (field: FormField, edit: FieldEdit, key: string): FieldEdit | undefined =>
  field.options ? editChoice(field, edit, key) : editText(edit, key);

const STEP_KEYS: Record<string, number> = { left: -1, right: 1, h: -1, l: 1 };

function editChoice(field: FormField, edit: FieldEdit, key: string): FieldEdit | undefined {
  const first = field.options?.[0]?.value ?? "";
  if (key === "left" || key === "right") return stepOption(field, edit, STEP_KEYS[key] as number);
  if (key === "home" || key === "end") return { ...edit, value: field.options?.at(key === "home" ? 0 : -1)?.value ?? first };
  if (key === "delete" || key === "ctrl-u") return { ...edit, value: first, search: "" };
  if (key === "backspace") {
    const search = [...edit.search].slice(0, -1).join("");
    return { ...edit, value: search === "" ? first : (matchingOptions(field, search)[0]?.value ?? search), search };
  }
  const text = textOf(key);
  return text === undefined ? undefined : searchOptions(field, edit, text);
}

/** A letter extends the search. When nothing matches, it starts a new search, or `h` and `l` step to the previous or next option. */
function searchOptions(field: FormField, edit: FieldEdit, text: string): FieldEdit {
  const search = edit.search + text;
  const [found] = matchingOptions(field, search);
  if (found) return { ...edit, value: found.value, search };
  if (field.allowOther) return { ...edit, value: search, search };
  const restarted = matchingOptions(field, text);
  const next = restarted[(restarted.findIndex(({ value }) => value === edit.value) + 1) % restarted.length];
  if (next) return { ...edit, value: next.value, search: text };
  const step = STEP_KEYS[text];
  return step === undefined ? edit : stepOption(field, { ...edit, search: "" }, step);
}

function stepOption(field: FormField, edit: FieldEdit, by: number): FieldEdit {
  const options = matchingOptions(field, edit.search);
  const index = options.findIndex(({ value }) => value === edit.value);
  const next = options[index === -1 && by < 0 ? options.length - 1 : (index + by + options.length) % options.length];
  return next ? { ...edit, value: next.value } : edit;
}

function editText({ value, caretFromEnd, search }: FieldEdit, key: string): FieldEdit | undefined {
  const letters = [...value];
  const caret = Math.max(0, letters.length - caretFromEnd);
  const before = letters.slice(0, caret);
  const after = letters.slice(caret);
  const edited = (left: readonly string[], right: readonly string[]) => ({
    value: [...left, ...right].join(""),
    caretFromEnd: right.length,
    search,
  });
  if (key === "left") return edited(before.slice(0, -1), [...before.slice(-1), ...after]);
  if (key === "right") return edited([...before, ...after.slice(0, 1)], after.slice(1));
  if (key === "home" || key === "ctrl-a") return edited([], letters);
  if (key === "end" || key === "ctrl-e") return edited(letters, []);
  if (key === "backspace") return edited(before.slice(0, -1), after);
  if (key === "delete") return edited(before, after.slice(1));
  if (key === "ctrl-u") return edited([], after);
  const text = textOf(key);
  return text === undefined ? undefined : edited([...before, text], after);
}
