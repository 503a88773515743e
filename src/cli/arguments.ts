// Parses the arguments of a command. Flags take precedence over environment variables; the options table reads both.

import { parseArgs } from "node:util";
import { didYouMean } from "../kernel/did-you-mean.ts";
import { SandboxError } from "../kernel/errors.ts";
import { flagOf, type GivenOptions, type OptionName, optionDefinitions, variableOf } from "../sandbox/options.ts";

/** A flag of one command. */
export interface FlagDefinition {
  /** The placeholder of its value in the help; a switch has none. */
  value?: string;
  description: string;
  /** The flag may be repeated; its values are joined by commas. */
  multiple?: true;
  /** Another spelling of a flag, which the help does not list. */
  hidden?: true;
}

/** The flags of a command that were given; a switch is "". */
export type Flags = Record<string, string | undefined>;

export interface Arguments {
  /** The sandbox options that were given, as text. */
  options: GivenOptions;
  flags: Flags;
  positionals: string[];
  /** Everything after `--`, unparsed. */
  rest: string[];
}

interface Syntax {
  sandboxOptions: boolean;
  /** Arguments after `--` belong to another command. */
  rest?: boolean;
  flags: Record<string, FlagDefinition>;
}

type KnownFlags = Map<string, Pick<FlagDefinition, "value" | "multiple">>;
type GivenFlags = Record<string, string | string[]>;

export function readArguments(argv: string[], syntax: Syntax, environment: NodeJS.ProcessEnv): Arguments {
  const names = syntax.sandboxOptions ? (Object.keys(optionDefinitions) as OptionName[]) : [];
  const known: KnownFlags = new Map<string, Pick<FlagDefinition, "value" | "multiple">>([
    ...names.map((name) => [flagOf(name), optionDefinitions[name]] as const),
    ...Object.entries(syntax.flags).map(([name, flag]) => [`--${name}`, flag] as const),
  ]);
  const end = syntax.rest ? argv.indexOf("--") : -1;
  const { given, positionals } = parse(end < 0 ? argv : argv.slice(0, end), known);
  const options: GivenFlags = {};
  for (const name of names) {
    const text = given[flagOf(name)] ?? environment[variableOf(name)];
    if (text !== undefined) options[name] = text;
  }
  const flags = Object.fromEntries(Object.keys(syntax.flags).map((name) => [name, joined(given[`--${name}`])]));
  return { options, flags, positionals, rest: end < 0 ? [] : argv.slice(end + 1) };
}

const joined = (given: string | string[] | undefined) => (Array.isArray(given) ? given.join(",") : given);

/** Tokens instead of values: with `strict`, parseArgs throws errors of its own, which suggest nothing. */
function parse(argv: string[], known: KnownFlags) {
  const config = Object.fromEntries(
    [...known].map(([flag, { value }]) => [flag.slice(2), { type: value === undefined ? ("boolean" as const) : ("string" as const) }]),
  );
  const { tokens } = parseArgs({ args: argv, options: config, strict: false, allowPositionals: true, tokens: true });
  const given: GivenFlags = {};
  const positionals: string[] = [];
  for (const token of tokens ?? []) {
    if (token.kind === "positional") positionals.push(token.value);
    if (token.kind !== "option") continue;
    const { rawName: flag, value = "" } = token;
    const definition = known.get(flag);
    if (!definition)
      throw new SandboxError(`There is no option ${flag}.${didYouMean(flag, known.keys())} See merchant-sandbox --help.`, "usage");
    if (definition.value !== undefined && token.value === undefined)
      throw new SandboxError(`${flag} needs a value: ${flag} <${definition.value}>.`, "usage");
    given[flag] = definition.multiple ? [...[given[flag] ?? []].flat(), value] : value;
  }
  return { given, positionals };
}
