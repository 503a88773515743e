// Reads the words of a command: its flags, then the variables, each by the one table of options.

import { parseArgs } from "node:util";
import { didYouMean } from "../kernel/did-you-mean.ts";
import { SandboxError } from "../kernel/errors.ts";
import { flagOf, type GivenOptions, type OptionName, optionFacts, variableOf } from "../sandbox/options.ts";

/** A flag of one command only. */
export interface OwnFlag {
  /** What stands for the value in the help; none for a switch. */
  hint?: string;
  words: string;
  /** May be given more than once; its texts are joined by commas. */
  many?: true;
}

export interface Arguments {
  /** Options of the sandbox that were given, as text. */
  options: GivenOptions;
  /** The command's own flags; a switch that was given is "". */
  own: Record<string, string | undefined>;
  positional: string[];
  /** What follows `--`, of a command that takes another one; never read. */
  rest: string[];
}

interface Taken {
  sandboxOptions: boolean;
  rest?: boolean;
  own: Record<string, OwnFlag>;
}

type Texts = Record<string, string | string[]>;

export function readArguments(words: string[], taken: Taken, environment: NodeJS.ProcessEnv): Arguments {
  const names = taken.sandboxOptions ? (Object.keys(optionFacts) as OptionName[]) : [];
  const flags = new Map<string, { hint?: string | undefined; many?: boolean | undefined }>([
    ...names.map((name) => [flagOf(name), optionFacts[name]] as const),
    ...Object.entries(taken.own).map(([name, flag]) => [`--${name}`, flag] as const),
  ]);
  const end = taken.rest ? words.indexOf("--") : -1;
  const { given, positional } = collect(end < 0 ? words : words.slice(0, end), flags);
  const options: Texts = {};
  for (const name of names) {
    const text = given[flagOf(name)] ?? environment[variableOf(name)];
    if (text !== undefined) options[name] = text;
  }
  const own = Object.fromEntries(Object.keys(taken.own).map((name) => [name, textOf(given[`--${name}`])]));
  return { options, own, positional, rest: end < 0 ? [] : words.slice(end + 1) };
}

const textOf = (given: string | string[] | undefined) => (Array.isArray(given) ? given.join(",") : given);

/** Flags with their texts, "" for a switch; a wrong one is refused with the one that was meant. */
function collect(words: string[], flags: Map<string, { hint?: string | undefined; many?: boolean | undefined }>) {
  const config = Object.fromEntries(
    [...flags].map(([flag, { hint }]) => [flag.slice(2), { type: hint === undefined ? ("boolean" as const) : ("string" as const) }]),
  );
  const { tokens } = parseArgs({ args: words, options: config, strict: false, allowPositionals: true, tokens: true });
  const given: Texts = {};
  const positional: string[] = [];
  for (const token of tokens ?? []) {
    if (token.kind === "positional") positional.push(token.value);
    if (token.kind !== "option") continue;
    const facts = flags.get(token.rawName);
    if (!facts)
      throw new SandboxError(
        `There is no option ${token.rawName}.${didYouMean(token.rawName, flags.keys())} See merchant-sandbox --help.`,
        "usage",
      );
    if (facts.hint !== undefined && token.value === undefined)
      throw new SandboxError(`${token.rawName} needs a value: ${token.rawName} ${facts.hint}.`, "usage");
    given[token.rawName] = facts.many ? [...[given[token.rawName] ?? []].flat(), token.value ?? ""] : (token.value ?? "");
  }
  return { given, positional };
}
