// The words that may come next on a command line, from the same declarations as the help.

import { readdirSync } from "node:fs";
import { catalogue, eventTypes } from "../areas/index.ts";
import { actions } from "../faults/rule-schema.ts";
import { kebab } from "../kernel/text.ts";
import { withDefault } from "../sandbox/options.ts";
import { packageFile } from "../sandbox/package-files.ts";
import { allFlags, argumentsIn, type FlagDefinition, positionalsIn } from "./arguments.ts";
import type { Command } from "./command.ts";
import { kindNames, statusesOf } from "./records/field-flags.ts";

/** A word and its description, which may be empty. */
export type Candidate = readonly [word: string, description: string];

type Commands = Readonly<Record<string, Command>>;

/** The candidates for the last of `words`, which is empty or a prefix. `words` follow the program's name. */
export function candidatesFor(words: readonly string[], commands: Commands): Candidate[] {
  const current = words.at(-1) ?? "";
  return candidates(words.slice(0, -1), current, commands).filter(([word]) => word.startsWith(current));
}

function candidates(before: readonly string[], current: string, commands: Commands): Candidate[] {
  const [name] = before;
  const found = name !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (found) return inCommand(found, before.slice(1), current);
  if (name === "help") return summaries(commands);
  // Options without a command are options of `start`.
  if (name !== undefined || current.startsWith("-")) return inCommand(commands.start as Command, before, current);
  return [...summaries(commands), ["help", "show the options of a command"]];
}

const summaries = (commands: Commands): Candidate[] =>
  Object.entries(commands).map(([word, { summary }]) => [word, summary]);

function inCommand(command: Command, before: readonly string[], current: string): Candidate[] {
  if (before.includes("--")) return [];
  const [word] = command.subcommands ? positionalsIn(before, command.flags) : [];
  const sub = word && command.subcommands?.[word.value];
  if (sub) {
    const rest = before.filter((_, index) => index !== word.index);
    return inCommand(sub, rest, current);
  }
  const flags = flagsAfter(command, before);
  const positionals = positionalsIn(before, flags).map(({ value }) => value);
  const last = before.at(-1) ?? "";
  const waiting = last.startsWith("--") ? flags[last.slice(2)]?.value : undefined;
  if (waiting !== undefined) return plain(wordsFor(waiting, positionals));
  if (current.startsWith("-")) return flagsOrValues(flags, current, positionals);
  if (command.subcommands && !word) return summaries(command.subcommands);
  return plain(wordsFor(argumentAt(command.usage, positionals.length), positionals));
}

const plain = (words: readonly string[]): Candidate[] => words.map((word) => [word, ""]);

/** The flags, or the values of a flag for a word such as `--life=o`. */
function flagsOrValues(flags: Flags, current: string, positionals: readonly string[]): Candidate[] {
  const [, name = "", equals] = /^--([^=]+)(=?)/.exec(current) ?? [];
  if (equals) return plain(wordsFor(flags[name]?.value ?? "", positionals).map((value) => `--${name}=${value}`));
  const written = Object.entries(flags).filter(([flag]) => flag === flag.toLowerCase());
  return written.map(([flag, definition]) => [`--${flag}`, withDefault(definition)]);
}

type Flags = Readonly<Record<string, FlagDefinition>>;

/** All flags of a command after these words, with the flags for the record's fields if the words name a valid kind. */
function flagsAfter(command: Command, before: readonly string[]): Flags {
  try {
    return allFlags({ ...command, flags: command.flagsFor(before) });
  } catch {
    return allFlags(command);
  }
}

/** The placeholder of an argument in a usage, such as `action` in `fault add <action>`; the last one may repeat. */
function argumentAt(usage: string, index: number): string {
  const known = argumentsIn(usage);
  return (known[index] ?? known.findLast(({ repeatable }) => repeatable))?.name ?? "";
}

/** The words that can replace a placeholder: from the table `WORDS`, or its alternatives, as in `on|off`. */
function wordsFor(placeholder: string, positionals: readonly string[]): readonly string[] {
  const known = WORDS[placeholder];
  if (known) return known(positionals);
  return placeholder.includes("|") ? placeholder.split("|") : [];
}

const fixtureNames = (folder: string) =>
  readdirSync(packageFile(`fixtures/${folder}`)).map((file) => file.replace(/\.\w+$/, ""));
const operationIds = () => catalogue.map(({ id }) => id);

/** The words that can replace a placeholder, given the positional arguments before it. */
const WORDS: Readonly<Record<string, (positionals: readonly string[]) => readonly string[]>> = {
  action: () => actions.map(({ type }) => kebab(type)),
  "operation|event": ([action = ""]) =>
    actions.find(({ type }) => kebab(type) === action)?.target === "delivery" ? [...eventTypes] : operationIds(),
  operation: operationIds,
  type: () => [...eventTypes],
  types: () => [...eventTypes],
  kind: () => kindNames,
  status: ([kind = ""]) => statusesOf(kind),
  name: () => fixtureNames("scenarios"),
  "name|file": () => fixtureNames("scenarios"),
  lesson: () => fixtureNames("lessons").filter((name) => name !== "README"),
  merchant: () => fixtureNames("merchants"),
  "id|waiting": () => ["waiting"],
};
