// A field of a form: what it may hold, what is wrong with what it holds, and how keys change it.

import { textOf } from "../terminal/keys.ts";

export interface Option {
  value: string;
  /** How it is called; the value unless given. */
  label?: string;
  words?: string;
}

export interface Field {
  name: string;
  label: string;
  /** What it means, in a line. */
  words: string;
  /** What may be chosen; none where text is written. */
  options?: readonly Option[];
  /** Something else than the options may be written. */
  free?: boolean;
  /** What it holds until something else is put into it. */
  first?: string;
  problem?(text: string): string | undefined;
}

/** What a field holds, and what is being done with it. */
export interface Writing {
  value: string;
  /** What was typed to find an option. */
  typed: string;
  /** How many characters stand after the caret. */
  behind: number;
}

export type Values = Readonly<Record<string, string>>;

export const labelOf = ({ label, value }: Option) => label ?? value;

export const heldIn = (field: Field, values: Values): string => values[field.name] ?? field.first ?? field.options?.[0]?.value ?? "";

/** What is wrong with a field; one that is empty is left out, and wrong only where it says so itself. */
export const problemOf = (field: Field, values: Values): string | undefined => field.problem?.(heldIn(field, values));

/** The options that fit what was typed, the likeliest first. */
export function narrowed({ options = [], free = false }: Field, typed: string): readonly Option[] {
  if (typed === "") return options;
  const ranked = options.map((option) => ({ option, rank: rankOf(option, typed.toLowerCase()) }));
  const worst = free ? 1 : 3;
  return ranked
    .filter(({ rank }) => rank <= worst)
    .sort((one, other) => one.rank - other.rank)
    .map(({ option }) => option);
}

/** The field that holds what a path such as `match.header.X` leads to. */
export const fieldAt = (fields: readonly Field[], path: string): Field | undefined =>
  fields.filter(({ name }) => path === name || path.startsWith(`${name}.`)).sort((one, other) => other.name.length - one.name.length)[0];

/** Text that is found only in what is said of an option is looked for from so many letters on. */
const TELLING = 3;

/** How well an option fits: by its beginning, by that of a word, by any part, by what is said of it; not at all. */
function rankOf(option: Option, typed: string): number {
  const label = labelOf(option).toLowerCase();
  if (label.startsWith(typed)) return 0;
  if ([...label].some((_, index) => " ._-(".includes(label[index - 1] ?? "x") && label.startsWith(typed, index))) return 1;
  if (label.includes(typed)) return 2;
  return typed.length >= TELLING && option.words?.toLowerCase().includes(typed) ? 3 : 4;
}

/** What a key makes of a field; nothing where the key means something else. */
export const written = (field: Field, now: Writing, key: string): Writing | undefined =>
  field.options ? chosen(field, now, key) : edited(now, key);

const TURNS: Record<string, number> = { left: -1, right: 1, h: -1, l: 1 };

function chosen(field: Field, now: Writing, key: string): Writing | undefined {
  const first = field.options?.[0]?.value ?? "";
  if (key === "left" || key === "right") return turned(field, now, TURNS[key] as number);
  if (key === "home" || key === "end") return at(now, field.options?.at(key === "home" ? 0 : -1)?.value ?? first);
  if (key === "delete" || key === "ctrl-u") return { ...at(now, first), typed: "" };
  if (key === "backspace") return retyped(field, now, [...now.typed].slice(0, -1).join(""), first);
  const text = textOf(key);
  return text === undefined ? undefined : sought(field, now, text);
}

const at = (now: Writing, value: string): Writing => ({ ...now, value });

function retyped(field: Field, now: Writing, typed: string, first: string): Writing {
  if (typed === "") return { ...at(now, first), typed };
  return { ...at(now, narrowed(field, typed)[0]?.value ?? typed), typed };
}

/** A letter narrows the options down; where it would leave none it begins anew, or is `h` or `l` for the one before or after. */
function sought(field: Field, now: Writing, text: string): Writing {
  const typed = now.typed + text;
  const [found] = narrowed(field, typed);
  if (found) return { ...at(now, found.value), typed };
  if (field.free) return { ...at(now, typed), typed };
  const again = narrowed(field, text);
  const next = again[(again.findIndex(({ value }) => value === now.value) + 1) % again.length];
  if (next) return { ...at(now, next.value), typed: text };
  const turn = TURNS[text];
  return turn === undefined ? now : turned(field, { ...now, typed: "" }, turn);
}

function turned(field: Field, now: Writing, by: number): Writing {
  const options = narrowed(field, now.typed);
  const index = options.findIndex(({ value }) => value === now.value);
  const next = options[index === -1 && by < 0 ? options.length - 1 : (index + by + options.length) % options.length];
  return next ? at(now, next.value) : now;
}

function edited({ value, behind, typed }: Writing, key: string): Writing | undefined {
  const letters = [...value];
  const caret = Math.max(0, letters.length - behind);
  const before = letters.slice(0, caret);
  const after = letters.slice(caret);
  const made = (front: readonly string[], back: readonly string[]) => ({
    value: [...front, ...back].join(""),
    behind: back.length,
    typed,
  });
  if (key === "left") return made(before.slice(0, -1), [...before.slice(-1), ...after]);
  if (key === "right") return made([...before, ...after.slice(0, 1)], after.slice(1));
  if (key === "home" || key === "ctrl-a") return made([], letters);
  if (key === "end" || key === "ctrl-e") return made(letters, []);
  if (key === "backspace") return made(before.slice(0, -1), after);
  if (key === "delete") return made(before, after.slice(1));
  if (key === "ctrl-u") return made([], after);
  const text = textOf(key);
  return text === undefined ? undefined : made([...before, text], after);
}
