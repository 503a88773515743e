// Parses the arguments of a command: its flags, the options of a sandbox as text, and its positional arguments.

import { parseArgs } from "node:util";
import { didYouMean } from "../kernel/did-you-mean.ts";
import { usageError } from "../kernel/errors.ts";
import { PROGRAM } from "../kernel/program-name.ts";
import { flagOf, type OptionName, optionDefinitions } from "../sandbox/options.ts";

export interface FlagDefinition {
  /** The placeholder for the value in the help; undefined for a switch. */
  value?: string;
  description: string;
  /** The text for the default in the help. */
  defaultText?: string | undefined;
  /** Whether the flag may be repeated. The values are then joined by commas. */
  multiple?: true;
  /** Another spelling of a flag, which the help does not list. */
  hidden?: true;
  /** Whether only `--help --all` lists the flag. */
  rare?: true;
  /** Throws if the text is not a valid value of the flag. */
  check?(text: string, flag: string): unknown;
}

export type FlagDefinitions = Readonly<Record<string, FlagDefinition>>;

/** The given flags of a command by name. A switch has the value "". */
export type Flags = Record<string, string | undefined>;

/** Values by flag, such as `--port`. The value is a list if the flag may be repeated. */
export type GivenFlags = Record<string, string | string[]>;

export type ParsedArguments = ReturnType<typeof parseArguments>;

interface Syntax {
  /** The command, such as `fault add`, for errors. */
  name: string;
  sandboxOptions: readonly OptionName[];
  /** Whether another command follows after `--`. */
  rest?: boolean | undefined;
  flags: FlagDefinitions;
}

export function parseArguments(
  argv: readonly string[],
  { name: command, sandboxOptions, rest, flags: definitions }: Syntax,
) {
  const known = allFlags({ sandboxOptions, flags: definitions });
  const end = rest ? argv.indexOf("--") : -1;
  if (rest && end < 0) checkRest(argv, known, command);
  const { given, positionals } = parse(end < 0 ? argv : argv.slice(0, end), known, command);
  const flags: Flags = Object.fromEntries(Object.keys(definitions).map((name) => [name, joined(given[`--${name}`])]));
  const optionFlags = Object.fromEntries(
    Object.entries(given).filter(([flag]) => !Object.hasOwn(definitions, flag.slice(2))),
  );
  /** `rest` is everything after `--`, unparsed. */
  return { optionFlags, flags, positionals, rest: end < 0 ? [] : argv.slice(end + 1) };
}

/** All flags of a command: the sandbox options and the command's own flags. */
export const allFlags = ({ sandboxOptions, flags }: Pick<Syntax, "sandboxOptions" | "flags">): FlagDefinitions => ({
  ...Object.fromEntries(sandboxOptions.map((name) => [flagOf(name).slice(2), optionDefinitions[name]])),
  ...flags,
});

export interface UsageArgument {
  name: string;
  required: boolean;
  repeatable: boolean;
}

/** The positional arguments in a usage: `<required>`, `[optional]`, and `[optional ...]` repeats. */
export function argumentsIn(usage: string): UsageArgument[] {
  const [beforeFlags = ""] = usage.split(/ \[?--/, 1);
  return (beforeFlags.match(/<[^>]+>|\[[^\]]+\]/g) ?? []).map((part) => ({
    name: part.slice(1, -1).replace(" ...", ""),
    required: part.startsWith("<"),
    repeatable: part.includes("..."),
  }));
}

/** Rejects another command that does not follow `--`, because its flags would be read as flags of this command. */
function checkRest(argv: readonly string[], known: FlagDefinitions, command: string): void {
  const [first] = positionalsIn(argv, known);
  if (first === undefined) return;
  const words = [command, ...argv.slice(0, first.index), "--", ...argv.slice(first.index)];
  usageError(`Write -- before the other command: ${PROGRAM} ${words.join(" ")}.`);
}

const joined = (given: string | string[] | undefined) => (Array.isArray(given) ? given.join(",") : given);

/** Parses tokens without `strict`, because with it parseArgs throws its own errors, which have no suggestions. */
function tokensOf(argv: readonly string[], known: FlagDefinitions) {
  const typeOf = ({ value }: FlagDefinition) => (value === undefined ? "boolean" : "string");
  const options = Object.fromEntries(
    Object.entries(known).map(([name, flag]) => [name, { type: typeOf(flag) } as const]),
  );
  return parseArgs({ args: [...argv], options, strict: false, allowPositionals: true, tokens: true }).tokens ?? [];
}

function parse(argv: readonly string[], known: FlagDefinitions, command: string) {
  const given: GivenFlags = {};
  const positionals: string[] = [];
  for (const token of tokensOf(argv, known)) {
    if (token.kind === "positional") positionals.push(token.value);
    if (token.kind !== "option") continue;
    const { rawName: flag, value = "" } = token;
    const flags = Object.keys(known).map((name) => `--${name}`);
    const definition = flags.includes(flag) ? known[token.name] : undefined;
    if (/^-\d/.test(flag))
      usageError(
        `${command} takes no negative value; received ${argv[token.index]}. See ${PROGRAM} ${command} --help.`,
      );
    if (!definition)
      usageError(`There is no option ${flag}.${didYouMean(flag, flags)} See ${PROGRAM} ${command} --help.`);
    if (definition.value !== undefined && token.value === undefined)
      usageError(`${flag} needs a value: ${flag} <${definition.value}>.`);
    definition.check?.(value, flag);
    given[flag] = definition.multiple ? [...[given[flag] ?? []].flat(), value] : value;
  }
  return { given, positionals };
}

/** The positional arguments with their indexes in `argv`. Unknown flags count as switches. */
export const positionalsIn = (argv: readonly string[], flags: FlagDefinitions): { value: string; index: number }[] =>
  tokensOf(argv, flags).flatMap((token) =>
    token.kind === "positional" ? [{ value: token.value, index: token.index }] : [],
  );
