// The candidates that completion offers for the words of a command line, from the declarations of the commands.

import { flagOf, optionDefinitions } from "../sandbox/options.ts";
import { type FlagDefinition, positionalsIn } from "./arguments.ts";
import type { Command } from "./command.ts";

/** A word, and what it means; empty if the word says it. */
export type Candidate = readonly [word: string, meaning: string];

/** `words` follow the name of the program; the last one is incomplete, perhaps empty. */
export function candidatesFor(words: readonly string[], commands: Readonly<Record<string, Command>>): Candidate[] {
  const current = words.at(-1) ?? "";
  return candidates(words.slice(0, -1), current, commands).filter(([word]) => word.startsWith(current));
}

function candidates(before: readonly string[], current: string, commands: Readonly<Record<string, Command>>): Candidate[] {
  const [name] = before;
  const found = name !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (found) return inCommand(found, before.slice(1), current);
  if (name !== undefined || current.startsWith("-")) return inCommand(commands.start as Command, before, current);
  return Object.entries(commands).map(([word, { summary }]) => [word, summary]);
}

function inCommand(command: Command, before: readonly string[], current: string): Candidate[] {
  const end = before.indexOf("--");
  if (end >= 0) return [];
  const [word] = command.subcommands ? positionalsIn(before, command.flags) : [];
  const sub = word && command.subcommands?.[word.value];
  if (sub)
    return inCommand(
      sub,
      before.filter((_, index) => index !== word.index),
      current,
    );
  const flags = flagsOf(command, before);
  const last = flags[before.at(-1) ?? ""];
  if (last?.value !== undefined) return (last.values?.() ?? []).map((value) => [value, ""]);
  if (current.startsWith("-"))
    return Object.entries(flags).flatMap(([flag, one]) => (one.hidden && !one.values ? [] : [[flag, one.description] as const]));
  if (command.subcommands && !word) return Object.entries(command.subcommands).map(([name, { summary }]) => [name, summary]);
  const bare = Object.fromEntries(Object.entries(flags).map(([flag, one]) => [flag.slice(2), one]));
  return command.words(positionalsIn(before, bare).map(({ value }) => value)).map((value) => [value, ""]);
}

/** All flags that the command takes after these words, with the options of a sandbox. */
function flagsOf(command: Command, before: readonly string[]): Record<string, FlagDefinition> {
  const options = command.sandboxOptions.map((name) => [flagOf(name), { ...optionDefinitions[name] }] as const);
  return Object.fromEntries([...Object.entries(ownFlags(command, before)).map(([name, flag]) => [`--${name}`, flag] as const), ...options]);
}

/** The flags that depend on the words are left out while a word is wrong. */
function ownFlags(command: Command, before: readonly string[]) {
  try {
    return command.flagsFor(before);
  } catch {
    return command.flags;
  }
}
